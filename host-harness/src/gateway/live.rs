//! A session that goes on: after each step the plugin is told how full the context is, and what it asks for is done.
//!
//! Post-execution: whatever arrives, a tool's result too, counts at once. Pre-execution: a compaction that is due takes
//! place before the next request, and so does the one that a refused request forces.

use super::{Compaction, Gateway, GatewaySession, Hook, ProviderReport, Summarizer};
use compact_review::budget::event::{BudgetStatus, Plan, PlanRequest, ProviderUsage, UsageEvent, UsageOutcome};
use compact_review::config::Action;
use compact_review::event::{CheckpointRequest, LocalTime, Message, Reason, Role, Trigger};
use compact_review::report::CheckpointOutcome;

/// The gateway's own tools.
const COMPACT: &str = "compact";
const SESSION_STATUS: &str = "session_status";

/// What came of one step.
#[derive(Debug, Default)]
pub struct Step {
    /// The compactions that took place before the step's request, or that the step asked for.
    pub compactions: Vec<Compaction>,
    /// The request was refused although everything was tried: the context is too long.
    pub refused: bool,
    /// What the plugin found; `None` where the gateway does not use the budget, or the hook failed.
    pub usage: Option<UsageOutcome>,
    /// A checkpoint that was due and no compaction wrote.
    pub checkpoint: Option<Hook<CheckpointOutcome>>,
    /// The same with a model's prose, where there is an endpoint that writes it.
    pub prose: Option<Hook<CheckpointOutcome>>,
    /// Everything that went wrong, in words for a person. That of a compaction stands there.
    pub failures: Vec<String>,
}

impl Step {
    /// How full the context is after it.
    pub fn status(&self) -> Option<&BudgetStatus> {
        self.usage.as_ref().map(|usage| &usage.status)
    }
}

impl Gateway {
    /// From now on another model answers.
    pub fn switch_model(&mut self, model: &str, context_window: u64) {
        self.config.context_window = context_window;
        if let Some(policy) = &mut self.config.budget {
            policy.model = Some(model.to_string());
        }
    }

    /// Takes in a message: of the user, of a tool, or the model's answer, for which a request goes out first.
    pub fn step(
        &self,
        session: &mut GatewaySession,
        message: Message,
        now: LocalTime,
        summarizer: &dyn Summarizer,
    ) -> Step {
        let mut step = Step::default();
        if message.role == Role::Assistant {
            self.before_request(session, now, summarizer, &mut step);
        }
        self.arrived(session, message, now, &mut step);
        step
    }

    /// The agent calls one of the gateway's own tools: `compact` compacts at once, `session_status` tells how full the
    /// context is. The answer is a message of the tool.
    pub fn tool_call(
        &self,
        session: &mut GatewaySession,
        tool: &str,
        id: String,
        now: LocalTime,
        summarizer: &dyn Summarizer,
    ) -> Result<Step, String> {
        let mut step = Step::default();
        let (text, failed) = match tool {
            COMPACT => {
                let done = self.compact(session, Reason::Manual, now, summarizer);
                let answer = told(&done);
                let failed = done.summary.is_none();
                step.compactions.push(done);
                (answer, failed)
            }
            SESSION_STATUS => match self.plugin.status(&self.services, &session.session).result {
                Ok(report) => (report.line, false),
                Err(error) => (format!("unknown: {error}"), true),
            },
            other => return Err(format!("no tool {other:?}; the gateway's own are {COMPACT}, {SESSION_STATUS}")),
        };
        let answer =
            Message { id, role: Role::Tool, text, tool: Some(tool.to_string()), failed, at: Some(now.unix_ms) };
        self.arrived(session, answer, now, &mut step);
        Ok(step)
    }

    /// Pre-execution: a due compaction, and the one that the provider forces by refusing.
    fn before_request(
        &self,
        session: &mut GatewaySession,
        now: LocalTime,
        summarizer: &dyn Summarizer,
        step: &mut Step,
    ) {
        let Some(policy) = &self.config.budget else { return };
        if std::mem::take(&mut session.compaction_due) && policy.proactive {
            step.compactions.push(self.compact(session, Reason::Threshold, now, summarizer));
        }
        if session.tokens() > self.config.effective_limit() {
            step.compactions.push(self.compact(session, Reason::Overflow, now, summarizer));
        }
        let (used, limit) = (session.tokens(), self.config.effective_limit());
        if used > limit {
            step.refused = true;
            step.failures.push(format!("the request was refused: {used} tokens, the limit is {limit}"));
        }
    }

    /// Post-execution: the message is in the context, the plugin hears of it, and what it asks for is done.
    fn arrived(&self, session: &mut GatewaySession, message: Message, now: LocalTime, step: &mut Step) {
        let prompt = session.tokens();
        session.prompts += u32::from(message.role == Role::User);
        session.push(message.clone());
        let Some(event) = self.usage_event(session, message, prompt, now) else { return };
        let hook = self.awaited(self.job(event), |plugin, services, event| plugin.usage(services, event));
        step.failures.extend(hook.failures("usage"));
        let Hook::Fired(call) = hook else {
            // It may or may not have been counted: the next event carries everything again.
            session.counted_by_plugin = false;
            return;
        };
        step.usage = call.result.ok();
        session.counted_by_plugin = step.usage.as_ref().is_some_and(|usage| usage.status.used.is_some());
        let Some(usage) = &step.usage else { return };
        let proactive = self.config.budget.as_ref().is_some_and(|policy| policy.proactive);
        session.compaction_due |= usage.action >= Some(Action::Compact);
        // The compaction writes a checkpoint itself, before anything is pruned.
        if let Some(trigger) = usage.checkpoint_due.filter(|_| !(session.compaction_due && proactive)) {
            let hook = self.write_checkpoint(session, now, trigger, None);
            step.failures.extend(hook.failures("checkpoint"));
            step.checkpoint = Some(hook);
            step.prose = self.write_prose(session, now, trigger, &mut step.failures);
        }
    }

