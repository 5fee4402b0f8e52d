//! How much of what the messages put side by side the summary still puts side by side.
//!
//! Single facts say whether what was followed is still there; this counts everything else too, so that a sentence which
//! holds no fact of weight is missed when it is cut.

use super::summary::Summary;
use crate::signal::bonds::{self, OpenBonds, REACH};
use crate::signal::inventory::HashedMap;
use crate::text::{pair, token};

/// The same pair once more counts by so much of the time before: a summary gains little by saying a thing twice.
const AGAIN: f32 = 0.5;

/// The weight of the pairs of words in the summary that some message bears out.
pub fn borne_out(summary: &Summary<'_>, bonds: &OpenBonds<'_>) -> f64 {
    let mut credit: HashedMap<f32> = HashedMap::default();
    let mut words = Vec::new();
    let mut sum = 0.0;
    for number in 0..summary.pieces.len() {
        bonds::words(&token::all(summary.piece(number)), &mut words);
        // What no message said stands between nothing.
        words.retain(|word| bonds.knows(word.base));
        for (at, one) in words.iter().enumerate() {
            for other in words.iter().skip(at + 1).take(REACH).filter(|other| other.base != one.base) {
                if bonds.ask(one.base, other.base) == Some(true) {
                    let key = pair(one.base.min(other.base), one.base.max(other.base));
                    let credit = credit.entry(key).or_insert(1.0);
                    sum += f64::from(one.weight * other.weight * *credit);
                    *credit *= AGAIN;
                }
            }
        }
    }
    sum
}
