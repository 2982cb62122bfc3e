//! A thread's record of the CRIs, and whether a CRI is nobody's in particular (`progress/cri_choice.rs`).

use crate::receive::place::MOST;
use core::cell::Cell;
use core::time::Duration;
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use std::time::Instant;

/// Bits of CRIs; there are no more than shards.
pub type Set = u64;

const _: () = assert!(MOST <= Set::BITS as usize);

/// Whether a CRI is nobody's in particular.
#[derive(Default)]
pub struct SharedFlag(AtomicBool);

impl SharedFlag {
    /// Marks the CRI as shared. A hint, so it needs no order.
    pub fn set(&self) {
        if !self.is_set() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    /// Whether the CRI is marked as shared.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Idle turns after which a thread does not wait any more for the owner of the CRI where its own messages come.
const TURNS_OF_TRUST: u32 = 32;

/// A thread's record of the CRIs. Touched by that thread alone.
pub struct Attention {
    /// Idle turns, and those in which the owner of this thread's CRI was trusted.
    pub idle: Cell<u32>,
    pub trusted: Cell<u32>,
    /// CRIs beside its own that the thread progresses.
    pub mine: Cell<Set>,
    /// CRIs where something of the thread's own came or waited lately, whichever thread progresses them.
    pub wanted: Cell<Set>,
    /// How many turns each CRI had had when this thread last looked.
    pub seen: [Cell<u64>; MOST],
    /// When it last looked after those that it looks after soon, and after all.
    pub looked: [Cell<Option<Instant>>; 2],
}

impl Default for Attention {
    fn default() -> Attention {
        Attention {
            idle: Cell::new(0),
            trusted: Cell::new(0),
            mine: Cell::new(0),
            wanted: Cell::new(0),
            seen: core::array::from_fn(|_| Cell::new(u64::MAX)),
            looked: [Cell::new(None), Cell::new(None)],
        }
    }
}

/// Whether a CRI is in the set.
pub fn has(set: &Cell<Set>, ctx: u32) -> bool {
    set.get() >> (ctx % Set::BITS) & 1 != 0
}

/// Adds a CRI to the set.
pub fn add(set: &Cell<Set>, ctx: u32) {
    set.set(set.get() | 1 << (ctx % Set::BITS));
}

/// Takes a CRI out of the set.
pub fn remove(set: &Cell<Set>, ctx: u32) {
    set.set(set.get() & !(1 << (ctx % Set::BITS)));
}

impl Attention {
    /// Gives the cell with the number of turns that a CRI had had when this thread last looked.
    pub fn seen(&self, ctx: u32) -> &Cell<u64> {
        &self.seen[ctx as usize % MOST]
    }

    /// Whether `patience` has gone by since the time in `looked`, or there is none; if so, `looked` becomes `now`.
    pub fn is_time(looked: &Cell<Option<Instant>>, now: Instant, patience: Duration) -> bool {
        let due = looked.get().is_none_or(|at| now.saturating_duration_since(at) >= patience);
        if due {
            looked.set(Some(now));
        }
        due
    }

    /// Whether the thread progresses that CRI beside its own.
    #[inline(always)]
    pub fn has_mine(&self, ctx: u32) -> bool {
        has(&self.mine, ctx)
    }

    /// Counts an idle turn in which the thread trusts the owner of its CRI. `true`, for every [`TURNS_OF_TRUST`]th: it
    /// is time to see whether the owner progresses it.
    pub fn has_trusted_enough(&self) -> bool {
        Attention::is_turn(&self.trusted, TURNS_OF_TRUST)
    }

    /// Counts a turn in `turns`; `true` for each `of`th one.
    pub fn is_turn(turns: &Cell<u32>, of: u32) -> bool {
        turns.set(turns.get().wrapping_add(1));
        turns.get().is_multiple_of(of)
    }
}
