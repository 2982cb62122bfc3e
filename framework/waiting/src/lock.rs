//! The mutex of what models look at: parking_lot's, or the model checker's.

#[cfg(not(loom))]
pub use oxmpi_system::locks::{Mutex, MutexGuard};

/// Locks a mutex.
#[cfg(not(loom))]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(loom)]
pub use loom::sync::{Mutex, MutexGuard};

/// Locks a mutex of the model; a panic of another holder is not looked at.
#[cfg(loom)]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
