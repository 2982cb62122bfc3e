//! State of a thread: its free requests and notes, so that threads share nothing.
//!
//! **It belongs to the thread that has the context** (`ThreadCtx::pml_private` leads to it). Calls without a context share one, whose lock
//! they hold while they take; everything of it goes back to its second list (`free_list.rs`). These states and requests are never freed: the host's
//! handles refer to them.

use crate::order::stamp::Lease;
use crate::peers::peer::Peer;
use crate::receive::shard::ShardData;
use crate::receive::shards::Spot;
use crate::requests::links::FreeList;
use crate::requests::request::Request;
use crate::state::cri::CriSpot;
use crate::state::note::Note;
use oxmpi_mca::{Caller, Entry, Lock, Seat, ThreadCtx};

/// State of a thread, or of all calls without a context.
pub struct ThreadState {
    pub(super) free: FreeList<Request>,
    /// The number of the thread, as the host counts them; the largest for the state of calls without one.
    pub(super) index: u32,
    pub(super) lock: Lock,
    /// How it stamps its messages (`stamp.rs`).
    pub(super) lease: Lease,
    /// Where what it received last comes, and where what it sent last went (`state/note.rs`).
    pub(super) received: Note<Received>,
    pub(super) sent: Note<Sent>,
}

/// A thread's note of a send: the FIFO that messages with that tag take to that rank, and their head. Good while the
/// communicator lives, which has the rank's process; no other has its epoch.
#[derive(Clone, Copy)]
pub struct Sent {
    pub peer: &'static Peer,
    pub head: u64,
}

/// A thread's note of a receive. Good until the module is finalized.
#[derive(Clone, Copy)]
pub struct Received {
    /// The CRI on which the messages come.
    pub cri: CriSpot,
    /// Where they are matched, once that was seen.
    pub spot: Option<Spot<ShardData>>,
}

// SAFETY: the own list of free requests, the lease and the notes are the owner's: the thread whose context leads here, or, of the shared state, the holder
// of its lock; the list of what others give back is atomic, and the rest never changes.
unsafe impl Sync for ThreadState {}

impl ThreadState {
    /// Makes the state of the thread with this number, without free requests. It is never freed.
    pub(super) fn new(index: u32) -> &'static ThreadState {
        Box::leak(Box::new(ThreadState {
            free: FreeList::new(index),
            index,
            lock: Lock::new(),
            lease: Lease::default(),
            received: Note::default(),
            sent: Note::default(),
        }))
    }

    /// Gives the number of the thread, as the host counts them; the largest for the state of calls without one.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.index
    }
    /// Gives the note of where what the thread received last comes.
    #[inline(always)]
    pub fn received(&self) -> &Note<Received> {
        &self.received
    }
    /// Gives the note of where what the thread sent last went.
    #[inline(always)]
    pub fn sent(&self) -> &Note<Sent> {
        &self.sent
    }

    /// Gives the lease by which the thread stamps its messages (`stamp.rs`).
    #[inline(always)]
    pub fn lease(&'static self) -> &'static Lease {
        &self.lease
    }

    /// Whether a request comes from this state, to which it goes back when it is free.
    #[inline(always)]
    pub fn is_of(&self, req: &Request) -> bool {
        core::ptr::eq(&self.free, req.home())
    }
}

/// Gives the number of the calling thread, as the host counts them; `u32::MAX` if the call has no context.
#[inline(always)]
pub fn number_of(entry: &Entry) -> u32 {
    entry.context().map_or(u32::MAX, |thread| thread.index)
}

/// Gives the state of the calling thread. `None`: it has none yet, or the call has no context.
#[inline(always)]
pub fn thread_state_of(entry: &Entry) -> Option<&'static ThreadState> {
    // SAFETY: an entry has the context of the calling thread, or null.
    unsafe { thread_state_at(entry.thread()) }
}

/// Gives the state that is noted in a thread's context. `None`: there is none yet, or no context.
///
/// # Safety
/// The context is that of the calling thread, or null.
#[inline(always)]
pub unsafe fn thread_state_at(thread: *mut ThreadCtx) -> Option<&'static ThreadState> {
    // SAFETY: the caller's promise; what is in it was put there by `first_thread_state` and is never freed.
    unsafe { thread.as_ref()?.pml_private.cast::<ThreadState>().as_ref() }
}

/// Gives the state of the calling thread and its seat. `None`: it has no state yet, or the call has no context.
#[inline(always)]
pub fn state_and_seat(entry: &Entry) -> Option<(&'static ThreadState, &'static Seat)> {
    thread_state_of(entry).zip(entry.who())
}

/// Gives the lease by which the calling thread stamps its messages. `None`: it has no state yet, or the call has no
/// context.
#[inline(always)]
pub fn lease_of(entry: &Entry) -> Option<&'static Lease> {
    thread_state_of(entry).map(|thread_state| &thread_state.lease)
}

/// Gives the number of the calling thread ([`number_of`]) and its seat.
#[inline(always)]
pub fn identity(entry: &Entry) -> (u32, Caller) {
    (number_of(entry), entry.who())
}

/// Has the calling thread progress that CRI first. Does nothing in a call without a context.
#[inline(always)]
pub fn look_first_at(entry: &Entry, ctx: u32) {
    if !entry.thread().is_null() {
        // SAFETY: the context of the calling thread, which alone reads and writes this field.
        unsafe { (*entry.thread()).cri = ctx };
    }
}
