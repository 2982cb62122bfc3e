//! Guards of plain locks: taken where there are other threads, given back when they go.

use crate::entry::Entry;
use crate::lock::Lock;

impl Lock {
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

/// Holds a [`Lock`], or nothing where the call is alone.
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
