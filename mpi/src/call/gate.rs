//! The way into the library: every function of the C interface marks the calling thread at the process's
//! one gate, in one of three forms of `mpi_fn!`.
//!
//! * A plain `fn` is marked while its body runs. That is the safe form, right for every function. A body that asks for `|here|` gets the proof of
//!   being inside ([`Inside`](crate::call::entry::Inside)), by which alone the process and the call's [`Entry`] are found.
//! * `hot fn` is the same with the body compiled three times: for the owner of the gate, whose context and process
//!   are known without a look-up, for one of several threads, which finds its context and leaves no mark, and for
//!   everybody else. For the functions whose instructions are counted.
//! * `any_time fn` is not marked. For functions that the standard lets any thread call at any time at any
//!   level, and for those that change the level. Its body has no such proof, so it touches no message and makes no progress.
//!
//! Here is the gate itself; [`entry`](crate::call::entry) finds the calling thread where a function is entered.
//!
//! `oxmpi_waiting::gate` says what a mark is good for, and what follows: **the user's code is called
//! through [`run_outside`], which borrows the call's entry**, and brings it up to date behind it.

use oxmpi_mca::Entry;
use oxmpi_waiting::gate::Gate;
use oxmpi_waiting::thread::thread_pointer;

/// The gate of this process's instance.
pub static GATE: Gate = Gate::new();

/// At the beginning of a hot function: whether the calling thread seems to be the owner.
#[inline(always)]
pub fn is_owner() -> bool {
    GATE.is_owner(thread_pointer())
}

/// Marks the calling thread if it is the owner, after [`is_owner`] said so.
#[inline(always)]
pub fn enter_as_owner() -> bool {
    GATE.mark_owner(thread_pointer())
}

/// At the beginning of a hot function of a thread that is not the owner: there is nothing to mark.
#[inline(always)]
pub fn is_open_to_all() -> bool {
    GATE.is_shared()
}

/// At the end of a hot function.
#[inline(always)]
pub fn leave(marked: bool) {
    if marked {
        GATE.leave();
    }
}

/// At the end of a plain function, behind which MPI may be closed, and opened again by another thread.
#[inline(always)]
pub fn leave_own(marked: bool) {
    if marked {
        GATE.leave_own(thread_pointer());
    }
}

/// Runs the user's code, or what may wait for another thread outside of the library's own loops. Behind it the entry takes locks if that has to be from
/// then on.
#[inline]
pub fn run_outside<R>(entry: &mut Entry, f: impl FnOnce() -> R) -> R {
    let result = GATE.run_outside(thread_pointer(), f);
    entry.raise(GATE.is_shared());
    result
}

/// The same for a function that has no entry: one that is not marked, or that a component calls, to which its caller has lent it.
#[inline]
pub fn run_outside_without_entry<R>(f: impl FnOnce() -> R) -> R {
    GATE.run_outside(thread_pointer(), f)
}
