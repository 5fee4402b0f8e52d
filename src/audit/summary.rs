//! A summary, ready to be asked: which words stand in which of its sentences, which names it has.

use super::matching::{Index, contains_folded};
use crate::signal::inventory::{HashedMap, HashedSet};
use crate::signal::names;
use crate::text::{UnitKind, lexicon, tokens, units};

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
    words: HashedMap<Vec<u32>>,
    forms: HashedSet,
    /// For questions of meaning: polarity, status, values bound to keys.
    pub index: Index<'a>,
}

impl<'a> Summary<'a> {
    /// Reads a summary once.
    pub fn new(text: &'a str) -> Summary<'a> {
        let (words, forms) = (HashedMap::default(), HashedSet::default());
        let mut summary = Summary { text, pieces: Vec::new(), words, forms, index: Index::new(text) };
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
        // A command is there as it is or not at all.
        if value.contains(' ') {
            return contains_folded(self.text, value);
        }
        // A flag without its dashes is a plain word.
        if value.starts_with("--") {
            return false;
        }
        let trimmed = value.trim_matches(|c: char| !c.is_alphanumeric());
        if trimmed.len() != value.len() && self.forms.contains(&names::key_hash(trimmed.as_bytes())) {
            return true;
        }
        let last = trimmed.rsplit('/').next().unwrap_or(trimmed);
        if last.len() != trimmed.len() && last.contains('.') && self.forms.contains(&names::key_hash(last.as_bytes())) {
            return true;
        }
        // A path in a shorter form that still has two parts: `origin/main/docs` as `main/docs`.
        let mut ends = trimmed.match_indices('/').filter_map(|(slash, _)| trimmed.get(slash + 1..));
        if ends.any(|end| end.contains('/') && self.forms.contains(&names::key_hash(end.as_bytes()))) {
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

    /// How much of a statement's words, by weight, stand in its best two neighbouring pieces: from 0 to 1.
    pub fn share(&self, statement: &str) -> f64 {
        let mut hits = vec![0.0f32; self.pieces.len() + 1];
        let mut total = 0.0f32;
        let mut seen: Vec<u64> = Vec::new();
        tokens(statement, |token| {
            let entry = lexicon::entry(token.hash);
            if !token.is_word() || entry.weight < 0.2 || seen.contains(&entry.base) {
                return;
            }
            seen.push(entry.base);
            total += entry.weight;
            for piece in self.words.get(&entry.base).into_iter().flatten() {
                if let Some(hit) = hits.get_mut(*piece as usize) {
                    *hit += entry.weight;
                }
            }
        });
        if total <= 0.0 {
            return 1.0;
        }
        let window = hits.windows(2).map(|pair| pair.iter().sum::<f32>()).fold(0.0, f32::max);
        f64::from((window / total).min(1.0))
    }
}
