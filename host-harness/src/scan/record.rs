//! What is kept of an audit: enough for the table, the JSON lines and the page. Bounded, and without secrets.

use crate::review::{Excerpt, Reviewed, excerpt};
use crate::transcript::{Format, RecordedCompaction, Stats, cut};
use compact_review::event::Role;
use compact_review::redact::redact;
use compact_review::report::{Category, Finding, Invention, Kind, Status, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// How many findings of a compaction are kept with their source.
pub const MAX_FINDINGS: usize = 40;
/// How many invented names.
const MAX_INVENTED: usize = 20;
/// How much of a summary, in bytes.
const MAX_SUMMARY: usize = 6_000;
/// A lost fact of this salience is critical: the plugin's own limit for an alert.
const CRITICAL: f64 = 0.70;

/// What was found in one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRecord {
    /// Where it is. Not part of the cached content.
    #[serde(skip)]
    pub path: String,
    /// It was not read again.
    #[serde(skip)]
    pub cached: bool,
    /// Which tool wrote it.
    pub format: Format,
    /// Its size.
    pub bytes: u64,
    /// What each session is.
    pub sessions: Vec<SessionRecord>,
    /// All compactions in it.
    pub compactions: Vec<CompactionRecord>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// One session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Its id.
    pub session_id: String,
    /// Whose.
    pub agent: String,
    /// What was found in it.
    pub stats: Stats,
}

/// One compaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRecord {
    /// Its session.
    pub session_id: String,
    /// Whose.
    pub agent: String,
    /// Its id in the transcript.
    pub compaction_id: Option<String>,
    /// From 1, in its session.
    pub number: usize,
    /// Where it stands.
    pub line: u64,
    /// When, in milliseconds since 1970.
    pub at: Option<i64>,
    /// It is on the branch that was active at the end.
    pub active: bool,
    /// How many messages the context had.
    pub messages_before: usize,
    /// How many the summary replaced.
    pub messages_dropped: usize,
    /// How many still stand.
    pub messages_retained: usize,
    /// The context before, estimated.
    pub tokens_before: u64,
    /// The context after, estimated in the same way.
    pub tokens_after: u64,
    /// The context before, as the transcript tells it.
    pub tokens_recorded: Option<u64>,
    /// 0 to 100; `None` where it cannot be told.
    pub score: Option<f64>,
    /// What to think of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// How each kind of signal fared.
    pub categories: Vec<Category>,
    /// How many facts were lost, those of little weight included as far as the plugin lists them.
    pub lost_total: usize,
    /// Of these, how many are critical.
    pub critical: usize,
    /// Of these, how many the summary changed.
    pub altered: usize,
    /// The most important ones.
    pub lost: Vec<LostFact>,
    /// The messages they came from.
    pub sources: Vec<SourceMessage>,
    /// What no message contained.
    pub invented: Vec<Invention>,
    /// The summary, cut and without secrets.
    pub summary: Option<String>,
    /// Which summary it is, to recognise copies.
    pub summary_hash: u64,
    /// Its length.
    pub summary_tokens: Option<u64>,
    /// What the agent would be given back, in tokens.
    pub recovery_tokens: Option<u32>,
    /// What went wrong.
    pub problems: Vec<String>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// A fact that was lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LostFact {
    /// What it is about.
    pub kind: Kind,
    /// Dropped or altered.
    pub status: Status,
    /// The words of the source.
    pub text: String,
    /// The exact values in it.
    pub values: Vec<String>,
    /// How much it matters.
    pub salience: f64,
    /// The message that said it: a place in `sources`.
    pub source: usize,
    /// Where in the message.
    pub excerpt: Excerpt,
    /// What the summary says instead.
    pub summary_says: Option<String>,
}

/// A message that a lost fact came from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceMessage {
    /// Its id.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// Which tool.
    pub tool: Option<String>,
    /// When.
    pub at: Option<i64>,
}

/// Something that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub path: String,
    /// A short stable name.
    pub sort: String,
    /// In words.
    pub why: String,
}

impl Problem {
    /// Of this file.
    pub fn new(path: &Path, sort: &str, why: String) -> Problem {
        Problem { path: path.display().to_string(), sort: sort.to_string(), why }
    }
}

