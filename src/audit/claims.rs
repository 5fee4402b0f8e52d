//! Do the claims of the summary (done, pending, failed, not) fit what the messages said about the same things?
//!
//! A single flipped word is too little for a match of sentences. So each claim of a piece is weighed by its other words:
//! of the statements that use them, how many make the same claim?

use super::summary::Summary;
use crate::signal::Signal;
use crate::text::cue::{self, Cues};
use crate::text::{lexicon, tokens};
use std::collections::HashMap;

const CLAIMS: [Cues; 4] = [Cues::DONE, Cues::PENDING, Cues::FAILED, Cues::NEGATION];
/// Words more common than this tell nothing about the subject.
const MIN_WEIGHT: f32 = 0.5;

/// From 0 to 1: how little the claims of a summary are borne out by the statements.
pub fn doubt(summary: &Summary<'_>, signals: &[Signal]) -> f64 {
    let mut words: HashMap<u64, [f32; 5]> = HashMap::new();
    let mut base = [1.0f32; 5];
    for signal in signals.iter().filter(|signal| signal.order > 0) {
        let cues = cue::of_text(&signal.text);
        let mut seen: Vec<u64> = Vec::new();
        subject(&signal.text, |word| {
            if !seen.contains(&word) {
                seen.push(word);
                count(words.entry(word).or_default(), cues);
            }
        });
        count(&mut base, cues);
    }
    let (mut total, mut claims) = (0.0, 0u32);
    for (number, piece) in summary.pieces.iter().enumerate() {
        for (place, claim) in CLAIMS.iter().enumerate() {
            let claimed = piece.cues.has(*claim);
            let (mut support, mut weight) = (0.0f32, 0.0f32);
            subject(summary.piece(number), |word| {
                if let Some(counts) = words.get(&word) {
                    let prior = base[place] / base[4];
                    support += (counts[place] + prior) / (counts[4] + 1.0);
                    weight += 1.0;
                }
            });
            if weight > 0.0 {
                let share = f64::from(support / weight);
                total += if claimed { 1.0 - share } else { share };
                claims += 1;
            }
        }
    }
    if claims == 0 { 0.0 } else { total / f64::from(claims) }
}

fn count(counts: &mut [f32; 5], cues: Cues) {
    for (place, claim) in CLAIMS.iter().enumerate() {
        if cues.has(*claim) {
            counts[place] += 1.0;
        }
    }
    counts[4] += 1.0;
}

fn subject(text: &str, mut found: impl FnMut(u64)) {
    tokens(text, |token| {
        let entry = lexicon::entry(token.hash);
        if token.is_word() && entry.weight >= MIN_WEIGHT && cue::of_word(token.hash).is_none() {
            found(entry.base);
        }
    });
}
