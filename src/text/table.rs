//! A map from hashes that is built once and then asked for every word: most words are not in it, and that must be
//! known after one look.

/// Open addressing; at most a quarter full, so that a word that is not there is missed at the first place, mostly.
pub struct Table<V> {
    slots: Vec<(u64, V)>,
}

impl<V: Copy + Default> Table<V> {
    /// With room for so many entries.
    pub fn new(entries: usize) -> Table<V> {
        Table { slots: vec![(0, V::default()); (4 * entries.max(1)).next_power_of_two()] }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        // There are free places, so this ends.
        while self.slots.get(place).is_some_and(|slot| slot.0 != hash && slot.0 != 0) {
            place = (place + 1) & mask;
        }
        place
    }

    /// The value of this hash, made where there is none yet.
    pub fn entry(&mut self, hash: u64) -> &mut V {
        let place = self.place(hash);
        let slot = &mut self.slots[place];
        slot.0 = hash;
        &mut slot.1
    }

    /// What is known of this hash.
    #[inline]
    pub fn get(&self, hash: u64) -> Option<V> {
        self.slots.get(self.place(hash)).filter(|slot| slot.0 == hash && hash != 0).map(|slot| slot.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let mut table = Table::new(50);
        for hash in (1..=50u64).map(|number| number << 40) {
            *table.entry(hash) = hash;
        }
        for hash in (1..=100u64).map(|number| number << 40) {
            assert_eq!(table.get(hash), (hash <= 50 << 40).then_some(hash));
        }
        assert_eq!(table.get(0), None);
    }
}
