//! Is this fact there: an index of a text that answers for thousands of facts without reading the text again.
//!
//! [`Index::new`] reads the summary (or a retained message) once. [`Fact::new`] reads a statement once. Then
//! [`Index::look_up`] walks the postings of the fact's words, so that its cost grows with the fact and not with the
//! text. What comes back says how much of the fact stands anywhere, in the best sentence and in the best two
//! sentences, which exact values are there, and what the best sentence says against the fact.
//!
//! Words count by rarity. A word that is only nearly there (the same first letters, a synonym) counts in part.

use crate::text::cue::{self, Cues};
use crate::text::lexicon;
use crate::text::token::{self, Place, Shape, Token};
use crate::text::{Hasher, pair, units};

mod conflict;
mod rarity;
mod value;
pub use rarity::Rarity;
pub use value::Presence;
pub(super) use value::contains_folded;

/// Words of a fact beyond this many are not looked at: sets of words are bits.
const FACT_WORDS: usize = 64;
/// A word this common (function words) is not looked for.
const COMMON: f32 = 0.06;
/// Credit for a synonym or a word with the same first letters.
const PREFIX_CREDIT: f32 = 0.5;
/// A word is looked for in so many of its places at most. No summary that replaces anything has as many sentences; one
/// that repeats the words of a thousand rules would cost the product of both.
const MOST_PLACES: usize = 2_000;
/// The first letters that make two words akin.
const PREFIX_LEN: usize = 5;
/// A negation acts on words this close behind it.
const NEGATION_REACH: u32 = 4;
/// A sentence with words of less weight than this says too little to be accounted for.
const MIN_SENTENCE: f32 = 2.0;
/// A key word stands this close to the value it names.
const KEY_REACH: u32 = 4;

/// One counted word.
#[derive(Clone, Copy, Debug)]
struct Word {
    pub base: u64,
    pub prefix: u64,
    pub class: u32,
    pub weight: f32,
    pub shape: Shape,
    pub place: Place,
    /// Running number of the token within its text.
    pub position: u32,
    /// Index of its sentence; 0 in a fact.
    pub sentence: u32,
    /// Begins with a capital letter.
    pub capital: bool,
}

/// A sentence of the indexed text.
#[derive(Clone, Copy, Debug)]
struct Sentence {
    start: usize,
    end: usize,
    cues: Cues,
    /// Its words: a range of `Index::words`.
    first: u32,
    last: u32,
    /// The weight of its words.
    total: f32,
}

/// A text, ready to be asked.
pub struct Index<'a> {
    text: &'a str,
    sentences: Vec<Sentence>,
    words: Vec<Word>,
    /// Chains of postings by key: the head of each chain, then for each posting its key, word and successor.
    heads: Vec<u32>,
    postings: Vec<(u64, u32, u32)>,
    values: value::Values,
}

const NONE: u32 = u32::MAX;
const PREFIX_KEY: u64 = 0x7072_6566;
const CLASS_KEY: u64 = 0x636c_6173;

/// A statement, ready to be looked up: made once, used against any number of texts.
#[derive(Clone, Debug)]
pub struct Fact {
    words: Vec<Word>,
    values: Vec<value::Value>,
    cues: Cues,
    /// Bits of `words` that a negation acts on.
    negated: u64,
    total: f32,
}

/// What contradicts a fact in the sentence that matches it best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// One of them is negated.
    Polarity,
    /// Done here, pending or failed there.
    Status,
    /// Tentative in the fact, certain in the text.
    Certainty,
    /// Another value for the same key.
    Value,
}

/// What an index knows of a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Share of the fact's words, by weight, that stand anywhere in the text.
    pub anywhere: f32,
    /// The same within the best sentence.
    pub in_sentence: f32,
    /// The same within the second best sentence.
    pub in_second: f32,
    /// The same within the best two neighbouring sentences.
    pub in_window: f32,
    /// Bytes of the best sentence in the text.
    pub sentence: Option<(usize, usize)>,
    /// How many of the fact's exact values are there, bound to their keys, and how many it has.
    pub values_found: u32,
    /// How many exact values the fact has.
    pub values_total: u32,
    /// What the best sentence says against it.
    pub conflict: Option<Conflict>,
    /// Share of the words that a "not" of the fact acts on that stand in the best sentence; 1 where there is no "not".
    pub negated: f32,
}

