//! What a compaction lost, kept for the next one: with its words, its message and its speaker as they were.
//!
//! The agent gets lost facts back as quoted data. The message that said them is gone, so without this the next checkpoint
//! would not have them and the next audit would not miss them.

use crate::report::Report;
use crate::signal::{Ledger, Signal};

/// So many are carried at most, the most important ones.
const MOST: usize = 40;
const WHY: &str = "lost in an earlier compaction";

/// The signals that a summary lost, for the host to keep.
pub fn keep(ledger: &Ledger, report: &Report) -> Vec<u8> {
    let mut signals = Vec::new();
    for finding in &report.lost {
        let Some(signal) = ledger.signals.iter().find(|signal| signal.id == finding.id) else { continue };
        let mut signal = signal.clone();
        let gone = |value: &String| finding.values.contains(value);
        signal.members.retain(|member| gone(&member.text) || member.values.iter().any(gone));
        signals.push(signal);
        if signals.len() == MOST {
            break;
        }
    }
    Ledger { signals, ..Ledger::default() }.to_bytes()
}

/// The signals that were kept; none where they cannot be read.
pub fn read(bytes: &[u8]) -> Vec<Signal> {
    Ledger::from_bytes(bytes).map(|ledger| ledger.signals).unwrap_or_default()
}

/// Whether a signal comes from an earlier compaction and not from the messages at hand.
pub fn is_carried(signal: &Signal) -> bool {
    signal.why.iter().any(|why| why == WHY)
}

/// Adds them to what was found now, unless it says the same. `place` is the message in which they came back.
pub(super) fn add(ledger: &mut Ledger, carried: Vec<Signal>, place: u32) {
    for (number, mut signal) in carried.into_iter().take(MOST).enumerate() {
        if ledger.signals.iter().any(|known| known.text == signal.text && known.members.len() >= signal.members.len()) {
            continue;
        }
        signal.id = format!("c{}", number + 1);
        signal.message_index = place;
        signal.last_index = place;
        signal.order = 0;
        for member in &mut signal.members {
            member.last_index = place;
        }
        if !is_carried(&signal) {
            signal.why.push(WHY.to_string());
        }
        ledger.signals.push(signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Kind;

    #[test]
    fn a_carried_fact_keeps_its_words_and_its_message_and_is_not_doubled() {
        let old =
            Signal { message_id: "m7".to_string(), ..Signal::example(Kind::Constraint, "Never deploy on Fridays") };
        let mut ledger = Ledger { signals: vec![Signal::example(Kind::Task, "Build it")], ..Ledger::default() };
        add(&mut ledger, vec![old.clone(), old.clone()], 3);
        let [_, back] = ledger.signals.as_slice() else { panic!("{:?}", ledger.signals) };
        assert_eq!((back.message_id.as_str(), back.last_index, back.text.as_str()), ("m7", 3, old.text.as_str()));
        assert_eq!(back.why, [WHY]);
        let kept = Ledger { signals: vec![back.clone()], ..Ledger::default() }.to_bytes();
        let again = read(&kept);
        let mut next = Ledger::default();
        add(&mut next, again, 9);
        assert_eq!(next.signals[0].why, [WHY], "it is said once, however often it is carried");
        assert_eq!(next.signals[0].message_id, "m7");
    }

    #[test]
    fn what_cannot_be_read_carries_nothing() {
        assert!(read(b"garbage").is_empty());
    }
}
