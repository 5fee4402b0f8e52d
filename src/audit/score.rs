//! One number from many: the salience-weighted share that is left, by kind, then over kinds, with the rules twice.

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

/// The kinds that occurred, each with its own score.
pub fn categories(judgements: &[Judgement<'_>]) -> Vec<Category> {
    Kind::ALL.iter().filter_map(|kind| category(*kind, judgements)).collect()
}

fn category(kind: Kind, judgements: &[Judgement<'_>]) -> Option<Category> {
    let mut category = Category { category: kind, score: 0.0, preserved: 0, altered: 0, dropped: 0 };
    let (mut total, mut kept) = (0.0, 0.0);
    for judgement in judgements.iter().filter(|judgement| judgement.signal.kind == kind) {
        match judgement.status {
            Status::Preserved => category.preserved += 1,
            Status::Altered => category.altered += 1,
            Status::Dropped => category.dropped += 1,
            Status::Superseded => continue,
        }
        let mass = mass(judgement);
        total += mass;
        kept += mass * if judgement.status == Status::Altered { ALTERED } else { judgement.kept };
    }
    if total <= 0.0 {
        return None;
    }
    category.score = (100.0 * kept / total).clamp(0.0, 100.0);
    Some(category)
}

/// How much a signal counts: the square of its salience, so that what matters decides; a family by its members.
fn mass(judgement: &Judgement<'_>) -> f64 {
    let salience = judgement.signal.salience;
    let members = judgement.signal.members.len().clamp(1, MAX_MEMBERS) as f64;
    salience * salience * libm::sqrt(members)
}

/// The score of a compaction.
pub fn score(categories: &[Category]) -> f64 {
    let total: f64 = categories.iter().map(|category| weight(category.category)).sum();
    if total <= 0.0 {
        return 100.0;
    }
    let mean: f64 = categories.iter().map(|c| weight(c.category) * c.score).sum::<f64>() / total;
    mean.clamp(0.0, 100.0)
}
