//! What the audit is made of: extraction, matching, and the ledger in between.

use crate::input;
use arbitrary::{Arbitrary, Unstructured};
use compact_review::audit::matching::{Fact, Index, Scratch};
use compact_review::audit::probe;
use compact_review::config::Settings;
use compact_review::event::{LocalTime, Reason, Role};
use compact_review::report::Kind;
use compact_review::signal::bonds::Bonds;
use compact_review::signal::stance::Stances;
use compact_review::signal::{self, Ledger, Member, Signal, names, prose};
use compact_review::text::units;

/// Signals of any conversation: bounded, in order, with places that exist; the ledger reads back as itself.
pub fn extraction(data: &[u8]) {
    let text = input::text(data);
    let (before, _) = input::compaction(&text);
    let ledger = signal::survey(&before, &Settings::default());
    let count = before.messages.len() as u32;
    for signal in &ledger.signals {
        assert!(signal.message_index < count && signal.last_index < count, "{signal:?}");
        assert!((0.0..=1.0).contains(&signal.salience), "{signal:?}");
        assert!(!signal.text.trim().is_empty() || !signal.members.is_empty(), "{signal:?}");
        assert!(signal.members.iter().all(|member| member.last_index < count), "{signal:?}");
    }
    assert!(ledger.signals.is_sorted_by(|a, b| a.salience >= b.salience), "most important first");
    let back = Ledger::from_bytes(&ledger.to_bytes()).expect("our own ledger");
    assert_eq!(back.to_bytes(), ledger.to_bytes());
    assert_eq!(back.signals.len(), ledger.signals.len());
    for piece in input::pieces(&text) {
        let mut last = 0;
        units(piece, |unit| {
            assert!(last <= unit.start && unit.start <= unit.end && unit.end <= piece.len(), "{last}: {unit:?}");
            assert!(piece.is_char_boundary(unit.start) && piece.is_char_boundary(unit.end), "{unit:?}");
            last = unit.end;
        });
        names::names(piece, |name| assert!(!name.text.is_empty()));
        names::forms(piece, |_| {});
        drop(prose::values(piece));
    }
}

/// Facts against a summary, the last piece: probabilities, sentences that exist, and values that are found in themselves.
pub fn matching(data: &[u8]) {
    let text = input::text(data);
    let pieces = input::pieces(&text);
    let Some((summary, facts)) = pieces.split_last() else { return };
    let facts: Vec<String> = facts.iter().map(|fact| fact.to_string()).collect();
    let sure = probe(summary, &facts);
    assert_eq!(sure.len(), facts.len());
    assert!(sure.iter().all(|sure| (0.0..=1.0).contains(sure)), "{sure:?}");
    let index = Index::new(summary);
    let mut scratch = Scratch::default();
    for fact in &facts {
        let read = Fact::new(fact);
        let found = index.look_up(&read, &mut scratch);
        for share in [found.anywhere, found.in_sentence, found.in_window] {
            assert!((0.0..=1.001).contains(&share), "{found:?}");
        }
        assert!(found.in_sentence <= found.in_window + 0.001 && found.in_window <= found.anywhere + 0.001, "{found:?}");
        assert!(found.values_found <= found.values_total, "{found:?}");
        assert!(found.sentence.is_none_or(|(start, end)| summary.get(start..end).is_some()), "{found:?}");
        index.has_value(fact);
        for value in prose::values(fact) {
            index.has_value(&value);
        }
        // The same words in the text lose nothing.
        let whole = format!("{summary}\n{fact}\n");
        let more = Index::new(&whole).look_up(&read, &mut scratch);
        assert!(more.anywhere + 0.001 >= found.anywhere, "{found:?}, with the fact itself {more:?}");
    }
}

/// A ledger from any bytes, with the right checksum too; and any ledger reads back as itself.
pub fn ledger(data: &[u8]) {
    let (choice, rest) = input::choice(data);
    if choice % 2 == 0 {
        drop(Ledger::from_bytes(rest));
        let mut framed = [b"CRLEDGER\x02", rest].concat();
        framed.extend_from_slice(&checksum(&framed).to_le_bytes());
        if let Ok(ledger) = Ledger::from_bytes(&framed) {
            let bytes = ledger.to_bytes();
            let again = Ledger::from_bytes(&bytes).expect("what was read is written again");
            assert_eq!(again.to_bytes(), bytes);
        }
        return;
    }
    let Ok(made) = Made::arbitrary(&mut Unstructured::new(rest)) else { return };
    let bytes = made.ledger().to_bytes();
    let back = Ledger::from_bytes(&bytes).expect("our own ledger");
    assert_eq!(back.to_bytes(), bytes);
    let cut = usize::from(made.cut) % bytes.len();
    assert!(Ledger::from_bytes(&bytes[..cut]).is_err(), "cut after {cut} of {}", bytes.len());
    let mut changed = bytes.clone();
    changed[cut] ^= 1 << (made.cut >> 13);
    assert!(Ledger::from_bytes(&changed).is_err(), "changed at {cut} of {}", bytes.len());
}

/// As in `src/signal/ledger.rs`: the fuzzer must get past it.
fn checksum(bytes: &[u8]) -> u64 {
    let mut state = bytes.len() as u64 ^ 0x6a09_e667_f3bc_c908;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    state
}

/// Any values that the types of a ledger can have.
#[derive(Arbitrary)]
struct Made {
    cut: u16,
    taken: (i64, i16),
    counts: (u32, Option<u64>, u64),
    hashes: Vec<u32>,
    known: Vec<u32>,
    notices: Vec<String>,
    signals: Vec<MadeSignal>,
}

#[derive(Arbitrary)]
struct MadeSignal {
    kind: u8,
    role: u8,
    texts: (String, String, String),
    values: Vec<String>,
    members: Vec<(String, bool, u32, f64)>,
    places: (u32, u32, u32),
    at: Option<i64>,
    salience: f64,
    cues: u32,
    superseded: bool,
    why: Vec<String>,
}

impl Made {
    fn ledger(&self) -> Ledger {
        Ledger {
            taken: LocalTime { unix_ms: self.taken.0, utc_offset_minutes: self.taken.1 },
            reason: Reason::Overflow,
            message_count: self.counts.0,
            token_count: self.counts.1,
            source_bytes: self.counts.2,
            message_hashes: self.hashes.clone(),
            known: self.known.clone(),
            stances: Stances::default(),
            bonds: Bonds { pairs: self.known.clone(), sampled: self.hashes.len() as u8 },
            signals: self.signals.iter().map(MadeSignal::signal).collect(),
            cut: self.notices.clone(),
        }
    }
}

impl MadeSignal {
    fn signal(&self) -> Signal {
        let member = |(text, valued, last_index, weight): &(String, bool, u32, f64)| Member {
            text: text.clone(),
            // They are not kept: they are found again in the text.
            values: if *valued { prose::values(text) } else { Vec::new() },
            last_index: *last_index,
            weight: *weight,
        };
        Signal {
            id: self.texts.0.clone(),
            kind: Kind::ALL[usize::from(self.kind) % Kind::ALL.len()],
            text: self.texts.1.clone(),
            values: self.values.clone(),
            members: self.members.iter().map(member).collect(),
            message_id: self.texts.2.clone(),
            message_index: self.places.0,
            last_index: self.places.1,
            order: self.places.2,
            role: [Role::System, Role::User, Role::Assistant, Role::Tool][usize::from(self.role) % 4],
            at: self.at,
            salience: self.salience,
            cues: self.cues,
            superseded: self.superseded,
            why: self.why.clone(),
        }
    }
}
