//! Policies: which contexts a thread polls in a turn of progress, and when it looks after those of others.

pub mod kind;
pub mod one_lock;
pub mod own_first;
pub mod rotation;
pub mod serial;

use crate::contexts::Contexts;
use crate::thread::Slot;
use oxmpi_mca::{Entry, Guard};
use oxmpi_system::locks::MutexGuard;

/// A rule for which contexts a thread polls in a turn. Any thread, holding nothing.
pub trait Policy: Send + Sync {
    /// Makes a turn while only the first context is in use. Returns the number of events.
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32;
    /// Makes a turn of the thread of that slot while several contexts are in use. Returns the number of events.
    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32;
    /// Asks for a turn of one context that somebody names. `None`: not now, another thread's turn covers it. The turn has the admission until it ends.
    fn begin_one(&self) -> Option<Admission<'_>> {
        Some(Admission::Free)
    }
    /// Whether any thread polls any context, so that who goes to sleep leaves none to others.
    fn covers_all(&self) -> bool {
        true
    }
}

/// A right to make a turn, with the lock that it was given under.
pub enum Admission<'a> {
    /// Turns exclude nobody.
    Free,
    /// The lock was tried.
    Tried(#[allow(dead_code, reason = "held until it is dropped")] Guard<'a>),
    /// The lock was waited for.
    Awaited(#[allow(dead_code, reason = "held until it is dropped")] MutexGuard<'a, ()>),
}
