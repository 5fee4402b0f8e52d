//! The generated bindings, and the mapping between them and the plain types of the core.
//!
//! What goes in is borrowed (a conversation can have megabytes), what comes out is owned.

use compact_review::budget::event as budget;
use compact_review::event::{
    AfterCompaction, BeforeCompaction, CheckpointRequest, LocalTime, Message, Reason, Role, Session, SessionStart,
    Trigger,
};
use compact_review::host::{HostError, LogLevel, Retention};
use compact_review::{config, map_cases, map_record, map_variants, report};

#[allow(missing_docs, unsafe_code)]
mod generated {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(super) use generated::compact_review::plugin::host;
pub(super) use generated::compact_review::plugin::types as wit;
pub(super) use generated::{Plugin, PluginPre};

pub(super) fn session(session: &Session) -> wit::Session<'_> {
    wit::Session {
        session_key: &session.session_key,
        session_id: session.session_id.as_deref(),
        agent_id: session.agent_id.as_deref(),
        session_file: session.session_file.as_deref(),
        workspace_dir: session.workspace_dir.as_deref(),
    }
}

pub(super) fn local_time(time: LocalTime) -> wit::LocalTime {
    wit::LocalTime { unix_ms: time.unix_ms, utc_offset_minutes: time.utc_offset_minutes }
}

fn message(message: &Message) -> wit::Message<'_> {
    wit::Message {
        id: &message.id,
        role: message.role.into(),
        text: &message.text,
        tool: message.tool.as_deref(),
        failed: message.failed,
        at: message.at,
    }
}

/// Messages, borrowed: the events below need them to stand somewhere.
pub(super) fn messages(messages: &[Message]) -> Vec<wit::Message<'_>> {
    messages.iter().map(message).collect()
}

/// Texts, borrowed, for the same reason.
pub(super) fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

pub(super) fn before_compaction<'a>(
    event: &'a BeforeCompaction,
    messages: &'a [wit::Message<'a>],
) -> wit::BeforeCompactionEvent<'a> {
    wit::BeforeCompactionEvent {
        session: session(&event.session),
        reason: event.reason.into(),
        now: local_time(event.now),
        message_count: event.message_count,
        message_count_limited: event.message_count_limited,
        token_count: event.token_count,
        context_window: event.context_window,
        messages,
    }
}

pub(super) fn after_compaction<'a>(
    event: &'a AfterCompaction,
    kept_ids: Option<&'a [&'a str]>,
) -> wit::AfterCompactionEvent<'a> {
    wit::AfterCompactionEvent {
        session: session(&event.session),
        now: local_time(event.now),
        compaction_id: event.compaction_id.as_deref(),
        messages_retained: event.messages_retained,
        messages_dropped: event.messages_dropped,
        summary_text: event.summary_text.as_deref(),
        summary_tokens: event.summary_tokens,
        tokens_before: event.tokens_before,
        tokens_after: event.tokens_after,
        first_kept_entry_id: event.first_kept_entry_id.as_deref(),
        kept_message_ids: kept_ids,
    }
}

pub(super) fn checkpoint<'a>(
    request: &'a CheckpointRequest,
    messages: &'a [wit::Message<'a>],
) -> wit::CheckpointEvent<'a> {
    wit::CheckpointEvent {
        session: session(&request.session),
        now: local_time(request.now),
        trigger: request.trigger.into(),
        message_count: request.message_count,
        token_count: request.token_count,
        context_window: request.context_window,
        messages,
        prose: request.prose.as_deref(),
    }
}

pub(super) fn session_start<'a>(event: &'a SessionStart, message_ids: &'a [&'a str]) -> wit::SessionStartEvent<'a> {
    wit::SessionStartEvent {
        session: session(&event.session),
        now: local_time(event.now),
        message_count: event.message_count,
        message_ids,
    }
}

pub(super) fn usage<'a>(
    event: &'a budget::UsageEvent,
    messages: &'a [wit::Message<'a>],
    added: &'a [wit::Message<'a>],
) -> wit::UsageEvent<'a> {
    wit::UsageEvent {
        session: session(&event.session),
        now: local_time(event.now),
        model: event.model.as_deref(),
        context_window: event.context_window,
        reserve_tokens: event.reserve_tokens,
        usage: event.usage.map(Into::into),
        exchange_count: event.exchange_count,
        messages,
        added,
    }
}

