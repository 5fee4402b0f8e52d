//! A summary, ready to be asked: which words stand in which of its sentences, which names it has.

use super::matching::Index;
use crate::signal::names;
use crate::text::{UnitKind, lexicon, tokens, units};
use std::collections::{HashMap, HashSet};

/// One sentence, bullet, row or code line.
pub struct Piece {
    /// First byte.
    pub start: usize,
    /// Behind the last.
    pub end: usize,
    /// What it is.
    pub kind: UnitKind,
}

/// An indexed summary.
pub struct Summary<'a> {
    /// The text.
    pub text: &'a str,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    words: HashMap<u64, Vec<u32>>,
    forms: HashSet<u64>,
    /// For questions of meaning: polarity, status, values bound to keys.
    pub index: Index<'a>,
}

/// How much of a statement stands in a summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Of its words by weight, anywhere.
    pub anywhere: f64,
    /// In the best two neighbouring pieces.
    pub window: f64,
    /// In the best piece.
    pub piece: f64,
    /// Which piece.
    pub best: Option<usize>,
}

impl<'a> Summary<'a> {
    /// Reads a summary once.
    pub fn new(text: &'a str) -> Summary<'a> {
        let mut summary =
            Summary { text, pieces: Vec::new(), words: HashMap::new(), forms: HashSet::new(), index: Index::new(text) };
        units(text, |unit| {
            let Some(piece) = text.get(unit.start..unit.end) else { return };
            let number = summary.pieces.len() as u32;
            tokens(piece, |token| {
                let base = lexicon::entry(token.hash).base;
                let list = summary.words.entry(base).or_default();
                if list.last() != Some(&number) {
                    list.push(number);
                }
            });
            summary.pieces.push(Piece { start: unit.start, end: unit.end, kind: unit.kind });
        });
        names::forms(text, |form| {
            summary.forms.insert(form);
        });
        summary
    }

    /// Whether an exact name or value stands in it, as it is or inside a longer path.
    pub fn has(&self, value: &str) -> bool {
        if self.forms.contains(&names::key_hash(value.as_bytes())) {
            return true;
        }
        let trimmed = value.trim_matches(|c: char| !c.is_alphanumeric());
        if trimmed.len() != value.len() && self.forms.contains(&names::key_hash(trimmed.as_bytes())) {
            return true;
        }
        let last = trimmed.rsplit('/').next().unwrap_or(trimmed);
        if last.len() != trimmed.len() && last.contains('.') && self.forms.contains(&names::key_hash(last.as_bytes())) {
            return true;
        }
        // A long commit id in its short form.
        let hex = trimmed.len() >= 12 && trimmed.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex && (7..=12).any(|length| {
            trimmed.get(..length).is_some_and(|short| self.forms.contains(&names::key_hash(short.as_bytes())))
        })
    }

    /// The text of a piece.
    pub fn piece(&self, number: usize) -> &'a str {
        self.pieces.get(number).and_then(|piece| self.text.get(piece.start..piece.end)).unwrap_or_default()
    }

    /// How much of a statement's words stand here.
    pub fn share(&self, statement: &str, hits: &mut Vec<f32>) -> Share {
        hits.clear();
        hits.resize(self.pieces.len() + 1, 0.0);
        let (mut total, mut anywhere) = (0.0f32, 0.0f32);
        let mut seen: Vec<u64> = Vec::new();
        tokens(statement, |token| {
            if !token.is_word() {
                return;
            }
            let entry = lexicon::entry(token.hash);
            if entry.weight < 0.2 || seen.contains(&entry.base) {
                return;
            }
            seen.push(entry.base);
            total += entry.weight;
            if let Some(list) = self.words.get(&entry.base) {
                anywhere += entry.weight;
                for piece in list {
                    if let Some(hit) = hits.get_mut(*piece as usize) {
                        *hit += entry.weight;
                    }
                }
            }
        });
        if total <= 0.0 {
            return Share { anywhere: 1.0, window: 1.0, piece: 1.0, best: None };
        }
        let mut share = Share { anywhere: f64::from(anywhere / total), ..Share::default() };
        let (mut best, mut window) = (0.0f32, 0.0f32);
        for at in 0..self.pieces.len() {
            let here = hits.get(at).copied().unwrap_or(0.0);
            if here > best {
                best = here;
                share.best = Some(at);
            }
            let before = at.checked_sub(1).and_then(|at| hits.get(at)).copied().unwrap_or(0.0);
            let behind = hits.get(at + 1).copied().unwrap_or(0.0);
            window = window.max((here + 0.6 * before.max(behind)).min(total));
        }
        share.piece = f64::from(best / total);
        share.window = f64::from(window / total);
        share
    }
}
