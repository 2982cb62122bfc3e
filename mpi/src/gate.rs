//! The way into the library: every function of the C interface marks the calling thread at the process's
//! one gate, in one of three forms of `mpi_fn!`.
//!
//! * A plain `fn` is marked while its body runs. That is the safe form, right for every function.
//! * `hot fn` is the same with the body compiled three times: for the owner of the gate, whose context and process
//!   are known without a look-up, for one of several threads, which finds its context and leaves no mark, and for
//!   everybody else. For the functions whose instructions are counted.
//! * `any_time fn` is not marked. For functions that the standard lets any thread call at any time at any
//!   level, and for those that change the level. **Its body touches no message, makes no progress, and asks
//!   for no thread context.**
//!
//! `runtime::progress::gate` says what a mark is good for, and what follows: **the user's code is called
//! through [`outside`], and what a function read of `threaded` before is not used behind it.**

use crate::process::{self, Process};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_runtime::progress::gate::{Answer, Gate};
use oxmpi_runtime::thread::thread_pointer;

/// The gate of this process's instance.
pub static GATE: Gate = Gate::new();

/// The calling thread, found once per call.
#[derive(Clone, Copy)]
pub struct Here {
    pub process: &'static Process,
    pub thread: *mut ThreadCtx,
}

/// The calling thread while MPI is in use.
#[inline(always)]
pub fn here() -> Option<Here> {
    process::current().map(|process| Here { process, thread: process.thread() })
}

/// The same for a path that does nothing more than send and receive: nobody while there is more to do.
#[inline(always)]
pub fn here_quickly() -> Option<Here> {
    process::quick().map(|process| Here { process, thread: process.thread() })
}

/// At the beginning of a plain function. Whether it left a mark, which [`leave_own`] takes back.
#[inline(always)]
pub fn enter() -> bool {
    GATE.enter(thread_pointer()) || (!GATE.is_shared() && ask())
}

/// At the beginning of a hot function: whether the calling thread seems to be the owner.
#[inline(always)]
pub fn is_owner() -> bool {
    GATE.is_owner(thread_pointer())
}

/// Then: marks it if it is.
#[inline(always)]
pub fn enter_as_owner() -> bool {
    GATE.mark_owner(thread_pointer())
}

/// The owner, who is inside: nobody where there is more to do than what a hot function does.
#[inline(always)]
pub fn owner() -> Option<Here> {
    process::quick().map(|process| Here { process, thread: process.of_owner() })
}

/// At the beginning of a hot function of a thread that is not the owner: there is nothing to mark.
#[inline(always)]
pub fn is_open_to_all() -> bool {
    GATE.is_shared()
}

/// The calling thread then: none where there is more to do than what a hot function does.
#[inline(always)]
pub fn one_of_several() -> Option<Here> {
    process::quick().map(|process| Here { process, thread: process.own_thread() })
}

/// At the beginning of a hot function of anybody else. Whether it left a mark.
#[inline(always)]
pub fn by_the_longest_way() -> (bool, Option<Here>) {
    let marked = ask();
    (marked, here_quickly())
}

/// In by the longer way, for who is not the owner and where somebody wants to get in. Whether it left a mark.
#[cold]
#[inline(never)]
fn ask() -> bool {
    loop {
        match GATE.ask(thread_pointer()) {
            Answer::Inside => return true,
            Answer::Free => return false,
            Answer::Raise => act_threaded(),
        }
    }
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

/// A second thread is here.
#[cold]
fn act_threaded() {
    let Some(process) = process::current() else { return };
    if !process.instance.act_threaded() {
        process.instance.fail("the point-to-point layer does not take a second thread");
    }
}

/// Runs the user's code, or what may wait for another thread outside of the library's own loops.
#[inline]
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    GATE.outside(thread_pointer(), f)
}

/// MPI is in use from now on, or by one more; the calling thread is not marked.
pub fn open(process: &Process) {
    static FORKS_ARE_SEEN: AtomicBool = AtomicBool::new(false);
    if !FORKS_ARE_SEEN.swap(true, Ordering::Relaxed) {
        // SAFETY: `in_child` only stores words and closes a descriptor. Where there is no room for it a child that breaks the rules
        // by calling MPI may wait for a thread of its parent.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    match process.instance.threaded() {
        true => GATE.share(thread_pointer()),
        false => GATE.open(process.level() == crate::constants::MPI_THREAD_MULTIPLE),
    }
}

/// A child has no part in MPI, and not the threads whose marks it has.
unsafe extern "C" fn in_child() {
    GATE.forget();
    if let Some(process) = crate::process::current() {
        process.instance.forked();
    }
}