    /// What the plugin is told of the message that has just arrived; `prompt` is the context before it.
    fn usage_event(
        &self,
        session: &mut GatewaySession,
        message: Message,
        prompt: u64,
        now: LocalTime,
    ) -> Option<UsageEvent> {
        let policy = self.config.budget.as_ref()?;
        let mut event = UsageEvent {
            session: session.session.clone(),
            now,
            model: policy.model.clone(),
            context_window: Some(self.config.context_window),
            reserve_tokens: Some(self.config.reserve),
            exchange_count: Some(session.prompts),
            ..Default::default()
        };
        let answer = session.tokens().saturating_sub(prompt);
        if message.role == Role::Assistant {
            event.usage = provider_usage(policy.provider, prompt, session.cached, answer);
            session.cached = prompt;
        }
        match event.usage {
            Some(_) => {}
            None if session.counted_by_plugin => event.added = vec![message],
            None => event.messages = session.messages.clone(),
        }
        Some(event)
    }

    /// The plugin's plan for the session; a failure is told, and the gateway's own rule serves.
    pub(super) fn ask_plan(
        &self,
        session: &GatewaySession,
        now: LocalTime,
        reason: Reason,
        failures: &mut Vec<String>,
    ) -> Option<Plan> {
        let request = PlanRequest {
            session: session.session.clone(),
            now,
            messages: session.messages.clone(),
            manual: reason == Reason::Manual,
        };
        let hook = self.awaited(self.job(request), |plugin, services, request| plugin.plan(services, request));
        failures.extend(hook.failures("plan"));
        match hook {
            Hook::Fired(call) => call.result.ok(),
            _ => None,
        }
    }

    fn write_checkpoint(
        &self,
        session: &GatewaySession,
        now: LocalTime,
        trigger: Trigger,
        prose: Option<String>,
    ) -> Hook<CheckpointOutcome> {
        let request = CheckpointRequest {
            session: session.session.clone(),
            now,
            trigger,
            message_count: u32::try_from(session.messages.len()).ok(),
            token_count: Some(session.tokens()),
            context_window: Some(self.config.context_window),
            messages: session.messages.clone(),
            prose,
        };
        self.awaited(self.job(request), |plugin, services, request| plugin.checkpoint(services, request))
    }

    /// Asks the endpoint, where there is one, for prose, and writes the checkpoint again with it. The one that was made
    /// by rule stands already; it stays where the endpoint fails or takes too long.
    pub(super) fn write_prose(
        &self,
        session: &GatewaySession,
        now: LocalTime,
        trigger: Trigger,
        failures: &mut Vec<String>,
    ) -> Option<Hook<CheckpointOutcome>> {
        let endpoint = self.prose_writer.as_ref()?;
        let prose = endpoint.prose(&session.messages).and_then(|prose| {
            let empty = prose.trim().is_empty();
            if empty { Err("the answer is empty".to_string()) } else { Ok(prose) }
        });
        match prose {
            Ok(prose) => {
                let hook = self.write_checkpoint(session, now, trigger, Some(prose));
                failures.extend(hook.failures("checkpoint"));
                Some(hook)
            }
            Err(why) => {
                failures.push(format!("no prose for the checkpoint, the one made by rule stands: {why}"));
                None
            }
        }
    }
}

/// What a provider would report. The start of the prompt comes from its cache, as far as the last request went.
fn provider_usage(report: ProviderReport, prompt: u64, cached: u64, output: u64) -> Option<ProviderUsage> {
    let cache_read = cached.min(prompt);
    match report {
        ProviderReport::Nothing => None,
        ProviderReport::CacheIncluded => {
            Some(ProviderUsage { input: prompt, output, cache_read, cache_write: 0, input_includes_cache: true })
        }
        ProviderReport::CacheApart => {
            let fresh = prompt - cache_read;
            // What is new is put into the cache, but for the last token.
            let input = fresh.min(1);
            let cache_write = fresh - input;
            Some(ProviderUsage { input, output, cache_read, cache_write, input_includes_cache: false })
        }
    }
}

/// The answer of the tool `compact`.
fn told(done: &Compaction) -> String {
    match &done.summary {
        None => format!("nothing was compacted: {}", done.failures.join("; ")),
        Some(_) if done.dropped == 0 => "nothing was compacted: every message is protected".to_string(),
        Some(_) => {
            let (before, after) = (done.tokens_before, done.tokens_after);
            format!("compacted: {} messages are gone, {} stay, {before} → {after} tokens", done.dropped, done.retained)
        }
    }
}
