//! State that all ranks of a job share: bounded lanes of messages, pieces under way, cards, registered memory.

use crate::setup::Wire;
use oxmpi_testing::{JobState, Landing, Registry, Unflushed, held};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// See the file's head.
pub struct Net {
    pub wire: Wire,
    pub ranks: u32,
    pub cris: u32,
    /// By receiver, sender and context.
    lanes: Vec<Mutex<VecDeque<Vec<u8>>>>,
    /// By rank and context.
    landings: Vec<Mutex<VecDeque<Landing>>>,
    /// Puts that are not visible yet, by rank and context.
    unflushed: Vec<Mutex<Unflushed>>,
    registry: Mutex<Registry>,
    /// Cards.
    pub shared: Arc<JobState>,
    failed: Vec<AtomicBool>,
    /// Bytes that were handed up to a rank.
    pub delivered: Vec<AtomicU64>,
}

impl Net {
    pub fn new(wire: Wire, ranks: u32, cris: u32) -> Net {
        let places = (ranks * cris) as usize;
        Net {
            wire,
            ranks,
            cris,
            lanes: (0..places * ranks as usize).map(|_| Mutex::default()).collect(),
            landings: (0..places).map(|_| Mutex::default()).collect(),
            unflushed: (0..places).map(|_| Mutex::default()).collect(),
            registry: Mutex::new(Registry::new(wire.handle_size())),
            shared: Arc::default(),
            failed: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
            delivered: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn place(&self, rank: u32, ctx: u32) -> usize {
        assert!(ctx < self.cris, "context {ctx}, of which there are {}", self.cris);
        (rank * self.cris + ctx) as usize
    }
    pub fn lane(&self, to: u32, from: u32, ctx: u32) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        held(&self.lanes[to as usize * (self.ranks * self.cris) as usize + self.place(from, ctx)])
    }
    pub fn landings(&self, rank: u32, ctx: u32) -> MutexGuard<'_, VecDeque<Landing>> {
        held(&self.landings[self.place(rank, ctx)])
    }
    pub fn unflushed(&self, rank: u32, ctx: u32) -> MutexGuard<'_, Unflushed> {
        held(&self.unflushed[self.place(rank, ctx)])
    }
    pub fn registry(&self) -> MutexGuard<'_, Registry> {
        held(&self.registry)
    }

    /// Messages that a lane takes.
    pub fn room(&self) -> usize {
        if self.wire == Wire::Narrow { 2 } else { 1 << 16 }
    }
    /// Whether anything is on its way to a rank on a context.
    pub fn has_something(&self, rank: u32, ctx: u32) -> bool {
        !self.landings(rank, ctx).is_empty()
            || (0..self.ranks).any(|from| !self.lane(rank, from, ctx).is_empty())
    }
    pub fn in_flight(&self) -> usize {
        self.lanes.iter().map(|lane| held(lane).len()).sum::<usize>()
            + self.landings.iter().map(|l| held(l).len()).sum::<usize>()
    }
    /// From now on sends to the rank fail.
    pub fn fail(&self, rank: u32) {
        self.failed[rank as usize].store(true, Ordering::Relaxed);
    }
    pub fn has_failed(&self, rank: u32) -> bool {
        self.failed[rank as usize].load(Ordering::Relaxed)
    }
}
