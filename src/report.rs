//! What the hooks give back, as plain data: the result types of `wit/types.wit` in Rust.
//!
//! They also write the JSON that other programs read (`compact-review audit --json`).

use crate::event::Role;
use serde::{Deserialize, Serialize};

/// What a signal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A rule, a prohibition, a preference, a way of working.
    Constraint,
    /// What was decided, with its reason.
    Decision,
    /// An open assignment, a next step, a pending ask, an approval waited for.
    Task,
    /// Hosts, ports, URLs, paths, versions, ids, commands, environment variables.
    Infrastructure,
    /// A failure, its cause, its fix.
    Error,
    /// A question that nobody answered yet.
    Question,
    /// What is done, in progress, counted.
    State,
    /// A number or a date with what it measures.
    Number,
}

impl Kind {
    /// All kinds, in the order in which reports list them.
    pub const ALL: [Kind; 8] = [
        Kind::Constraint,
        Kind::Decision,
        Kind::Task,
        Kind::Infrastructure,
        Kind::Error,
        Kind::Question,
        Kind::State,
        Kind::Number,
    ];

    /// The word for it, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Constraint => "constraint",
            Kind::Decision => "decision",
            Kind::Task => "task",
            Kind::Infrastructure => "infrastructure",
            Kind::Error => "error",
            Kind::Question => "question",
            Kind::State => "state",
            Kind::Number => "number",
        }
    }
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// It stands in the summary or in a retained message.
    Preserved,
    /// The summary says something else.
    Altered,
    /// It is gone.
    Dropped,
    /// A later message had overturned it already.
    Superseded,
}

/// What to think of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Nothing of weight was lost.
    Faithful,
    /// Something of weight was lost or altered.
    Lossy,
    /// The summary is no summary.
    Failed,
    /// It cannot be told.
    Unverifiable,
}

impl Verdict {
    /// The word for it, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faithful => "faithful",
            Verdict::Lossy => "lossy",
            Verdict::Failed => "failed",
            Verdict::Unverifiable => "unverifiable",
        }
    }
}

/// One signal that the summary lost or altered. All text is redacted and bounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Names the signal within its session.
    pub id: String,
    /// What it is about.
    pub kind: Kind,
    /// The words of the source.
    pub text: String,
    /// The exact values in it.
    pub values: Vec<String>,
    /// The message that said it.
    pub message_id: String,
    /// Who said it.
    pub role: Role,
    /// When it was said.
    pub at: Option<i64>,
    /// How much it matters, from 0 to 1.
    pub salience: f64,
    /// Altered or dropped.
    pub status: Status,
    /// For altered: what the summary says instead.
    pub summary_says: Option<String>,
    /// Why it has this salience and status.
    pub why: Vec<String>,
}

/// How one kind of signal fared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    /// Which.
    pub category: Kind,
    /// 0 to 100.
    pub score: f64,
    /// How many signals were kept.
    pub preserved: u32,
    /// How many the summary changed.
    pub altered: u32,
    /// How many are gone.
    pub dropped: u32,
}

/// Something the summary states that no message ever contained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invention {
    /// The identifier, approval or completion.
    pub text: String,
    /// The sentence of the summary it stands in.
    pub summary_says: String,
}

/// How loud an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AlertLevel {
    /// Worth knowing.
    Info,
    /// Something was lost.
    Warning,
    /// Something was lost that work or safety depends on.
    Critical,
}

/// A notice for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    /// How loud.
    pub level: AlertLevel,
    /// A short stable name.
    pub code: String,
    /// One line.
    pub text: String,
}

/// Text to hand back to the agent: quoted data that gives no orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// Fenced, labelled, redacted and bounded.
    pub text: String,
    /// Its length in tokens.
    pub tokens: u32,
}

/// Which file a text was meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WriteTarget {
    /// The active checkpoint.
    Checkpoint,
    /// The daily note.
    DailyNote,
}

impl WriteTarget {
    /// The words for it, for people.
    pub fn name(self) -> &'static str {
        match self {
            WriteTarget::Checkpoint => "checkpoint",
            WriteTarget::DailyNote => "daily note",
        }
    }
}

/// What happened to a text that was to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteOutcome {
    /// Which file.
    pub target: WriteTarget,
    /// Where the host put it.
    pub place: Option<String>,
    /// Why it was not written.
    pub error: Option<String>,
    /// The text.
    pub text: String,
}

/// What `before-compaction` and `checkpoint` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointOutcome {
    /// How many signals were found.
    pub signals: u32,
    /// What was written.
    pub writes: Vec<WriteOutcome>,
    /// What went wrong: a file or the ledger was not written.
    pub problems: Vec<String>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// What `after-compaction` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// 0 to 100; `None` where the verdict is `unverifiable`.
    pub score: Option<f64>,
    /// What to think of it.
    pub verdict: Verdict,
    /// Why, in one line.
    pub verdict_reason: String,
    /// One entry for each kind of signal that occurred.
    pub categories: Vec<Category>,
    /// What was lost or altered, most important first.
    pub lost: Vec<Finding>,
    /// What no message ever contained.
    pub invented: Vec<Invention>,
    /// The alerts that were raised through the host.
    pub alerts: Vec<Alert>,
    /// What the agent should be given back.
    pub recovery: Option<Recovery>,
    /// The length of the summary in tokens.
    pub summary_tokens: Option<u64>,
    /// What was written.
    pub writes: Vec<WriteOutcome>,
    /// What went wrong: a file or a state was not written.
    pub problems: Vec<String>,
    /// What a person should know beside the findings.
    pub notices: Vec<String>,
}

/// What `session-start` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStartOutcome {
    /// What the agent should be given back.
    pub recovery: Option<Recovery>,
    /// Messages are gone that no compaction told of: how that shows.
    pub truncation: Option<String>,
    /// The alerts that were raised through the host.
    pub alerts: Vec<Alert>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// A failed hook is a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookError {
    /// The event contradicts the contract.
    InvalidEvent(String),
    /// The settings are not usable.
    InvalidSettings(String),
    /// State that the hook depends on could not be loaded or saved.
    Storage(String),
}

impl std::fmt::Display for HookError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HookError::InvalidEvent(why) => write!(f, "invalid event: {why}"),
            HookError::InvalidSettings(why) => write!(f, "invalid settings: {why}"),
            HookError::Storage(why) => write!(f, "storage: {why}"),
        }
    }
}

impl std::error::Error for HookError {}
