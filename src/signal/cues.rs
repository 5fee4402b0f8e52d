//! The words by which people mark what matters: prohibitions, rules, decisions, tasks, failures, results.
//!
//! Phrases are looked for in folded words, so that case, Markdown and typographic apostrophes do not count.
//! They are common words of their languages, written from general knowledge. The English list was written by someone
//! who had read evaluation conversations; phrases known to come from there were taken out again.

/// What a phrase hints at. One bit each.
pub mod cue {
    /// "don't", "never", "must not".
    pub const PROHIBITION: u32 = 1;
    /// "always", "must", "make sure".
    pub const RULE: u32 = 1 << 1;
    /// "I want", "I prefer", "please".
    pub const WISH: u32 = 1 << 2;
    /// "not yet", "wait", "hold off", "before you".
    pub const DEFER: u32 = 1 << 3;
    /// "let's", "we decided", "agreed".
    pub const DECISION: u32 = 1 << 4;
    /// "instead of", "rather than".
    pub const CONTRAST: u32 = 1 << 5;
    /// "todo", "next step", "remaining", "we still need".
    pub const TASK: u32 = 1 << 6;
    /// "should I", "would you like me to": the agent waits for an answer.
    pub const ASK: u32 = 1 << 7;
    /// "error", "failed", "not found".
    pub const FAILURE: u32 = 1 << 8;
    /// "because", "root cause", "the reason".
    pub const CAUSE: u32 = 1 << 9;
    /// "done", "passed", "committed".
    pub const DONE: u32 = 1 << 10;
    /// "turns out", "I found", "no sign of".
    pub const FINDING: u32 = 1 << 11;
    /// "afraid", "worried", "careful", "annoying": feelings about how the work is done.
    pub const CONCERN: u32 = 1 << 12;
    /// "goal", "purpose", "the point is".
    pub const GOAL: u32 = 1 << 13;
    /// "remember", "note that", "important", "keep in mind".
    pub const EMPHASIS: u32 = 1 << 14;
    /// "you keep", "you should have", "why did you": correction of the agent.
    pub const CORRECTION: u32 = 1 << 15;
    /// "thanks", "ok", "great": nothing to keep.
    pub const COURTESY: u32 = 1 << 16;
    /// "let me", "I'll now": the agent announces its own next move.
    pub const NARRATION: u32 = 1 << 17;
    /// "actually", "no longer", "changed": something earlier is overturned.
    pub const REVERSAL: u32 = 1 << 18;
    /// "obsolete", "unrelated", "ignore", "example": declared not to matter.
    pub const DISCLAIMED: u32 = 1 << 19;
    /// "for now", "currently", "at the moment".
    pub const CURRENT: u32 = 1 << 20;
    /// Ends as a question.
    pub const QUESTION: u32 = 1 << 21;
    /// Found around the statement, not in it: a later statement speaks of the same.
    pub const FOLLOWED: u32 = 1 << 22;
}
mod phrases;

use super::inventory::HashedMap;
use cue::*;
use phrases::{PHRASES, RUNS};

/// All phrases, ready to be looked up.
pub struct Cues {
    /// By the hash of the first word: the other words and the meaning.
    by_first: HashedMap<Vec<(Vec<u64>, u32)>>,
}

impl Cues {
    /// Built once for a survey.
    pub fn new() -> Cues {
        let mut by_first: HashedMap<Vec<(Vec<u64>, u32)>> = HashedMap::default();
        for (phrase, meaning) in PHRASES {
            let mut words = phrase.split(' ').map(word_hash);
            if let Some(first) = words.next() {
                by_first.entry(first).or_default().push((words.collect(), *meaning));
            }
        }
        // The longest phrase first: "don't know" is not "don't".
        for list in by_first.values_mut() {
            list.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        Cues { by_first }
    }

    /// What the phrases of a sentence hint at: its bits, and how many phrases there were.
    pub fn read(&self, sentence: &str, words: &[u64]) -> (u32, u32) {
        let (mut bits, mut count) = (0, 0);
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let mut step = 1;
            if let Some(list) = self.by_first.get(word) {
                for (rest, meaning) in list {
                    if words.get(at + 1..at + 1 + rest.len()) == Some(rest.as_slice()) {
                        bits |= meaning;
                        count += (*meaning != 0) as u32;
                        step += rest.len();
                        break;
                    }
                }
            }
            at += step;
        }
        if !sentence.is_ascii() {
            for (phrase, meaning) in RUNS {
                if sentence.contains(phrase) {
                    bits |= meaning;
                    count += 1;
                }
            }
        }
        if ends_as_question(sentence) {
            bits |= QUESTION;
        }
        (bits, count)
    }
}

impl Default for Cues {
    fn default() -> Cues {
        Cues::new()
    }
}

fn ends_as_question(sentence: &str) -> bool {
    sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?' && c != '？').ends_with(['?', '？'])
}

/// The hash of one word as [`words`] gives it.
fn word_hash(word: &str) -> u64 {
    let mut hash = 0;
    words(word, |found| hash = found);
    hash
}

/// Gives the hash of each word of a text: lower case, without diacritics, apostrophes in one form.
pub fn words(text: &str, mut found: impl FnMut(u64)) {
    let mut state = SEED;
    let mut length = 0;
    for c in text.chars() {
        let letter = if c.is_ascii() {
            if c.is_ascii_alphanumeric() || c == '\'' && length > 0 { Some(c.to_ascii_lowercase()) } else { None }
        } else if matches!(c, '’' | 'ʼ') {
            (length > 0).then_some('\'')
        } else if c.is_alphanumeric() {
            Some(fold(c))
        } else {
            None
        };
        match letter {
            Some(letter) => {
                state = (state ^ letter as u64).wrapping_mul(0x0000_0100_0000_01b3);
                length += 1;
            }
            None if length > 0 => {
                found(state);
                (state, length) = (SEED, 0);
            }
            None => {}
        }
    }
    if length > 0 {
        found(state);
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn fold(c: char) -> char {
    match c {
        'ä' | 'á' | 'à' | 'â' | 'ã' | 'å' | 'Ä' | 'Á' | 'À' => 'a',
        'é' | 'è' | 'ê' | 'ë' | 'É' | 'È' | 'ę' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ö' | 'ó' | 'ò' | 'ô' | 'õ' | 'Ö' => 'o',
        'ü' | 'ú' | 'ù' | 'û' | 'Ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}
