//! Between two compactions: a checkpoint on demand, the start of a session, the recovery text for the next prompt.

use super::{check_session, load_settings, write_checkpoint};
use crate::audit;
use crate::checkpoint::{self as notes, History};
use crate::event::{BeforeCompaction, CheckpointRequest, LocalTime, Reason, Session, SessionStart, Trigger};
use crate::host::{Host, HostError, slot};
use crate::report::{Alert, AlertLevel, CheckpointOutcome, HookError, Recovery, SessionStartOutcome};
use crate::signal;

/// Writes a checkpoint outside a compaction. The ledger of a compaction under way is left alone.
pub fn checkpoint(host: &mut dyn Host, request: &CheckpointRequest) -> Result<CheckpointOutcome, HookError> {
    check_session(&request.session)?;
    let settings = load_settings(host)?;
    let event = BeforeCompaction {
        session: request.session.clone(),
        reason: if request.trigger == Trigger::Threshold { Reason::Threshold } else { Reason::Manual },
        now: request.now,
        message_count: request.message_count,
        message_count_limited: None,
        token_count: request.token_count,
        context_window: request.context_window,
        messages: request.messages.clone(),
    };
    let ledger = signal::survey(&event, &settings);
    let mut outcome =
        CheckpointOutcome { signals: ledger.len() as u32, notices: ledger.notices(), ..Default::default() };
    write_checkpoint(host, &settings, &ledger, &event, request.prose.as_deref(), &mut outcome);
    Ok(outcome)
}

/// A conversation begins or goes on: what the last compaction lost, once, and whether messages are gone.
pub fn session_start(host: &mut dyn Host, event: &SessionStart) -> Result<SessionStartOutcome, HookError> {
    check_session(&event.session)?;
    let mut outcome = SessionStartOutcome { truncation: truncation(host, event)?, ..Default::default() };
    if let Some(sign) = &outcome.truncation {
        let alert = Alert { level: AlertLevel::Critical, code: "silent-truncation".to_string(), text: sign.clone() };
        host.alert(&alert);
        outcome.alerts.push(alert);
    }
    outcome.recovery = before_prompt(host, &event.session, event.now)?;
    Ok(outcome)
}

fn truncation(host: &mut dyn Host, event: &SessionStart) -> Result<Option<String>, HookError> {
    let storage = |error: HostError| HookError::Storage(format!("the checkpoint was not read: {error}"));
    let Some(message_count) = event.message_count else { return Ok(None) };
    let Some(text) = host.read_checkpoint(&event.session.session_key).map_err(storage)? else { return Ok(None) };
    let Some(header) = notes::parse(&text) else { return Ok(None) };
    let ids: Vec<&str> = event.message_ids.iter().map(String::as_str).collect();
    let history = History {
        session_key: &event.session.session_key,
        session_id: event.session.session_id.as_deref(),
        message_count,
        message_ids: &ids,
    };
    Ok(notes::truncation(&header, &history).map(|sign| sign.to_string()))
}

/// Before a prompt is sent: the recovery text of the last compaction, once.
pub fn before_prompt(host: &mut dyn Host, session: &Session, _now: LocalTime) -> Result<Option<Recovery>, HookError> {
    check_session(session)?;
    let settings = load_settings(host)?;
    if !settings.recovery.enabled {
        return Ok(None);
    }
    let storage = |error: HostError| HookError::Storage(format!("the recovery text: {error}"));
    let Some(bytes) = host.load_state(&session.session_key, slot::RECOVERY).map_err(storage)? else {
        return Ok(None);
    };
    // Cleared before it is handed out: at most once, even if the gateway dies in between.
    host.clear_state(&session.session_key, slot::RECOVERY).map_err(storage)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| HookError::Storage("the recovery text is not UTF-8; it was dropped".to_string()))?;
    let tokens = audit::count_tokens(host, &text);
    Ok(Some(Recovery { text, tokens }))
}
