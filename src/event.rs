//! What happens to a conversation, as plain data: sessions, messages, the compaction events, checkpoints, a start.
//!
//! These are the types of `wit/types.wit` in Rust. They also read the gateways' JSON payloads (camelCase; unknown
//! keys are ignored, unknown enum values are errors that list the known ones).

use serde::{Deserialize, Deserializer, Serialize};

/// Which conversation an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The stable name of the conversation; state is kept by it.
    pub session_key: String,
    /// The id of the current transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent that holds the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// A label for people; never opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// A label for people; never opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_dir: Option<String>,
}

/// A moment on the user's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalTime {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: i64,
    /// Minutes east of UTC.
    #[serde(default)]
    pub utc_offset_minutes: i16,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Instructions of the gateway, or an earlier summary.
    System,
    /// The person, or whoever gives the agent its work.
    User,
    /// The agent.
    Assistant,
    /// What a tool gave back.
    Tool,
}

/// One message of the conversation, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Unique within the session; shown as provenance.
    pub id: String,
    /// Who said it.
    pub role: Role,
    /// All text parts, joined with newlines.
    pub text: String,
    /// The name of the tool, for the messages of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A tool reported failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// When it was said, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
}

/// Why the gateway compacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The provider refused the request because it was too long.
    Overflow,
    /// The gateway's own limit was reached.
    Threshold,
    /// A person or the agent asked for it.
    Manual,
    /// The gateway does not say.
    #[default]
    Unknown,
}

/// `before_compaction`: fired before anything is pruned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforeCompaction {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// Why.
    #[serde(default)]
    pub reason: Reason,
    /// When. A host that reads events from a file fills it in.
    #[serde(default)]
    pub now: LocalTime,
    /// How many messages before anything is pruned.
    #[serde(default, deserialize_with = "known_count")]
    pub message_count: Option<u32>,
    /// How many after the gateway's own limiting.
    #[serde(default, deserialize_with = "known_count")]
    pub message_count_limited: Option<u32>,
    /// The tokens of the context.
    #[serde(default, alias = "tokenEstimate")]
    pub token_count: Option<u64>,
    /// The model's context window in tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The messages, oldest first.
    #[serde(default)]
    pub messages: Vec<Message>,
}

/// `after_compaction`: fired when the summary stands in place of the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AfterCompaction {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// When. A host that reads events from a file fills it in.
    #[serde(default)]
    pub now: LocalTime,
    /// The id of this compaction in the transcript.
    #[serde(default)]
    pub compaction_id: Option<String>,
    /// How many messages still stand verbatim.
    #[serde(default, deserialize_with = "known_count")]
    pub messages_retained: Option<u32>,
    /// How many messages the summary replaced; 0 means that nothing was compacted.
    #[serde(default, deserialize_with = "known_count")]
    pub messages_dropped: Option<u32>,
    /// What replaced them; `None` where the gateway cannot tell, empty where nothing did.
    #[serde(default)]
    pub summary_text: Option<String>,
    /// Its length in tokens.
    #[serde(default)]
    pub summary_tokens: Option<u64>,
    /// The context before.
    #[serde(default)]
    pub tokens_before: Option<u64>,
    /// The context after.
    #[serde(default)]
    pub tokens_after: Option<u64>,
    /// The first message from which everything stands verbatim.
    #[serde(default)]
    pub first_kept_entry_id: Option<String>,
    /// All messages that stand verbatim, where `first_kept_entry_id` does not tell.
    #[serde(default)]
    pub kept_message_ids: Option<Vec<String>>,
}

/// Why a checkpoint is written outside a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trigger {
    /// A person or the agent asked for it.
    #[default]
    Manual,
    /// So many minutes have passed since the last one.
    Interval,
    /// So many prompts have come since the last one.
    Exchanges,
    /// A threshold of the budget asks for it.
    Threshold,
    /// The conversation is about to be reset.
    Reset,
}

/// Asks for a checkpoint outside a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRequest {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// When.
    #[serde(default)]
    pub now: LocalTime,
    /// Why.
    #[serde(default)]
    pub trigger: Trigger,
    /// How many messages the conversation has.
    #[serde(default, deserialize_with = "known_count")]
    pub message_count: Option<u32>,
    /// The tokens of the context.
    #[serde(default)]
    pub token_count: Option<u64>,
    /// The model's context window in tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The messages, oldest first.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// What a model of the gateway's own wrote about the state of the work.
    #[serde(default)]
    pub prose: Option<String>,
}

/// A conversation begins, or goes on after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStart {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// When.
    #[serde(default)]
    pub now: LocalTime,
    /// How many messages it has.
    #[serde(default, deserialize_with = "known_count")]
    pub message_count: Option<u32>,
    /// The ids of the messages at hand, oldest first.
    #[serde(default)]
    pub message_ids: Vec<String>,
}

/// Gateways whose context engine owns the compaction send -1 for "not known".
fn known_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let count = Option::<i64>::deserialize(deserializer)?;
    match count {
        None | Some(-1) => Ok(None),
        Some(n) => u32::try_from(n).map(Some).map_err(|_| {
            serde::de::Error::custom(format!("a count must be from 0 to {}, or -1 for not known: found {n}", u32::MAX))
        }),
    }
}