/// What the probe asks besides a [`Match`].
#[derive(Default)]
pub(super) struct Detail {
    /// Share of the fact's words that stand anywhere in the very form.
    pub exact: f32,
    /// The same for names and values only.
    pub names: f32,
    /// Share of neighbouring words of the fact that share a sentence.
    pub pairs: f32,
    /// The weight of the rarest word that is not there.
    pub rarest_missing: f32,
    /// Whether the last word, often the object, is there.
    pub last: bool,
    /// The longest run of following words of the fact that shares a sentence, as a share of all.
    pub run: f32,
    /// The weight of all words that are not there.
    pub missing: f32,
    /// How many words the fact has.
    pub words: usize,
    /// The largest share of the words of one sentence that the fact accounts for.
    pub cover: f32,
    /// The best balance of what a sentence holds of the fact and what the fact accounts for of the sentence.
    pub balance: f32,
}

/// Working memory for look-ups: make one for each index, use it for all facts.
#[derive(Default)]
pub struct Scratch {
    /// For each sentence the fact's words that it holds, and those that it nearly holds.
    exact: Vec<u64>,
    akin: Vec<u64>,
    touched: Vec<u32>,
}

fn prefix(text: &str, token: &Token) -> u64 {
    let bytes = text.as_bytes().get(token.start..token.end).unwrap_or_default();
    if token.shape != Shape::Word || bytes.len() < PREFIX_LEN {
        return 0;
    }
    let mut hasher = Hasher::new();
    for byte in bytes.iter().take(PREFIX_LEN) {
        hasher = hasher.push(byte.to_ascii_lowercase());
    }
    hasher.finish()
}

/// The words of a piece of text.
fn read_words(text: &str, tokens: &[Token], position: &mut u32, mut emit: impl FnMut(Word)) {
    for token in tokens {
        *position += u32::from(token.place != Place::Part);
        if token.place == Place::Whole && token.shape != Shape::Hangul {
            continue;
        }
        let entry = lexicon::entry(token.hash);
        let weight = match (token.shape, token.place) {
            (Shape::Number, Place::Part) => 0.3,
            (Shape::Han | Shape::Hangul, Place::Part) => 0.5,
            (Shape::Kana, _) => 0.4,
            _ => entry.weight,
        };
        let first = text.as_bytes().get(token.start).copied().unwrap_or(0);
        emit(Word {
            base: entry.base,
            prefix: prefix(text, token),
            class: entry.class,
            weight,
            shape: token.shape,
            place: token.place,
            position: *position,
            sentence: 0,
            capital: first.is_ascii_uppercase(),
        });
    }
}

impl Fact {
    /// Reads a statement; its exact values are found in it.
    pub fn new(text: &str) -> Fact {
        Fact::with_values(text, &[])
    }

    /// Reads a statement that must keep these values besides those found in it.
    pub fn with_values(text: &str, values: &[String]) -> Fact {
        let mut words: Vec<Word> = Vec::new();
        let mut negations: Vec<u32> = Vec::new();
        let mut position = 0;
        let tokens = token::all(text);
        read_words(text, &tokens, &mut position, |word| {
            if cue::of_word(word.base).has(Cues::NEGATION) {
                negations.push(word.position);
            } else if word.weight > COMMON && words.len() < FACT_WORDS && !words.iter().any(|w| w.base == word.base) {
                words.push(word);
            }
        });
        let negated = bits(&words, |word| is_negated(&negations, word.position));
        let total = words.iter().map(|word| word.weight).sum();
        let values = value::of_fact(text, &tokens, values, &words, KEY_REACH);
        Fact { words, values, cues: cue::of_tokens(text, &tokens), negated, total }
    }

    /// What polarity, status and modality the statement has.
    pub fn cues(&self) -> Cues {
        self.cues
    }

    /// Whether there is nothing in it to look for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.values.is_empty()
    }

    /// The share of the weight of all words that these words carry.
    fn share(&self, exact: u64, akin: u64) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for (index, word) in self.words.iter().enumerate() {
            let bit = 1u64 << index;
            if exact & bit != 0 {
                sum += word.weight;
            } else if akin & bit != 0 {
                sum += word.weight * PREFIX_CREDIT;
            }
        }
        sum / self.total
    }
}

fn bits(words: &[Word], has: impl Fn(&Word) -> bool) -> u64 {
    words.iter().take(FACT_WORDS).enumerate().filter(|(_, w)| has(w)).fold(0, |set, (index, _)| set | 1 << index)
}

/// The longest run of ones.
fn longest_run(mut bits: u64) -> u32 {
    let mut length = 0;
    while bits != 0 {
        bits &= bits << 1;
        length += 1;
    }
    length
}

fn is_negated(negations: &[u32], position: u32) -> bool {
    negations.iter().any(|at| position > *at && position - at <= NEGATION_REACH)
}

