//! A thread's record of the contexts: when it last looked at each, and which it wants something of. Touched by that thread alone.

use core::cell::Cell;
use core::time::Duration;
use oxmpi_mca::cri::{MOST_CRIS, is_in, set_of};
use std::time::Instant;

/// The most contexts that there may be.
const MOST: usize = MOST_CRIS as usize;

/// Idle turns after which a thread does not wait any more for the owner of the context where its own messages come.
const TURNS_OF_TRUST: u32 = 32;

/// A thread's record of the contexts. The set of those that it progresses beside its own is in `ThreadCtx::attended`.
pub struct Attention {
    /// Idle turns, and those in which the owner of this thread's context was trusted.
    pub(crate) idle: Cell<u32>,
    trusted: Cell<u32>,
    /// Contexts where something of the thread's own came or waited lately, whichever thread progresses them.
    pub(crate) wanted: Cell<u64>,
    /// How many turns each context had had when this thread last looked.
    seen: [Cell<u64>; MOST],
    /// When it last looked after those that it looks after soon, and after all.
    pub(crate) looked: [Cell<Option<Instant>>; 2],
}

impl Default for Attention {
    fn default() -> Attention {
        Attention {
            idle: Cell::new(0),
            trusted: Cell::new(0),
            wanted: Cell::new(0),
            seen: core::array::from_fn(|_| Cell::new(Self::NEVER)),
            looked: [Cell::new(None), Cell::new(None)],
        }
    }
}

/// Whether a context is in the set.
pub(crate) fn has(set: &Cell<u64>, ctx: u32) -> bool {
    is_in(set.get(), ctx)
}

/// Adds a context to the set.
pub(crate) fn add(set: &Cell<u64>, ctx: u32) {
    set.set(set.get() | set_of(ctx));
}

/// Takes a context out of the set.
pub(crate) fn remove(set: &Cell<u64>, ctx: u32) {
    set.set(set.get() & !set_of(ctx));
}

impl Attention {
    /// The number of turns of a context that the thread has not looked at.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// Gives the cell with the number of turns that a context had had when this thread last looked.
    pub(crate) fn seen(&self, ctx: u32) -> &Cell<u64> {
        &self.seen[ctx as usize % MOST]
    }

    /// Whether `idle_time` has gone by since the time in `looked`, or there is none; if so, `looked` becomes `now`.
    pub(crate) fn is_time(looked: &Cell<Option<Instant>>, now: Instant, idle_time: Duration) -> bool {
        let due = looked.get().is_none_or(|at| now.saturating_duration_since(at) >= idle_time);
        if due {
            looked.set(Some(now));
        }
        due
    }

    /// Counts an idle turn in which the thread trusts the owner of its context. `true`, for every [`TURNS_OF_TRUST`]th: it
    /// is time to see whether the owner progresses it.
    pub(crate) fn has_trusted_enough(&self) -> bool {
        Attention::is_turn(&self.trusted, TURNS_OF_TRUST)
    }

    /// Counts a turn in `turns`; `true` for each `of`th one.
    pub(crate) fn is_turn(turns: &Cell<u32>, of: u32) -> bool {
        turns.set(turns.get().wrapping_add(1));
        turns.get().is_multiple_of(of)
    }
}
