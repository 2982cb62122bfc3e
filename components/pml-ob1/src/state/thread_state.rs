//! State of a thread: its free requests and notes, so that threads share nothing.
//!
//! **It belongs to the thread that has the context** (`ThreadCtx::pml_private` leads to it). Calls without a context share one, whose lock
//! they hold while they take; everything of it goes back to its second list (`free_list.rs`). These states and requests are never freed: the host's
//! handles refer to them.

use crate::order::stamp::Lease;
use crate::state::attention::Attention;
use crate::state::free_list::{FreeList, Linked};
use crate::state::note::Note;
use crate::state::objects::{Request, ThreadState};
use core::cell::Cell;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::{Caller, Lock, Seat, ThreadCtx};
use std::sync::OnceLock;

// SAFETY: lists of free requests and notes are the owner's (`free_list.rs`), the rest is atomic.
unsafe impl Sync for ThreadState {}

impl ThreadState {
    pub(super) fn new(index: u32) -> &'static ThreadState {
        Box::leak(Box::new(ThreadState {
            free: FreeList::new(),
            index,
            lock: Lock::new(),
            lease: Lease::default(),
            attention: Attention::default(),
            received: Note::default(),
            sent: Note::default(),
        }))
    }

    /// Takes a request, if there is one. By the owner.
    #[inline(always)]
    pub fn take(&self) -> Option<&'static Request> {
        self.free.take()
    }

    /// How it stamps its messages.
    #[inline(always)]
    pub fn lease(&'static self) -> &'static Lease {
        &self.lease
    }

    /// Where the request goes when it is free.
    #[inline(always)]
    pub fn is_of(&self, req: &Request) -> bool {
        core::ptr::eq(self, req.thread_state)
    }

    /// Takes back one of its own that nobody refers to any more. By the owner.
    #[inline(always)]
    pub fn give(&self, req: &'static Request) {
        self.free.give(req);
    }
}

impl Linked for Request {
    #[inline(always)]
    fn next(&self) -> &Cell<*const Request> {
        &self.next
    }
}

pub struct Pools {
    /// For calls without a context; made by the first.
    pub(super) shared: OnceLock<&'static ThreadState>,
    pub(super) step: usize,
    /// Sends that were released while pending and still are.
    pub detached: AtomicU32,
    /// States of threads: as many threads as there were at once.
    pub thread_states: AtomicU32,
}

impl Pools {
    pub fn new(step: usize) -> Pools {
        Pools { shared: OnceLock::new(), step, detached: AtomicU32::new(0), thread_states: AtomicU32::new(0) }
    }
}

/// The number of a thread; the largest if that is not known.
#[inline(always)]
pub fn number_of(thread: *mut ThreadCtx) -> u32 {
    // SAFETY: the host passes a live context or null.
    unsafe { thread.as_ref() }.map_or(u32::MAX, |t| t.index)
}

/// The state of a thread that has one.
#[inline(always)]
pub fn thread_state_of(thread: *mut ThreadCtx) -> Option<&'static ThreadState> {
    // SAFETY: the host passes the context of the calling thread, or null; what is in it was put there by
    // `first_thread_state` and is never freed.
    unsafe { thread.as_ref()?.pml_private.cast::<ThreadState>().as_ref() }
}

/// Where a thread notes which locks it is inside.
#[inline(always)]
pub fn seat_of(thread: *mut ThreadCtx) -> Caller {
    // SAFETY: the host passes the context of the calling thread, or null, and outlives this component's locks.
    unsafe { ThreadCtx::seat_of(thread) }
}

/// The state of a thread that has one, and its seat.
#[inline(always)]
pub fn state_and_seat(thread: *mut ThreadCtx) -> Option<(&'static ThreadState, &'static Seat)> {
    thread_state_of(thread).zip(seat_of(thread))
}

/// The lease of a thread that has a state.
#[inline(always)]
pub fn lease_of(thread: *mut ThreadCtx) -> Option<&'static Lease> {
    thread_state_of(thread).map(|thread_state| &thread_state.lease)
}

/// The number of a thread and its seat.
#[inline(always)]
pub fn identity(thread: *mut ThreadCtx) -> (u32, Caller) {
    (number_of(thread), seat_of(thread))
}
