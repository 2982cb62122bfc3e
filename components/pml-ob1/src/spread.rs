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
//! as many as entries were moved, so that moving costs O(1) for each receive. What was spread long enough
//! begins from the first number again. One thread alone never spreads anything.
//!
//! **Order.** Receives keep the stamps of their posting: a new shard counts on from where home stood, and what
//! is posted after a gathering comes behind the largest. Waiting messages with stamps are ordered by them.
//! Those without all came on one FIFO: in mode many they are numbered as they come there, below any stamp.

use crate::matching::{Engine, Key, Pattern, Posted, Unexpected};
use crate::shard::{Inner, Record};
use crate::shards::{Content, MOST, Place};
use core::ptr::NonNull;

/// The key that leads to a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    salt: u32,
    /// A power of two, less 1.
    mask: u32,
    by_source: bool,
}

impl Layout {
    /// `most`: shards that may be used, rounded down to a power of two.
    pub fn new(salt: u32, most: u32, by_source: bool) -> Layout {
        Layout { salt, mask: (1 << most.clamp(1, MOST as u32).ilog2()) - 1, by_source }
    }

    /// The place of a message.
    #[inline(always)]
    pub fn of(self, key: Key) -> Place {
        let mut number = self.salt.wrapping_add((key >> 32) as u32);
        if self.by_source {
            number = number.wrapping_add((key as u32).wrapping_mul(11));
        }
        Place::In((number & self.mask) as usize % MOST)
    }

    /// The place of a receive.
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
    pub home: bool,
    layout: Layout,
    /// The last thread that received here: its number plus 1, or 0.
    user: u32,
    /// Changes of hands since MPI_ANY_TAG was used or the mode changed.
    heat: u32,
    /// As many spread.
    limit: u32,
    /// How often the communicator was spread.
    pub count: u64,
    /// Receives that were posted in mode many, less what `stamp` went on meanwhile.
    beyond: u64,
}

impl Spreading {
    /// Changes of hands that spread a communicator which MPI_ANY_TAG was not used in.
    const FIRST: u32 = 16;
    /// The limit never rises above.
    const LAST: u32 = 1 << 20;
    /// As many times the limit, received in mode many, and it falls back to the first.
    const CALM: u64 = 64;

    pub fn new(layout: Layout) -> Spreading {
        Spreading { home: true, layout, user: 0, heat: 0, limit: Self::FIRST, count: 0, beyond: 0 }
    }

    /// Whether another thread received here last.
    #[inline(always)]
    pub fn changes_hands(&self, user: u32) -> bool {
        self.user != user
    }

    /// It does; true: spread. The first one of all takes it from nobody.
    pub fn warm(&mut self, user: u32) -> bool {
        if core::mem::replace(&mut self.user, user) == 0 {
            return false;
        }
        self.heat = self.heat.saturating_add(1);
        self.home && self.heat >= self.limit && self.layout.mask != 0
    }

    /// MPI_ANY_TAG is used.
    #[inline(always)]
    pub fn cool(&mut self) {
        self.heat = 0;
    }

    /// The program's promises: see the module's head. Without MPI_ANY_TAG nothing is to be waited for.
    pub fn promise(&mut self, no_any_tag: bool, no_any_source: bool) {
        self.layout.by_source = no_any_source;
        self.limit = if no_any_tag { 1 } else { self.limit.max(Self::FIRST) };
    }

    fn raise(&mut self, limit: u32) {
        (self.heat, self.limit) = (0, limit.clamp(Self::FIRST, Self::LAST));
    }
}

/// The entries that move.
pub enum Part {
    Posted(NonNull<Posted>),
    Waiting(NonNull<Unexpected>),
}

impl Inner {
    /// Receives posted here so far. `base`: home's stamp, or 0 for home itself.
    pub fn posted(&self, base: u64) -> u64 {
        self.stamp.saturating_sub(base) / 2 + self.spreading.beyond
    }

    /// Counts the MPI_ANY_TAG receives that were posted before there were threads.
    pub fn count_wild(&mut self) {
        if core::mem::replace(&mut self.order.counted, true) {
            return;
        }
        for mut node in self.engine.take_posted() {
            // SAFETY: the engine gave the node out, and takes it again.
            unsafe {
                let posted = node.as_mut();
                if !posted.pattern.has_tag() && posted.stamp & Inner::COUNTED == 0 {
                    posted.stamp |= Inner::COUNTED;
                    self.order.wild += 1;
                }
                self.engine.post(node);
            }
        }
    }

