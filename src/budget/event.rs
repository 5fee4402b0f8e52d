//! What a gateway tells after each step and asks before a compaction, and what it gets back: plain data, the budget
//! records of `wit/types.wit` in Rust.

use crate::config::{Action, Strategy};
use crate::event::{LocalTime, Message, Session, Trigger};
use crate::report::Alert;
use serde::{Deserialize, Serialize};

/// What a provider reported for one request. Never a sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderUsage {
    /// Prompt tokens. With or without those of the cache: see `input_includes_cache`.
    pub input: u64,
    /// Tokens of the answer. They are part of the next prompt.
    #[serde(default)]
    pub output: u64,
    /// Prompt tokens that came from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Prompt tokens that were put into a cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Whether `input` counts the tokens of the cache too (OpenAI: yes; Anthropic, OpenClaw: no).
    #[serde(default)]
    pub input_includes_cache: bool,
}

impl ProviderUsage {
    /// The prompt of that request.
    pub fn prompt(&self) -> u64 {
        if self.input_includes_cache {
            self.input
        } else {
            self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
        }
    }

    /// The context after the answer.
    pub fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

/// After each step: an answer arrived, a tool gave something back, the model was switched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageEvent {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// When.
    #[serde(default)]
    pub now: LocalTime,
    /// The model that answers from now on.
    #[serde(default)]
    pub model: Option<String>,
    /// Its context window in tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// What the gateway keeps free for the answer.
    #[serde(default)]
    pub reserve_tokens: Option<u64>,
    /// What the provider reported for the last request, where it did.
    #[serde(default)]
    pub usage: Option<ProviderUsage>,
    /// How many prompts of the user the session has had.
    #[serde(default)]
    pub exchange_count: Option<u32>,
    /// The whole context, for gateways without provider usage.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// What came after the last request or the last event: tool results, a prompt. Each once.
    #[serde(default)]
    pub added: Vec<Message>,
}

/// Where a count comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The provider's own usage.
    Provider,
    /// The provider's usage, and a count of what came after it.
    Mixed,
    /// Counted with the host's tokenizer.
    Counted,
    /// Estimated.
    Estimate,
    /// Nothing fresh is known.
    #[default]
    Unknown,
}

impl Source {
    /// The word for it, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Source::Provider => "provider",
            Source::Mixed => "mixed",
            Source::Counted => "counted",
            Source::Estimate => "estimate",
            Source::Unknown => "unknown",
        }
    }
}

/// How full the context is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStatus {
    /// Tokens in the context; `None` where unknown.
    pub used: Option<u64>,
    /// The effective limit: window minus reserve; `None` where the window is unknown.
    pub budget: Option<u64>,
    /// What is left; 0 where more is used than there is.
    pub remaining: Option<u64>,
    /// Percent of the effective limit, with one decimal; above 100 where it is.
    pub pct: Option<f64>,
    /// Where `used` comes from.
    pub source: Source,
    /// How many compactions the session has had.
    pub compactions: u32,
}

/// The status for people, and for the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// The numbers.
    pub status: BudgetStatus,
    /// For people.
    pub line: String,
    /// For the agent.
    pub token_state: Option<String>,
}

/// A threshold was reached from below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Crossing {
    /// Which, in percent of the effective limit.
    pub threshold_pct: u32,
    /// What to do.
    pub action: Action,
    /// The loop guard holds this action back.
    pub paused: bool,
}

/// What `usage` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageOutcome {
    /// How full the context is now.
    pub status: BudgetStatus,
    /// The thresholds crossed by this event, lowest first.
    pub crossings: Vec<Crossing>,
    /// The strongest action of them that is not held back.
    pub action: Option<Action>,
    /// A checkpoint is due, and why.
    pub checkpoint_due: Option<Trigger>,
    /// For the next prompt, where the settings ask for it.
    pub injection: Option<String>,
    /// The alerts that were raised through the host.
    pub alerts: Vec<Alert>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// Asks what to do with each message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequest {
    /// Which conversation.
    #[serde(flatten)]
    pub session: Session,
    /// When.
    #[serde(default)]
    pub now: LocalTime,
    /// The messages of the context, oldest first.
    pub messages: Vec<Message>,
    /// A person or the agent asked for it: due at any usage.
    #[serde(default)]
    pub manual: bool,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// It stays as it is.
    Keep,
    /// The summary stands for it.
    Summarize,
    /// It goes.
    Drop,
}

/// One message of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRow {
    /// Which message.
    pub message_id: String,
    /// What becomes of it.
    pub choice: Choice,
    /// Why, in a few words.
    pub why: String,
    /// Its length in tokens.
    pub tokens: u64,
}

/// Which messages to keep, summarize and drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Whether it should be carried out now; `None` where the usage or the window is unknown.
    pub due: Option<bool>,
    /// What the settings ask for.
    pub strategy: Strategy,
    /// What a summary begins with in the conversation.
    pub summary_prefix: String,
    /// One row for each message, in their order.
    pub rows: Vec<PlanRow>,
    /// Tokens that stay.
    pub tokens_kept: u64,
    /// Tokens that the summary replaces.
    pub tokens_summarized: u64,
    /// Tokens that go.
    pub tokens_dropped: u64,
    /// Whether the tokens were counted by the host or estimated.
    pub source: Source,
    /// For the summarizer; empty where there is nothing to summarize.
    pub instructions: String,
    /// How many facts did not fit into the instructions.
    pub facts_left_out: u32,
}
