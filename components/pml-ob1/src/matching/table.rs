//! A hash table by key and class: open addressing, linear probing, removal by shifting back, so that
//! nothing is left behind and the steady state neither allocates nor cleans up.
//!
//! At most half of the places are taken. Peers choose tags, so keys that all meet in one place can be
//! made on purpose: what that costs is time in proportion to their number, as a list would.

/// One place; class 0 is a free one.
#[derive(Clone, Copy)]
struct TableEntry<V> {
    key: u64,
    class: u32,
    value: V,
}

/// See the module's head.
pub(super) struct Table<V> {
    places: Box<[TableEntry<V>]>,
    used: usize,
    /// 64 less the number of bits of an index.
    shift: u32,
}

impl<V: Copy + Default> Table<V> {
    const LEAST: usize = 16;

    pub fn new() -> Table<V> {
        Table { places: Box::new([]), used: 0, shift: 64 }
    }

    #[inline(always)]
    fn home(&self, key: u64, class: u32) -> usize {
        // The tag is the upper half and often counts from 0, the source the lower half.
        let mixed = key ^ (key >> 32).wrapping_mul(0x85EB_CA6B) ^ (class as u64) << 61;
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// Where an entry is; good until the table changes. `class` counts from 1.
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

    #[inline(always)]
    pub fn at(&mut self, at: usize) -> &mut V {
        &mut self.places[at].value
    }

    /// The entry, made with the default value if need be.
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

    /// Into a free place.
    fn put(&mut self, new: TableEntry<V>) -> usize {
        let mask = self.places.len() - 1;
        let mut at = self.home(new.key, new.class);
        while self.places[at].class != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = new;
        at
    }

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

    /// Takes out the entry at a place.
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

    pub fn clear(&mut self) {
        self.places.iter_mut().for_each(|p| p.class = 0);
        self.used = 0;
    }

    /// Every entry.
    pub fn iter(&self) -> impl Iterator<Item = V> {
        self.places.iter().filter(|p| p.class != 0).map(|p| p.value)
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }

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
