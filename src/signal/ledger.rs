//! The ledger as bytes: what the host keeps from one hook to the other.
//!
//! `CRLEDGER`, a version byte, the body in variable-length numbers and length-prefixed UTF-8, and a checksum of it
//! all: a ledger that was cut, changed or made by another program is an error and not a wrong audit.

use super::{Ledger, Member, Signal};
use crate::event::{LocalTime, Reason, Role};
use crate::report::Kind;

const MAGIC: &[u8] = b"CRLEDGER";
const VERSION: u8 = 3;
/// Salience is kept in these steps.
const STEPS: f64 = 4095.0;

/// Writes.
pub fn encode(ledger: &Ledger) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    out.extend_from_slice(MAGIC);
    out.push(VERSION);
    signed(&mut out, ledger.taken.unix_ms);
    signed(&mut out, ledger.taken.utc_offset_minutes.into());
    out.push(reason_code(ledger.reason));
    number(&mut out, ledger.message_count.into());
    number(&mut out, ledger.token_count.map_or(0, |count| count.saturating_add(1)));
    number(&mut out, ledger.source_bytes);
    number(&mut out, ledger.message_hashes.len() as u64);
    for hash in &ledger.message_hashes {
        out.extend_from_slice(&hash.to_le_bytes());
    }
    number(&mut out, ledger.known.len() as u64);
    let mut last = 0u32;
    for hash in &ledger.known {
        number(&mut out, hash.wrapping_sub(last).into());
        last = *hash;
    }
    number(&mut out, ledger.stances.entries.len() as u64);
    let mut last = 0u32;
    for (key, answer) in &ledger.stances.entries {
        number(&mut out, u64::from(key.wrapping_sub(last)) << 2 | u64::from(answer & 3));
        last = *key;
    }
    out.push(ledger.bonds.sampled);
    number(&mut out, ledger.bonds.pairs.len() as u64);
    let mut last = 0u32;
    for pair in &ledger.bonds.pairs {
        number(&mut out, pair.wrapping_sub(last).into());
        last = *pair;
    }
    number(&mut out, ledger.cut.len() as u64);
    for notice in &ledger.cut {
        text(&mut out, notice);
    }
    number(&mut out, ledger.signals.len() as u64);
    for signal in &ledger.signals {
        write_signal(&mut out, signal);
    }
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

fn write_signal(out: &mut Vec<u8>, signal: &Signal) {
    out.push(kind_code(signal.kind) | if signal.superseded { 0x80 } else { 0 });
    out.push(role_code(signal.role));
    text(out, &signal.id);
    text(out, &signal.message_id);
    number(out, signal.message_index.into());
    number(out, signal.last_index.into());
    match signal.at {
        Some(at) => {
            out.push(1);
            signed(out, at);
        }
        None => out.push(0),
    }
    number(out, (signal.salience.clamp(0.0, 1.0) * STEPS + 0.5) as u64);
    number(out, signal.cues.into());
    number(out, signal.order.into());
    text(out, &signal.text);
    list(out, &signal.values);
    number(out, signal.members.len() as u64);
    for member in &signal.members {
        // The values of an item are found again in its text.
        out.push(u8::from(!member.values.is_empty()));
        text(out, &member.text);
        number(out, u64::from(member.last_index));
        number(out, (member.weight.clamp(0.0, 1.0) * STEPS + 0.5) as u64);
    }
    list(out, &signal.why);
}

