//! The component's edge: generated WIT bindings on one side, the plain types of this crate on the other.
//!
//! Only mapping happens here. A panic is logged through the host with its place before the instance traps.

#![allow(unsafe_code, missing_docs)]

use crate::budget::event as budget;
use crate::config;
use crate::event::{
    AfterCompaction, BeforeCompaction, CheckpointRequest, LocalTime, Message, Reason, Role, Session, SessionStart,
    Trigger,
};
use crate::host::{Host, HostError, LogLevel, NoteEntry, NotePlace, Retention};
use crate::{hooks, map_cases, map_record, map_variants, report};

wit_bindgen::generate!({ path: "wit", world: "plugin" });

use compact_review::plugin::{host as imports, types as wit};
use exports::compact_review::plugin::hooks as exported;

struct Component;

export!(Component);

impl exported::Guest for Component {
    fn configure(settings: String) -> Result<String, wit::HookError> {
        log_panics();
        Ok(hooks::configure(&settings)?)
    }

    fn before_compaction(event: wit::BeforeCompactionEvent) -> Result<wit::CheckpointOutcome, wit::HookError> {
        log_panics();
        Ok(hooks::before_compaction(&mut Imports, &event.into())?.into())
    }

    fn after_compaction(event: wit::AfterCompactionEvent) -> Result<wit::AuditReport, wit::HookError> {
        log_panics();
        Ok(hooks::after_compaction(&mut Imports, &event.into())?.into())
    }

    fn before_prompt(session: wit::Session, now: wit::LocalTime) -> Result<Option<wit::RecoveryText>, wit::HookError> {
        log_panics();
        Ok(hooks::before_prompt(&mut Imports, &session.into(), now.into())?.map(Into::into))
    }

    fn checkpoint(event: wit::CheckpointEvent) -> Result<wit::CheckpointOutcome, wit::HookError> {
        log_panics();
        Ok(hooks::checkpoint(&mut Imports, &event.into())?.into())
    }

    fn session_start(event: wit::SessionStartEvent) -> Result<wit::SessionStartOutcome, wit::HookError> {
        log_panics();
        Ok(hooks::session_start(&mut Imports, &event.into())?.into())
    }

    fn usage(event: wit::UsageEvent) -> Result<wit::UsageOutcome, wit::HookError> {
        log_panics();
        Ok(hooks::usage(&mut Imports, &event.into())?.into())
    }

    fn status(session: wit::Session) -> Result<wit::StatusReport, wit::HookError> {
        log_panics();
        Ok(hooks::status(&mut Imports, &session.into())?.into())
    }

    fn plan(request: wit::PlanRequest) -> Result<wit::CompactionPlan, wit::HookError> {
        log_panics();
        Ok(hooks::plan(&mut Imports, &request.into())?.into())
    }
}

fn log_panics() {
    std::panic::set_hook(Box::new(|panic| imports::log(imports::LogLevel::Error, &panic.to_string())));
}

/// The host, as the component sees it.
struct Imports;

impl Host for Imports {
    fn log(&mut self, level: LogLevel, message: &str) {
        imports::log(level.into(), message);
    }

    fn alert(&mut self, alert: &report::Alert) {
        imports::raise_alert(&alert.clone().into());
    }

    fn settings(&mut self) -> Option<String> {
        imports::settings()
    }

    fn count_tokens(&mut self, texts: &[&str]) -> Option<Vec<u32>> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_string()).collect();
        imports::count_tokens(&texts)
    }

    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError> {
        Ok(imports::load_state(session_key, slot)?)
    }

    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError> {
        Ok(imports::save_state(session_key, slot, bytes)?)
    }

    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError> {
        Ok(imports::clear_state(session_key, slot)?)
    }

    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError> {
        Ok(imports::read_checkpoint(session_key)?)
    }

    fn write_checkpoint(&mut self, session_key: &str, text: &str, keep: Retention) -> Result<String, HostError> {
        Ok(imports::write_checkpoint(session_key, text, keep.into())?)
    }

    fn read_note(&mut self, session_key: &str, date: &str) -> Result<Option<String>, HostError> {
        Ok(imports::read_note(session_key, date)?)
    }

    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError> {
        let place = imports::append_note(&imports::NoteEntry {
            session_key: entry.session_key.clone(),
            date: entry.date.clone(),
            entry_id: entry.entry_id.clone(),
            text: entry.text.clone(),
        })?;
        Ok(NotePlace { place: place.place, already_there: place.already_there })
    }
}

