//! Policies: which contexts a thread polls in a turn of progress, and when it looks after those of others.

pub mod own_first;
pub mod serial;

use crate::contexts::Contexts;
use oxmpi_mca::ThreadCtx;

/// A rule for which contexts a thread polls in a turn. Any thread, holding nothing; `thread` is the caller's context.
pub trait Policy: Send + Sync {
    /// Makes a turn while only the first context is in use. `thread` may be null. Returns the number of events.
    fn first(&self, contexts: &Contexts, thread: *mut ThreadCtx) -> i32;
    /// Makes a turn while several contexts are in use. `thread` is not null. Returns the number of events.
    fn several(&self, contexts: &Contexts, thread: *mut ThreadCtx) -> i32;
    /// Asks for a turn of one context that somebody names. False: not now, another thread's turn covers it. [`Policy::end_one`]
    /// follows where the answer is true.
    fn begin_one(&self) -> bool {
        true
    }
    /// Ends such a turn.
    fn end_one(&self) {}
}