impl<'a> Index<'a> {
    /// Reads a text once.
    pub fn new(text: &'a str) -> Index<'a> {
        let mut index = Index {
            text,
            sentences: Vec::new(),
            words: Vec::with_capacity(text.len() / 6),
            heads: Vec::new(),
            postings: Vec::new(),
            values: value::Values::default(),
        };
        let mut position = 0;
        units(text, |unit| index.add_sentence(unit.start, unit.end, &mut position));
        index.link();
        index
    }

    fn add_sentence(&mut self, start: usize, end: usize, position: &mut u32) {
        let Some(piece) = self.text.get(start..end) else { return };
        let number = self.sentences.len() as u32;
        let first = self.words.len() as u32;
        position_gap(position);
        let words = &mut self.words;
        let tokens = token::all(piece);
        read_words(piece, &tokens, position, |word| words.push(Word { sentence: number, ..word }));
        self.values.add_piece(piece, &tokens, number);
        let last = self.words.len() as u32;
        let words = self.words.get(first as usize..).unwrap_or_default();
        let total = words.iter().filter(|word| word.weight > COMMON).map(|word| word.weight).sum();
        self.sentences.push(Sentence { start, end, cues: cue::of_tokens(piece, &tokens), first, last, total });
    }

    /// Chains the words by what they can be asked for.
    fn link(&mut self) {
        let size = (self.words.len() * 2).next_power_of_two().max(16);
        self.heads = vec![NONE; size];
        self.postings = Vec::with_capacity(self.words.len() * 2);
        for at in 0..self.words.len() {
            let Some(word) = self.words.get(at).copied() else { continue };
            if word.weight <= COMMON {
                continue;
            }
            self.post(word.base, at as u32);
            if word.prefix != 0 {
                self.post(pair(PREFIX_KEY, word.prefix), at as u32);
            }
            if word.class != 0 {
                self.post(pair(CLASS_KEY, u64::from(word.class)), at as u32);
            }
        }
        self.values.link();
    }

    fn post(&mut self, key: u64, word: u32) {
        let slot = key as usize & (self.heads.len() - 1);
        if let Some(head) = self.heads.get_mut(slot) {
            let next = *head;
            *head = self.postings.len() as u32;
            self.postings.push((key, word, next));
        }
    }

    /// Calls `hit` for each word posted under this key, the last of the text first, see [`MOST_PLACES`].
    fn posted(&self, key: u64, mut hit: impl FnMut(&Word)) {
        let slot = key as usize & (self.heads.len() - 1);
        let mut at = self.heads.get(slot).copied().unwrap_or(NONE);
        for _ in 0..MOST_PLACES {
            let Some((known, word, next)) = self.postings.get(at as usize) else { return };
            if *known == key
                && let Some(word) = self.words.get(*word as usize)
            {
                hit(word);
            }
            at = *next;
        }
    }

    /// The indexed text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How many sentences it has.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Whether it has no sentence.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Whether an exact value stands in the text, in any tolerated form.
    pub fn has_value(&self, value: &str) -> Presence {
        value::find(&self.values, self.text, value)
    }

    /// Marks in `scratch` which sentence holds which words of the fact.
    fn mark(&self, fact: &Fact, scratch: &mut Scratch) {
        scratch.exact.clear();
        scratch.exact.resize(self.sentences.len(), 0);
        scratch.akin.clear();
        scratch.akin.resize(self.sentences.len(), 0);
        scratch.touched.clear();
        let Scratch { exact, akin, touched } = scratch;
        for (index, word) in fact.words.iter().enumerate() {
            let bit = 1u64 << index;
            self.posted(word.base, |hit| set(exact, touched, hit.sentence, bit));
            if word.prefix != 0 {
                self.posted(pair(PREFIX_KEY, word.prefix), |hit| set(akin, touched, hit.sentence, bit));
            }
            if word.class != 0 {
                self.posted(pair(CLASS_KEY, u64::from(word.class)), |hit| set(akin, touched, hit.sentence, bit));
            }
        }
        touched.sort_unstable();
        touched.dedup();
    }

    /// Numbers for a judgement of how surely the fact is stated, after a [`Index::look_up`] with the same scratch.
    pub(super) fn detail(&self, fact: &Fact, scratch: &Scratch) -> Detail {
        let join = |list: &[u64]| list.iter().fold(0, |all, bits| all | bits);
        let (exact, akin) = (join(&scratch.exact), join(&scratch.akin));
        let has = |index: usize| exact & (1 << index) != 0;
        let mut detail = Detail { exact: fact.share(exact, 0), ..Default::default() };
        let (mut names, mut named) = (0.0, 0.0);
        for (index, word) in fact.words.iter().enumerate() {
            if !has(index) && akin & (1 << index) == 0 {
                detail.rarest_missing = detail.rarest_missing.max(word.weight);
                detail.missing += word.weight;
            }
            if word.capital || word.shape.is_value() {
                names += word.weight;
                named += if has(index) { word.weight } else { 0.0 };
            }
        }
        detail.names = if names > 0.0 { named / names } else { detail.exact };
        // Bit `n` of `joined`: the words `n` and `n + 1` share a sentence.
        let (mut joined, mut run) = (0u64, 0);
        for at in &scratch.touched {
            let get = |list: &[u64]| list.get(*at as usize).copied().unwrap_or(0);
            let held = get(&scratch.exact) | get(&scratch.akin);
            joined |= held & (held >> 1);
            run = longest_run(held).max(run);
            let total = self.sentences.get(*at as usize).map_or(0.0, |sentence| sentence.total);
            let share = fact.share(get(&scratch.exact), get(&scratch.akin));
            let cover = (share * fact.total / total.max(MIN_SENTENCE)).min(1.0);
            if held.count_ones() >= 2 {
                detail.cover = detail.cover.max(cover);
            }
            detail.balance = detail.balance.max(2.0 * share * cover / (share + cover).max(0.01));
        }
        let pairs = fact.words.len().saturating_sub(1);
        detail.pairs = if pairs > 0 { joined.count_ones() as f32 / pairs as f32 } else { detail.exact };
        detail.last = fact.words.len().checked_sub(1).is_none_or(has);
        detail.words = fact.words.len();
        detail.run = run as f32 / detail.words.max(1) as f32;
        detail
    }

    /// What this text knows of a fact.
    pub fn look_up(&self, fact: &Fact, scratch: &mut Scratch) -> Match {
        self.mark(fact, scratch);
        let mut all = (0u64, 0u64);
        let (mut in_sentence, mut in_second, mut in_window, mut best) = (0.0f32, 0.0f32, 0.0f32, None);
        for number in &scratch.touched {
            let at = *number as usize;
            let get = |list: &[u64], at: usize| list.get(at).copied().unwrap_or(0);
            let here = (get(&scratch.exact, at), get(&scratch.akin, at));
            let next = (get(&scratch.exact, at + 1), get(&scratch.akin, at + 1));
            all = (all.0 | here.0, all.1 | here.1);
            let share = fact.share(here.0, here.1);
            if share > in_sentence {
                in_second = in_sentence;
                in_sentence = share;
                best = Some(at);
            } else {
                in_second = in_second.max(share);
            }
            in_window = in_window.max(fact.share(here.0 | next.0, here.1 | next.1));
        }
        let found = fact.values.iter().filter(|value| self.holds(value)).count() as u32;
        let of_not = fact.share(fact.negated, 0);
        let negated = best.filter(|_| of_not > 0.0).map_or(1.0, |at| {
            let held = |list: &[u64]| list.get(at).copied().unwrap_or(0) & fact.negated;
            fact.share(held(&scratch.exact), held(&scratch.akin)) / of_not
        });
        let conflict = best.and_then(|at| self.conflict(fact, at, scratch, in_sentence));
        Match {
            anywhere: fact.share(all.0, all.1),
            in_sentence,
            in_second,
            in_window,
            sentence: best.and_then(|at| self.sentences.get(at)).map(|sentence| (sentence.start, sentence.end)),
            values_found: found,
            values_total: fact.values.len() as u32,
            conflict,
            negated,
        }
    }

    /// Whether a value is there, and a bare number in a sentence with one of its key words.
    fn holds(&self, value: &value::Value) -> bool {
        let bound = value.keys.is_empty() || !value.is_bare_number();
        let mut held = false;
        self.values.places(self.text, value, |sentence| {
            held = held || bound || self.sentence_words(sentence).iter().any(|word| value.keys.contains(&word.base));
        });
        held
    }

    fn sentence_words(&self, sentence: u32) -> &[Word] {
        self.sentences
            .get(sentence as usize)
            .and_then(|s| self.words.get(s.first as usize..s.last as usize))
            .unwrap_or_default()
    }
}

/// Sentences stand apart, so that nothing reaches over their ends.
fn position_gap(position: &mut u32) {
    *position += 2 * KEY_REACH.max(NEGATION_REACH);
}

fn set(list: &mut [u64], touched: &mut Vec<u32>, sentence: u32, bit: u64) {
    if let Some(bits) = list.get_mut(sentence as usize) {
        *bits |= bit;
        touched.push(sentence);
    }
}

#[cfg(test)]
mod tests;