pub(super) fn plan<'a>(request: &'a budget::PlanRequest, messages: &'a [wit::Message<'a>]) -> wit::PlanRequest<'a> {
    wit::PlanRequest {
        session: session(&request.session),
        now: local_time(request.now),
        messages,
        manual: request.manual,
    }
}

// What goes in.
map_cases!(Role => wit::Role { System, User, Assistant, Tool });
map_cases!(Reason => wit::CompactionReason { Overflow, Threshold, Manual, Unknown });
map_cases!(Trigger => wit::CheckpointTrigger { Manual, Interval, Exchanges, Threshold, Reset });
map_record!(budget::ProviderUsage => wit::ProviderUsage { input, output, cache_read, cache_write, input_includes_cache });
map_variants!(HostError => wit::HostError { Denied, Full, TooLarge, Failed });

// What comes out.
map_variants!(wit::HookError => report::HookError { InvalidEvent, InvalidSettings, Storage });
map_cases!(host::LogLevel => LogLevel { Debug, Info, Warn, Error });
map_record!(host::Retention => Retention { count, bytes });
map_cases!(wit::Role => Role { System, User, Assistant, Tool });
map_cases!(wit::SignalKind => report::Kind {
    Constraint, Decision, Task, Infrastructure, Error, Question, State, Number
});
map_cases!(wit::SignalStatus => report::Status { Preserved, Altered, Dropped, Superseded });
map_cases!(wit::Verdict => report::Verdict { Faithful, Lossy, Failed, Unverifiable });
map_record!(wit::Finding => report::Finding {
    id, kind, text, values, message_id, role, at, salience, status, summary_says, why
});
map_record!(wit::CategoryScore => report::Category { category, score, preserved, altered, dropped });
map_record!(wit::Invention => report::Invention { text, summary_says });
map_cases!(wit::AlertLevel => report::AlertLevel { Info, Warning, Critical });
map_record!(wit::Alert => report::Alert { level, code, text });
map_record!(wit::RecoveryText => report::Recovery { text, tokens });
map_cases!(wit::WriteTarget => report::WriteTarget { Checkpoint, DailyNote });
map_record!(wit::WriteOutcome => report::WriteOutcome { target, place, error, text });
map_record!(wit::CheckpointOutcome => report::CheckpointOutcome { signals, problems, notices; lists writes });
map_record!(wit::AuditReport => report::Report {
    score, verdict, verdict_reason, summary_tokens, problems, notices;
    lists categories, lost, invented, alerts, writes; options recovery
});
map_record!(wit::SessionStartOutcome => report::SessionStartOutcome {
    truncation, notices; lists alerts; options recovery
});
map_cases!(wit::BudgetSource => budget::Source { Provider, Mixed, Counted, Estimate, Unknown });
map_record!(wit::BudgetStatus => budget::BudgetStatus { used, budget, remaining, pct, source, compactions });
map_record!(wit::StatusReport => budget::StatusReport { status, line, token_state });
map_cases!(wit::BudgetAction => config::Action { Warn, Checkpoint, Compact, Force });
map_record!(wit::Crossing => budget::Crossing { threshold_pct, action, paused });
map_cases!(wit::CheckpointTrigger => Trigger { Manual, Interval, Exchanges, Threshold, Reset });
map_record!(wit::UsageOutcome => budget::UsageOutcome {
    status, injection, notices; lists crossings, alerts; options action, checkpoint_due
});
map_cases!(wit::PlanStrategy => config::Strategy { Summarize, Truncate, Discard });
map_cases!(wit::PlanChoice => budget::Choice { Keep, Summarize, Drop });
map_record!(wit::PlanRow => budget::PlanRow { message_id, choice, why, tokens });
map_record!(wit::CompactionPlan => budget::Plan {
    due, strategy, summary_prefix, tokens_kept, tokens_summarized, tokens_dropped, source, instructions, facts_left_out;
    lists rows
});
