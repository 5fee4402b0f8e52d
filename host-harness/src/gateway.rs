//! The simulated gateway: sessions that fill up, compactions, and the hooks around them as real gateways fire them.
//!
//! The order is the contract's: `before_compaction` before anything is pruned, then the gateway's own limiting, then the
//! compaction, then `after_compaction` with the summary. With a [`BudgetPolicy`] it tells the plugin after each step how
//! full the context is, and compacts as the plugin plans it (`live`). What a hook does wrong never goes unseen: it stands in the
//! [`Compaction`], and by default the gateway goes on.

mod config;
mod fire;
mod live;
mod prune;
mod session;
mod summarizer;

pub use config::{BudgetPolicy, Fault, GatewayConfig, HookShape, OnHookError, ProviderReport, Strategy};
pub use fire::Hook;
pub use live::Step;
pub use session::GatewaySession;
pub use summarizer::{ByRule, Endpoint, Recorded, Summarizer};

use crate::runtime::{Call, Plugin, Services};
use compact_review::budget::event::Plan;
use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Trigger};
use compact_review::report::{CheckpointOutcome, Recovery, Report};
use prune::Cut;
use std::sync::Arc;

/// A gateway with one plugin.
pub struct Gateway {
    plugin: Arc<dyn Plugin>,
    services: Services,
    config: GatewayConfig,
    prose_writer: Option<Endpoint>,
}

/// What came of one compaction.
#[derive(Debug)]
pub struct Compaction {
    /// Why.
    pub reason: Reason,
    /// How many messages before anything was pruned.
    pub messages_before: usize,
    /// How many after the gateway's own limiting, where it limits.
    pub messages_limited: Option<usize>,
    /// How many messages the summary replaced.
    pub dropped: usize,
    /// How many still stand verbatim.
    pub retained: usize,
    /// The context before, in tokens.
    pub tokens_before: u64,
    /// The context after, in tokens.
    pub tokens_after: u64,
    /// What became of the messages that were not kept: the plan's choice, or the gateway's own.
    pub strategy: Strategy,
    /// What the gateway does about a failed hook.
    pub on_hook_error: OnHookError,
    /// The plan that it followed, where the gateway uses the budget.
    pub plan: Option<Plan>,
    /// The checkpoint with a model's prose, where there is an endpoint that writes it.
    pub prose: Option<Hook<CheckpointOutcome>>,
    /// What replaced the messages; `None` where the compaction did not take place.
    pub summary: Option<String>,
    /// What came of the first hook.
    pub before: Hook<CheckpointOutcome>,
    /// What came of the second hook.
    pub after: Hook<Report>,
    /// Everything that went wrong, in words for a person.
    pub failures: Vec<String>,
}

impl Compaction {
    /// The audit, where there is one.
    pub fn report(&self) -> Option<&Report> {
        self.after.answer()
    }
}

/// What happened between the two hooks, for the second one.
struct Between {
    compaction_id: Option<String>,
    cut: Cut,
    summary: String,
}

/// Where a recorded session was compacted.
struct Place {
    first_kept: usize,
    compaction_id: Option<String>,
}

impl Gateway {
    /// A gateway that runs this plugin.
    pub fn new(plugin: Arc<dyn Plugin>, services: Services, config: GatewayConfig) -> Self {
        Gateway { plugin, services, config, prose_writer: None }
    }

    /// Lets a model write a part of each checkpoint, after the one that is made by rule stands.
    pub fn with_prose_writer(self, endpoint: Option<Endpoint>) -> Self {
        Gateway { prose_writer: endpoint, ..self }
    }

    /// How it behaves.
    pub fn config(&self) -> &GatewayConfig {
        &self.config
    }

    /// Whether the session has reached the gateway's own limit, or is beyond what the model takes.
    pub fn due(&self, session: &GatewaySession) -> Option<Reason> {
        let (used, limit) = (session.tokens(), self.config.effective_limit());
        if used > limit {
            Some(Reason::Overflow)
        } else if used.saturating_mul(100) >= limit.saturating_mul(u64::from(self.config.threshold_pct)) {
            Some(Reason::Threshold)
        } else {
            None
        }
    }

