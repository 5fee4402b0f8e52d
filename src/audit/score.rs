//! One number from many: the salience-weighted share that is left, by kind, then over kinds, under the cap of the rules.

use super::judge::Judgement;
use crate::report::{Category, Kind, Status};
use crate::signal::weights::MAX_MEMBERS;

/// What a kind weighs in the score. Rules and open work are what people miss first.
fn weight(kind: Kind) -> f64 {
    match kind {
        Kind::Constraint => 3.0,
        Kind::Task => 2.0,
        Kind::Decision => 1.5,
        Kind::Infrastructure => 1.5,
        Kind::Error | Kind::State | Kind::Question => 1.0,
        Kind::Number => 0.5,
    }
}

/// An altered fact costs as much again as a dropped one.
const ALTERED: f64 = -1.0;
/// How fast the worth of a kind grows with how much of it there was: neither not at all nor in proportion.
const AMOUNT: f64 = 0.75;

/// What a summary says that no message said.
pub struct MadeUp {
    /// Names, approvals and completions that no message has.
    pub invented: usize,
    /// Values in the place of others.
    pub swapped: usize,
    /// From 0 to 1: how much its claims go against what the messages last said.
    pub doubt: f64,
}

/// The share of the score that doubt takes at most, then one swap, then one invention; and how many of each count.
/// Small: an invention is mostly a name in another form. They order summaries that keep the same.
const DOUBT: f64 = 0.06;
/// See [`DOUBT`].
const SWAPPED: f64 = 0.0075;
/// See [`DOUBT`].
const INVENTED: f64 = 0.0045;
/// See [`DOUBT`].
const MOST_COUNTED: usize = 10;

impl MadeUp {
    /// The share of the score that is left.
    pub fn leaves(&self) -> f64 {
        let counted = |number: usize| number.min(MOST_COUNTED) as f64;
        1.0 - DOUBT * self.doubt - SWAPPED * counted(self.swapped) - INVENTED * counted(self.invented)
    }
}

/// The share of the score that hangs on how much is still said together; and how much of it, for each pair of words in
/// the messages, is plenty. Found by hand: with a quarter, cutting a sentence that is needed costs more than another one
/// more often, and the order of whole summaries is as before.
const WHOLENESS: f64 = 0.25;
/// See [`WHOLENESS`].
const PLENTY: f64 = 1.0 / 16.0;

/// The share of the score that is left where the summary bears so much out of so many pairs of words.
pub fn whole(borne_out: f64, pairs: f64) -> f64 {
    if pairs < 1.0 {
        return 1.0;
    }
    1.0 - WHOLENESS * libm::exp(-borne_out / (PLENTY * pairs))
}

/// How one kind fared, and how much of it there was.
pub struct Share {
    /// For the report.
    pub category: Category,
    /// The salience of its signals, summed up.
    mass: f64,
}

/// The kinds that occurred, each with its own score. What stands in retained messages is counted, but says nothing
/// about the summary.
pub fn shares(judgements: &[Judgement<'_>]) -> Vec<Share> {
    Kind::ALL.iter().filter_map(|kind| share(*kind, judgements)).collect()
}

fn share(kind: Kind, judgements: &[Judgement<'_>]) -> Option<Share> {
    let mut category = Category { category: kind, score: 0.0, preserved: 0, altered: 0, dropped: 0 };
    let (mut total, mut kept) = (0.0, 0.0);
    for judgement in judgements.iter().filter(|judgement| judgement.signal.kind == kind) {
        match judgement.status {
            Status::Preserved => category.preserved += 1,
            Status::Altered => category.altered += 1,
            Status::Dropped => category.dropped += 1,
            Status::Superseded => continue,
        }
        if !judgement.retained {
            let mass = mass(judgement);
            total += mass;
            kept += mass * if judgement.status == Status::Altered { ALTERED } else { judgement.together };
        }
    }
    if category.preserved + category.altered + category.dropped == 0 {
        return None;
    }
    category.score = if total > 0.0 { (100.0 * kept / total).clamp(0.0, 100.0) } else { 100.0 };
    Some(Share { category, mass: total })
}

/// How much a signal counts: its salience; a family by the root of its members.
fn mass(judgement: &Judgement<'_>) -> f64 {
    let salience = judgement.signal.salience;
    let members = judgement.signal.members.len().clamp(1, MAX_MEMBERS) as f64;
    salience * libm::sqrt(members)
}

/// The score of a compaction: the mean over the kinds, by what a kind is worth and how much of it there was, but never
/// above the middle between 100 and the score of the rules.
pub fn score(shares: &[Share]) -> f64 {
    let worth = |share: &Share| weight(share.category.category) * libm::pow(share.mass, AMOUNT);
    let total: f64 = shares.iter().map(worth).sum();
    if total <= 0.0 {
        return 100.0;
    }
    let mean = shares.iter().map(|share| worth(share) * share.category.score).sum::<f64>() / total;
    let rules = shares.iter().find(|share| share.category.category == Kind::Constraint && share.mass > 0.0);
    let cap = rules.map_or(100.0, |rules| 50.0 + rules.category.score / 2.0);
    mean.min(cap).clamp(0.0, 100.0)
}
