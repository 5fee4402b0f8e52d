//! What happened in a session, read from whole lines of every format.

mod codex;

use super::classify::LineKind;
use super::content::Content;
use super::format::Format;
use super::peek::{Flag, Number, Text};
use compact_review::budget::event::ProviderUsage;
use compact_review::event::{Message, Role};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Something was said.
    Message(Said),
    /// A summary replaced messages.
    Compaction(RecordedCompaction),
    /// The provider counted the context.
    Usage(Usage),
    /// The conversation began anew.
    Reset,
    /// So many of the user's turns were taken back.
    RolledBack(u64),
}

/// A message with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The message.
    pub message: Message,
    /// Where it stands: a line of a file, a row of a store.
    pub line: u64,
    /// What the provider counted when it answered.
    pub usage: Option<Usage>,
}

/// How full the context was, as the provider counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Its numbers.
    pub counted: ProviderUsage,
    /// The model's window, where it is told.
    pub window: Option<u64>,
    /// The model, where it is told.
    pub model: Option<String>,
}

/// A compaction in a recorded session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedCompaction {
    /// Its id in the transcript.
    pub id: Option<String>,
    /// Where it stands.
    pub line: u64,
    /// When, in milliseconds since 1970.
    pub at: Option<i64>,
    /// The summary; `None` where there is none or where only its provider can read it.
    pub summary: Option<String>,
    /// Only its provider can read the summary.
    pub encrypted: bool,
    /// Which messages still stood afterwards.
    pub kept: Kept,
    /// The context before, in tokens.
    pub tokens_before: Option<u64>,
    /// The context after, in tokens.
    pub tokens_after: Option<u64>,
    /// A person asked for it (`Some(true)`), or the tool did it by itself.
    pub manual: Option<bool>,
}

/// Which messages a compaction left as they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kept {
    /// None.
    #[default]
    Nothing,
    /// All from this one on.
    From(String),
    /// All from this line on.
    FromLine(u64),
    /// Those with these texts.
    Texts(Vec<String>),
    /// The newest messages of the user, up to so many tokens.
    RecentUser(u64),
}

/// The role that a word of any format stands for.
pub(super) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "toolResult" | "tool" | "function" | "bashExecution" => Role::Tool,
        "system" | "developer" | "compactionSummary" | "branchSummary" | "custom" | "hookMessage" => Role::System,
        _ => return None,
    })
}

/// Reads whole lines. It remembers which call has which name, because results name only the call.
#[derive(Debug)]
pub(super) struct EntryReader {
    format: Format,
    calls: HashMap<String, String>,
    boundary: Option<Boundary>,
}

/// What Claude Code says of a compaction before its summary.
#[derive(Debug, Default)]
struct Boundary {
    id: Option<String>,
    line: u64,
    at: Option<i64>,
    tokens_before: Option<u64>,
    tokens_after: Option<u64>,
    first_kept: Option<String>,
    manual: Option<bool>,
}

impl EntryReader {
    pub(super) fn new(format: Format) -> Self {
        EntryReader { format, calls: HashMap::new(), boundary: None }
    }

    /// What the line tells, in order.
    pub(super) fn read(&mut self, kind: LineKind, line: u64, text: &str, out: &mut Vec<Entry>) -> Result<(), String> {
        if self.format == Format::Codex {
            return codex::read(self, line, text, out);
        }
        let full: Full<'_> = serde_json::from_str(text).map_err(|error| format!("not as expected: {error}"))?;
        match kind {
            LineKind::Boundary => {
                out.extend(self.end_boundary());
                self.boundary = Some(boundary(full, line));
            }
            LineKind::Compaction => {
                let boundary = self.boundary.take();
                out.push(Entry::Compaction(compaction(full, line, boundary)));
            }
            LineKind::Event => out.push(Entry::Reset),
            _ => {
                out.extend(self.end_boundary());
                self.messages(full, line, out);
            }
        }
        Ok(())
    }

    /// A boundary that no summary followed: the compaction took place, and nobody can tell what it left.
    pub(super) fn end_boundary(&mut self) -> Option<Entry> {
        let boundary = self.boundary.take()?;
        let empty = Full::default();
        Some(Entry::Compaction(compaction(empty, boundary.line, Some(boundary))))
    }

