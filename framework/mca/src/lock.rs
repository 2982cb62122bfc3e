//! A lock that may cross the component boundary: one word, `repr(C)`, no owner, no poison.
//!
//! Guards what is held for tens of nanoseconds (a communication resource instance, a matching
//! shard). With a thread level below MULTIPLE nobody takes it: the callers look at
//! [`crate::Host::threaded`] once per call and skip it, so that path has no atomic
//! read-modify-write. User code never runs under one (docs/ARCHITECTURE.md has the map of locks).

use crate::entry::Entry;
use crate::sync::{AtomicU32, Ordering, spin_hint, yield_now};

/// Spins before the core is given away; a holder that was preempted needs it more than we do.
const SPINS_BEFORE_YIELD: u32 = 200;

#[repr(C)]
#[derive(Debug, Default)]
pub struct Lock {
    word: AtomicU32,
}

impl Lock {
    #[cfg(not(loom))]
    pub const fn new() -> Lock {
        Lock { word: AtomicU32::new(0) }
    }
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

    /// Takes the lock where there are other threads, and gives it back when the guard goes.
    #[inline(always)]
    pub fn guard<'g>(&'g self, entry: &'g Entry) -> Guard<'g> {
        if entry.is_among() {
            self.lock();
            Guard(Some(self))
        } else {
            Guard(None)
        }
    }

    /// Takes the lock if it is free, and gives it back when the guard goes.
    #[inline(always)]
    pub fn try_guard(&self) -> Option<Guard<'_>> {
        // Made only where the lock is taken: a guard that goes gives it back.
        if self.try_lock() { Some(Guard(Some(self))) } else { None }
    }
}

/// Holds a [`Lock`], or nothing where the thread level needs no lock.
pub struct Guard<'a>(Option<&'a Lock>);

impl Guard<'_> {
    /// A guard that holds nothing.
    #[inline(always)]
    pub const fn of_nothing() -> Guard<'static> {
        Guard(None)
    }
}

impl Drop for Guard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            // SAFETY: taken for this guard, which is the only one that gives it back.
            unsafe { lock.unlock() };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_guard_that_was_not_got_gives_nothing_back() {
        let lock = Lock::new();
        let entry = Entry::among();
        let held = lock.guard(&entry);
        assert!(lock.try_guard().is_none());
        assert!(lock.try_guard().is_none(), "it is held still");
        drop(held);
        assert!(lock.try_guard().is_some());
        assert!(lock.try_guard().is_some(), "the guard before has given it back");
    }
}