// What comes in.
map_variants!(wit::HostError => HostError { Denied, Full, TooLarge, Failed });
map_record!(wit::Session => Session { session_key, session_id, agent_id, session_file, workspace_dir });
map_record!(wit::LocalTime => LocalTime { unix_ms, utc_offset_minutes });
map_cases!(wit::Role => Role { System, User, Assistant, Tool });
map_record!(wit::Message => Message { id, role, text, tool, failed, at });
map_cases!(wit::CompactionReason => Reason { Overflow, Threshold, Manual, Unknown });
map_record!(wit::BeforeCompactionEvent => BeforeCompaction {
    session, reason, now, message_count, message_count_limited, token_count, context_window; lists messages
});
map_record!(wit::AfterCompactionEvent => AfterCompaction {
    session, now, compaction_id, messages_retained, messages_dropped, summary_text, summary_tokens, tokens_before,
    tokens_after, first_kept_entry_id, kept_message_ids
});
map_cases!(wit::CheckpointTrigger => Trigger { Manual, Interval, Exchanges, Threshold, Reset });
map_record!(wit::CheckpointEvent => CheckpointRequest {
    session, now, trigger, message_count, token_count, context_window, prose; lists messages
});
map_record!(wit::SessionStartEvent => SessionStart { session, now, message_count, message_ids });
map_record!(wit::ProviderUsage => budget::ProviderUsage { input, output, cache_read, cache_write, input_includes_cache });
map_record!(wit::UsageEvent => budget::UsageEvent {
    session, now, model, context_window, reserve_tokens, exchange_count; lists messages, added; options usage
});
map_record!(wit::PlanRequest => budget::PlanRequest { session, now, manual; lists messages });

// What goes out.
map_cases!(LogLevel => imports::LogLevel { Debug, Info, Warn, Error });
map_record!(Retention => imports::Retention { count, bytes });
map_variants!(report::HookError => wit::HookError { InvalidEvent, InvalidSettings, Storage });
map_cases!(Role => wit::Role { System, User, Assistant, Tool });
map_cases!(report::Kind => wit::SignalKind {
    Constraint, Decision, Task, Infrastructure, Error, Question, State, Number
});
map_cases!(report::Status => wit::SignalStatus { Preserved, Altered, Dropped, Superseded });
map_cases!(report::Verdict => wit::Verdict { Faithful, Lossy, Failed, Unverifiable });
map_record!(report::Finding => wit::Finding {
    id, kind, text, values, message_id, role, at, salience, status, summary_says, why
});
map_record!(report::Category => wit::CategoryScore { category, score, preserved, altered, dropped });
map_record!(report::Invention => wit::Invention { text, summary_says });
map_cases!(report::AlertLevel => wit::AlertLevel { Info, Warning, Critical });
map_record!(report::Alert => wit::Alert { level, code, text });
map_record!(report::Recovery => wit::RecoveryText { text, tokens });
map_cases!(report::WriteTarget => wit::WriteTarget { Checkpoint, DailyNote });
map_record!(report::WriteOutcome => wit::WriteOutcome { target, place, error, text });
map_record!(report::CheckpointOutcome => wit::CheckpointOutcome { signals, problems, notices; lists writes });
map_record!(report::Report => wit::AuditReport {
    score, verdict, verdict_reason, summary_tokens, problems, notices;
    lists categories, lost, invented, alerts, writes; options recovery
});
map_record!(report::SessionStartOutcome => wit::SessionStartOutcome {
    truncation, notices; lists alerts; options recovery
});
map_cases!(budget::Source => wit::BudgetSource { Provider, Mixed, Counted, Estimate, Unknown });
map_record!(budget::BudgetStatus => wit::BudgetStatus { used, budget, remaining, pct, source, compactions });
map_record!(budget::StatusReport => wit::StatusReport { status, line, token_state });
map_cases!(config::Action => wit::BudgetAction { Warn, Checkpoint, Compact, Force });
map_record!(budget::Crossing => wit::Crossing { threshold_pct, action, paused });
map_cases!(Trigger => wit::CheckpointTrigger { Manual, Interval, Exchanges, Threshold, Reset });
map_record!(budget::UsageOutcome => wit::UsageOutcome {
    status, injection, notices; lists crossings, alerts; options action, checkpoint_due
});
map_cases!(config::Strategy => wit::PlanStrategy { Summarize, Truncate, Discard });
map_cases!(budget::Choice => wit::PlanChoice { Keep, Summarize, Drop });
map_record!(budget::PlanRow => wit::PlanRow { message_id, choice, why, tokens });
map_record!(budget::Plan => wit::CompactionPlan {
    due, strategy, summary_prefix, tokens_kept, tokens_summarized, tokens_dropped, source, instructions, facts_left_out;
    lists rows
});
