//! What the messages last said of each word: done or open, with or without, kept or removed, not or no "not".
//!
//! A single flipped word is too little for a match of sentences. So each word that takes a side (`pending`, `passed`,
//! `never`, `without`) is remembered with the words around it, the newest statement last. The audit asks the same of
//! the sides that the summary takes.

use super::inventory::HashedMap;
use crate::text::cue::{self, Cues};
use crate::text::table::Table;
use crate::text::{Place, Token, lexicon, pair, tokens, word_hash};
use std::sync::OnceLock;

/// Words this far from a side belong to it; function words do not count.
const REACH: usize = 5;
/// Words more common than this are no company.
const COMMON: f32 = 0.3;
/// Sentences with more words are data.
const LONGEST: usize = 80;
/// So many words are remembered at most.
const MOST: usize = 24_000;

/// A side: which question it answers, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    axis: u8,
    answer: u8,
}

const STATUS: u8 = 0;
const POLARITY: u8 = 1;
const DONE: u8 = 3;
/// The axis of the first line of [`TURNS`].
const APPROVAL: u8 = 2;
/// Pairs of words that turn a statement round, one axis a line.
const TURNS: &[(&str, &str)] = &[
    (
        "approved approves approval authorized authorised permitted greenlit genehmigt freigegeben approuvé aprobado \
         aprovado approvato",
        "declined denied refused vetoed abgelehnt refusé rechazado",
    ),
    ("with together including", "without excluding instead"),
    ("keep kept keeps retain retained leave left", "remove removed removes delete deleted drop dropped"),
    ("always", "never"),
    ("enable enabled enables on", "disable disabled disables off"),
    ("allow allowed allows accept accepted", "block blocked forbid forbidden reject rejected"),
    ("increase increased raise raised more", "decrease decreased reduce reduced less"),
    ("manual manually", "automatic automatically"),
    ("public", "private"),
    ("sync synchronous", "async asynchronous"),
];

/// The sides and the words of a sentence.
#[derive(Default)]
pub struct Reading {
    /// Each side with its place among the words.
    pub sides: Vec<(Side, usize)>,
    /// The hashes of the words.
    pub words: Vec<u64>,
    starts: Vec<usize>,
    tokens: Vec<Token>,
}

impl Side {
    /// It says that somebody approved.
    pub fn is_approval(self) -> bool {
        self == Side { axis: APPROVAL, answer: 1 }
    }

    /// It says that something is done.
    pub fn is_done(self) -> bool {
        self == Side { axis: STATUS, answer: DONE }
    }
}

impl Reading {
    /// Reads a sentence anew.
    pub fn read(&mut self, sentence: &str) {
        let mut list = std::mem::take(&mut self.tokens);
        list.clear();
        tokens(sentence, |token| list.push(token));
        self.read_tokens(sentence, &list);
        self.tokens = list;
    }

    /// The same for a sentence whose tokens are known.
    pub fn read_tokens(&mut self, sentence: &str, tokens: &[Token]) {
        self.sides.clear();
        self.words.clear();
        self.starts.clear();
        for token in tokens.iter().filter(|token| token.place != Place::Part) {
            if self.words.len() >= LONGEST {
                break;
            }
            let place = self.words.len();
            let turn = turn(token.hash);
            if let Some(side) = turn {
                self.sides.push((side, place));
            }
            let entry = lexicon::entry(token.hash);
            if turn.is_none() && cue::of_word(token.hash).is_none() && entry.weight > COMMON {
                self.words.push(entry.base);
                self.starts.push(token.start);
            }
        }
        let Reading { sides, starts, .. } = self;
        cue::find_in(sentence, tokens, |hit| {
            if let Some(side) = side_of(hit.cues) {
                sides.push((side, starts.partition_point(|start| *start < hit.start)));
            }
        });
    }

    /// The words around a place.
    pub fn around(&self, place: usize) -> &[u64] {
        self.words.get(place.saturating_sub(REACH)..(place + REACH).min(self.words.len())).unwrap_or_default()
    }
}

/// The side of a cue: what is not yet done is open, whatever else it is.
pub fn side_of(cues: Cues) -> Option<Side> {
    let answer = if cues.has(Cues::PENDING) {
        1
    } else if cues.has(Cues::FAILED) {
        2
    } else if cues.has(Cues::DONE) {
        DONE
    } else if cues.has(Cues::NEGATION.with(Cues::PROHIBITION)) {
        return Some(Side { axis: POLARITY, answer: 1 });
    } else {
        return None;
    };
    Some(Side { axis: STATUS, answer })
}