    fn messages(&mut self, full: Full<'_>, line: u64, out: &mut Vec<Entry>) {
        let at = full.message.as_ref().and_then(|message| message.timestamp.0).or(full.timestamp.0);
        let id = owned(full.uuid).or(owned(full.id)).unwrap_or_else(|| format!("line-{line}"));
        let meta = full.is_meta.0;
        let mut inner = full.message.unwrap_or_default();
        let content = inner.content.or(full.content).unwrap_or_else(|| Content {
            // A command that the user ran, a summary of a branch.
            text: [&inner.command, &inner.output, &inner.summary, &full.summary]
                .into_iter()
                .filter_map(|text| text.0.as_deref())
                .collect::<Vec<_>>()
                .join("\n"),
            ..Content::default()
        });
        let word = inner.role.0.take().or(full.role.0).unwrap_or(Cow::Borrowed("system"));
        let mut role = role(&word).unwrap_or(Role::System);
        if meta && role == Role::User {
            // Written by the tool in the user's name.
            role = Role::System;
        }
        let tool = owned(inner.tool_name).or(owned(full.name).filter(|_| role == Role::Tool));
        let named = content.answers.as_ref().and_then(|call| self.calls.remove(call));
        self.remember(content.calls);
        let usage = inner.usage.and_then(|usage| usage.known(owned(inner.model)));
        let said = |id: String, role, text, tool, failed| {
            Entry::Message(Said { message: Message { id, role, text, tool, failed, at }, line, usage: None })
        };
        if !content.results.is_empty() || content.answers.is_some() {
            out.push(said(id.clone(), Role::Tool, content.results, named.or(tool), content.failed));
            if !content.text.is_empty() {
                out.push(said(format!("{id}#text"), role, content.text, None, false));
            }
            return;
        }
        let failed = inner.is_error.0 || content.failed;
        let message = Message { id, role, text: content.text, tool, failed, at };
        out.push(Entry::Message(Said { message, line, usage }));
    }

    /// A hostile file must not fill the memory with calls that are never answered.
    fn remember(&mut self, calls: Vec<(String, String)>) {
        const MOST: usize = 10_000;
        if self.calls.len() > MOST {
            self.calls.clear();
        }
        self.calls.extend(calls);
    }
}

fn boundary(full: Full<'_>, line: u64) -> Boundary {
    let meta = full.compact_metadata.unwrap_or_default();
    let segment = meta.preserved_segment.and_then(|segment| owned(segment.head_uuid));
    Boundary {
        id: owned(full.uuid),
        line,
        at: full.timestamp.0,
        tokens_before: meta.pre_tokens.0,
        tokens_after: meta.post_tokens.0,
        first_kept: segment,
        manual: meta.trigger.0.map(|trigger| trigger == "manual"),
    }
}

fn compaction(full: Full<'_>, line: u64, boundary: Option<Boundary>) -> RecordedCompaction {
    let boundary = boundary.unwrap_or_default();
    let kept = match (owned(full.first_kept_entry_id).or(boundary.first_kept), full.first_kept_entry_index.0) {
        (Some(id), _) => Kept::From(id),
        // Pi's older entries name the first kept one by its place in the file, the header being 0.
        (None, Some(index)) => Kept::FromLine(index + 1),
        (None, None) => Kept::Nothing,
    };
    let content = full.message.and_then(|message| message.content).or(full.content).map(|content| content.text);
    RecordedCompaction {
        id: boundary.id.or(owned(full.uuid)).or(owned(full.id)),
        line,
        at: full.timestamp.0.or(boundary.at),
        summary: owned(full.summary).or(content),
        encrypted: false,
        kept,
        tokens_before: full.tokens_before.0.or(boundary.tokens_before),
        tokens_after: full.tokens_after.0.or(boundary.tokens_after),
        manual: boundary.manual,
    }
}

fn owned(text: Text<'_>) -> Option<String> {
    text.0.map(Cow::into_owned)
}

/// A line of OpenClaw, Pi, Claude Code, or plain.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Full<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    first_kept_entry_id: Text<'a>,
    first_kept_entry_index: Number,
    tokens_before: Number,
    tokens_after: Number,
    timestamp: Moment,
    is_meta: Flag,
    content: Option<Content>,
    #[serde(borrow)]
    message: Option<Inner<'a>>,
    #[serde(borrow)]
    compact_metadata: Option<Metadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Inner<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    output: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    is_error: Flag,
    timestamp: Moment,
    content: Option<Content>,
    usage: Option<RawUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    trigger: Text<'a>,
    pre_tokens: Number,
    post_tokens: Number,
    #[serde(borrow)]
    preserved_segment: Option<Segment<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Segment<'a> {
    #[serde(borrow)]
    head_uuid: Text<'a>,
}

/// Usage as Pi and OpenClaw, Claude Code, or Codex name it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUsage {
    #[serde(alias = "input_tokens")]
    input: Number,
    #[serde(alias = "output_tokens")]
    output: Number,
    #[serde(rename = "cacheRead", alias = "cache_read_input_tokens")]
    cache_read: Number,
    #[serde(rename = "cacheWrite", alias = "cache_creation_input_tokens")]
    cache_write: Number,
}

impl RawUsage {
    /// `None` where nothing was counted, as in answers that the tool wrote itself.
    fn known(self, model: Option<String>) -> Option<Usage> {
        let [input, output, cache_read, cache_write] =
            [self.input, self.output, self.cache_read, self.cache_write].map(|number| number.0.unwrap_or(0));
        let counted = ProviderUsage { input, output, cache_read, cache_write, input_includes_cache: false };
        (input + cache_read + cache_write > 0).then_some(Usage { counted, window: None, model })
    }
}

/// A time: milliseconds, or as text.
#[derive(Clone, Copy, Debug, Default)]
struct Moment(Option<i64>);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any<'a> {
            Number(f64),
            #[serde(borrow)]
            Text(Cow<'a, str>),
            Other(serde::de::IgnoredAny),
        }
        Ok(Moment(match Any::deserialize(deserializer)? {
            Any::Number(number) => Some(number as i64),
            Any::Text(text) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
            Any::Other(_) => None,
        }))
    }
}
