//! The protocol between a client and its proxies: everything that both sides read and write.
//!
//! `segment` (the shared memory and what lies where) · `ring` (commands, from any thread of the client to one proxy) · `record`
//! (a command and its result) · `completion` (the word that says that it is done) · `doze` (how a proxy sleeps and is woken) · `sys` (system
//! calls) · `settings` (environment variables).
//!
//! **A command's life.** A thread of the client takes a record of the proxy's pool, fills in the command, sets the completion
//! word to PENDING and pushes the record's index into the proxy's ring. The proxy takes indices in order and starts each
//! command as a nonblocking operation; it never waits inside MPI for a user's operation, so several threads may use an
//! endpoint. When the operation is complete, the proxy writes error, status and results into the record and swaps the
//! completion word to DONE. The client reads them and gives the record back to its pool; no proxy touches a record that is DONE
//! or was never pushed.
#![allow(dead_code, reason = "each side uses its part")]

pub mod completion;
pub mod doze;
#[cfg(not(loom))]
pub mod record;
pub mod ring;
#[cfg(not(loom))]
pub mod segment;
#[cfg(not(loom))]
pub mod settings;
#[cfg(not(loom))]
pub mod sys;

/// Atomics and fences of the standard library, or those of the model checker.
pub mod sync {
    #[cfg(loom)]
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    #[cfg(not(loom))]
    pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
}

#[cfg(all(test, loom))]
mod model;
