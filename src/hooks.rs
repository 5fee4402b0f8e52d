//! What each hook does, step by step, through which imports. The judgement is elsewhere; here is the order.
//!
//! Around a compaction: [`before_compaction`], [`after_compaction`], [`before_prompt`]. Between two:
//! [`checkpoint`](fn@checkpoint), [`session_start`], and the budget's [`usage`], [`status`] and [`plan`].

mod session;

pub use crate::budget::hooks::{plan, status, usage};
pub use session::{before_prompt, checkpoint, session_start};

use crate::audit;
use crate::budget::hooks as budget;
use crate::checkpoint as notes;
use crate::config::Settings;
use crate::event::{AfterCompaction, BeforeCompaction, Session};
use crate::host::{Host, HostError, LogLevel, slot};
use crate::report::{CheckpointOutcome, HookError, Report, WriteOutcome, WriteTarget};
use crate::signal::{self, Ledger};

/// Checks settings; gives the effective ones as JSON.
pub fn configure(settings: &str) -> Result<String, HookError> {
    Settings::parse(Some(settings)).map(|settings| settings.to_json())
}

/// Before anything is pruned: finds the signals, saves the ledger, writes the checkpoint.
pub fn before_compaction(host: &mut dyn Host, event: &BeforeCompaction) -> Result<CheckpointOutcome, HookError> {
    check_session(&event.session)?;
    let settings = load_settings(host)?;
    let ledger = signal::survey(event, &settings);
    let mut outcome =
        CheckpointOutcome { signals: ledger.len() as u32, notices: ledger.notices(), ..Default::default() };

    // The checkpoint first: if anything fails after it, a person can still read what was going on.
    write_checkpoint(host, &settings, &ledger, event, None, &mut outcome);
    let saved = host.save_state(&event.session.session_key, slot::SIGNALS, &ledger.to_bytes());
    keep_or_tell(host, &mut outcome.problems, "the ledger was not saved, the audit will be unverifiable", saved);
    match budget::compaction_began(host, event) {
        Ok(()) => {}
        Err(error) => outcome.problems.push(error.to_string()),
    }
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
    crate::budget::summary::check_tokens(host, event, &mut report);
    for alert in &report.alerts {
        host.alert(alert);
    }
    if settings.notes.enabled
        && let Some(entry) = notes::note_entry(&report, ledger.as_ref(), event, &settings)
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
    match budget::compaction_ended(host, event) {
        Ok(notices) => report.notices.extend(notices),
        Err(error) => report.problems.push(error.to_string()),
    }
    // A ledger serves one compaction: a second one 50 ms later must not be judged by what the first replaced.
    if ledger.is_some() && event.messages_dropped != Some(0) {
        let cleared = host.clear_state(key, slot::SIGNALS);
        keep_or_tell(host, &mut report.problems, "the ledger was not cleared", cleared);
    }
    Ok(report)
}

pub(crate) fn check_session(session: &Session) -> Result<(), HookError> {
    if session.session_key.trim().is_empty() {
        return Err(HookError::InvalidEvent("sessionKey is empty; state is kept by it".to_string()));
    }
    Ok(())
}

pub(crate) fn load_settings(host: &mut dyn Host) -> Result<Settings, HookError> {
    let json = host.settings();
    Settings::parse(json.as_deref())
}

/// The checkpoint of these signals replaces the one that stands; one that says nothing does not.
fn write_checkpoint(
    host: &mut dyn Host,
    settings: &Settings,
    ledger: &Ledger,
    event: &BeforeCompaction,
    prose: Option<&str>,
    outcome: &mut CheckpointOutcome,
) {
    let Some(text) = notes::active(ledger, event, prose) else {
        outcome.notices.push("no checkpoint was written: nothing was found to save; an earlier one stays".to_string());
        return;
    };
    let written = host.write_checkpoint(&event.session.session_key, &text, settings.checkpoint.retention());
    outcome.writes.push(write_outcome(host, &mut outcome.problems, WriteTarget::Checkpoint, text, written));
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
