//! Runs plugins: the component in wasmtime, or the same core natively.
//!
//! Every call gets a fresh store from a prepared instance, so no call can leave anything behind for the next one;
//! what it may use is bounded ([`Limits`]), and whatever goes wrong in it is a [`CallError`] with a name. The host
//! goes on in every case.

// The derived traits of the generated bindings are unsafe to implement; nothing else is.
mod bindings;
#[forbid(unsafe_code)]
mod component;
#[forbid(unsafe_code)]
mod deadline;
#[forbid(unsafe_code)]
mod limits;
#[forbid(unsafe_code)]
mod output;
#[forbid(unsafe_code)]
mod services;

pub use component::{COMPONENT, ComponentPlugin, LoadError, cache_directory, sha256};
pub use limits::{Limits, MAX_COMPONENT_BYTES};
pub use services::{LogLine, Said, Services, SharedNotes, SharedTokens};

use compact_review::budget::event::{Plan, PlanRequest, StatusReport, UsageEvent, UsageOutcome};
use compact_review::event::{AfterCompaction, BeforeCompaction, CheckpointRequest, LocalTime, Session, SessionStart};
use compact_review::hooks;
use compact_review::report::{CheckpointOutcome, HookError, Recovery, Report, SessionStartOutcome};
use services::EventHost;
use std::time::{Duration, Instant};

/// Something that answers the hooks.
pub trait Plugin: Send + Sync {
    /// Checks settings; gives the effective ones.
    fn configure(&self, services: &Services, settings: &str) -> Call<String>;
    /// Before anything is pruned.
    fn before_compaction(&self, services: &Services, event: &BeforeCompaction) -> Call<CheckpointOutcome>;
    /// After the summary stands.
    fn after_compaction(&self, services: &Services, event: &AfterCompaction) -> Call<Report>;
    /// Before a prompt is sent.
    fn before_prompt(&self, services: &Services, session: &Session, now: LocalTime) -> Call<Option<Recovery>>;
    /// A checkpoint outside a compaction.
    fn checkpoint(&self, services: &Services, request: &CheckpointRequest) -> Call<CheckpointOutcome>;
    /// A conversation begins or goes on.
    fn session_start(&self, services: &Services, event: &SessionStart) -> Call<SessionStartOutcome>;
    /// After each step.
    fn usage(&self, services: &Services, event: &UsageEvent) -> Call<UsageOutcome>;
    /// How full the context is.
    fn status(&self, services: &Services, session: &Session) -> Call<StatusReport>;
    /// What a compaction should keep.
    fn plan(&self, services: &Services, request: &PlanRequest) -> Call<Plan>;
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<T> {
    /// The answer of the hook, or why there is none.
    pub result: Result<T, CallError>,
    /// What the plugin said beside its answer.
    pub said: Said,
    /// How long it took, instantiation included.
    pub took: Duration,
}

/// Why a hook gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The hook says so itself.
    Hook(HookError),
    /// The plugin trapped: it panicked, overflowed its stack, or did something that WebAssembly forbids.
    Trap(String),
    /// The plugin ran longer than it may and was stopped.
    Deadline(Duration),
    /// The plugin wanted more than it may have. Names the limit.
    Limit(String),
    /// What the plugin handed over is not what the contract says, or too large.
    Garbage(String),
}

impl CallError {
    /// A short stable name, for logs and tests.
    pub fn name(&self) -> &'static str {
        match self {
            CallError::Hook(_) => "hook-error",
            CallError::Trap(_) => "trap",
            CallError::Deadline(_) => "deadline",
            CallError::Limit(_) => "limit",
            CallError::Garbage(_) => "garbage",
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Hook(error) => write!(f, "{error}"),
            CallError::Trap(why) => write!(f, "the plugin trapped: {why}"),
            CallError::Deadline(limit) => write!(f, "the plugin was stopped after its deadline of {limit:?}"),
            CallError::Limit(limit) => write!(f, "the plugin went over a limit: {limit}"),
            CallError::Garbage(what) => write!(f, "the plugin handed over garbage: {what}"),
        }
    }
}

impl std::error::Error for CallError {}

/// The same core without WebAssembly: for comparison in tests and benchmarks. It is bounded by nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativePlugin;

impl NativePlugin {
    fn call<T>(services: &Services, hook: impl FnOnce(&mut EventHost) -> Result<T, HookError>) -> Call<T> {
        let started = Instant::now();
        let mut host = EventHost::new(services, Limits::default());
        let result = hook(&mut host).map_err(CallError::Hook);
        Call { result, said: host.into_said(), took: started.elapsed() }
    }
}

impl Plugin for NativePlugin {
    fn configure(&self, services: &Services, settings: &str) -> Call<String> {
        Self::call(services, |_| hooks::configure(settings))
    }

    fn before_compaction(&self, services: &Services, event: &BeforeCompaction) -> Call<CheckpointOutcome> {
        Self::call(services, |host| hooks::before_compaction(host, event))
    }

    fn after_compaction(&self, services: &Services, event: &AfterCompaction) -> Call<Report> {
        Self::call(services, |host| hooks::after_compaction(host, event))
    }

    fn before_prompt(&self, services: &Services, session: &Session, now: LocalTime) -> Call<Option<Recovery>> {
        Self::call(services, |host| hooks::before_prompt(host, session, now))
    }

    fn checkpoint(&self, services: &Services, request: &CheckpointRequest) -> Call<CheckpointOutcome> {
        Self::call(services, |host| hooks::checkpoint(host, request))
    }

    fn session_start(&self, services: &Services, event: &SessionStart) -> Call<SessionStartOutcome> {
        Self::call(services, |host| hooks::session_start(host, event))
    }

    fn usage(&self, services: &Services, event: &UsageEvent) -> Call<UsageOutcome> {
        Self::call(services, |host| hooks::usage(host, event))
    }

    fn status(&self, services: &Services, session: &Session) -> Call<StatusReport> {
        Self::call(services, |host| hooks::status(host, session))
    }

    fn plan(&self, services: &Services, request: &PlanRequest) -> Call<Plan> {
        Self::call(services, |host| hooks::plan(host, request))
    }
}
