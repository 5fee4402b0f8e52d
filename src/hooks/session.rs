//! Between two compactions: a checkpoint on demand, and the start of a session.

use super::recovery::{self, Waiting, bounded, own_checkpoint, take_waiting};
use super::write::{Outside, write_checkpoint};
use super::{check_session, keep_or_tell, load_carried, load_record, load_settings, save_record};
use crate::checkpoint::reading::Reading;
use crate::checkpoint::{self as notes, Baseline, Header, History, Record, Recovered, other_transcript, recovered};
use crate::config::Settings;
use crate::event::{BeforeCompaction, CheckpointRequest, LocalTime, Reason, SessionStart, Trigger};
use crate::host::{Host, HostError};
use crate::report::{Alert, AlertLevel, CheckpointOutcome, HookError, Recovery, SessionStartOutcome};

const HOUR_MS: i64 = 60 * 60 * 1000;
/// So long after midnight the note of yesterday is still that of the evening's work.
const NIGHT_HOURS: i64 = 6;

/// Writes a checkpoint outside a compaction. The ledger of a compaction under way is left alone.
pub fn checkpoint(host: &mut dyn Host, request: &CheckpointRequest) -> Result<CheckpointOutcome, HookError> {
    check_session(&request.session)?;
    let settings = load_settings(host)?;
    let mut outcome = CheckpointOutcome::default();
    if request.trigger == Trigger::Reset && !settings.checkpoint.before_reset {
        outcome.notices.push("no checkpoint was written: checkpoint.beforeReset is off".to_string());
        return Ok(outcome);
    }
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
    let reading = Reading::of(&event);
    let event = reading.event.as_ref();
    let mut record = load_record(host, &event.session, &mut outcome.problems);
    let carried = load_carried(host, &event.session.session_key, &record, &mut outcome.problems);
    let ledger = reading.ledger(&settings, carried);
    outcome.signals = ledger.len() as u32;
    outcome.notices = ledger.notices();
    look_for_truncation(host, &settings, &record, event, &mut outcome);
    let outside = Outside { prose: request.prose.as_deref() };
    write_checkpoint(host, &settings, &ledger, event, Some(outside), &mut record, &mut outcome);
    // Only for the entry of a compaction.
    record.not_written = None;
    record.compacting = None;
    record.baseline = Baseline::of(event).or(record.baseline);
    save_record(host, &event.session, &record, &mut outcome.problems);
    Ok(outcome)
}

/// Messages are gone since the last event, and no compaction told of it: said loudly, and the checkpoint that still has
/// what was in them is offered with the next prompt.
pub(super) fn look_for_truncation(
    host: &mut dyn Host,
    settings: &Settings,
    record: &Record,
    event: &BeforeCompaction,
    outcome: &mut CheckpointOutcome,
) {
    let (Some(baseline), None) = (&record.baseline, record.compacting) else { return };
    let Some(now) = Baseline::of(event) else { return };
    let all = event.messages.len() as u32 >= now.message_count;
    let ids: Vec<&str> = event.messages.iter().filter(|_| all).map(|message| message.id.as_str()).collect();
    let history = History {
        session_id: event.session.session_id.as_deref(),
        message_count: now.message_count,
        told: now.told,
        message_ids: &ids,
    };
    let Some(sign) = notes::truncation(baseline, &history) else { return };
    let alert = alert(sign.to_string());
    host.alert(&alert);
    outcome.notices.push(format!("silent truncation: {}", alert.text));
    let offered = own_checkpoint(host, &event.session).and_then(|own| {
        let Some((text, header)) = own.filter(|_| settings.recovery.enabled) else { return Ok(()) };
        let recovered = Recovered::of(&text, Some(&header)).with_all_of(&text);
        let Some(recovery) = bounded(host, settings, &recovered) else { return Ok(()) };
        recovery::wait(host, &event.session, Waiting::new(vec![recovered.id], recovery.text))
    });
    keep_or_tell(host, &mut outcome.problems, "the checkpoint before the truncation was not offered", offered);
}

fn alert(text: String) -> Alert {
    Alert { level: AlertLevel::Critical, code: "silent-truncation".to_string(), text }
}

