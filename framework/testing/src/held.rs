//! Locks of test data.

use std::sync::{Mutex, MutexGuard};

/// A mutex whose holder panicked still guards readable test data.
pub fn held<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}
