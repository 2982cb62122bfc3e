//! The host that conformance suites play: tables made of one trait, whose methods have the usual answers.
//!
//! A suite's rank is a type that implements [`FakeHost`] and owns a [`Desk`]. [`Desk::table`] makes the `repr(C)` table of both; what
//! the component calls comes back as a method. Whatever components of the suite's framework never do goes to
//! [`FakeHost::unused`], which says how the suite notes it.

pub mod checks;
mod host;
mod services;
pub mod setup;
mod shared;

pub use host::{Desk, FakeHost, Watcher};
pub use services::services;
pub use setup::text;
pub use shared::Shared;

use std::sync::{Mutex, MutexGuard};

/// A mutex whose holder panicked still guards readable test data.
pub fn held<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}
