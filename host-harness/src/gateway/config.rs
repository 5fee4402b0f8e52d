//! How a simulated gateway behaves: its window, its strategy, the shape of its hooks, and the faults it plays.

use compact_review::config;
use std::time::Duration;

/// How a gateway behaves.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The model's context window, in tokens.
    pub context_window: u64,
    /// Kept free for the answer, in tokens.
    pub reserve: u64,
    /// Compacts from this share of the window minus the reserve on, in percent.
    pub threshold_pct: u8,
    /// What becomes of the messages.
    pub strategy: Strategy,
    /// `headProtection`: the last so many messages are always kept.
    pub head_protection: usize,
    /// `tailProtection`: the first so many messages are always kept.
    pub tail_protection: usize,
    /// What a summary begins with in the conversation.
    pub summary_prefix: String,
    /// The gateway's own limiting before it compacts: only the last so many messages are left.
    pub history_limit: Option<usize>,
    /// What the hooks are told, and whether they are awaited.
    pub shape: HookShape,
    /// Messages and summary come from the transcript where the payload lacks them, as our plugin for OpenClaw does it.
    pub reads_transcript: bool,
    /// How long a hook is awaited.
    pub hook_timeout: Duration,
    /// What a failed hook means for the compaction.
    pub on_hook_error: OnHookError,
    /// What goes wrong on purpose.
    pub fault: Option<Fault>,
    /// How it uses the plugin's token budget. `None`: it has its own threshold and its own rule for what is kept.
    pub budget: Option<BudgetPolicy>,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        GatewayConfig {
            context_window: 131_072,
            reserve: 0,
            threshold_pct: 80,
            strategy: Strategy::Summarize,
            head_protection: 15,
            tail_protection: 0,
            summary_prefix: "[CONTEXT SUMMARY — reference only]".to_string(),
            history_limit: None,
            shape: HookShape::Complete,
            reads_transcript: false,
            hook_timeout: Duration::from_secs(30),
            on_hook_error: OnHookError::Warn,
            fault: None,
            budget: None,
        }
    }
}

/// How a gateway uses the plugin's token budget. Its own compactions then follow the plugin's plan: strategy, protection
/// of both ends and prefix come from the plugin's settings, and those of [`GatewayConfig`] serve where there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetPolicy {
    /// Compacts before the next request when the plugin asks for it. Off: only when the provider refuses a request.
    pub proactive: bool,
    /// What the provider tells of each request.
    pub provider: ProviderReport,
    /// The name of the model.
    pub model: Option<String>,
}

impl Default for BudgetPolicy {
    fn default() -> Self {
        BudgetPolicy { proactive: true, provider: ProviderReport::CacheApart, model: None }
    }
}

/// What a provider tells of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderReport {
    /// Nothing, as many local servers: the plugin counts or estimates the messages.
    Nothing,
    /// Prompt tokens without those of the cache, as Anthropic does.
    CacheApart,
    /// Prompt tokens with those of the cache, as OpenAI does.
    CacheIncluded,
}

impl GatewayConfig {
    /// What can really be used: the window minus the reserve.
    pub fn effective_limit(&self) -> u64 {
        self.context_window.saturating_sub(self.reserve)
    }
}

/// What becomes of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A summary replaces all that are not protected.
    #[default]
    Summarize,
    /// The oldest unprotected ones go, until half of the limit is free. Nothing replaces them.
    Truncate,
    /// All that are not protected go. Nothing replaces them.
    Discard,
}

impl From<config::Strategy> for Strategy {
    fn from(strategy: config::Strategy) -> Self {
        match strategy {
            config::Strategy::Summarize => Strategy::Summarize,
            config::Strategy::Truncate => Strategy::Truncate,
            config::Strategy::Discard => Strategy::Discard,
        }
    }
}

/// What the hooks of a gateway are told. All but the first were seen in runs of OpenClaw 2026.9.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookShape {
    /// Everything the contract has.
    Complete,
    /// Manual, preflight and overflow compactions: awaited, counts and tokens, no messages and no summary.
    CountsOnly,
    /// A compaction in the middle of a run: not awaited, session key and messages, nothing else.
    InRun,
    /// A context engine that owns its compactions: awaited, every count is -1.
    EngineOwned,
    /// The compaction is given up after the first hook.
    BeforeOnly,
    /// The second hook comes although nothing was compacted.
    NothingCompacted,
}

impl HookShape {
    pub(super) fn awaited(self) -> bool {
        self != HookShape::InRun
    }

    pub(super) fn tells_session(self) -> bool {
        self != HookShape::InRun
    }

    pub(super) fn tells_counts(self) -> bool {
        !matches!(self, HookShape::InRun | HookShape::EngineOwned)
    }

    pub(super) fn tells_tokens(self) -> bool {
        self.tells_counts()
    }

    pub(super) fn tells_messages(self) -> bool {
        !matches!(self, HookShape::CountsOnly | HookShape::EngineOwned)
    }

    pub(super) fn tells_summary(self) -> bool {
        matches!(self, HookShape::Complete | HookShape::BeforeOnly | HookShape::NothingCompacted)
    }
}

/// What a failed hook means for the compaction. The policy is the gateway's; a failure is always told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHookError {
    /// Go on.
    Warn,
    /// Do not compact.
    Stop,
}

/// What goes wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The hooks fail before they reach the plugin.
    HookError,
    /// The hooks take so long, on top of what they take.
    SlowHook(Duration),
    /// The gateway dies after the compaction and before the second hook. A new one can still fire it.
    CrashBetweenHooks,
}
