//! The lines of Codex: items of its protocol, and what it records beside them.

use super::{Entry, EntryReader, Kept, Moment, RecordedCompaction, Said, Usage, owned};
use crate::transcript::content::{Content, bounded};
use crate::transcript::peek::{Number, Text};
use compact_review::budget::event::ProviderUsage;
use compact_review::event::{Message, Role};
use serde::Deserialize;
use serde_json::Value;

/// How much of the user's own words Codex carries over where it does not record what it kept
/// (`COMPACT_USER_MESSAGE_MAX_TOKENS` in its sources).
const KEPT_USER_TOKENS: u64 = 20_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    timestamp: Moment,
    #[serde(borrow)]
    payload: Option<Payload<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
    #[serde(borrow)]
    input: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    action: Option<Value>,
    content: Option<Content>,
    output: Option<Content>,
    num_turns: Number,
    info: Option<Info>,
    #[serde(borrow)]
    replacement_history: Option<Vec<Item<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    encrypted_content: Text<'a>,
    content: Option<Content>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    last_token_usage: Option<Counted>,
    model_context_window: Number,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counted {
    input_tokens: Number,
    cached_input_tokens: Number,
    output_tokens: Number,
}

pub(super) fn read(reader: &mut EntryReader, number: u64, text: &str, out: &mut Vec<Entry>) -> Result<(), String> {
    let failed = |error: serde_json::Error| format!("not as expected: {error}");
    let line: Line<'_> = serde_json::from_str(text).map_err(failed)?;
    let at = line.timestamp.0;
    let Some(payload) = line.payload else {
        // The first versions wrote the items as they were.
        let item: Payload<'_> = serde_json::from_str(text).map_err(failed)?;
        out.extend(item_entry(reader, item, number, at));
        return Ok(());
    };
    match line.kind.0.as_deref() {
        Some("compacted") => out.push(Entry::Compaction(compaction(payload, number, at))),
        Some("event_msg") => out.extend(event(payload)),
        _ => out.extend(item_entry(reader, payload, number, at)),
    }
    Ok(())
}

fn event(payload: Payload<'_>) -> Option<Entry> {
    if payload.kind.0.as_deref() == Some("thread_rolled_back") {
        return Some(Entry::RolledBack(payload.num_turns.0.unwrap_or(1)));
    }
    let info = payload.info?;
    let counted = info.last_token_usage?;
    let usage = ProviderUsage {
        input: counted.input_tokens.0?,
        output: counted.output_tokens.0.unwrap_or(0),
        cache_read: counted.cached_input_tokens.0.unwrap_or(0),
        cache_write: 0,
        input_includes_cache: true,
    };
    Some(Entry::Usage(Usage { counted: usage, window: info.model_context_window.0, model: None }))
}

fn item_entry(reader: &mut EntryReader, item: Payload<'_>, line: u64, at: Option<i64>) -> Option<Entry> {
    let id = owned(item.id).unwrap_or_else(|| format!("line-{line}"));
    let call = owned(item.call_id);
    let (role, text, tool, failed) = match item.kind.0.as_deref()? {
        "message" => {
            let text = item.content.map(|content| content.text).unwrap_or_default();
            (speaker(item.role.0.as_deref().unwrap_or("system"), &text), text, None, false)
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            let name = owned(item.name).unwrap_or_else(|| "shell".to_string());
            let arguments = owned(item.arguments).or(owned(item.input));
            let arguments = arguments.or(item.action.map(|action| action.to_string())).unwrap_or_default();
            let text = format!("{name} {}", bounded(&arguments));
            if let Some(call) = call {
                reader.remember(vec![(call, name)]);
            }
            (Role::Assistant, text, None, false)
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.output.unwrap_or_default();
            let tool = call.and_then(|call| reader.calls.remove(&call));
            (Role::Tool, output.text, tool, output.failed)
        }
        _ => return None,
    };
    Some(Entry::Message(Said { message: Message { id, role, text, tool, failed, at }, line, usage: None }))
}

/// What Codex puts into the user's mouth is not the user's.
fn speaker(role: &str, text: &str) -> Role {
    let start = text.trim_start();
    let injected = ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>"];
    match role {
        "user" if injected.iter().any(|prefix| start.starts_with(prefix)) => Role::System,
        role => super::role(role).unwrap_or(Role::System),
    }
}

fn compaction(payload: Payload<'_>, line: u64, at: Option<i64>) -> RecordedCompaction {
    let summary = owned(payload.message).unwrap_or_default();
    let history = payload.replacement_history;
    let encrypted = history.iter().flatten().any(|item| item.encrypted_content.0.is_some());
    let kept = match history {
        None => Kept::RecentUser(KEPT_USER_TOKENS),
        Some(items) => {
            let messages = items.into_iter().filter(|item| item.kind.0.as_deref() == Some("message"));
            Kept::Texts(messages.filter_map(|item| item.content).map(|content| content.text).collect())
        }
    };
    let unreadable = summary.is_empty() && encrypted;
    RecordedCompaction {
        id: Some(format!("line-{line}")),
        line,
        at,
        summary: (!unreadable).then_some(summary),
        encrypted: unreadable,
        kept,
        ..RecordedCompaction::default()
    }
}
