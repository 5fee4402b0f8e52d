//! How rare a word is among the facts that are asked for together.

use super::Fact;
use crate::signal::inventory::HashedMap;

/// In how many facts of a list each word stands: a word that they share tells them apart least.
#[derive(Default)]
pub struct Rarity {
    counts: HashedMap<u32>,
    facts: u32,
}

/// What a word that stands in every fact of a list still weighs.
const SHARED_WEIGHT: f32 = 0.2;
/// Lists shorter than this say nothing about rarity.
const MIN_FACTS: u32 = 4;

impl Rarity {
    /// Counts one fact.
    pub fn add(&mut self, fact: &Fact) {
        self.facts += 1;
        for word in &fact.words {
            *self.counts.entry(word.base).or_default() += 1;
        }
    }

    /// What the count leaves of a word's weight.
    fn factor(&self, base: u64) -> f32 {
        if self.facts < MIN_FACTS {
            return 1.0;
        }
        let count = self.counts.get(&base).copied().unwrap_or(1).max(1);
        let rare = libm::logf(self.facts as f32 / count as f32) / libm::logf(self.facts as f32);
        SHARED_WEIGHT + (1.0 - SHARED_WEIGHT) * rare
    }

    /// Gives the words of a fact the weight that they have among all facts.
    pub fn weigh(&self, fact: &mut Fact) {
        for word in &mut fact.words {
            word.weight *= self.factor(word.base);
        }
        fact.total = fact.words.iter().map(|word| word.weight).sum();
    }
}
