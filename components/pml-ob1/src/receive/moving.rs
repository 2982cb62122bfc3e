//! Entries that move from one shard to several and back (`spread.rs` says when).

use crate::matching::{Engine, Posted};
use crate::receive::content::Content;
use crate::receive::place::Place;
use crate::receive::shard::{KeptMessage, ShardData};
use crate::receive::spread::{Layout, Spreading};
use core::ptr::NonNull;

/// The entries that move.
pub enum MovedEntry {
    Posted(NonNull<Posted>),
    Waiting(KeptMessage),
}

impl ShardData {
    /// How many receives were posted here so far. `base`: home's stamp, or 0 for home itself.
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
                if !posted.pattern.has_tag() && posted.stamp & ShardData::COUNTED == 0 {
                    posted.stamp |= ShardData::COUNTED;
                    self.order.wild += 1;
                }
                self.engine.post(node);
            }
        }
    }

    /// Puts a message behind those that wait, stamped or not.
    fn wait_on(&mut self, message: KeptMessage) {
        if message.incoming().order_key & ShardData::STAMPED == 0 {
            self.put_back(message);
        } else {
            self.add_waiting(message);
        }
    }
}

impl Content for ShardData {
    type Layout = Layout;
    type Part = MovedEntry;

    fn layout(&self) -> Layout {
        self.spreading.layout
    }

    fn another(&self) -> ShardData {
        let mut spreading = Spreading::new(self.spreading.layout);
        spreading.home = false;
        let mut inner = ShardData::new(Engine::new(self.engine.setting()), spreading);
        inner.order.counted = true;
        inner.waiting = self.waiting.beside();
        inner.begin(self);
        inner
    }

    fn begin(&mut self, home: &ShardData) {
        self.stamp = home.stamp;
    }

    fn take_apart(&mut self) -> Option<Vec<(usize, MovedEntry)>> {
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
                parts.push((number, MovedEntry::Posted(node)));
            }
        }
        if parts.len() < posted.len() {
            for node in posted {
                // SAFETY: the node lies in a request, and stays posted until the engine gives it out.
                unsafe { self.engine.post(node) };
            }
            self.spreading.raise(self.spreading.limit.saturating_mul(2));
            return None;
        }
        self.waiting.share();
        let mut unstamped = 0;
        for mut message in self.take_waiting() {
            if message.incoming().order_key & ShardData::STAMPED == 0 {
                unstamped += 1;
                message.set_order_key(unstamped);
            }
            if let Place::In(number) = layout.of(message.incoming().key) {
                parts.push((number, MovedEntry::Waiting(message)));
            }
        }
        self.order.forget();
        self.spreading.cool();
        self.spreading.count += 1;
        Some(parts)
    }

    fn accept(&mut self, part: MovedEntry) {
        match part {
            // SAFETY: it was in another shard's engine, and stays until this one gives it out.
            MovedEntry::Posted(node) => unsafe { self.engine.post(node) },
            MovedEntry::Waiting(message) => self.wait_on(message),
        }
    }

    fn gather(&mut self, shards: &mut [&mut ShardData]) {
        let base = self.stamp;
        let (mut posted, mut waiting) = (Vec::new(), Vec::new());
        let (mut posts, mut kept) = (0, 0);
        for shard in shards {
            posted.append(&mut shard.engine.take_posted());
            waiting.append(&mut shard.take_waiting());
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
        waiting.sort_by_key(|message| message.incoming().order_key);
        for mut message in waiting {
            if message.incoming().order_key & ShardData::STAMPED == 0 {
                message.set_order_key(0);
            }
            self.wait_on(message);
        }
    }

    fn clear(&mut self) {
        while let Some(message) = self.pop_unmatched() {
            self.give(message);
        }
    }
}