/// A conversation begins or goes on: the checkpoint and what the last compaction lost, once, and whether messages are
/// gone that nobody told of.
pub fn session_start(host: &mut dyn Host, event: &SessionStart) -> Result<SessionStartOutcome, HookError> {
    check_session(&event.session)?;
    let settings = load_settings(host)?;
    let storage = |error: HostError| HookError::Storage(format!("the checkpoint was not read: {error}"));
    let mut outcome = SessionStartOutcome::default();
    let record = Record::load(host, &event.session).map_err(storage)?;
    let checkpoint = own_checkpoint(host, &event.session).map_err(storage)?;
    let header = checkpoint.as_ref().map(|(_, header)| header);
    if let Some(began) = record.compacting {
        outcome
            .notices
            .push(format!("a compaction began {} and its end was not told: it was not audited", began.stamp()));
    }
    outcome.truncation = truncation(&record, header, event);
    if let Some(sign) = &outcome.truncation {
        let alert = alert(sign.clone());
        host.alert(&alert);
        outcome.alerts.push(alert);
        // Told once: from here on the conversation is as long as it is now.
        let mut problems = Vec::new();
        let baseline = Some(baseline_of(event));
        save_record(host, &event.session, &Record { baseline, ..record.clone() }, &mut problems);
        outcome.notices.append(&mut problems);
    }
    if settings.recovery.enabled {
        let gone = outcome.truncation.is_some();
        let waiting = take_waiting(host, &event.session)?;
        outcome.recovery = match (waiting, checkpoint) {
            (Some(waiting), _) if !gone => Some(waiting),
            (_, Some(checkpoint)) => from_files(host, &settings, event, &record, &checkpoint, gone, &mut outcome),
            (waiting, None) => waiting,
        };
    }
    Ok(outcome)
}

fn baseline_of(event: &SessionStart) -> Baseline {
    Baseline {
        session_id: event.session.session_id.clone(),
        message_count: event.message_count.unwrap_or_default(),
        told: true,
        first_message_id: event.message_ids.first().cloned(),
        last_message_id: event.message_ids.last().cloned(),
    }
}

/// How it shows that messages are gone, where no compaction explains it.
fn truncation(record: &Record, header: Option<&Header>, event: &SessionStart) -> Option<String> {
    let message_count = event.message_count?;
    if record.compacting.is_some() {
        return None;
    }
    // Without a record (another host, a lost state) the checkpoint itself tells, unless a compaction followed it.
    let of_header = || {
        let header = header.filter(|header| !header.before_compaction)?;
        Some(Baseline {
            session_id: header.session_id.clone(),
            message_count: header.message_count,
            told: true,
            first_message_id: header.first_message_id.clone(),
            last_message_id: header.last_message_id.clone(),
        })
    };
    let baseline = record.baseline.clone().or_else(of_header)?;
    let ids: Vec<&str> = event.message_ids.iter().map(String::as_str).collect();
    let told = baseline.told || event.message_ids.is_empty();
    let session_id = event.session.session_id.as_deref();
    let history = History { session_id, message_count, told, message_ids: &ids };
    notes::truncation(&baseline, &history).map(|sign| sign.to_string())
}

/// The recovery text from the checkpoint and the notes of today and, in the night, of yesterday.
fn from_files(
    host: &mut dyn Host,
    settings: &Settings,
    event: &SessionStart,
    record: &Record,
    (checkpoint, header): &(String, Header),
    gone: bool,
    outcome: &mut SessionStartOutcome,
) -> Option<Recovery> {
    if other_transcript(&header.session_id, &event.session) {
        let taken = header.taken.stamp();
        outcome
            .notices
            .push(format!("the conversation was reset; its checkpoint of {taken} is kept and not handed back"));
        return None;
    }
    let mut recovered = Recovered::of(checkpoint, Some(header));
    let handed = record.was_handed(&recovered.id);
    let whole = !event.message_ids.is_empty()
        && [&header.first_message_id, &header.last_message_id]
            .into_iter()
            .all(|id| id.as_ref().is_some_and(|id| event.message_ids.contains(id)));
    // What the conversation still has in full needs no recovery.
    if !gone && (handed || whole) {
        return None;
    }
    if gone {
        recovered = recovered.with_all_of(checkpoint);
    }
    let mut ids = vec![recovered.id.clone()];
    match lost_of_last_entry(host, event) {
        Ok(Some((id, lost))) if gone || !record.was_handed(&id) => {
            recovered.facts.splice(0..0, lost);
            ids.push(id);
        }
        Ok(_) => {}
        Err(error) => outcome.notices.push(format!("the daily note was not read: {error}")),
    }
    let recovery = bounded(host, settings, &recovered)?;
    recovery::handed(host, &event.session, &ids);
    Some(recovery)
}

fn lost_of_last_entry(host: &mut dyn Host, event: &SessionStart) -> Result<Option<(String, Vec<String>)>, HostError> {
    let key = &event.session.session_key;
    for date in note_dates(event.now) {
        if let Some(note) = host.read_note(key, &date)?
            && let Some(found) = recovered::last_entry(&note, key)
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Today, and in the night yesterday too.
fn note_dates(now: LocalTime) -> Vec<String> {
    let earlier = now.at(now.unix_ms.saturating_sub(NIGHT_HOURS * HOUR_MS));
    let mut dates = vec![now.date()];
    if earlier.date() != now.date() {
        dates.push(earlier.date());
    }
    dates
}
