//! Exact values and the forms in which people repeat them.
//!
//! | value | also found as |
//! |---|---|
//! | path | any tail of it from a `/` on, or inside a longer path |
//! | commit id | any first part of at least 7 digits |
//! | number | with or without thousands separators |
//! | date | `2024-01-31`, `31 January 2024`, `Jan 31, 2024` |
//! | version | with or without `v` |
//! | several words | the same words within one sentence |

use super::Word;
use crate::text::lexicon;
use crate::text::token::{self, Place, Shape, Token};
use crate::text::{hash, word_hash};

/// How a value stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// Not at all.
    Absent,
    /// Only its last part: the file name of a path.
    Tail,
    /// In full, or in a form that says the same.
    Exact,
}

/// A value of a fact.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub text: String,
    pub hash: u64,
    pub shape: Shape,
    /// Words beside it in the fact, which say what it is the value of.
    pub keys: Vec<u64>,
}

impl Value {
    /// Digits that mean nothing without their key.
    pub fn is_bare_number(&self) -> bool {
        self.shape == Shape::Number
    }
}

/// All values of an indexed text by hash.
#[derive(Default)]
pub(super) struct Values {
    /// Hash, sentence, and whether this is only a tail of what stands there.
    entries: Vec<(u64, u32, bool)>,
    /// Hash of the first 7 digits of an id, its sentence and the id.
    ids: Vec<(u64, u32, String)>,
}

const ID_MIN: usize = 7;
const MONTHS: &str = "january february march april may june july august september october november december";

/// The number of a month by its name or the first three letters of it.
fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let at = MONTHS.split(' ').position(|name| name == word || word.len() == 3 && name.starts_with(word.as_str()));
    at.map(|at| at as u32 + 1)
}

fn date_hash(year: u32, month: u32, day: u32) -> u64 {
    hash(format!("{year:04}-{month:02}-{day:02}").as_bytes())
}

/// Calls `emit` for each date written with the name of its month.
fn written_dates(text: &str, tokens: &[Token], mut emit: impl FnMut(usize, usize, u64)) {
    let mut last: [Option<&Token>; 2] = [None; 2];
    for token in tokens.iter().filter(|token| token.place != Place::Part) {
        // The year comes last: most words need no look at the two before them.
        let year = text.as_bytes().get(token.start).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'+');
        if let [Some(first), Some(second)] = last
            && year
        {
            let of = |token: &Token| text.get(token.start..token.end).unwrap_or_default();
            let number = |token: &Token| of(token).trim_end_matches(char::is_alphabetic).parse::<u32>().ok();
            let (day, name) = if month(of(first)).is_some() { (second, first) } else { (first, second) };
            if let (Some(month), Some(day @ 1..=31), Some(year @ 1000..=2999)) =
                (month(of(name)), number(day), number(token))
            {
                emit(first.start, token.end, date_hash(year, month, day));
            }
        }
        last = [last[1], Some(token)];
    }
}

/// So many tails of a path are looked at, from its end on. A path of a hundred thousand parts is none, and all its tails
/// together would cost the square of its length.
const MOST_TAILS: usize = 32;

/// The tails of a path, each from behind a separator on, the shortest first.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices(['/', '\\'])
        .filter_map(|(at, _)| path.get(at + 1..))
        .filter(|tail| !tail.is_empty())
        .take(MOST_TAILS)
}

fn path_hash(path: &str) -> u64 {
    let mut state = crate::text::Hasher::new();
    for byte in path.bytes() {
        state = state.push(if byte == b'\\' { b'-' } else { byte.to_ascii_lowercase() });
    }
    state.finish()
}

/// A path without `:12` and what stands before its first name.
fn bare_path(path: &str) -> &str {
    let path = match path.rsplit_once(':') {
        Some((head, line)) if !head.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => path,
    };
    path.trim_start_matches(['.', '/', '~', '\\'])
}

impl Values {
    /// Takes in the values of one sentence.
    pub fn add_piece(&mut self, piece: &str, tokens: &[Token], sentence: u32) {
        for token in tokens.iter().filter(|token| token.shape.is_value()) {
            let text = piece.get(token.start..token.end).unwrap_or_default();
            self.entries.push((token.hash, sentence, token.place == Place::Part));
            match token.shape {
                Shape::Path | Shape::Url if token.place != Place::Part => {
                    let path = bare_path(text);
                    self.entries.push((path_hash(path), sentence, false));
                    for tail in tails(path) {
                        self.entries.push((path_hash(tail), sentence, false));
                    }
                }
                Shape::Id => {
                    let id = text.to_ascii_lowercase();
                    if let Some(head) = id.get(..ID_MIN) {
                        self.ids.push((hash(head.as_bytes()), sentence, id.clone()));
                    }
                }
                _ => {}
            }
        }
        written_dates(piece, tokens, |_, _, hash| self.entries.push((hash, sentence, false)));
    }

