//! The generated bindings, and the mapping between them and the plain types of the core.
//!
//! What goes in is borrowed (a conversation can have megabytes), what comes out is owned.

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use compact_review::host::{HostError, LogLevel};
use compact_review::report;

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
        role: match message.role {
            Role::System => wit::Role::System,
            Role::User => wit::Role::User,
            Role::Assistant => wit::Role::Assistant,
            Role::Tool => wit::Role::Tool,
        },
        text: &message.text,
        tool: message.tool.as_deref(),
        failed: message.failed,
        at: message.at,
    }
}

/// The messages of an event, borrowed: [`before_compaction`] needs them to stand somewhere.
pub(super) fn messages(event: &BeforeCompaction) -> Vec<wit::Message<'_>> {
    event.messages.iter().map(message).collect()
}

pub(super) fn before_compaction<'a>(
    event: &'a BeforeCompaction,
    messages: &'a [wit::Message<'a>],
) -> wit::BeforeCompactionEvent<'a> {
    wit::BeforeCompactionEvent {
        session: session(&event.session),
        reason: match event.reason {
            Reason::Overflow => wit::CompactionReason::Overflow,
            Reason::Threshold => wit::CompactionReason::Threshold,
            Reason::Manual => wit::CompactionReason::Manual,
            Reason::Unknown => wit::CompactionReason::Unknown,
        },
        now: local_time(event.now),
        message_count: event.message_count,
        message_count_limited: event.message_count_limited,
        token_count: event.token_count,
        context_window: event.context_window,
        messages,
    }
}

/// The ids of an event, borrowed: [`after_compaction`] needs them to stand somewhere.
pub(super) fn kept_ids(event: &AfterCompaction) -> Option<Vec<&str>> {
    event.kept_message_ids.as_ref().map(|ids| ids.iter().map(String::as_str).collect())
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

impl From<wit::HookError> for report::HookError {
    fn from(error: wit::HookError) -> Self {
        match error {
            wit::HookError::InvalidEvent(why) => report::HookError::InvalidEvent(why),
            wit::HookError::InvalidSettings(why) => report::HookError::InvalidSettings(why),
            wit::HookError::Storage(why) => report::HookError::Storage(why),
        }
    }
}

impl From<HostError> for wit::HostError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Denied(why) => wit::HostError::Denied(why),
            HostError::Full(why) => wit::HostError::Full(why),
            HostError::TooLarge(why) => wit::HostError::TooLarge(why),
            HostError::Failed(why) => wit::HostError::Failed(why),
        }
    }
}

impl From<host::LogLevel> for LogLevel {
    fn from(level: host::LogLevel) -> Self {
        match level {
            host::LogLevel::Debug => LogLevel::Debug,
            host::LogLevel::Info => LogLevel::Info,
            host::LogLevel::Warn => LogLevel::Warn,
            host::LogLevel::Error => LogLevel::Error,
        }
    }
}

impl From<wit::SignalKind> for report::Kind {
    fn from(kind: wit::SignalKind) -> Self {
        match kind {
            wit::SignalKind::Constraint => report::Kind::Constraint,
            wit::SignalKind::Decision => report::Kind::Decision,
            wit::SignalKind::Task => report::Kind::Task,
            wit::SignalKind::Infrastructure => report::Kind::Infrastructure,
            wit::SignalKind::Error => report::Kind::Error,
            wit::SignalKind::Question => report::Kind::Question,
            wit::SignalKind::State => report::Kind::State,
            wit::SignalKind::Number => report::Kind::Number,
        }
    }
}

impl From<wit::SignalStatus> for report::Status {
    fn from(status: wit::SignalStatus) -> Self {
        match status {
            wit::SignalStatus::Preserved => report::Status::Preserved,
            wit::SignalStatus::Altered => report::Status::Altered,
            wit::SignalStatus::Dropped => report::Status::Dropped,
            wit::SignalStatus::Superseded => report::Status::Superseded,
        }
    }
}

impl From<wit::Verdict> for report::Verdict {
    fn from(verdict: wit::Verdict) -> Self {
        match verdict {
            wit::Verdict::Faithful => report::Verdict::Faithful,
            wit::Verdict::Lossy => report::Verdict::Lossy,
            wit::Verdict::Failed => report::Verdict::Failed,
            wit::Verdict::Unverifiable => report::Verdict::Unverifiable,
        }
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

impl From<wit::Finding> for report::Finding {
    fn from(finding: wit::Finding) -> Self {
        report::Finding {
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

impl From<wit::CategoryScore> for report::Category {
    fn from(category: wit::CategoryScore) -> Self {
        report::Category {
            category: category.category.into(),
            score: category.score,
            preserved: category.preserved,
            altered: category.altered,
            dropped: category.dropped,
        }
    }
}

impl From<wit::Invention> for report::Invention {
    fn from(invention: wit::Invention) -> Self {
        report::Invention { text: invention.text, summary_says: invention.summary_says }
    }
}

impl From<wit::Alert> for report::Alert {
    fn from(alert: wit::Alert) -> Self {
        let level = match alert.level {
            wit::AlertLevel::Info => report::AlertLevel::Info,
            wit::AlertLevel::Warning => report::AlertLevel::Warning,
            wit::AlertLevel::Critical => report::AlertLevel::Critical,
        };
        report::Alert { level, code: alert.code, text: alert.text }
    }
}

impl From<wit::RecoveryText> for report::Recovery {
    fn from(recovery: wit::RecoveryText) -> Self {
        report::Recovery { text: recovery.text, tokens: recovery.tokens }
    }
}

impl From<wit::WriteOutcome> for report::WriteOutcome {
    fn from(outcome: wit::WriteOutcome) -> Self {
        let target = match outcome.target {
            wit::WriteTarget::Checkpoint => report::WriteTarget::Checkpoint,
            wit::WriteTarget::DailyNote => report::WriteTarget::DailyNote,
        };
        report::WriteOutcome { target, place: outcome.place, error: outcome.error, text: outcome.text }
    }
}

impl From<wit::BeforeCompactionOutcome> for report::BeforeOutcome {
    fn from(outcome: wit::BeforeCompactionOutcome) -> Self {
        report::BeforeOutcome {
            signals: outcome.signals,
            writes: convert(outcome.writes),
            problems: outcome.problems,
            notices: outcome.notices,
        }
    }
}

impl From<wit::AuditReport> for report::Report {
    fn from(report: wit::AuditReport) -> Self {
        report::Report {
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
