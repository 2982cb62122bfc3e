//! Space in the buffer a user attached for buffered sends (MPI 5.0 §3.6).
//!
//! The standard promises as much room as a circular queue in contiguous memory gives that frees its
//! entries in order. [`Space`] gives at least that: it looks behind the newest entry first, then from
//! the beginning, as the queue would, so as long as the queue has room both put an entry at the same
//! place; entries that are freed out of order only add room. The property test below holds the two
//! against each other.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

/// Entries are places in `0..size`.
#[derive(Debug)]
pub struct Space {
    size: u64,
    /// Place → length.
    used: BTreeMap<u64, u64>,
    /// End of the newest entry.
    next: u64,
}

impl Space {
    /// Makes an empty space of `size` bytes.
    pub fn new(size: u64) -> Space {
        Space { size, used: BTreeMap::new(), next: 0 }
    }
    /// The number of bytes in the space, free and reserved.
    pub fn size(&self) -> u64 {
        self.size
    }
    /// Whether no entry is reserved.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Reserves `len` (more than 0) contiguous bytes and returns their offset; `None`: no gap is large enough.
    pub fn take(&mut self, len: u64) -> Option<u64> {
        if self.used.is_empty() {
            self.next = 0;
        }
        let at = self.gap(self.next, self.size, len).or_else(|| self.gap(0, self.next, len))?;
        self.used.insert(at, len);
        self.next = at + len;
        Some(at)
    }

    /// Finds the first gap of `len` bytes that begins in `from..to`; `None`: there is none.
    fn gap(&self, from: u64, to: u64, len: u64) -> Option<u64> {
        let before = self.used.range(..from).next_back().map_or(0, |(at, len)| at + len);
        let mut at = from.max(before);
        loop {
            let next = self.used.range((Excluded(at), Unbounded)).next().map_or(self.size, |(&next, _)| next);
            if at >= to || at > self.size {
                return None;
            }
            match self.used.get(&at) {
                Some(here) => at += here,
                None if next - at >= len => return Some(at),
                None => at = next,
            }
        }
    }

    /// Frees the entry that begins at offset `at`.
    pub fn give(&mut self, at: u64) {
        self.used.remove(&at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// The standard's queue: entries in order, freed from the oldest on.
    struct Queue {
        size: u64,
        entries: VecDeque<(u64, u64)>,
    }

    impl Queue {
        fn take(&mut self, len: u64) -> Option<u64> {
            let (Some(&(head, _)), Some(&(newest, n))) = (self.entries.front(), self.entries.back()) else {
                return (len <= self.size).then(|| {
                    self.entries.push_back((0, len));
                    0
                });
            };
            let tail = newest + n;
            let wrapped = newest < head;
            let at = match wrapped {
                true => (head - tail >= len).then_some(tail),
                false if self.size - tail >= len => Some(tail),
                false => (head >= len).then_some(0),
            }?;
            self.entries.push_back((at, len));
            Some(at)
        }
    }

    proptest! {
        /// Sends of random lengths complete in random order: whenever the queue has room so has the space,
        /// and no two entries overlap.
        #[test]
        fn never_less_room_than_a_circular_queue(steps in prop::collection::vec((1u64..40, any::<u8>()), 1..200)) {
            let mut space = Space::new(100);
            let mut queue = Queue { size: 100, entries: VecDeque::new() };
            // Living entries by age, and whether they are complete (and so freed in the space already).
            let mut living: VecDeque<(u64, bool)> = VecDeque::new();
            for (len, choice) in steps {
                if choice % 3 == 0 && !living.is_empty() {
                    let which = choice as usize % living.len();
                    if !living[which].1 {
                        living[which].1 = true;
                        space.give(living[which].0);
                    }
                    while living.front().is_some_and(|(_, complete)| *complete) {
                        living.pop_front();
                        queue.entries.pop_front();
                    }
                    continue;
                }
                if let Some(at) = queue.take(len) {
                    let got = space.take(len);
                    prop_assert_eq!(got, Some(at));
                    living.push_back((at, false));
                }
            }
        }
    }

    #[test]
    fn room_that_came_free_out_of_order_is_used() {
        let mut space = Space::new(30);
        let places: Vec<_> = (0..3).map(|_| space.take(10).unwrap()).collect();
        assert_eq!(places, [0, 10, 20]);
        assert_eq!(space.take(1), None);
        space.give(10);
        assert_eq!(space.take(10), Some(10));
        space.give(20);
        assert_eq!(space.take(11), None);
        assert_eq!(space.take(10), Some(20));
        for at in [0, 10, 20] {
            space.give(at);
        }
        assert_eq!(space.take(30), Some(0), "an empty buffer has all its room");
    }
}