    /// Makes it ready to be asked.
    pub fn link(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup();
        self.ids.sort_unstable();
    }

    fn with_hash(&self, hash: u64) -> impl Iterator<Item = &(u64, u32, bool)> {
        let from = self.entries.partition_point(|entry| entry.0 < hash);
        self.entries.get(from..).unwrap_or_default().iter().take_while(move |entry| entry.0 == hash)
    }

    /// Calls `place` with each sentence that holds the value in full or in a form that says the same.
    pub fn places(&self, text: &str, value: &Value, mut place: impl FnMut(u32)) {
        for entry in self.with_hash(value.hash).filter(|entry| !entry.2) {
            place(entry.1);
        }
        match value.shape {
            Shape::Id => {
                let id = value.text.to_ascii_lowercase();
                let Some(head) = id.get(..ID_MIN).map(|head| hash(head.as_bytes())) else { return };
                let from = self.ids.partition_point(|entry| entry.0 < head);
                for (_, sentence, known) in self.ids.get(from..).unwrap_or_default().iter().take_while(|e| e.0 == head)
                {
                    if known.starts_with(id.as_str()) || id.starts_with(known.as_str()) {
                        place(*sentence);
                    }
                }
            }
            Shape::Path | Shape::Url => {
                let path = bare_path(&value.text);
                let candidates = std::iter::once(path).chain(tails(path).filter(|tail| tail.contains(['/', '\\'])));
                for candidate in candidates {
                    for entry in self.with_hash(path_hash(candidate)).filter(|entry| !entry.2) {
                        place(entry.1);
                    }
                }
            }
            // Several words: a literal occurrence, or nothing.
            Shape::Word if contains_folded(text, &value.text) => place(0),
            _ => {}
        }
    }
}

/// Whether `text` holds `part`, whatever the case.
pub fn contains_folded(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    !part.is_empty() && text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// The value tokens of a fact with the key words beside them, and the listed values that are not among them.
pub(super) fn of_fact(text: &str, tokens: &[Token], listed: &[String], words: &[Word], reach: u32) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut position = 0;
    for token in tokens {
        position += u32::from(token.place != Place::Part);
        if !token.is_value() || values.iter().any(|value| value.hash == token.hash) {
            continue;
        }
        let near = |word: &&Word| {
            word.shape == Shape::Word && word.position != position && word.position.abs_diff(position) <= reach
        };
        let keys = words.iter().filter(near).map(|word| word.base).collect();
        let text = text.get(token.start..token.end).unwrap_or_default().to_string();
        values.push(Value { text, hash: token.hash, shape: token.shape, keys });
    }
    written_dates(text, tokens, |start, end, hash| {
        values.retain(|value| {
            value.shape != Shape::Number || !text.get(start..end).unwrap_or_default().contains(&value.text)
        });
        values.push(Value {
            text: text.get(start..end).unwrap_or_default().to_string(),
            hash,
            shape: Shape::Date,
            keys: Vec::new(),
        });
    });
    for value in listed.iter().filter_map(|listed| parse(listed)) {
        if !values.iter().any(|known| known.hash == value.hash) {
            values.push(value);
        }
    }
    values
}

/// A value given as text: one token, a written date, or several words.
fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    let tokens = token::all(text);
    let mut date = None;
    written_dates(text, &tokens, |_, _, hash| date = Some(hash));
    let whole = || tokens.iter().filter(|token| token.place != Place::Part);
    let (single, count) = (whole().next_back(), whole().count());
    let of = |hash, shape| Value { text: text.to_string(), hash, shape, keys: Vec::new() };
    match (date, single) {
        (Some(hash), _) => Some(of(hash, Shape::Date)),
        (None, Some(token)) if count == 1 && token.shape.is_value() => Some(of(token.hash, token.shape)),
        (None, Some(_)) if count == 1 => Some(of(lexicon::entry(word_hash(text)).base, Shape::Word)),
        (None, Some(_)) => Some(of(hash(text.to_lowercase().as_bytes()), Shape::Word)),
        (None, None) => None,
    }
}

/// Whether a value given as text stands in the indexed text.
pub(super) fn find(values: &Values, text: &str, value: &str) -> Presence {
    let Some(value) = parse(value) else { return Presence::Absent };
    let mut found = Presence::Absent;
    values.places(text, &value, |_| found = Presence::Exact);
    if found == Presence::Absent && matches!(value.shape, Shape::Path | Shape::Url) {
        let path = bare_path(&value.text);
        let name = tails(path).next().unwrap_or(path);
        if values.with_hash(path_hash(name)).next().is_some() {
            found = Presence::Tail;
        }
    }
    found
}
