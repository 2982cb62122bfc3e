//! A mutex on the library's own lock: unlike std's it is compiled with the tests, so that a sanitizer sees it.

use oxmpi_mca::Lock;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// See the module's head.
#[derive(Default)]
pub struct Spin<T> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by the lock's holder alone.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub fn new(value: T) -> Spin<T> {
        Spin { lock: Lock::new(), value: UnsafeCell::new(value) }
    }
    pub fn lock(&self) -> SpinGuard<'_, T> {
        self.lock.lock();
        SpinGuard(self)
    }
}

pub struct SpinGuard<'a, T>(&'a Spin<T>);

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: we hold the lock.
        unsafe { &*self.0.value.get() }
    }
}
impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: we hold the lock, and are borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T> Drop for SpinGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `Spin::lock` took it for this guard.
        unsafe { self.0.lock.unlock() };
    }
}
