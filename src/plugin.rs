//! The component's edge: generated WIT bindings on one side, the plain types of this crate on the other.
//!
//! Only mapping happens here. A panic is logged through the host with its place before the instance traps.

#![allow(unsafe_code, missing_docs)]

use crate::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use crate::host::{Host, HostError, LogLevel, NoteEntry, NotePlace};
use crate::{hooks, report};

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

    fn before_compaction(event: wit::BeforeCompactionEvent) -> Result<wit::BeforeCompactionOutcome, wit::HookError> {
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
}

fn log_panics() {
    std::panic::set_hook(Box::new(|panic| imports::log(imports::LogLevel::Error, &panic.to_string())));
}

/// The host, as the component sees it.
struct Imports;

impl Host for Imports {
    fn log(&mut self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => imports::LogLevel::Debug,
            LogLevel::Info => imports::LogLevel::Info,
            LogLevel::Warn => imports::LogLevel::Warn,
            LogLevel::Error => imports::LogLevel::Error,
        };
        imports::log(level, message);
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

    fn write_checkpoint(&mut self, session_key: &str, text: &str) -> Result<String, HostError> {
        Ok(imports::write_checkpoint(session_key, text)?)
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

impl From<wit::HostError> for HostError {
    fn from(error: wit::HostError) -> Self {
        match error {
            wit::HostError::Denied(why) => HostError::Denied(why),
            wit::HostError::Full(why) => HostError::Full(why),
            wit::HostError::TooLarge(why) => HostError::TooLarge(why),
            wit::HostError::Failed(why) => HostError::Failed(why),
        }
    }
}

impl From<report::HookError> for wit::HookError {
    fn from(error: report::HookError) -> Self {
        match error {
            report::HookError::InvalidEvent(why) => wit::HookError::InvalidEvent(why),
            report::HookError::InvalidSettings(why) => wit::HookError::InvalidSettings(why),
            report::HookError::Storage(why) => wit::HookError::Storage(why),
        }
    }
}

impl From<wit::Session> for Session {
    fn from(session: wit::Session) -> Self {
        Session {
            session_key: session.session_key,
            session_id: session.session_id,
            agent_id: session.agent_id,
            session_file: session.session_file,
            workspace_dir: session.workspace_dir,
        }
    }
}

impl From<wit::LocalTime> for LocalTime {
    fn from(time: wit::LocalTime) -> Self {
        LocalTime { unix_ms: time.unix_ms, utc_offset_minutes: time.utc_offset_minutes }
    }
}

impl From<wit::Role> for Role {
    fn from(role: wit::Role) -> Self {
        match role {
            wit::Role::System => Role::System,
            wit::Role::User => Role::User,
            wit::Role::Assistant => Role::Assistant,
            wit::Role::Tool => Role::Tool,
        }
    }
}

impl From<Role> for wit::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::System => wit::Role::System,
            Role::User => wit::Role::User,
            Role::Assistant => wit::Role::Assistant,
            Role::Tool => wit::Role::Tool,
        }
    }
}

impl From<wit::Message> for Message {
    fn from(message: wit::Message) -> Self {
        Message {
            id: message.id,
            role: message.role.into(),
            text: message.text,
            tool: message.tool,
            failed: message.failed,
            at: message.at,
        }
    }
}

impl From<wit::CompactionReason> for Reason {
    fn from(reason: wit::CompactionReason) -> Self {
        match reason {
            wit::CompactionReason::Overflow => Reason::Overflow,
            wit::CompactionReason::Threshold => Reason::Threshold,
            wit::CompactionReason::Manual => Reason::Manual,
            wit::CompactionReason::Unknown => Reason::Unknown,
        }
    }
}

