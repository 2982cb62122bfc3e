//! A shard's part when matching is spread over several, or brought together (`shards.rs`), and when that
//! pays.
//!
//! **Where things belong.** By (communicator, tag), low tag bits first, by the same function that chooses the
//! FIFO of a message: so all that one exact-tag receive can match is in one shard, threads that use their own
//! tags do not meet, and what a FIFO brings belongs to few shards. Where the program promises that it does
//! not use MPI_ANY_SOURCE (`mpi_assert_no_any_source`), the source counts, too: then threads that receive
//! one tag from different sources do not meet either. A receive that names too little belongs nowhere alone.
//!
//! **When.** Receives by different threads that follow each other are *changes of hands*; a number of them
//! without any use of MPI_ANY_TAG in between, and the communicator is spread. A receive or probe with
//! MPI_ANY_TAG gathers it, after which it takes more of them: twice as many as the last time, and at least
//! as many as entries were moved, so that moving costs O(1) for each receive. A communicator that was
//! spread long enough begins from the first number again. One thread alone never spreads anything.
//!
//! **Order.** Receives keep the stamps of their posting: a new shard counts on from where home stood, and what
//! is posted after a gathering comes behind the largest. Waiting messages with stamps are ordered by them.
//! Those without all came on one FIFO: in mode many they are numbered as they come there, below any stamp.

use crate::matching::{Key, Pattern};
use crate::receive::place::{MOST, Place};

/// The key that leads to a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    salt: u32,
    /// A power of two, less 1.
    pub(super) mask: u32,
    by_source: bool,
}

impl Layout {
    /// `most`: shards that may be used, rounded down to a power of two.
    pub fn new(salt: u32, most: u32, by_source: bool) -> Layout {
        Layout { salt, mask: (1 << most.clamp(1, MOST as u32).ilog2()) - 1, by_source }
    }

    /// The shard of a message.
    #[inline(always)]
    pub fn of(self, key: Key) -> Place {
        let mut number = self.salt.wrapping_add((key >> 32) as u32);
        if self.by_source {
            number = number.wrapping_add((key as u32).wrapping_mul(11));
        }
        Place::In((number & self.mask) as usize % MOST)
    }

    /// The shard of a receive; all over if it names too little.
    #[inline(always)]
    pub fn of_receive(self, pattern: Pattern) -> Place {
        if pattern.has_tag() && (!self.by_source || pattern.has_source()) {
            self.of(pattern.want)
        } else {
            Place::AllOver
        }
    }
}

/// A shard's record of the change; all but `home` and `user` are home's.
#[derive(Debug)]
pub struct Spreading {
    /// It is its communicator's first one.
    pub(super) home: bool,
    pub(super) layout: Layout,
    /// The last thread that received here: its number plus 1, or 0.
    user: u32,
    /// Changes of hands since MPI_ANY_TAG was used or the mode changed.
    heat: u32,
    /// As many spread.
    pub(super) limit: u32,
    /// How often the communicator was spread.
    pub(super) count: u64,
    /// Receives that were posted in mode many, less what `stamp` went on meanwhile.
    pub(super) beyond: u64,
}

impl Spreading {
    /// Changes of hands that spread a communicator which MPI_ANY_TAG was not used in.
    pub(super) const FIRST: u32 = 16;
    /// The limit never rises above.
    pub(super) const LAST: u32 = 1 << 20;
    /// As many times the limit, received in mode many, and it falls back to the first.
    pub(super) const CALM: u64 = 64;

    /// The record of home; nothing has been received yet.
    pub fn new(layout: Layout) -> Spreading {
        Spreading { home: true, layout, user: 0, heat: 0, limit: Self::FIRST, count: 0, beyond: 0 }
    }

    /// Whether another thread received here last.
    #[inline(always)]
    pub fn changes_hands(&self, user: u32) -> bool {
        self.user != user
    }

    /// Counts a change of hands to the thread `user` (its number plus 1). `true`: there were enough, so the
    /// communicator is to be spread.
    pub fn warm(&mut self, user: u32) -> bool {
        if core::mem::replace(&mut self.user, user) == 0 {
            return false;
        }
        self.heat = self.heat.saturating_add(1);
        self.home && self.heat >= self.limit && self.layout.mask != 0
    }

    /// Forgets the changes of hands, since MPI_ANY_TAG is used.
    #[inline(always)]
    pub fn cool(&mut self) {
        self.heat = 0;
    }

    /// Takes over the program's promises: whether sources count for the layout, and how soon to spread.
    pub fn promise(&mut self, no_any_tag: bool, no_any_source: bool) {
        self.layout.by_source = no_any_source;
        self.limit = if no_any_tag { 1 } else { self.limit.max(Self::FIRST) };
    }

    /// Sets how many changes of hands spread the communicator next time, within the limits, and begins to count again.
    pub(super) fn raise(&mut self, limit: u32) {
        (self.heat, self.limit) = (0, limit.clamp(Self::FIRST, Self::LAST));
    }
}
