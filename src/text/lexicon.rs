//! How common a word is, which irregular forms belong together, which words nearly mean the same.
//!
//! The word lists were written from general knowledge of English (and short lists of function words for other
//! languages), not counted from any corpus. A word that is not listed is rare and weighs 1.

use super::word_hash;
use std::sync::OnceLock;

mod words;

/// What the lexicon knows of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// How much its presence says: 0 for nothing, 1 for a rare word.
    pub weight: f32,
    /// The hash of its base form.
    pub base: u64,
    /// Names the group of words with nearly its meaning; 0 for none.
    pub class: u32,
}

/// Weights of the bands of `words`, most common first. A function word is not nothing: order and polarity hang on it.
const BAND_WEIGHTS: [f32; 4] = [0.05, 0.35, 0.55, 0.75];

/// Open addressing, a power of two at least twice the entries.
struct Table {
    slots: Vec<(u64, Entry)>,
}

impl Table {
    fn new(capacity: usize) -> Table {
        Table { slots: vec![(0, Entry { weight: 1.0, base: 0, class: 0 }); capacity.next_power_of_two()] }
    }

    fn place(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        // At most half full, so this ends.
        while self.slots.get(place).is_some_and(|slot| slot.0 != hash && slot.0 != 0) {
            place = (place + 1) & mask;
        }
        place
    }

    /// The first mention of a word decides.
    fn insert(&mut self, hash: u64, entry: Entry) {
        let place = self.place(hash);
        if let Some(slot) = self.slots.get_mut(place)
            && slot.0 == 0
        {
            *slot = (hash, entry);
        }
    }

    fn set(&mut self, hash: u64, entry: Entry) {
        let place = self.place(hash);
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = (hash, entry);
        }
    }

    /// Puts each word of a group, and the base of each, into the group's class.
    fn add_classes(&mut self, groups: &str) {
        for (class, group) in (1..).zip(groups.split(',')) {
            for hash in group.split_whitespace().map(word_hash) {
                let base = self.get(hash).map_or(hash, |entry| entry.base);
                for hash in [hash, base] {
                    self.insert(hash, Entry { weight: 1.0, base, class: 0 });
                    let place = self.place(hash);
                    if let Some(slot) = self.slots.get_mut(place)
                        && slot.1.class == 0
                    {
                        slot.1.class = class;
                    }
                }
            }
        }
    }

    fn get(&self, hash: u64) -> Option<Entry> {
        self.slots.get(self.place(hash)).filter(|slot| slot.0 == hash).map(|slot| slot.1)
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let count: usize = words::BANDS.iter().map(|band| band.len() / 4).sum::<usize>()
            + (words::IRREGULAR.len() + words::SYNONYMS.len()) / 3;
        let mut all = Table::new(2 * count);
        for (band, weight) in words::BANDS.iter().zip(BAND_WEIGHTS) {
            for word in band.split_whitespace() {
                let base = word_hash(word);
                all.insert(base, Entry { weight, base, class: 0 });
            }
        }
        // What is known of the bases is read before forms take the places of words.
        let families = words::IRREGULAR.split(',').filter_map(|family| {
            let mut forms = family.split_whitespace().map(word_hash);
            let base = forms.next()?;
            Some((Entry { weight: all.get(base).map_or(1.0, |entry| entry.weight), base, class: 0 }, forms))
        });
        let families: Vec<_> = families.collect();
        // The first family that has a form decides, so it comes last.
        for (entry, forms) in families.into_iter().rev() {
            forms.for_each(|form| all.set(form, entry));
        }
        all.add_classes(words::SYNONYMS);
        all
    })
}

/// What is known of the word with this hash; for an unknown one, that it is rare and its own base.
#[inline]
pub fn entry(hash: u64) -> Entry {
    table().get(hash).unwrap_or(Entry { weight: 1.0, base: hash, class: 0 })
}

/// How much the presence of the word with this hash says.
#[inline]
pub fn weight(hash: u64) -> f32 {
    entry(hash).weight
}

/// Whether the word is a function word.
#[inline]
pub fn is_stop(hash: u64) -> bool {
    weight(hash) <= BAND_WEIGHTS[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_weigh_more_than_common_ones() {
        let weight = |word| weight(word_hash(word));
        assert!(weight("the") < weight("time"));
        assert!(weight("time") < weight("kubernetes"));
        assert_eq!(weight("zyzzyva"), 1.0);
    }

    #[test]
    fn irregular_forms_have_the_base_of_their_verb() {
        for (form, base) in
            [("went", "go"), ("said", "say"), ("wrote", "write"), ("children", "child"), ("bought", "buy")]
        {
            assert_eq!(entry(word_hash(form)).base, entry(word_hash(base)).base, "{form}");
        }
    }
}
