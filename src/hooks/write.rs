//! Writing a checkpoint: only one that says something replaces the one that stands.

use super::keep_or_tell;
use crate::checkpoint::{self as notes, Record, Written, carried, trigger};
use crate::config::Settings;
use crate::event::BeforeCompaction;
use crate::host::{Host, HostError};
use crate::report::{CheckpointOutcome, WriteOutcome, WriteTarget};
use crate::signal::Ledger;

/// Two compactions within so many milliseconds are one event gone wrong: the second sees what the first left.
const AT_ONCE_MS: i64 = 60_000;
/// A checkpoint with so many times fewer signals than the one that stands is garbage beside it, if they come at once.
const POORER: u32 = 4;

/// What outside a compaction differs.
pub(super) struct Outside<'a> {
    /// What a model of the gateway's own wrote.
    pub prose: Option<&'a str>,
}

/// The checkpoint of these signals replaces the one that stands; one that says nothing does not, and the reason is kept
/// for the entry of the daily note.
pub(super) fn write_checkpoint(
    host: &mut dyn Host,
    settings: &Settings,
    ledger: &Ledger,
    event: &BeforeCompaction,
    outside: Option<Outside<'_>>,
    record: &mut Record,
    outcome: &mut CheckpointOutcome,
) {
    let compacting = outside.is_none();
    let prose = outside.and_then(|outside| outside.prose);
    let stays = |why: &str| format!("no checkpoint was written: {why}; an earlier one stays");
    record.not_written = None;
    let Some(text) = notes::active(ledger, event, prose, compacting) else {
        let why = if event.messages.is_empty() { "there were no messages" } else { "nothing was found to save" };
        outcome.notices.push(stays(why));
        record.not_written = Some(why.to_string());
        return;
    };
    let found = ledger.signals.iter().filter(|signal| !carried::is_carried(signal)).count() as u32;
    if let Some(good) = record.written.filter(|good| is_garbage_beside(good, found, event)) {
        let why = format!("it has {found} signals, and one with {} was written a moment ago", good.signals);
        outcome.notices.push(stays(&why));
        record.not_written = Some(why);
        return;
    }
    let written = host.write_checkpoint(&event.session.session_key, &text, settings.checkpoint.retention());
    match &written {
        Ok(_) => {
            record.written = Some(Written { unix_ms: event.now.unix_ms, signals: found });
            trigger::restart(record, ledger, event);
        }
        Err(error) => record.not_written = Some(error.to_string()),
    }
    outcome.writes.push(write_outcome(host, &mut outcome.problems, WriteTarget::Checkpoint, text, written));
}

fn is_garbage_beside(good: &Written, found: u32, event: &BeforeCompaction) -> bool {
    let since = event.now.unix_ms.saturating_sub(good.unix_ms);
    (0..AT_ONCE_MS).contains(&since) && found.saturating_mul(POORER) <= good.signals
}

pub(super) fn write_outcome(
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
