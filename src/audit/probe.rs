//! How surely a stated fact is in a summary: a logistic model over a few numbers of the match.

use super::matching::{Conflict, Fact, Index, Match, Rarity, Scratch};
use super::probe_weights::{PROBE, PROBE_BIAS, STATUS, STATUS_BIAS};

/// How many numbers the model reads.
pub const FEATURES: usize = 15;

/// How surely each fact is stated in the summary, from 0 to 1.
pub fn probe(summary: &str, facts: &[String]) -> Vec<f64> {
    let index = Index::new(summary);
    let mut scratch = Scratch::default();
    read(facts.iter().map(String::as_str)).iter().map(|fact| judge(&features(&index, fact, &mut scratch))).collect()
}

/// Reads a list of facts about one thing: each word weighs by how few of them have it.
pub fn read<'a>(facts: impl Iterator<Item = &'a str>) -> Vec<Fact> {
    let mut facts: Vec<Fact> = facts.map(Fact::new).collect();
    let mut rarity = Rarity::default();
    facts.iter().for_each(|fact| rarity.add(fact));
    facts.iter_mut().for_each(|fact| rarity.weigh(fact));
    facts
}

/// How surely a statement in the words of the conversation stands in the indexed text, with what was found of it.
pub(super) fn presence(index: &Index, fact: &Fact, scratch: &mut Scratch) -> (f64, Match) {
    let found = index.look_up(fact, scratch);
    (logistic(&numbers(index, fact, &found, scratch), &STATUS, STATUS_BIAS), found)
}

/// What the model reads of one fact. The trainer reads the same through `examples/probe_features.rs`.
pub fn features(index: &Index, fact: &Fact, scratch: &mut Scratch) -> [f64; FEATURES] {
    let found = index.look_up(fact, scratch);
    numbers(index, fact, &found, scratch)
}

fn numbers(index: &Index, fact: &Fact, found: &Match, scratch: &Scratch) -> [f64; FEATURES] {
    let detail = index.detail(fact, scratch);
    let values = if found.values_total == 0 {
        f64::from(found.anywhere)
    } else {
        f64::from(found.values_found) / f64::from(found.values_total)
    };
    [
        f64::from(found.anywhere),
        f64::from(found.in_sentence),
        f64::from(found.in_window),
        f64::from(detail.exact),
        f64::from(detail.names),
        f64::from(detail.pairs),
        values,
        f64::from(detail.rarest_missing),
        f64::from(u8::from(detail.last)),
        f64::from(u8::from(matches!(found.conflict, Some(Conflict::Polarity | Conflict::Value)))),
        f64::from(detail.run),
        f64::from(found.anywhere * found.anywhere),
        f64::from(detail.missing.min(4.0) / 4.0),
        libm::log(1.0 + index.len() as f64) / 4.0,
        f64::from(u8::from(detail.words <= 3)),
    ]
}

fn judge(features: &[f64; FEATURES]) -> f64 {
    logistic(features, &PROBE, PROBE_BIAS)
}

fn logistic(features: &[f64; FEATURES], weights: &[f64; FEATURES], bias: f64) -> f64 {
    let sum: f64 = features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
    1.0 / (1.0 + libm::exp(-(sum + bias)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_fact_is_surer_than_one_that_is_half_there_and_that_than_an_absent_one() {
        let summary = "The gateway listens on port 8080. Tests pass on the main branch.";
        let facts =
            ["The gateway listens on port 8080.", "The gateway was rewritten by Alice.", "Bob dislikes pineapple."];
        let sure = probe(summary, &facts.map(String::from));
        assert!(sure[0] > 0.7 && sure[0] > sure[1] && sure[1] > sure[2] && sure[2] < 0.2, "{sure:?}");
    }

    #[test]
    fn empty_texts_give_a_probability() {
        let sure = probe("", &[String::new(), "a fact".into()]);
        assert!(sure.iter().all(|p| (0.0..=1.0).contains(p)));
    }
}
