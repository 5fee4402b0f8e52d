//! What the sentence that matches a fact best says against it.

use super::{COMMON, Conflict, Fact, Index, KEY_REACH, Scratch, Word, is_negated};
use crate::text::cue::{self, Cues};
use crate::text::token::Place;

/// How much of a fact a sentence must hold to be about the same thing, for saying that it contradicts it.
const SAME_SUBJECT: f32 = 0.55;
/// A negation that acts on this share of a fact is about it.
const NEGATED_SHARE: f32 = 0.25;
/// A sentence with so many times the words of a fact says more than the fact.
const MUCH_LONGER: usize = 2;

impl Index<'_> {
    /// What the sentence `at` says against the fact.
    pub(super) fn conflict(&self, fact: &Fact, at: usize, scratch: &Scratch, share: f32) -> Option<Conflict> {
        let sentence = self.sentences.get(at)?;
        let held = scratch.exact.get(at).copied().unwrap_or(0);
        if share >= SAME_SUBJECT {
            if self.polarity_differs(fact, at as u32, held) {
                return Some(Conflict::Polarity);
            }
            if status_differs(fact.cues, sentence.cues) {
                return Some(Conflict::Status);
            }
            if fact.cues.has(Cues::TENTATIVE)
                && !sentence.cues.has(Cues::TENTATIVE.with(Cues::QUESTION))
                && sentence.cues.has(Cues::CONFIRMED)
            {
                return Some(Conflict::Certainty);
            }
        }
        self.value_differs(fact, at as u32).then_some(Conflict::Value)
    }

    /// Whether exactly one side negates most of what both say. A sentence much longer than the fact says more than
    /// the fact, so that its "not" may belong elsewhere.
    fn polarity_differs(&self, fact: &Fact, sentence: u32, held: u64) -> bool {
        let words = self.sentence_words(sentence);
        let counted = words.iter().filter(|word| word.weight > COMMON).count();
        if counted > MUCH_LONGER * fact.words.len() + 4 {
            return false;
        }
        let mut negations = Vec::new();
        for word in words.iter().filter(|word| word.place != Place::Part) {
            if cue::of_word(word.base).has(Cues::NEGATION) {
                negations.push(word.position);
            }
        }
        if fact.cues.has(Cues::NEGATION) {
            return negations.is_empty() && fact.share(fact.negated & held, 0) >= NEGATED_SHARE;
        }
        let mut there = 0u64;
        for (index, word) in fact.words.iter().enumerate().filter(|(index, _)| held & (1 << index) != 0) {
            if words.iter().any(|w| w.base == word.base && is_negated(&negations, w.position)) {
                there |= 1 << index;
            }
        }
        fact.share(there, 0) >= NEGATED_SHARE
    }

    /// Whether the sentence names a key of the fact with another value of the same shape instead.
    fn value_differs(&self, fact: &Fact, sentence: u32) -> bool {
        let words = self.sentence_words(sentence);
        fact.values.iter().any(|value| {
            if value.keys.is_empty() || self.holds(value) {
                return false;
            }
            let keyed = |other: &Word| {
                words
                    .iter()
                    .any(|word| value.keys.contains(&word.base) && word.position.abs_diff(other.position) <= KEY_REACH)
            };
            words.iter().any(|word| {
                word.shape == value.shape && word.place == Place::Alone && word.base != value.hash && keyed(word)
            })
        })
    }
}

/// Whether one says it is done and the other that it is not.
fn status_differs(fact: Cues, text: Cues) -> bool {
    let state = |cues: Cues| {
        let open = cues.has(Cues::PENDING.with(Cues::FAILED)) || cues.has(Cues::NEGATION) && cues.has(Cues::DONE);
        let done = cues.has(Cues::DONE) && !open;
        (done, open && !done)
    };
    let ((fact_done, fact_open), (text_done, text_open)) = (state(fact), state(text));
    fact_done && text_open && !text.has(Cues::DONE) || fact_open && text_done && !fact.has(Cues::DONE)
}
