//! What each hook does, step by step, through which imports. The judgement is elsewhere; here is the order.
//!
//! Around a compaction: [`before_compaction`], [`after_compaction`], [`before_prompt`]. Between two:
//! [`checkpoint`](fn@checkpoint), [`session_start`], and the budget's [`usage`], [`status`] and [`plan`].

mod recovery;
mod session;
mod write;

pub use crate::budget::hooks::{plan, status, usage};
pub use recovery::before_prompt;
pub use session::{checkpoint, session_start};

use crate::audit;
use crate::budget::hooks as budget;
use crate::checkpoint::reading::{Reading, summary_without_secrets};
use crate::checkpoint::{self as notes, Baseline, Header, Record, carried};
use crate::config::Settings;
use crate::event::{AfterCompaction, BeforeCompaction, Session};
use crate::host::{Host, HostError, LogLevel, slot};
use crate::redact::redact;
use crate::report::{Alert, AlertLevel, CheckpointOutcome, HookError, Report, Verdict, WriteTarget};
use crate::signal::{Ledger, Signal};
use std::borrow::Cow;
use write::{write_checkpoint, write_outcome};

/// Checks settings; gives the effective ones as JSON.
pub fn configure(settings: &str) -> Result<String, HookError> {
    Settings::parse(Some(settings)).map(|settings| settings.to_json())
}