    /// Puts a message behind those that wait, stamped or not.
    fn wait_on(&mut self, node: NonNull<Unexpected>) {
        // SAFETY: the caller's, who hands it over.
        if unsafe { node.as_ref() }.order_key & Inner::STAMPED == 0 {
            // SAFETY: the node stays until the engine gives it out.
            unsafe { self.engine.add_unexpected(node) };
        } else {
            // SAFETY: engines hold records only.
            self.add_waiting(unsafe { Record::of(node) });
        }
    }
}

impl Content for Inner {
    type Layout = Layout;
    type Part = Part;

    fn layout(&self) -> Layout {
        self.spreading.layout
    }

    fn another(&self) -> Inner {
        let spreading = Spreading { home: false, ..Spreading::new(self.spreading.layout) };
        let mut inner = Inner::new(Engine::new(self.engine.setting()), spreading);
        inner.order.counted = true;
        inner.begin(self);
        inner
    }

    fn begin(&mut self, home: &Inner) {
        self.stamp = home.stamp;
    }

    fn take_apart(&mut self) -> Option<Vec<(usize, Part)>> {
        self.count_wild();
        let layout = self.spreading.layout;
        if self.order.wild != 0 || !self.order.deferred.is_empty() {
            self.spreading.raise(self.spreading.limit);
            return None;
        }
        let posted = self.engine.take_posted();
        let mut parts = Vec::with_capacity(posted.len());
        for &node in &posted {
            // SAFETY: the engine gave the node out.
            if let Place::In(number) = layout.of_receive(unsafe { node.as_ref() }.pattern) {
                parts.push((number, Part::Posted(node)));
            }
        }
        if parts.len() < posted.len() {
            for node in posted {
                // SAFETY: it stays until the engine gives it out, as before.
                unsafe { self.engine.post(node) };
            }
            self.spreading.raise(self.spreading.limit.saturating_mul(2));
            return None;
        }
        let mut unstamped = 0;
        for mut node in self.engine.take_waiting() {
            // SAFETY: as above.
            let message = unsafe { node.as_mut() };
            if message.order_key & Inner::STAMPED == 0 {
                unstamped += 1;
                message.order_key = unstamped;
            }
            if let Place::In(number) = layout.of(message.key) {
                parts.push((number, Part::Waiting(node)));
            }
            self.waiting.leave();
        }
        self.order.forget();
        self.spreading.cool();
        self.spreading.count += 1;
        Some(parts)
    }

    fn accept(&mut self, part: Part) {
        match part {
            // SAFETY: it was in another shard's engine, and stays until this one gives it out.
            Part::Posted(node) => unsafe { self.engine.post(node) },
            Part::Waiting(node) => {
                self.waiting.come();
                self.wait_on(node);
            }
        }
    }

    fn gather(&mut self, shards: &mut [&mut Inner]) {
        let base = self.stamp;
        let (mut posted, mut waiting) = (Vec::new(), Vec::new());
        let (mut posts, mut kept) = (0, 0);
        for shard in shards {
            posted.append(&mut shard.engine.take_posted());
            waiting.append(&mut shard.engine.take_waiting());
            posts += shard.posted(base);
            kept += shard.waiting.kept;
            self.stamp = self.stamp.max(shard.stamp);
            self.waiting.join(&mut shard.waiting);
            self.order.stamped |= core::mem::take(&mut shard.order.stamped);
            shard.order.forget();
        }
        self.spreading.beyond += posts - (self.stamp - base) / 2;
        let moved = (posted.len() + waiting.len()).min(Spreading::LAST as usize) as u32;
        let limit = self.spreading.limit.max(Spreading::FIRST);
        let calm = posts + kept > Spreading::CALM * limit as u64;
        self.spreading.raise(if calm { 0 } else { limit.saturating_mul(2) }.max(moved));
        // Those that fit one message were in one shard, so equal stamps mean nothing.
        // SAFETY: nodes that engines gave out are ours.
        posted.sort_by_key(|n| unsafe { n.as_ref() }.stamp);
        for node in posted {
            // SAFETY: it stays until the engine gives it out.
            unsafe { self.engine.post(node) };
        }
        // SAFETY: as above.
        waiting.sort_by_key(|n| unsafe { n.as_ref() }.order_key);
        for mut node in waiting {
            // SAFETY: as above.
            let message = unsafe { node.as_mut() };
            if message.order_key & Inner::STAMPED == 0 {
                message.order_key = 0;
            }
            self.wait_on(node);
        }
    }

    fn clear(&mut self) {
        while let Some(record) = self.next_left() {
            self.give(record);
        }
    }
}
