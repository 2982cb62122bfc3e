//! A communicator's counts of its unexpected messages: plain words that a shard's lock guards, until there are
//! several shards. Nothing is counted on the way of a message that finds its receive.
//!
//! **Several shards.** The most that waited at once is a maximum of a sum, which shards that count by themselves
//! cannot tell afterwards. So home's count becomes a [`Tally`] of all shards when the communicator is spread for
//! the first time, and stays one: two atomics for each message that waits, on a line of their own.

use oxmpi_mca::sync::unmodelled::{AtomicI64, Ordering};
use std::sync::Arc;

/// The messages that wait in all shards of a communicator.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Tally {
    now: AtomicI64,
    most: AtomicI64,
}

/// The count of a shard's unexpected messages, and through it of its communicator's. The holder of the shard's lock
/// uses it.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Kept so far, by this shard.
    pub(super) kept: u64,
    /// Still kept, and most at once; without `tally`.
    now: i64,
    most: i64,
    /// The count of all shards. `None`: home is alone.
    tally: Option<Arc<Tally>>,
}

impl Waiting {
    /// Counts a message that is kept as an unexpected one.
    #[inline(always)]
    pub fn keep(&mut self) {
        self.kept += 1;
        match &self.tally {
            None => {
                self.now += 1;
                self.most = self.most.max(self.now);
            }
            Some(tally) => {
                let now = tally.now.fetch_add(1, Ordering::Relaxed) + 1;
                if tally.most.load(Ordering::Relaxed) < now {
                    tally.most.fetch_max(now, Ordering::Relaxed);
                }
            }
        }
    }
    /// Counts a kept message as given back, perhaps to another shard than kept it.
    #[inline(always)]
    pub fn give(&mut self) {
        match &self.tally {
            None => self.now -= 1,
            Some(tally) => _ = tally.now.fetch_sub(1, Ordering::Relaxed),
        }
    }
    /// Makes home's count one of all shards, before there are others.
    pub fn share(&mut self) {
        if self.tally.is_none() {
            let (now, most) = (self.now.into(), self.most.into());
            self.tally = Some(Arc::new(Tally { now, most }));
        }
    }
    /// Makes the count of a shard beside home, whose count is shared.
    pub fn beside(&self) -> Waiting {
        Waiting { tally: self.tally.clone(), ..Waiting::default() }
    }
    /// Adds the number of messages that a shard beside home has kept so far to home's, and sets it to 0 there.
    pub fn join(&mut self, other: &mut Waiting) {
        self.kept += core::mem::take(&mut other.kept);
    }
    /// Gives how many messages are kept now, in all shards together.
    pub fn now(&self) -> u64 {
        let now = self.tally.as_ref().map_or(self.now, |tally| tally.now.load(Ordering::Relaxed));
        now.max(0) as u64
    }
    /// Gives how many messages were kept at once at most, in all shards together.
    pub fn most(&self) -> u64 {
        self.tally.as_ref().map_or(self.most, |tally| tally.most.load(Ordering::Relaxed)) as u64
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_mark_rises_and_stays() {
        let mut w = Waiting::default();
        for _ in 0..3 {
            w.keep();
        }
        w.give();
        w.give();
        w.keep();
        assert_eq!((w.kept, w.now(), w.most()), (4, 2, 3));
        w.keep();
        w.keep();
        assert_eq!((w.now(), w.most()), (4, 4));
    }

    #[test]
    fn the_mark_is_that_of_all_shards_together() {
        let mut home = Waiting::default();
        (0..3).for_each(|_| home.keep());
        home.give();
        home.share();
        let (mut one, mut two) = (home.beside(), home.beside());
        assert_eq!((one.kept, one.now(), one.most()), (0, 2, 3));
        (0..3).for_each(|_| one.keep());
        (0..4).for_each(|_| two.keep());
        // They are given back elsewhere than they were kept.
        (0..9).for_each(|_| two.give());
        one.keep();
        assert_eq!((home.kept, home.now(), home.most()), (3, 1, 9), "never more than 4 in one shard");
        home.share();
        home.join(&mut one);
        home.join(&mut two);
        home.give();
        assert_eq!((home.kept, home.now(), home.most()), (11, 0, 9));
        assert_eq!((one.kept, one.now()), (0, 0));
    }
}
