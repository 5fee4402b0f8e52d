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
    /// "I", "my": the speaker speaks of themself.
    pub const SELF: u32 = 1 << 22;
    /// "we", "our", "let's".
    pub const TOGETHER: u32 = 1 << 23;
    /// Found around the statement, not in it: a later statement speaks of the same.
    pub const FOLLOWED: u32 = 1 << 24;

    /// How many cues a statement can have in it: those above without [`FOLLOWED`].
    pub const COUNT: usize = 24;
}
mod phrases;

use crate::text::table::Table;
use cue::*;
use phrases::{PERSONS, PHRASES, RUNS};

/// All phrases, ready to be looked up.
pub struct Cues {
    by_first: Table<First>,
    /// The longest first: "don't know" is not "don't".
    phrases: Vec<Phrase>,
    /// The words behind the first, of all phrases.
    rest: Vec<u64>,
}

/// What is known of a word that phrases begin with.
#[derive(Clone, Copy, Default)]
struct First {
    /// Where its phrases stand in the list of all, from here to there.
    phrases: (u32, u32),
    /// What it means by itself, whatever phrase it begins.
    person: u32,
}

struct Phrase {
    /// Its words behind the first, from here to there.
    rest: (u32, u32),
    meaning: u32,
}

impl Cues {
    /// Built once for a survey.
    pub fn new() -> Cues {
        let mut rest: Vec<u64> = Vec::new();
        let mut found: Vec<(u64, Phrase)> = Vec::with_capacity(PHRASES.len());
        for (phrase, meaning) in PHRASES {
            let from = rest.len();
            words(phrase, |word| rest.push(word));
            if from < rest.len() {
                let first = rest.remove(from);
                found.push((first, Phrase { rest: (from as u32, rest.len() as u32), meaning: *meaning }));
            }
        }
        found.sort_by_key(|(first, phrase)| (*first, std::cmp::Reverse(phrase.rest.1 - phrase.rest.0)));
        let persons = || PERSONS.iter().flat_map(|(list, meaning)| list.split(' ').map(|word| (word, *meaning)));
        let mut by_first: Table<First> = Table::new(found.len() + persons().count());
        for (at, (first, _)) in (0u32..).zip(&found) {
            let range = &mut by_first.entry(*first).phrases;
            *range = (if range.1 == 0 { at } else { range.0 }, at + 1);
        }
        for (word, meaning) in persons() {
            words(word, |word| by_first.entry(word).person = meaning);
        }
        Cues { by_first, phrases: found.into_iter().map(|(_, phrase)| phrase).collect(), rest }
    }

    fn phrases_of(&self, first: First) -> &[Phrase] {
        let (from, to) = first.phrases;
        self.phrases.get(from as usize..to as usize).unwrap_or_default()
    }

    fn rest_of(&self, phrase: &Phrase) -> &[u64] {
        self.rest.get(phrase.rest.0 as usize..phrase.rest.1 as usize).unwrap_or_default()
    }

    /// What the phrases of a sentence hint at: its bits, and how many phrases there were.
    pub fn read(&self, sentence: &str, words: &[u64]) -> (u32, u32) {
        let (mut bits, mut count) = (0, 0);
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(first) = self.by_first.get(*word) else { continue };
            bits |= first.person;
            for phrase in self.phrases_of(first) {
                let rest = self.rest_of(phrase);
                if words.get(at..at + rest.len()) == Some(rest) {
                    bits |= phrase.meaning;
                    count += (phrase.meaning != 0) as u32;
                    at += rest.len();
                    break;
                }
            }
        }
        if sentence.bytes().any(|byte| byte >= FIRST_OF_RUNS) {
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

/// Gives the hash of each word of a text: lower case, without diacritics, apostrophes in one form.
pub fn words(text: &str, mut found: impl FnMut(u64)) {
    let mut state = SEED;
    let mut length = 0;
    let mut take = |letter: Option<u32>| match letter {
        Some(letter) => {
            state = (state ^ u64::from(letter)).wrapping_mul(0x0000_0100_0000_01b3);
            length += 1;
        }
        None if length > 0 => {
            found(state);
            (state, length) = (SEED, 0);
        }
        None => {}
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut inside = false;
    while let Some(byte) = bytes.get(at) {
        let mut step = 1;
        let letter = match PLAIN[usize::from(*byte)] {
            0 if *byte >= 0x80 => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) => {
                    step = c.len_utf8();
                    match c {
                        '’' | 'ʼ' => inside.then_some(u32::from(b'\'')),
                        c if c.is_alphanumeric() => Some(u32::from(fold(c))),
                        _ => None,
                    }
                }
                None => None,
            },
            0 => None,
            b'\'' if !inside => None,
            letter => Some(u32::from(letter)),
        };
        inside = letter.is_some();
        take(letter);
        at += step;
    }
    take(None);
}

/// The small form of each letter and digit, and the apostrophe; 0 for what is no part of a word.
static PLAIN: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() || byte == b'\'' {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// The least byte that one of the [`RUNS`] begins with: all of them are in scripts of East Asia.
const FIRST_OF_RUNS: u8 = {
    let (mut least, mut at) = (u8::MAX, 0);
    while at < RUNS.len() {
        let first = RUNS[at].0.as_bytes()[0];
        least = if first < least { first } else { least };
        at += 1;
    }
    least
};

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
