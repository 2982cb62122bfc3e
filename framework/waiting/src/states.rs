//! The states and roles of a waiter, between which its policy decides, and how often it was in each.

use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_progress::thread::{Slot, WAIT_STATES, WaitWords};

/// The ways in which a waiter spends the time between two turns of which the first brought nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum State {
    Spin = 0,
    Look = 1,
    Yield = 2,
    Sleep = 3,
}

/// How many states there are.
pub(crate) const STATES: usize = WAIT_STATES;

/// A thread's part in the progress of its process, which does not change while it has a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It makes the progress of the process: alone, or for the others.
    Owner,
    /// It makes turns before it enters the list of waiters.
    Passing,
    /// Another thread makes the progress.
    Parked,
    /// It makes turns beside all others, and never sleeps.
    Racing,
}

/// How often waits of a thread did what each state says.
pub(crate) type Counts = WaitWords;

/// Counts one act of a thread outside of a policy.
pub(crate) fn count(slot: &Slot, state: State) {
    let count = &slot.waits[state as usize];
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