    /// Before a prompt: what the plugin wants the agent to be told.
    pub fn before_prompt(&self, session: &GatewaySession, now: LocalTime) -> Call<Option<Recovery>> {
        self.plugin.before_prompt(&self.services, &session.session, now)
    }

    /// Compacts by the gateway's own rule.
    pub fn compact(
        &self,
        session: &mut GatewaySession,
        reason: Reason,
        now: LocalTime,
        summarizer: &dyn Summarizer,
    ) -> Compaction {
        self.run(session, reason, now, summarizer, None)
    }

    /// Compacts where a recorded session was compacted: everything before `first_kept` is replaced.
    pub fn compact_at(
        &self,
        session: &mut GatewaySession,
        reason: Reason,
        now: LocalTime,
        summarizer: &dyn Summarizer,
        first_kept: usize,
        compaction_id: Option<String>,
    ) -> Compaction {
        self.run(session, reason, now, summarizer, Some(Place { first_kept, compaction_id }))
    }

    fn run(
        &self,
        session: &mut GatewaySession,
        reason: Reason,
        now: LocalTime,
        summarizer: &dyn Summarizer,
        place: Option<Place>,
    ) -> Compaction {
        let limited = self.config.history_limit.map(|limit| limit.min(session.messages.len()));
        let mut done = self.not_yet(session, reason, limited);
        // In-run hooks are not awaited: both go to one thread, in order, and are collected at the end.
        let mut background = fire::Background::new(&self.config);

        let event = self.before_event(session, reason, now, limited);
        done.before = self.fire_before(event, &mut background);
        done.failures.extend(done.before.failures("before_compaction"));
        if self.config.on_hook_error == OnHookError::Stop && !done.failures.is_empty() {
            done.failures.push("the compaction was stopped, as on-hook-error = stop says".to_string());
            return done;
        }
        let trigger = if reason == Reason::Manual { Trigger::Manual } else { Trigger::Threshold };
        done.prose = self.write_prose(session, now, trigger, &mut done.failures);
        if let Some(limit) = limited {
            session.keep_last(limit);
        }
        if place.is_none() && self.config.budget.is_some() {
            done.plan = self.ask_plan(session, now, reason, &mut done.failures);
        }
        match self.replace(session, summarizer, place, &mut done) {
            Ok(between) => {
                done.dropped = between.cut.dropped;
                done.retained = between.cut.kept_ids.len();
                done.tokens_after = session.tokens();
                done.summary = Some(between.summary.clone());
                let event = self.after_event(session, now, &done, &between);
                done.after = self.fire_after(event, &mut background);
            }
            Err(why) => {
                done.after = Hook::NotFired(why.clone());
                done.failures.push(why);
            }
        }
        background.collect(&mut done);
        done.failures.extend(done.after.failures("after_compaction"));
        done
    }

    fn not_yet(&self, session: &GatewaySession, reason: Reason, limited: Option<usize>) -> Compaction {
        Compaction {
            reason,
            messages_before: session.messages.len(),
            messages_limited: limited,
            dropped: 0,
            retained: session.messages.len(),
            tokens_before: session.tokens(),
            tokens_after: session.tokens(),
            strategy: self.config.strategy,
            on_hook_error: self.config.on_hook_error,
            plan: None,
            prose: None,
            summary: None,
            before: Hook::NotFired("the compaction did not get there".to_string()),
            after: Hook::NotFired("the compaction did not get there".to_string()),
            failures: Vec::new(),
        }
    }

    /// What goes: nothing, what the plan says, or what the gateway's own rule says.
    fn choose(&self, session: &GatewaySession, place: Option<&Place>, done: &mut Compaction) -> Cut {
        if self.config.shape == HookShape::NothingCompacted {
            return Cut::nothing(session);
        }
        if let Some(plan) = &done.plan {
            match prune::planned(session, plan) {
                Ok(cut) => {
                    done.strategy = plan.strategy.into();
                    return cut;
                }
                Err(why) => done.failures.push(format!("plan: {why}; the gateway's own rule was used")),
            }
            done.plan = None;
        }
        prune::cut(session, &self.config, place.map(|place| place.first_kept))
    }

