//! When a checkpoint is due outside a compaction: minutes, prompts, thresholds of the budget.

use super::record::Record;
use crate::budget::event::UsageEvent;
use crate::config::CheckpointSettings;
use crate::event::{BeforeCompaction, Role, Trigger};
use crate::host::{Host, HostError};
use crate::report::Kind;
use crate::signal::Ledger;

const MINUTE_MS: i64 = 60_000;
/// So many open steps make a task complex.
const OPEN_STEPS: usize = 5;
/// Or so many failed tool runs among the last messages.
const FAILURES: usize = 2;
/// How many messages that looks back.
const LAST: usize = 20;

/// From `usage`: why a checkpoint is due now, if one is. It is told with every event until one was written.
pub fn due(
    host: &mut dyn Host,
    event: &UsageEvent,
    crossed: bool,
    settings: &CheckpointSettings,
) -> Result<Option<Trigger>, HostError> {
    let before = Record::load(host, &event.session)?;
    let mut record = before.clone();
    let due = judge(&mut record, event, crossed, settings);
    if record != before {
        record.save(host, &event.session)?;
    }
    Ok(due)
}

fn judge(record: &mut Record, event: &UsageEvent, crossed: bool, settings: &CheckpointSettings) -> Option<Trigger> {
    if crossed && settings.on_threshold {
        record.pending = Some(Trigger::Threshold);
    }
    let since = *record.since.get_or_insert(event.now.unix_ms);
    if let Some(now) = event.exchange_count {
        // After a reset the count begins anew.
        record.exchanges = Some(record.exchanges.unwrap_or(now).min(now));
    }
    let minutes = if record.complex && settings.every_minutes_complex > 0 {
        settings.every_minutes_complex
    } else {
        settings.every_minutes
    };
    let passed = event.now.unix_ms.saturating_sub(since) / MINUTE_MS;
    let prompts = event.exchange_count.zip(record.exchanges).map_or(0, |(now, then)| now - then);
    if record.pending.is_some() {
        record.pending
    } else if settings.every_exchanges > 0 && prompts >= settings.every_exchanges {
        Some(Trigger::Exchanges)
    } else if minutes > 0 && passed >= i64::from(minutes) {
        Some(Trigger::Interval)
    } else {
        None
    }
}

/// A checkpoint was written, or a compaction begins: what is due counts from here.
pub fn restart(record: &mut Record, ledger: &Ledger, event: &BeforeCompaction) {
    record.since = Some(event.now.unix_ms);
    record.exchanges = None;
    record.pending = None;
    record.complex = is_complex(ledger, event);
}

/// Many open steps, or things that keep failing.
fn is_complex(ledger: &Ledger, event: &BeforeCompaction) -> bool {
    let steps = ledger.signals.iter().filter(|signal| signal.kind == Kind::Task && !signal.superseded).count();
    let failed = |message: &&crate::event::Message| message.role == Role::Tool && message.failed;
    steps >= OPEN_STEPS || event.messages.iter().rev().take(LAST).filter(failed).count() >= FAILURES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LocalTime;

    fn at(minute: i64, exchanges: u32) -> UsageEvent {
        let now = LocalTime { unix_ms: 1_794_933_000_000 + minute * MINUTE_MS, utc_offset_minutes: 0 };
        UsageEvent { now, exchange_count: Some(exchanges), ..UsageEvent::default() }
    }

    fn judged(record: &mut Record, event: &UsageEvent, settings: &CheckpointSettings) -> Option<Trigger> {
        judge(record, event, false, settings)
    }

    #[test]
    fn minutes_and_prompts_count_from_the_last_checkpoint() {
        let settings = CheckpointSettings::default();
        let mut record = Record::default();
        assert_eq!(judged(&mut record, &at(0, 3), &settings), None);
        assert_eq!(judged(&mut record, &at(9, 12), &settings), None);
        assert_eq!(judged(&mut record, &at(9, 13), &settings), Some(Trigger::Exchanges));
        assert_eq!(judged(&mut record, &at(10, 12), &settings), Some(Trigger::Interval));
        assert_eq!(judged(&mut record, &at(11, 12), &settings), Some(Trigger::Interval), "until one was written");
        let event = BeforeCompaction { now: at(11, 0).now, ..BeforeCompaction::default() };
        restart(&mut record, &Ledger::default(), &event);
        assert_eq!(judged(&mut record, &at(12, 12), &settings), None);
        assert_eq!(judged(&mut record, &at(21, 12), &settings), Some(Trigger::Interval));
    }

    #[test]
    fn a_complex_task_is_saved_more_often() {
        let settings = CheckpointSettings::default();
        let tool = |failed| crate::event::Message {
            id: "t".to_string(),
            role: Role::Tool,
            text: "exit 1".to_string(),
            tool: None,
            failed,
            at: None,
        };
        let event =
            |failed| BeforeCompaction { now: at(0, 0).now, messages: vec![tool(failed); 2], ..Default::default() };
        let mut record = Record::default();
        restart(&mut record, &Ledger::default(), &event(true));
        assert_eq!(judged(&mut record, &at(5, 0), &settings), Some(Trigger::Interval));
        restart(&mut record, &Ledger::default(), &event(false));
        assert_eq!(judged(&mut record, &at(5, 0), &settings), None);
    }

    #[test]
    fn each_trigger_can_be_switched_off() {
        let off = CheckpointSettings {
            every_minutes: 0,
            every_minutes_complex: 0,
            every_exchanges: 0,
            on_threshold: false,
            ..CheckpointSettings::default()
        };
        let mut record = Record { complex: true, ..Record::default() };
        assert_eq!(judge(&mut record, &at(0, 0), true, &off), None);
        assert_eq!(judge(&mut record, &at(6000, 6000), true, &off), None);
        let mut record = Record::default();
        assert_eq!(judge(&mut record, &at(0, 0), true, &CheckpointSettings::default()), Some(Trigger::Threshold));
        assert_eq!(judged(&mut record, &at(1, 0), &CheckpointSettings::default()), Some(Trigger::Threshold));
    }

    #[test]
    fn a_count_of_prompts_that_fell_begins_anew_and_time_that_ran_backwards_is_no_interval() {
        let settings = CheckpointSettings::default();
        let mut record = Record::default();
        assert_eq!(judged(&mut record, &at(0, 50), &settings), None);
        assert_eq!(judged(&mut record, &at(1, 2), &settings), None);
        assert_eq!(judged(&mut record, &at(-90, 12), &settings), Some(Trigger::Exchanges));
        assert_eq!(judged(&mut record, &at(-90, 11), &settings), None);
    }
}
