//! A value under a lock of its own.

use core::cell::UnsafeCell;
use oxmpi_mca::{Entry, Lock};

/// These locks are taken at every thread level.
pub const ALWAYS: &Entry = &Entry::among();

/// A value under a lock, which is a leaf and is taken at every thread level.
#[derive(Default)]
pub struct Locked<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by `with` alone, under the lock, so that threads have it one after the other, for which `Send` is enough.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    /// Puts a value under a lock.
    pub fn new(value: T) -> Locked<T> {
        Locked { lock: Lock::new(), value: UnsafeCell::new(value) }
    }

    /// Calls `f` with the value under its lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let _guard = self.lock.guard(ALWAYS);
        // SAFETY: the lock is held, and a second use inside `f` would wait for it for ever.
        f(unsafe { &mut *self.value.get() })
    }
}