    /// The compaction itself.
    fn replace(
        &self,
        session: &mut GatewaySession,
        summarizer: &dyn Summarizer,
        place: Option<Place>,
        done: &mut Compaction,
    ) -> Result<Between, String> {
        if self.config.shape == HookShape::BeforeOnly {
            return Err("the compaction was given up after before_compaction".to_string());
        }
        let cut = self.choose(session, place.as_ref(), done);
        let compaction_id = place.and_then(|place| place.compaction_id);
        let plan = done.plan.as_ref();
        let replaced: Vec<Message> =
            cut.summarized.iter().filter_map(|&at| session.messages.get(at)).cloned().collect();
        let summary = match plan {
            _ if done.strategy != Strategy::Summarize || replaced.is_empty() => Ok(String::new()),
            Some(plan) => summarizer.summarize_as_told(&replaced, &plan.instructions),
            None => summarizer.summarize(&replaced),
        };
        let summary = summary.map_err(|why| format!("no summary: {why}; nothing was compacted"))?;
        if cut.dropped > 0 {
            let id = compaction_id.clone().unwrap_or_else(|| session.next_compaction_id());
            let prefix = plan.map_or(&self.config.summary_prefix, |plan| &plan.summary_prefix);
            let text = if summary.is_empty() || summary.starts_with(prefix.as_str()) {
                summary.clone()
            } else {
                format!("{prefix}\n\n{summary}")
            };
            session.replace(&cut, Message { id, role: Role::System, text, tool: None, failed: false, at: None });
        }
        Ok(Between { compaction_id, cut, summary })
    }

    /// The payload of the first hook, in the shape that the gateway plays.
    fn before_event(
        &self,
        session: &GatewaySession,
        reason: Reason,
        now: LocalTime,
        limited: Option<usize>,
    ) -> BeforeCompaction {
        let shape = self.config.shape;
        let full = shape.tells_session();
        BeforeCompaction {
            session: if full { session.session.clone() } else { session.key_only() },
            reason: if full { reason } else { Reason::Unknown },
            now,
            message_count: shape.tells_counts().then_some(count(session.messages.len())),
            message_count_limited: limited.map(count),
            token_count: shape.tells_tokens().then(|| session.tokens()),
            context_window: full.then_some(self.config.context_window),
            messages: if shape.tells_messages() || self.config.reads_transcript {
                session.messages.clone()
            } else {
                Vec::new()
            },
        }
    }

    /// The payload of the second hook, in the shape that the gateway plays.
    fn after_event(
        &self,
        session: &GatewaySession,
        now: LocalTime,
        done: &Compaction,
        between: &Between,
    ) -> AfterCompaction {
        let shape = self.config.shape;
        let reads = shape.tells_summary() || self.config.reads_transcript;
        let full = shape.tells_session();
        AfterCompaction {
            session: if full { session.session.clone() } else { session.key_only() },
            now,
            compaction_id: between.compaction_id.clone().filter(|_| reads),
            messages_retained: shape.tells_counts().then_some(count(done.retained)),
            messages_dropped: shape.tells_counts().then_some(count(done.dropped)),
            summary_text: reads.then(|| between.summary.clone()),
            summary_tokens: None,
            tokens_before: shape.tells_tokens().then_some(done.tokens_before),
            tokens_after: shape.tells_tokens().then_some(done.tokens_after),
            first_kept_entry_id: between.cut.first_kept_id.clone().filter(|_| reads),
            kept_message_ids: (reads && between.cut.scattered).then(|| between.cut.kept_ids.clone()),
        }
    }
}

fn count(messages: usize) -> u32 {
    u32::try_from(messages).unwrap_or(u32::MAX)
}