impl From<wit::BeforeCompactionEvent> for BeforeCompaction {
    fn from(event: wit::BeforeCompactionEvent) -> Self {
        BeforeCompaction {
            session: event.session.into(),
            reason: event.reason.into(),
            now: event.now.into(),
            message_count: event.message_count,
            message_count_limited: event.message_count_limited,
            token_count: event.token_count,
            context_window: event.context_window,
            messages: event.messages.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wit::AfterCompactionEvent> for AfterCompaction {
    fn from(event: wit::AfterCompactionEvent) -> Self {
        AfterCompaction {
            session: event.session.into(),
            now: event.now.into(),
            compaction_id: event.compaction_id,
            messages_retained: event.messages_retained,
            messages_dropped: event.messages_dropped,
            summary_text: event.summary_text,
            summary_tokens: event.summary_tokens,
            tokens_before: event.tokens_before,
            tokens_after: event.tokens_after,
            first_kept_entry_id: event.first_kept_entry_id,
            kept_message_ids: event.kept_message_ids,
        }
    }
}

impl From<report::Kind> for wit::SignalKind {
    fn from(kind: report::Kind) -> Self {
        match kind {
            report::Kind::Constraint => wit::SignalKind::Constraint,
            report::Kind::Decision => wit::SignalKind::Decision,
            report::Kind::Task => wit::SignalKind::Task,
            report::Kind::Infrastructure => wit::SignalKind::Infrastructure,
            report::Kind::Error => wit::SignalKind::Error,
            report::Kind::Question => wit::SignalKind::Question,
            report::Kind::State => wit::SignalKind::State,
            report::Kind::Number => wit::SignalKind::Number,
        }
    }
}

impl From<report::Status> for wit::SignalStatus {
    fn from(status: report::Status) -> Self {
        match status {
            report::Status::Preserved => wit::SignalStatus::Preserved,
            report::Status::Altered => wit::SignalStatus::Altered,
            report::Status::Dropped => wit::SignalStatus::Dropped,
            report::Status::Superseded => wit::SignalStatus::Superseded,
        }
    }
}

impl From<report::Verdict> for wit::Verdict {
    fn from(verdict: report::Verdict) -> Self {
        match verdict {
            report::Verdict::Faithful => wit::Verdict::Faithful,
            report::Verdict::Lossy => wit::Verdict::Lossy,
            report::Verdict::Failed => wit::Verdict::Failed,
            report::Verdict::Unverifiable => wit::Verdict::Unverifiable,
        }
    }
}

impl From<report::Finding> for wit::Finding {
    fn from(finding: report::Finding) -> Self {
        wit::Finding {
            id: finding.id,
            kind: finding.kind.into(),
            text: finding.text,
            values: finding.values,
            message_id: finding.message_id,
            role: finding.role.into(),
            at: finding.at,
            salience: finding.salience,
            status: finding.status.into(),
            summary_says: finding.summary_says,
            why: finding.why,
        }
    }
}

impl From<report::Category> for wit::CategoryScore {
    fn from(category: report::Category) -> Self {
        wit::CategoryScore {
            category: category.category.into(),
            score: category.score,
            preserved: category.preserved,
            altered: category.altered,
            dropped: category.dropped,
        }
    }
}

impl From<report::Invention> for wit::Invention {
    fn from(invention: report::Invention) -> Self {
        wit::Invention { text: invention.text, summary_says: invention.summary_says }
    }
}

impl From<report::Alert> for wit::Alert {
    fn from(alert: report::Alert) -> Self {
        let level = match alert.level {
            report::AlertLevel::Info => wit::AlertLevel::Info,
            report::AlertLevel::Warning => wit::AlertLevel::Warning,
            report::AlertLevel::Critical => wit::AlertLevel::Critical,
        };
        wit::Alert { level, code: alert.code, text: alert.text }
    }
}

impl From<report::Recovery> for wit::RecoveryText {
    fn from(recovery: report::Recovery) -> Self {
        wit::RecoveryText { text: recovery.text, tokens: recovery.tokens }
    }
}

impl From<report::WriteOutcome> for wit::WriteOutcome {
    fn from(outcome: report::WriteOutcome) -> Self {
        let target = match outcome.target {
            report::WriteTarget::Checkpoint => wit::WriteTarget::Checkpoint,
            report::WriteTarget::DailyNote => wit::WriteTarget::DailyNote,
        };
        wit::WriteOutcome { target, place: outcome.place, error: outcome.error, text: outcome.text }
    }
}

impl From<report::BeforeOutcome> for wit::BeforeCompactionOutcome {
    fn from(outcome: report::BeforeOutcome) -> Self {
        wit::BeforeCompactionOutcome {
            signals: outcome.signals,
            writes: convert(outcome.writes),
            problems: outcome.problems,
            notices: outcome.notices,
        }
    }
}

impl From<report::Report> for wit::AuditReport {
    fn from(report: report::Report) -> Self {
        wit::AuditReport {
            score: report.score,
            verdict: report.verdict.into(),
            verdict_reason: report.verdict_reason,
            categories: convert(report.categories),
            lost: convert(report.lost),
            invented: convert(report.invented),
            alerts: convert(report.alerts),
            recovery: report.recovery.map(Into::into),
            summary_tokens: report.summary_tokens,
            writes: convert(report.writes),
            problems: report.problems,
            notices: report.notices,
        }
    }
}

fn convert<A, B: From<A>>(list: Vec<A>) -> Vec<B> {
    list.into_iter().map(Into::into).collect()
}
