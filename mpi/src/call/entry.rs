//! The calling thread, found once per call where a function is entered: with its context, and with the process.
//!
//! The forms of `mpi_fn!` that [`gate`](crate::call::gate) describes enter here; so this is where a second thread is noticed and let
//! in. Where MPI is opened for the first user stands here, too.

use crate::call::gate::GATE;
use crate::call::process::{self, Process};
use crate::constants::MPI_THREAD_MULTIPLE;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::ThreadCtx;
use oxmpi_waiting::gate::Answer;
use oxmpi_waiting::thread::thread_pointer;

/// The calling thread, found once per call.
#[derive(Clone, Copy)]
pub struct CallContext {
    pub process: &'static Process,
    pub thread: *mut ThreadCtx,
}

/// The calling thread while MPI is in use.
#[inline(always)]
pub fn call_context() -> Option<CallContext> {
    process::current().map(|process| CallContext { process, thread: process.thread() })
}

/// The same for a path that does nothing more than send and receive: nobody while there is more to do.
#[inline(always)]
pub fn quick_call_context() -> Option<CallContext> {
    process::quick().map(|process| CallContext { process, thread: process.thread() })
}

/// At the beginning of a plain function. Whether it left a mark, which [`leave_own`](crate::call::gate::leave_own) takes back.
#[inline(always)]
pub fn enter() -> bool {
    GATE.enter(thread_pointer()) || (!GATE.is_shared() && ask())
}

/// The owner of the gate, who is inside: nobody where there is more to do than what a hot function does.
#[inline(always)]
pub fn owner() -> Option<CallContext> {
    process::quick().map(|process| CallContext { process, thread: process.of_owner() })
}

/// The calling thread where everybody is let in: none where there is more to do than what a hot function does.
#[inline(always)]
pub fn one_of_several() -> Option<CallContext> {
    process::quick().map(|process| CallContext { process, thread: process.own_thread() })
}

/// At the beginning of a hot function of anybody else. Whether it left a mark.
#[inline(always)]
pub fn enter_as_newcomer() -> (bool, Option<CallContext>) {
    let marked = ask();
    (marked, quick_call_context())
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

/// A second thread is here.
#[cold]
fn act_threaded() {
    let Some(process) = process::current() else { return };
    if !process.instance.act_threaded() {
        process.instance.fail("the point-to-point layer does not take a second thread");
    }
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
        false => GATE.open(process.level() == MPI_THREAD_MULTIPLE),
    }
}

/// A child has no part in MPI, and not the threads whose marks it has.
unsafe extern "C" fn in_child() {
    GATE.forget();
    if let Some(process) = process::current() {
        process.instance.forked();
    }
}
