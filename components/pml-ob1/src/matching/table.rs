//! A hash table by key and class: open addressing, linear probing, removal by shifting back, so that
//! nothing is left behind and the steady state neither allocates nor cleans up.
//!
//! At most half of the places are taken. Peers choose tags, so keys that all meet in one place can be
//! made on purpose: what that costs is time in proportion to their number, as a list would.

/// One place of the table. Class 0: it is free.
#[derive(Clone, Copy)]
struct TableEntry<V> {
    key: u64,
    class: u32,
    value: V,
}

/// A hash table by key and class, with open addressing; at most half of its places are taken.
pub(super) struct Table<V> {
    places: Box<[TableEntry<V>]>,
    used: usize,
    /// 64 less the number of bits of an index.
    shift: u32,
}

impl<V: Copy + Default> Table<V> {
    const LEAST: usize = 16;

    /// Makes an empty table; the first entry allocates its places.
    pub fn new() -> Table<V> {
        Table { places: Box::new([]), used: 0, shift: 64 }
    }

    /// Gives the place where the search for a key and class begins, by multiplying and shifting.
    #[inline(always)]
    fn home(&self, key: u64, class: u32) -> usize {
        // The tag is the upper half and often counts from 0, the source the lower half.
        let mixed = key ^ (key >> 32).wrapping_mul(0x85EB_CA6B) ^ (class as u64) << 61;
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Finds the place of an entry, which is good until the table changes. `class` counts from 1. `None`: there is no
    /// such entry.
    #[inline(always)]
    pub fn find(&self, key: u64, class: u32) -> Option<usize> {
        if self.used == 0 {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut at = self.home(key, class);
        loop {
            let place = &self.places[at];
            if place.class == 0 {
                return None;
            }
            if place.key == key && place.class == class {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives the value of the entry at a place that [`Table::find`] gave.
    #[inline(always)]
    pub fn at(&mut self, at: usize) -> &mut V {
        &mut self.places[at].value
    }

    /// Finds the value of a key and class, and adds an entry with the default value if there is none.
    pub fn make(&mut self, key: u64, class: u32) -> &mut V {
        let at = match self.find(key, class) {
            Some(at) => at,
            None => {
                if (self.used + 1) * 2 > self.places.len() {
                    self.grow();
                }
                self.used += 1;
                self.put(TableEntry { key, class, value: V::default() })
            }
        };
        &mut self.places[at].value
    }

    /// Writes an entry into the first free place from its home on, and gives the place. The caller has made room,
    /// counts it, and knows that the table does not have it.
    fn put(&mut self, new: TableEntry<V>) -> usize {
        let mask = self.places.len() - 1;
        let mut at = self.home(new.key, new.class);
        while self.places[at].class != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = new;
        at
    }

    /// Doubles the places, at least to [`Table::LEAST`], and puts all entries into them anew.
    #[cold]
    fn grow(&mut self) {
        let len = (self.places.len() * 2).max(Self::LEAST);
        let free = TableEntry { key: 0, class: 0, value: V::default() };
        let old = core::mem::replace(&mut self.places, vec![free; len].into());
        self.shift = 64 - len.trailing_zeros();
        for place in old.iter().filter(|p| p.class != 0) {
            self.put(*place);
        }
    }

    /// Takes out the entry at a place, and shifts back entries behind it that a search would not find past the hole.
    pub fn remove(&mut self, at: usize) {
        let mask = self.places.len() - 1;
        let (mut hole, mut next) = (at, at);
        loop {
            next = (next + 1) & mask;
            let place = self.places[next];
            if place.class == 0 {
                break;
            }
            // It may move into the hole if that lies between its home and where it is.
            let from_home = next.wrapping_sub(self.home(place.key, place.class)) & mask;
            if from_home >= next.wrapping_sub(hole) & mask {
                self.places[hole] = place;
                hole = next;
            }
        }
        self.places[hole].class = 0;
        self.used -= 1;
    }

    /// Takes out all entries; the memory stays.
    pub fn clear(&mut self) {
        self.places.iter_mut().for_each(|p| p.class = 0);
        self.used = 0;
    }

    /// Iterates over the values of all entries, in any order.
    pub fn iter(&self) -> impl Iterator<Item = V> {
        self.places.iter().filter(|p| p.class != 0).map(|p| p.value)
    }

    /// Gives the bytes of memory that the table has allocated.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }

    /// Gives the number of entries.
    #[cfg(all(test, not(loom)))]
    pub fn used(&self) -> usize {
        self.used
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Table;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(ops in prop::collection::vec((0..40u64, 1..3u32, any::<bool>()), 0..400)) {
            let mut table = Table::<u64>::new();
            let mut model = HashMap::new();
            for (i, (key, class, add)) in ops.into_iter().enumerate() {
                // Few distinct upper halves: some keys meet.
                let key = (key % 7) << 32 | key;
                if add {
                    *table.make(key, class) = i as u64;
                    model.insert((key, class), i as u64);
                } else {
                    let at = table.find(key, class);
                    prop_assert_eq!(at.is_some(), model.remove(&(key, class)).is_some());
                    at.into_iter().for_each(|at| table.remove(at));
                }
                prop_assert_eq!(table.used(), model.len());
                for ((key, class), value) in &model {
                    let at = table.find(*key, *class);
                    prop_assert_eq!(at.map(|at| *table.at(at)), Some(*value));
                }
            }
        }
    }
}