impl CompactionRecord {
    /// What is kept of an audit. `earlier` are the compactions before it: what they lost is looked for again, and its
    /// message is no longer at hand.
    pub fn new(
        session: (&str, &str),
        recorded: &RecordedCompaction,
        reviewed: &Reviewed,
        active: bool,
        earlier: &[CompactionRecord],
    ) -> Self {
        let report = reviewed.report.as_ref();
        let lost = report.map(|report| report.lost.as_slice()).unwrap_or_default();
        let earlier: Vec<&LostFact> =
            earlier.iter().filter(|record| record.session_id == session.0).flat_map(|record| &record.lost).collect();
        let (facts, sources) = facts(lost, reviewed, &earlier);
        let mut hasher = DefaultHasher::new();
        recorded.summary.hash(&mut hasher);
        let encrypted =
            recorded.encrypted.then(|| "the summary is encrypted: only its provider can read it".to_string());
        let reason =
            report.map(|report| report.verdict_reason.clone()).unwrap_or_else(|| "the audit failed".to_string());
        CompactionRecord {
            session_id: session.0.to_string(),
            agent: session.1.to_string(),
            compaction_id: recorded.id.clone(),
            number: reviewed.number,
            line: recorded.line,
            at: recorded.at,
            active,
            messages_before: reviewed.messages_before,
            messages_dropped: reviewed.dropped,
            messages_retained: reviewed.retained,
            tokens_before: reviewed.tokens_before,
            tokens_after: reviewed.tokens_after,
            tokens_recorded: recorded.tokens_before.or(reviewed.tokens_counted),
            score: report.and_then(|report| report.score),
            verdict: report.map_or(Verdict::Unverifiable, |report| report.verdict),
            reason: encrypted.unwrap_or(reason),
            categories: report.map(|report| report.categories.clone()).unwrap_or_default(),
            lost_total: lost.len(),
            critical: lost.iter().filter(|finding| finding.salience >= CRITICAL).count(),
            altered: lost.iter().filter(|finding| finding.status == Status::Altered).count(),
            lost: facts,
            sources,
            invented: report
                .map(|report| report.invented.iter().take(MAX_INVENTED).cloned().collect())
                .unwrap_or_default(),
            summary: recorded.summary.as_deref().map(|summary| shown(summary, MAX_SUMMARY)),
            summary_hash: hasher.finish(),
            summary_tokens: report.and_then(|report| report.summary_tokens),
            recovery_tokens: report.and_then(|report| report.recovery.as_ref()).map(|recovery| recovery.tokens),
            problems: reviewed.failures.clone(),
            notices: report.map(|report| report.notices.clone()).unwrap_or_default(),
        }
    }
}

/// A text for people: without secrets first, then cut, so that no half of one is left.
fn shown(text: &str, most: usize) -> String {
    cut(&redact(text), most).into_owned()
}

fn facts(lost: &[Finding], reviewed: &Reviewed, earlier: &[&LostFact]) -> (Vec<LostFact>, Vec<SourceMessage>) {
    let messages: HashMap<&str, usize> =
        reviewed.before.messages.iter().enumerate().map(|(index, message)| (message.id.as_str(), index)).collect();
    let mut sources = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let facts = lost.iter().take(MAX_FINDINGS).map(|finding| {
        let message = messages.get(finding.message_id.as_str()).and_then(|index| reviewed.before.messages.get(*index));
        let source = *places.entry(finding.message_id.as_str()).or_insert_with(|| {
            sources.push(SourceMessage {
                id: finding.message_id.clone(),
                role: finding.role,
                tool: message.and_then(|message| message.tool.clone()),
                at: finding.at,
            });
            sources.len() - 1
        });
        LostFact {
            kind: finding.kind,
            status: finding.status,
            text: redact(&finding.text).into_owned(),
            values: finding.values.iter().map(|value| redact(value).into_owned()).collect(),
            salience: finding.salience,
            source,
            excerpt: match message {
                Some(message) => excerpt(&message.text, finding),
                None => carried(finding, earlier),
            },
            summary_says: finding.summary_says.as_deref().map(|says| redact(says).into_owned()),
        }
    });
    let facts = facts.collect();
    (facts, sources)
}

/// Where a fact stood that an earlier compaction lost; its own words, where that was not kept.
fn carried(finding: &Finding, earlier: &[&LostFact]) -> Excerpt {
    let text = redact(&finding.text);
    let known = earlier.iter().rev().find(|fact| fact.text == text);
    known.map(|fact| fact.excerpt.clone()).unwrap_or_else(|| Excerpt { fact: text.into_owned(), ..Excerpt::default() })
}