/// Reads; says what is wrong.
pub fn decode(bytes: &[u8]) -> Result<Ledger, String> {
    let body = bytes.strip_prefix(MAGIC).ok_or("it does not begin as a ledger does")?;
    match body.first() {
        Some(&VERSION) => {}
        Some(other) => return Err(format!("it has version {other}, this program reads version {VERSION}")),
        None => return Err("it ends after its name".to_string()),
    }
    let split = bytes.len().checked_sub(8).filter(|at| *at > MAGIC.len()).ok_or("it is cut")?;
    let (head, tail) = bytes.split_at(split);
    if tail != checksum(head).to_le_bytes() {
        return Err("its checksum does not fit: it is cut or changed".to_string());
    }
    let mut input = Input { bytes: head, at: MAGIC.len() + 1 };
    input.ledger().ok_or_else(|| "its content contradicts itself".to_string())
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn ledger(&mut self) -> Option<Ledger> {
        let mut ledger = Ledger {
            taken: LocalTime { unix_ms: self.signed()?, utc_offset_minutes: i16::try_from(self.signed()?).ok()? },
            reason: reason_from(self.byte()?)?,
            message_count: self.small()?,
            ..Ledger::default()
        };
        ledger.token_count = self.number()?.checked_sub(1);
        ledger.source_bytes = self.number()?;
        for _ in 0..self.count()? {
            ledger.message_hashes.push(u32::from_le_bytes(self.take(4)?.try_into().ok()?));
        }
        let mut last = 0u32;
        for _ in 0..self.count()? {
            last = last.wrapping_add(self.small()?);
            ledger.known.push(last);
        }
        let mut last = 0u32;
        for _ in 0..self.count()? {
            let entry = self.number()?;
            last = last.wrapping_add(u32::try_from(entry >> 2).ok()?);
            ledger.stances.entries.push((last, (entry & 3) as u8));
        }
        ledger.bonds.sampled = self.byte()?;
        let mut last = 0u32;
        for _ in 0..self.count()? {
            last = last.wrapping_add(self.small()?);
            ledger.bonds.pairs.push(last);
        }
        for _ in 0..self.count()? {
            ledger.cut.push(self.text()?);
        }
        for _ in 0..self.count()? {
            ledger.signals.push(self.signal()?);
        }
        (self.at == self.bytes.len()).then_some(ledger)
    }

    fn signal(&mut self) -> Option<Signal> {
        let code = self.byte()?;
        Some(Signal {
            kind: *Kind::ALL.get((code & 0x7f) as usize)?,
            superseded: code & 0x80 != 0,
            role: role_from(self.byte()?)?,
            id: self.text()?,
            message_id: self.text()?,
            message_index: self.small()?,
            last_index: self.small()?,
            at: match self.byte()? {
                0 => None,
                _ => Some(self.signed()?),
            },
            salience: self.number()? as f64 / STEPS,
            cues: self.small()?,
            order: self.small()?,
            text: self.text()?,
            values: self.list()?,
            members: {
                let mut members = Vec::new();
                for _ in 0..self.count()? {
                    let item = self.byte()? != 0;
                    let text = self.text()?;
                    let values = if item { super::prose::values(&text) } else { Vec::new() };
                    let last_index = self.small()?;
                    let weight = self.number()? as f64 / STEPS;
                    members.push(Member { text, values, last_index, weight });
                }
                members
            },
            why: self.list()?,
        })
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let slice = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(slice)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        let raw = self.number()?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// A count can be no larger than the bytes that are left.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len() - self.at).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let count = self.count()?;
        let mut list = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            list.push(self.text()?);
        }
        Some(list)
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn list(out: &mut Vec<u8>, list: &[String]) {
    number(out, list.len() as u64);
    for item in list {
        text(out, item);
    }
}

/// Eight bytes a step: a ledger may have hundreds of kilobytes.
fn checksum(bytes: &[u8]) -> u64 {
    let mut state = bytes.len() as u64 ^ 0x6a09_e667_f3bc_c908;
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    state
}

fn kind_code(kind: Kind) -> u8 {
    Kind::ALL.iter().position(|known| *known == kind).unwrap_or(0) as u8
}

fn role_code(role: Role) -> u8 {
    match role {
        Role::System => 0,
        Role::User => 1,
        Role::Assistant => 2,
        Role::Tool => 3,
    }
}

fn role_from(code: u8) -> Option<Role> {
    [Role::System, Role::User, Role::Assistant, Role::Tool].get(code as usize).copied()
}

fn reason_code(reason: Reason) -> u8 {
    match reason {
        Reason::Unknown => 0,
        Reason::Overflow => 1,
        Reason::Threshold => 2,
        Reason::Manual => 3,
    }
}

fn reason_from(code: u8) -> Option<Reason> {
    [Reason::Unknown, Reason::Overflow, Reason::Threshold, Reason::Manual].get(code as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_signal() -> impl Strategy<Value = Signal> {
        let texts = (any::<String>(), any::<String>(), any::<String>());
        let lists = (prop::collection::vec(any::<String>(), 0..3), prop::collection::vec(any::<String>(), 0..3));
        let places = (any::<u32>(), any::<u32>(), any::<u32>(), any::<Option<i64>>());
        // Salience is kept in steps: only whole steps come back as they were.
        let judged = (0u32..4096, any::<u32>(), any::<bool>(), 0usize..8, 0u8..4);
        let members = prop::collection::vec((any::<String>(), any::<u32>(), 0u32..4096), 0..3);
        (texts, lists, places, judged, members).prop_map(|(texts, lists, places, judged, members)| Signal {
            id: texts.0,
            text: texts.1,
            message_id: texts.2,
            values: lists.0,
            why: lists.1,
            message_index: places.0,
            last_index: places.1,
            order: places.2,
            at: places.3,
            salience: f64::from(judged.0) / STEPS,
            cues: judged.1,
            superseded: judged.2,
            kind: Kind::ALL[judged.3],
            role: role_from(judged.4).unwrap_or(Role::User),
            members: members
                .into_iter()
                .map(|(text, last_index, weight)| Member {
                    values: Vec::new(),
                    text,
                    last_index,
                    weight: f64::from(weight) / STEPS,
                })
                .collect(),
        })
    }

    fn any_ledger() -> impl Strategy<Value = Ledger> {
        let time = (any::<i64>(), any::<i16>(), 0u8..4);
        let counts = (any::<u32>(), any::<Option<u32>>(), any::<u64>());
        let lists = (any::<Vec<u32>>(), any::<Vec<u32>>(), prop::collection::vec((any::<u32>(), 0u8..4), 0..5));
        let texts = (prop::collection::vec(any::<String>(), 0..3), prop::collection::vec(any_signal(), 0..3));
        let bonds = (any::<Vec<u32>>(), any::<u8>());
        (time, counts, lists, texts, bonds).prop_map(|(time, counts, lists, texts, bonds)| Ledger {
            taken: LocalTime { unix_ms: time.0, utc_offset_minutes: time.1 },
            reason: reason_from(time.2).unwrap_or_default(),
            message_count: counts.0,
            token_count: counts.1.map(u64::from),
            source_bytes: counts.2,
            message_hashes: lists.0,
            known: lists.1,
            stances: crate::signal::stance::Stances { entries: lists.2 },
            bonds: crate::signal::bonds::Bonds { pairs: bonds.0, sampled: bonds.1 },
            cut: texts.0,
            signals: texts.1,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn any_ledger_reads_back_as_itself(ledger in any_ledger()) {
            prop_assert_eq!(decode(&encode(&ledger)), Ok(ledger));
        }

        #[test]
        fn a_ledger_that_was_cut_or_changed_anywhere_is_an_error(
            ledger in any_ledger(), place in any::<prop::sample::Index>(), bit in 0u8..8,
        ) {
            let bytes = encode(&ledger);
            let at = place.index(bytes.len());
            prop_assert!(decode(&bytes[..at]).is_err());
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            prop_assert!(decode(&changed).is_err());
        }
    }
}
