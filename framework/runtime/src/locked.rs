//! Data under a lock that is taken before those of the point-to-point layer, which is called under it.
//!
//! A guard has the data, and the way in for what is called under the lock. Where the thread is alone no lock is taken; so nothing that is called with that entry
//! may wait or run the user's code, either of which may let another thread in.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use oxmpi_mca::{Entry, Guard, Lock};

/// A value under a lock of rank 0.
#[derive(Default)]
pub(crate) struct Locked<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by guards alone, of threads that hold the lock or are alone, one after the other; for that `Send` is enough.
unsafe impl<T: Send> Sync for Locked<T> {}

/// Holds the lock, or nothing where the thread is alone.
pub(crate) struct LockedGuard<'g, T> {
    value: &'g mut T,
    /// The caller's, which `_guard` borrows.
    entry: Entry,
    _guard: Guard<'g>,
}

impl<T> Locked<T> {
    /// Takes the lock, where there are other threads.
    pub(crate) fn enter<'g>(&'g self, entry: &'g mut Entry) -> LockedGuard<'g, T> {
        // SAFETY: the caller's is lent to the guard as long as this copy lives.
        let own = unsafe { Entry::of(entry.is_among(), entry.thread()) };
        let guard = self.lock.guard(entry);
        // SAFETY: the lock is held, or the thread is alone; it has no other guard of this value, since that would have the entry, and lends its copy only to
        // what does not come here again (`LockedGuard::entry`).
        LockedGuard { value: unsafe { &mut *self.value.get() }, entry: own, _guard: guard }
    }

    /// Takes the lock if it is free, whether there are other threads or not.
    pub(crate) fn try_enter<'g>(&'g self, entry: &'g mut Entry) -> Option<LockedGuard<'g, T>> {
        let guard = self.lock.try_guard()?;
        // SAFETY: the caller's is lent to the guard as long as this copy lives.
        let own = unsafe { Entry::of(entry.is_among(), entry.thread()) };
        // SAFETY: the lock is held.
        Some(LockedGuard { value: unsafe { &mut *self.value.get() }, entry: own, _guard: guard })
    }
}

impl<T> LockedGuard<'_, T> {
    /// Whether there may be other threads.
    pub(crate) fn is_among(&self) -> bool {
        self.entry.is_among()
    }

    /// The way in of the call that holds it, for locks below.
    pub(crate) fn lent(&self) -> &Entry {
        &self.entry
    }

    /// The way in for calls under the lock.
    ///
    /// # Safety
    /// They neither wait nor run the user's code, and do not take this lock.
    pub(crate) unsafe fn entry(&mut self) -> &mut Entry {
        &mut self.entry
    }
}

impl<T> Deref for LockedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for LockedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}