#[inline]
fn turn(hash: u64) -> Option<Side> {
    static TABLE: OnceLock<Table<Option<Side>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let sides = (2u8..).zip(TURNS).flat_map(|(axis, (one, other))| [(axis, 1, one), (axis, 2, other)]);
        let mut table: Table<Option<Side>> =
            Table::new(sides.clone().map(|(_, _, words)| words.split(' ').count()).sum());
        for (axis, answer, words) in sides {
            for word in words.split(' ') {
                table.entry(word_hash(word)).get_or_insert(Side { axis, answer });
            }
        }
        table
    });
    table.get(hash).flatten()
}

/// Whether a word or a phrase of a sentence may take a side: most sentences take none.
fn may_take_sides(sentence: &str, tokens: &[Token]) -> bool {
    let mut found = !sentence.is_ascii();
    if !found {
        cue::find_in(sentence, tokens, |hit| found |= side_of(hit.cues).is_some());
    }
    found || tokens.iter().any(|token| turn(token.hash).is_some())
}

fn key(axis: u8, word: u64) -> u32 {
    (pair(u64::from(axis) + 1, word) >> 40) as u32
}

/// Collects while the messages are read.
#[derive(Default)]
pub struct Collector {
    last: HashedMap<u8>,
    reading: Reading,
}

impl Collector {
    /// Takes a statement in; a later one overwrites what an earlier one said.
    pub fn read(&mut self, sentence: &str, tokens: &[Token]) {
        if !may_take_sides(sentence, tokens) {
            return;
        }
        let mut reading = std::mem::take(&mut self.reading);
        reading.read_tokens(sentence, tokens);
        for (side, place) in &reading.sides {
            for word in reading.around(*place) {
                if self.last.len() < MOST {
                    self.last.insert(u64::from(key(side.axis, *word)), side.answer);
                }
            }
        }
        self.reading = reading;
    }

    /// Takes in that the user said yes to what these sentences ask.
    pub fn approve(&mut self, sentence: &str) {
        let mut reading = std::mem::take(&mut self.reading);
        reading.read(sentence);
        for word in &reading.words {
            if self.last.len() < MOST {
                self.last.insert(u64::from(key(APPROVAL, *word)), 1);
            }
        }
        self.reading = reading;
    }

    /// What was said last.
    pub fn finish(self) -> Stances {
        let mut entries: Vec<(u32, u8)> = self.last.into_iter().map(|(key, answer)| (key as u32, answer)).collect();
        entries.sort_unstable();
        Stances { entries }
    }
}

/// What was said last of each word on each axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stances {
    /// Sorted by key.
    pub(super) entries: Vec<(u32, u8)>,
}

impl Stances {
    /// How well a side fits the words beside it, from -1 (the messages said the other) to 1; absent where they never
    /// said anything.
    pub fn fit(&self, side: Side, words: &[u64]) -> Option<f64> {
        let (agree, differ) = self.votes(side, words);
        let all = agree + differ;
        (all > 0).then(|| (f64::from(agree) - f64::from(differ)) / f64::from(all + 1))
    }

    /// Of how many of the words the messages last said the same, and of how many another.
    pub fn votes(&self, side: Side, words: &[u64]) -> (u32, u32) {
        let (mut agree, mut differ) = (0u32, 0u32);
        for word in words {
            let key = key(side.axis, *word);
            if let Ok(at) = self.entries.binary_search_by_key(&key, |entry| entry.0) {
                let same = self.entries.get(at).is_some_and(|entry| entry.1 == side.answer);
                agree += u32::from(same);
                differ += u32::from(!same);
            }
        }
        (agree, differ)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(sentences: &[&str]) -> Stances {
        let mut collector = Collector::default();
        for sentence in sentences {
            let mut list = Vec::new();
            tokens(sentence, |token| list.push(token));
            collector.read(sentence, &list);
        }
        collector.finish()
    }

    fn fit(stances: &Stances, sentence: &str) -> Option<f64> {
        let mut reading = Reading::default();
        reading.read(sentence);
        let (side, place) = *reading.sides.first()?;
        stances.fit(side, reading.around(place))
    }

    #[test]
    fn a_status_fits_what_has_it_and_not_what_has_another() {
        let known = read(&["The migration is done.", "The dashboard is pending."]);
        assert!(fit(&known, "migration: done").unwrap() > 0.0);
        assert!(fit(&known, "migration: pending").unwrap() < 0.0);
        assert_eq!(fit(&known, "the invoice is pending"), None);
    }

    #[test]
    fn the_newest_statement_counts() {
        let known = read(&["The cursor test failed.", "The cursor test passed."]);
        assert!(fit(&known, "cursor test passed").unwrap() > 0.0);
        assert!(fit(&known, "cursor test failed").unwrap() < 0.0);
    }

    #[test]
    fn words_that_turn_a_statement_have_sides_too() {
        let known = read(&["Run the exporter without hooks."]);
        assert!(fit(&known, "exporter without hooks").unwrap() > 0.0);
        assert!(fit(&known, "exporter with hooks").unwrap() < 0.0);
    }
}
