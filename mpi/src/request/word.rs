//! The two words of a request's header that this layer owns: whom it belongs to (`comm`), and of which kind it is (`flags`).
//!
//! **Access.** From the moment a request is handed to the user the header's `comm` holds
//! the address of the [`CommObject`](crate::comm::CommObject) it was started on, with the bit `LIVE`; the component does not
//! look at it. `give` writes it; `let_go` clears it, raises the generation (so that the handle is
//! stale) and returns the object to its owner, which may reuse it at once. MPI_Request_free of a
//! pending request leaves the address there with the bit `FREED` instead: the communicator still
//! counts as used by the operation until that is complete, but no handle leads to it. Other threads look at `comm` only to find out whether
//! a communicator is still in use, and use atomics for it.
//!
//! **Kinds of requests**, told apart by the header's flags, which are 0 for the ordinary ones:
//! an ordinary one; a persistent one (`PERSISTENT`, and `ACTIVE` between start and completion), whose
//! handle outlives completion; the two requests that are complete for ever (`SHARED`), one of which stands for
//! every operation with MPI_PROC_NULL that needs a request, the other for every send that was complete before
//! its call returned (so such a send needs no object); generalized ones (`GENERALIZED`). An ordinary receive that
//! starts while calls are counted has `COUNTED` until it goes.

use crate::call::handle;
use crate::types::Request;
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_mca::{Entry, RequestHeader};
pub use oxmpi_runtime::request::Header;

/// In `flags`: complete for ever, owned by nobody.
pub const SHARED: u32 = 1 << 16;
/// In `flags`: a generalized request (`grequest`).
pub const GENERALIZED: u32 = 1 << 17;
/// In `flags`: a receive whose bytes are counted when it is waited for.
pub const COUNTED: u32 = 1 << 18;
pub const PERSISTENT: u32 = RequestHeader::PERSISTENT;
pub const ACTIVE: u32 = RequestHeader::ACTIVE;
/// Lowest bits of `comm`: the user has freed the handle of an operation that goes on; the user has
/// a handle. An object that is in the component's pool, or that a blocking call waits for, has
/// neither, so a number that somebody made up finds nothing there.
pub const FREED: usize = 1;
pub const LIVE: usize = 2;
/// Attached to a sync object (`ext_sync`): the library's until that gives it up.
pub const ATTACHED: usize = 4;
pub const BITS: usize = FREED | LIVE | ATTACHED;

/// The word `comm` of a header, which another thread may be looking at.
#[inline(always)]
pub fn comm_word<'a>(req: Header) -> &'a AtomicUsize {
    // SAFETY: the object is there as long as the instance; the field is a pointer, thus aligned and sized so, and used as this word alone.
    unsafe { AtomicUsize::from_ptr((&raw mut (*req.as_ptr()).comm).cast()) }
}

/// The flags of a request. A request is used by one thread at a time (MPI 5.0 §3.7.5), which alone changes them.
#[inline(always)]
pub fn flags(req: Header) -> u32 {
    // SAFETY: written only by the thread that holds the request.
    unsafe { (*req.as_ptr()).flags }
}

/// Sets flags of a request.
///
/// # Safety
/// The calling thread has the request.
#[inline(always)]
pub unsafe fn set_flags(req: Header, more: u32) {
    // SAFETY: the object is there; the caller's promise.
    unsafe { (*req.as_ptr()).flags |= more }
}

/// Clears flags of a request.
///
/// # Safety
/// The calling thread has the request.
#[inline(always)]
pub unsafe fn clear_flags(req: Header, less: u32) {
    // SAFETY: the object is there; the caller's promise.
    unsafe { (*req.as_ptr()).flags &= !less }
}

/// The handle that leads to a request now.
#[inline(always)]
pub fn handle_of(req: Header) -> Request {
    Request(handle::of_request(req.slot(), req.generation().load(Ordering::Relaxed)))
}

/// Makes the handle of a request of ours good that belongs to no communicator.
pub fn mark_live(req: Header) {
    comm_word(req).store(LIVE, Ordering::Relaxed);
}

/// Makes a request the user's that belongs to no communicator.
pub fn give_alone(req: Header) -> Request {
    mark_live(req);
    handle_of(req)
}

/// Gives back what `owner::hold` kept, when it is complete.
pub fn give_back(req: Header) {
    comm_word(req).store(0, Ordering::Relaxed);
    // SAFETY: complete, and the library's, which does not use it any more.
    unsafe { req.release(&mut Entry::among()) }
}

/// A live request becomes a sync object's.
pub fn hand_over(req: Header) {
    let word = comm_word(req);
    word.store(word.load(Ordering::Relaxed) & !BITS | ATTACHED, Ordering::Relaxed);
}

/// It is its holder's again.
pub fn retake(req: Header) {
    let word = comm_word(req);
    // SYNC POINT with `ext_sync::wait_for_return`.
    word.store(word.load(Ordering::Relaxed) & !BITS | LIVE, Ordering::Release);
}

/// Survives completion.
pub fn is_persistent(req: Header) -> bool {
    flags(req) & PERSISTENT != 0
}

/// Complete, and was cancelled.
pub fn was_cancelled(req: Header) -> bool {
    // SAFETY: complete, so nobody writes its status.
    req.is_complete() && unsafe { req.status() }.cancelled & 1 != 0
}

/// Stands for many operations, all complete.
pub fn is_shared(req: Header) -> bool {
    flags(req) & SHARED != 0
}

/// A persistent request that is not started.
#[inline(always)]
pub fn inactive(req: Header) -> bool {
    flags(req) & (PERSISTENT | ACTIVE) == PERSISTENT
}

/// The operation has ended.
#[inline(always)]
pub fn complete(req: Header) -> bool {
    req.is_complete()
}

/// Nothing is left to wait for.
#[inline(always)]
pub fn ready(req: Header) -> bool {
    complete(req) || inactive(req)
}

/// Ends the handle and gives the request back to its owner.
#[inline(always)]
pub fn let_go(req: Header, comm: usize, entry: &mut Entry) {
    comm_word(req).store(comm, Ordering::Relaxed);
    let generation = req.generation().load(Ordering::Relaxed);
    req.generation().store(generation.wrapping_add(1), Ordering::Relaxed);
    // SAFETY: the handle was good until now, so the thread that ends it has the request; no handle leads to it any more.
    unsafe { req.release(entry) };
}
