//! A lock that may cross the component boundary: one word, `repr(C)`, no owner, no poison.
//!
//! Guards what is held for tens of nanoseconds (a communication resource instance, a matching
//! shard). A call that is alone takes none, as its [`crate::Entry`] says, so that path has no atomic
//! read-modify-write. User code never runs under one (docs/ARCHITECTURE.md has the map of locks).

use crate::sync::{AtomicU32, Ordering, spin_hint, yield_now};

/// Spins before the core is given away; a holder that was preempted needs it more than we do.
const SPINS_BEFORE_YIELD: u32 = 200;

/// One word that a thread sets by compare-and-swap and clears by a store: 0 free, 1 taken. 4 zero bytes are a free lock.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Lock {
    word: AtomicU32,
}

impl Lock {
    /// A free lock.
    #[cfg(not(loom))]
    pub const fn new() -> Lock {
        Lock { word: AtomicU32::new(0) }
    }
    /// A free lock, of model atomics.
    #[cfg(loom)]
    pub fn new() -> Lock {
        Lock { word: AtomicU32::new(0) }
    }

    /// Takes the lock if it is free. Looks before it writes, so losers do not pull the line.
    #[inline(always)]
    pub fn try_lock(&self) -> bool {
        // SYNC POINT with the release store in `unlock`.
        self.word.load(Ordering::Relaxed) == 0
            && self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the lock, giving the core away after a while.
    #[inline]
    pub fn lock(&self) {
        let mut turns = 0;
        while !self.try_lock() {
            turns += 1;
            if turns < SPINS_BEFORE_YIELD {
                spin_hint();
            } else {
                turns = 0;
                yield_now();
            }
        }
    }

    /// Releases the lock.
    ///
    /// # Safety
    /// The caller took it by [`Lock::lock`] or [`Lock::try_lock`], and not for a guard, which releases it itself.
    #[inline(always)]
    pub unsafe fn unlock(&self) {
        // SYNC POINT with the acquire in `try_lock`.
        self.word.store(0, Ordering::Release);
    }
}