/// Before anything is pruned: finds the signals, saves the ledger, writes the checkpoint.
pub fn before_compaction(host: &mut dyn Host, event: &BeforeCompaction) -> Result<CheckpointOutcome, HookError> {
    check_session(&event.session)?;
    let settings = load_settings(host)?;
    let key = &event.session.session_key;
    let reading = Reading::of(event);
    let event = reading.event.as_ref();
    let mut outcome = CheckpointOutcome::default();
    let mut record = load_record(host, &event.session, &mut outcome.problems);
    let carried = load_carried(host, key, &record, &mut outcome.problems);
    let ledger = reading.ledger(&settings, carried);
    outcome.signals = ledger.len() as u32;
    outcome.notices = ledger.notices();
    session::look_for_truncation(host, &settings, &record, event, &mut outcome);

    // The checkpoint first: if anything fails after it, a person can still read what was going on.
    write_checkpoint(host, &settings, &ledger, event, None, &mut record, &mut outcome);
    let saved = host.save_state(key, slot::SIGNALS, &ledger.to_bytes());
    keep_or_tell(host, &mut outcome.problems, "the ledger was not saved, the audit will be unverifiable", saved);
    record.compacting = Some(event.now);
    record.baseline = Baseline::of(event);
    save_record(host, &event.session, &record, &mut outcome.problems);
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
    let event = summary_without_secrets(event);
    let event = event.as_ref();
    let key = &event.session.session_key;
    let ledger = load_ledger(host, key)?;

    let mut report = audit::review(host, ledger.as_ref(), event, &settings);
    hide_secrets(&mut report);
    let mut record = load_record(host, &event.session, &mut report.problems);
    report.alerts.extend(first_kept_is_unknown(ledger.as_ref(), event));
    crate::budget::summary::check_tokens(host, event, &mut report);
    for alert in &report.alerts {
        host.alert(alert);
    }
    let checkpoint = recovery::own_checkpoint(host, &event.session).unwrap_or_else(|error| {
        report.problems.push(format!("the checkpoint was not read: {error}"));
        None
    });
    let none = no_checkpoint(&record, ledger.as_ref(), checkpoint.as_ref().map(|(_, header)| header));
    if settings.notes.enabled
        && let Some(entry) = notes::note_entry(&report, ledger.as_ref(), event, &settings, none.as_deref())
    {
        let written = host.append_note(&entry).map(|place| place.place);
        report.writes.push(write_outcome(host, &mut report.problems, WriteTarget::DailyNote, entry.text, written));
    }
    if event.messages_dropped != Some(0) {
        recovery::keep(host, &settings, ledger.as_ref(), event, &record, checkpoint.as_ref(), &mut report);
        carry(host, key, ledger.as_ref(), &mut record, &mut report);
        record.baseline = Baseline::after(event);
    }
    (record.compacting, record.not_written) = (None, None);
    save_record(host, &event.session, &record, &mut report.problems);
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

fn load_ledger(host: &mut dyn Host, key: &str) -> Result<Option<Ledger>, HookError> {
    let saved = host
        .load_state(key, slot::SIGNALS)
        .map_err(|error| HookError::Storage(format!("the ledger was not loaded: {error}")))?;
    let Some(bytes) = saved else { return Ok(None) };
    match Ledger::from_bytes(&bytes) {
        Ok(ledger) => Ok(Some(ledger)),
        Err(why) => {
            host.log(LogLevel::Error, &format!("the ledger of {key} is not readable: {why}"));
            Ok(None)
        }
    }
}

/// The second lock: pinned facts come from the settings and not through [`Reading`].
fn hide_secrets(report: &mut Report) {
    let hide = |text: &mut String| {
        if let Cow::Owned(clean) = redact(text) {
            *text = clean;
        }
    };
    for finding in &mut report.lost {
        hide(&mut finding.text);
        finding.values.iter_mut().chain(&mut finding.summary_says).for_each(hide);
    }
    report.alerts.iter_mut().for_each(|alert| hide(&mut alert.text));
    report.recovery.iter_mut().for_each(|recovery| hide(&mut recovery.text));
}

/// Why the entry cannot point to a checkpoint of this compaction, if it cannot.
fn no_checkpoint(record: &Record, ledger: Option<&Ledger>, standing: Option<&Header>) -> Option<String> {
    let standing = standing.filter(|header| ledger.is_none_or(|ledger| ledger.taken == header.taken));
    match (&record.not_written, standing) {
        (Some(why), _) => Some(why.clone()),
        (None, Some(_)) => None,
        (None, None) if ledger.is_none() => Some("before_compaction did not come".to_string()),
        (None, None) => Some("it could not be written".to_string()),
    }
}

/// The compaction kept messages from an entry on that nobody has seen: those before it are gone untold.
fn first_kept_is_unknown(ledger: Option<&Ledger>, event: &AfterCompaction) -> Option<Alert> {
    let (ledger, id) = (ledger?, event.first_kept_entry_id.as_deref()?);
    let known = ledger.message_count == 0 || ledger.position(id).is_some();
    // Where nothing is kept, the id can be that of the message to come.
    if known || event.messages_retained == Some(0) {
        return None;
    }
    let id = notes::quote::quote(id, 60);
    let text = format!(
        "the compaction keeps messages from {id} on, which before_compaction was not given: messages may be gone that nobody \
         told of; the checkpoint has what was known"
    );
    Some(Alert { level: AlertLevel::Warning, code: "silent-truncation".to_string(), text })
}

/// What was lost is looked for again at the next compaction.
fn carry(host: &mut dyn Host, key: &str, ledger: Option<&Ledger>, record: &mut Record, report: &mut Report) {
    let Some(ledger) = ledger.filter(|_| report.verdict != Verdict::Unverifiable) else { return };
    record.carried = !report.lost.is_empty();
    let kept = if report.lost.is_empty() {
        host.clear_state(key, slot::CARRIED)
    } else {
        host.save_state(key, slot::CARRIED, &carried::keep(ledger, report))
    };
    keep_or_tell(host, &mut report.problems, "what was lost was not kept for the next compaction", kept);
}

fn load_carried(host: &mut dyn Host, key: &str, record: &Record, problems: &mut Vec<String>) -> Vec<Signal> {
    if !record.carried {
        return Vec::new();
    }
    match host.load_state(key, slot::CARRIED) {
        Ok(bytes) => bytes.map(|bytes| carried::read(&bytes)).unwrap_or_default(),
        Err(error) => {
            problems.push(format!("what an earlier compaction lost was not loaded: {error}"));
            Vec::new()
        }
    }
}

/// What is known of the session's checkpoints. A hook does its work without it too.
fn load_record(host: &mut dyn Host, session: &Session, problems: &mut Vec<String>) -> Record {
    Record::load(host, session).unwrap_or_else(|error| {
        problems.push(format!("what was known of the checkpoints was not loaded: {error}"));
        Record::default()
    })
}

fn save_record(host: &mut dyn Host, session: &Session, record: &Record, problems: &mut Vec<String>) {
    let saved = record.save(host, session);
    keep_or_tell(host, problems, "what is known of the checkpoints was not saved", saved);
}

fn keep_or_tell(host: &mut dyn Host, problems: &mut Vec<String>, what: &str, done: Result<(), HostError>) {
    if let Err(error) = done {
        let problem = format!("{what}: {error}");
        host.log(LogLevel::Error, &problem);
        problems.push(problem);
    }
}
