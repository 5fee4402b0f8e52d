//! What each hook does, step by step, through which imports. The judgement is elsewhere; here is the order.

use crate::audit;
use crate::checkpoint;
use crate::config::Settings;
use crate::event::{AfterCompaction, BeforeCompaction, LocalTime, Session};
use crate::host::{Host, HostError, LogLevel, slot};
use crate::report::{BeforeOutcome, HookError, Recovery, Report, WriteOutcome, WriteTarget};
use crate::signal::{self, Ledger};

/// Checks settings; gives the effective ones as JSON.
pub fn configure(settings: &str) -> Result<String, HookError> {
    Settings::parse(Some(settings)).map(|settings| settings.to_json())
}

/// Before anything is pruned: finds the signals, saves the ledger, writes the checkpoint.
pub fn before_compaction(host: &mut dyn Host, event: &BeforeCompaction) -> Result<BeforeOutcome, HookError> {
    check_session(&event.session)?;
    let settings = load_settings(host)?;
    let ledger = signal::survey(event, &settings);
    let mut outcome = BeforeOutcome { signals: ledger.len() as u32, notices: ledger.notices(), ..Default::default() };

    // The checkpoint first: if anything fails after it, a person can still read what was going on.
    if let Some(text) = checkpoint::active(&ledger, event) {
        let written = host.write_checkpoint(&event.session.session_key, &text);
        outcome.writes.push(write_outcome(host, &mut outcome.problems, WriteTarget::Checkpoint, text, written));
    }
    let saved = host.save_state(&event.session.session_key, slot::SIGNALS, &ledger.to_bytes());
    keep_or_tell(host, &mut outcome.problems, "the ledger was not saved, the audit will be unverifiable", saved);
    Ok(outcome)
}

/// After the summary stands: audits it, appends to the daily note, raises alerts, keeps the recovery text.
pub fn after_compaction(host: &mut dyn Host, event: &AfterCompaction) -> Result<Report, HookError> {
    check_session(&event.session)?;
    let settings = load_settings(host)?;
    let key = &event.session.session_key;
    let saved = host
        .load_state(key, slot::SIGNALS)
        .map_err(|error| HookError::Storage(format!("the ledger was not loaded: {error}")))?;
    let ledger = match saved {
        None => None,
        Some(bytes) => match Ledger::from_bytes(&bytes) {
            Ok(ledger) => Some(ledger),
            Err(why) => {
                host.log(LogLevel::Error, &format!("the ledger of {key} is not readable: {why}"));
                None
            }
        },
    };

    let mut report = audit::review(host, ledger.as_ref(), event, &settings);
    for alert in &report.alerts {
        host.alert(alert);
    }
    if settings.notes.enabled
        && let Some(entry) = checkpoint::note_entry(&report, ledger.as_ref(), event, &settings)
    {
        let written = host.append_note(&entry).map(|place| place.place);
        report.writes.push(write_outcome(host, &mut report.problems, WriteTarget::DailyNote, entry.text, written));
    }
    if settings.recovery.enabled
        && let Some(recovery) = &report.recovery
    {
        let saved = host.save_state(key, slot::RECOVERY, recovery.text.as_bytes());
        keep_or_tell(host, &mut report.problems, "the recovery text was not kept for the next prompt", saved);
    }
    // A ledger serves one compaction: a second one 50 ms later must not be judged by what the first replaced.
    if ledger.is_some() && event.messages_dropped != Some(0) {
        let cleared = host.clear_state(key, slot::SIGNALS);
        keep_or_tell(host, &mut report.problems, "the ledger was not cleared", cleared);
    }
    Ok(report)
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

fn check_session(session: &Session) -> Result<(), HookError> {
    if session.session_key.trim().is_empty() {
        return Err(HookError::InvalidEvent("sessionKey is empty; state is kept by it".to_string()));
    }
    Ok(())
}

fn load_settings(host: &mut dyn Host) -> Result<Settings, HookError> {
    let json = host.settings();
    Settings::parse(json.as_deref())
}

fn write_outcome(
    host: &mut dyn Host,
    problems: &mut Vec<String>,
    target: WriteTarget,
    text: String,
    written: Result<String, HostError>,
) -> WriteOutcome {
    match written {
        Ok(place) => WriteOutcome { target, place: Some(place), error: None, text },
        Err(error) => {
            keep_or_tell(host, problems, &format!("the {} was not written", target.name()), Err(error.clone()));
            WriteOutcome { target, place: None, error: Some(error.to_string()), text }
        }
    }
}

fn keep_or_tell(host: &mut dyn Host, problems: &mut Vec<String>, what: &str, done: Result<(), HostError>) {
    if let Err(error) = done {
        let problem = format!("{what}: {error}");
        host.log(LogLevel::Error, &problem);
        problems.push(problem);
    }
}
