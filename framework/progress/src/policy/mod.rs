//! Policies: which contexts a thread polls in a turn of progress, and when it looks after those of others.

pub mod own_first;
pub mod serial;

use crate::contexts::Contexts;
use crate::thread::Slot;
use oxmpi_mca::{Entry, Guard};

/// A rule for which contexts a thread polls in a turn. Any thread, holding nothing.
pub trait Policy: Send + Sync {
    /// Makes a turn while only the first context is in use. Returns the number of events.
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32;
    /// Makes a turn of the thread of that slot while several contexts are in use. Returns the number of events.
    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32;
    /// Asks for a turn of one context that somebody names. `None`: not now, another thread's turn covers it. The turn has the guard until it ends.
    fn begin_one(&self) -> Option<Guard<'_>> {
        Some(Guard::of_nothing())
    }
}
