//! Requests: what they hold, their states, and who may touch what.
//!
//! A request is an object of a pool that grows and never shrinks, so `&'static Request` is the
//! truth and a stale handle of the host reads a valid header. Fields are [`Cell`]s; the **state**
//! says who owns them:
//!
//! | state | meaning | owner |
//! |---|---|---|
//! | FREE | in a pool (`thread_state.rs`), or persistent and inactive | the thread of that state; the user's thread |
//! | POSTED | a receive in the matching engine | the shard's lock |
//! | QUEUED | a send that found no room | the lock of its CRI |
//! | WAIT_ACK | announced (RNDV) or synchronous, not yet acknowledged | the lock of its CRI |
//! | WAIT_FIN | offered for reading (RGET) | the lock of its CRI |
//! | WAIT_PUT | offered for writing (RPUT) | the lock of its CRI |
//! | STREAMING | sending fragments | the lock of its CRI |
//! | RECEIVING | expecting fragments | the lock of its CRI |
//! | OFFERING | a receive whose PUT has to go out | the lock of its CRI |
//! | EXPOSED | expecting to be written to by the sender | the lock of its CRI |
//! | PULLING, PUSHING | getting or putting (`rdma.rs`) | the lock of its CRI |
//! | FLUSHING, LANDING | a flush behind the puts has to be issued, or to end | the lock of its CRI |
//! | DONE | about to complete or complete | the completer, then the host |
//!
//! A receive leaves POSTED under the shard's lock, into the hands of the thread that matched it.
//!
//! **Completing.** `status` first, then the completion word, then nothing: the host may release the
//! request and another thread reuse it at once.
//!
//! **Release of a pending request** (MPI_Request_free). Below MULTIPLE a plain flag says that
//! nobody waits and the completer recycles. With threads the flag would race with the completer, so
//! the releasing thread instead attaches [`ABANDONED`](crate::requests::life::ABANDONED) where a waiter would attach its sync object: the
//! completer's swap finds it and recycles. A flag set before the level rose stays valid.

use crate::matching::{Pattern, Posted};
use crate::requests::copy::Copies;
use crate::requests::links::{FreeList, Linked};
use crate::requests::memory::Memory;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::{NonNull, null, null_mut};
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{MsgStatus, RequestHeader, RequestOps, Status};

/// States of a request; the table above has their owners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    Free,
    Posted,
    Queued,
    WaitAck,
    WaitFin,
    WaitPut,
    Streaming,
    Asking,
    Receiving,
    Offering,
    Exposed,
    Pulling,
    Pushing,
    Flushing,
    Landing,
    Done,
}

/// How the pieces of a get or put went: the worst that happened to one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Outcome {
    Fine,
    /// The transport would not take a piece; those before went well.
    Refused,
    /// The transport refused a piece that was under way.
    Lost,
    /// A piece failed.
    Broken,
    /// The communicator was revoked.
    Revoked,
}

/// A request. The first two cache lines are all that an eager receive touches.
#[repr(C, align(64))]
pub struct Request {
    pub(super) header: UnsafeCell<RequestHeader>,
    pub(super) posted: UnsafeCell<Posted>,
    pub(super) buf: Cell<*mut u8>,
    /// Bytes: of the message (send) or of the buffer (receive).
    pub(super) total: Cell<u64>,
    // --- third line ---
    pub(super) state: Cell<State>,
    /// Set by `release` below MULTIPLE while pending.
    pub(super) released: Cell<bool>,
    /// How the pieces of a get or put went so far.
    pub(super) outcome: Cell<Outcome>,
    /// A send that the receiver was asked to give back.
    pub(super) asked_back: Cell<bool>,
    pub(super) mode: Cell<u32>,
    /// The datatype, retained, where data is not contiguous; else null.
    pub(super) dtype: Cell<*const TypeDesc>,
    /// The next free one, or of those that landed.
    pub(super) next: Cell<*const Request>,
    /// The list that it goes on when it is free.
    home: &'static FreeList<Request>,
    pub(super) count: Cell<u64>,
    /// Its communicator, and the route there, which are not known here (`Comm::of_request`, `Route::of_request`).
    comm: Cell<*const c_void>,
    route: Cell<*const c_void>,
    pub(super) tag: Cell<i32>,
    /// Pieces of a get or put under way.
    pub(super) pulls: Cell<u32>,
    /// Bytes sent, or received in order.
    pub(super) done: Cell<u64>,
    /// Bytes that will be moved in all.
    pub(super) wanted: Cell<u64>,
    // --- fourth line: long messages ---
    pub(super) id: Cell<u64>,
    pub(super) remote_id: Cell<u64>,
    pub(super) remote_addr: Cell<u64>,
    /// Process at the other end of a rendezvous.
    pub(super) proc: Cell<u32>,
    /// The request is on a list of those that go on by themselves: its peer's streams, or what landed on its CRI.
    pub(super) listed: Cell<bool>,
    /// The FIFO to the other end, once it is chosen (`Peer::of_request`).
    peer: Cell<*const c_void>,
    /// A send's stamp, or 0.
    pub(super) order: Cell<u64>,
    /// Registered memory, or null (`registration.rs`).
    pub(super) memory: Cell<*mut Memory>,
}

impl Request {
    /// Makes a request that is on no list yet. `owner`: the object that `ops` find in it; `ops`: the operations that the
    /// host calls; `home`: the list that it goes on when it is free.
    pub fn new(owner: *mut c_void, ops: &'static RequestOps, home: &'static FreeList<Request>) -> Request {
        Request {
            header: UnsafeCell::new(RequestHeader::new(RequestHeader::OTHER, ops, owner)),
            posted: UnsafeCell::new(Posted {
                next: null_mut(),
                pattern: Pattern { want: 0, mask: 0 },
                stamp: 0,
            }),
            buf: Cell::new(null_mut()),
            total: Cell::new(0),
            state: Cell::new(State::Free),
            released: Cell::new(false),
            outcome: Cell::new(Outcome::Fine),
            asked_back: Cell::new(false),
            mode: Cell::new(0),
            dtype: Cell::new(null()),
            next: Cell::new(null()),
            home,
            count: Cell::new(0),
            comm: Cell::new(null()),
            route: Cell::new(null()),
            tag: Cell::new(0),
            pulls: Cell::new(0),
            done: Cell::new(0),
            wanted: Cell::new(0),
            id: Cell::new(0),
            remote_id: Cell::new(0),
            remote_addr: Cell::new(0),
            proc: Cell::new(0),
            listed: Cell::new(false),
            peer: Cell::new(null()),
            order: Cell::new(0),
            memory: Cell::new(null_mut()),
        }
    }

    /// Gives the list that the request goes on when nobody refers to it any more.
    #[inline(always)]
    pub fn home(&self) -> &'static FreeList<Request> {
        self.home
    }

    /// Gives the address of the request's communicator.
    #[inline(always)]
    pub fn comm(&self) -> *const c_void {
        self.comm.get()
    }
    /// Notes the request's communicator.
    #[inline(always)]
    pub fn set_comm(&self, comm: *const c_void) {
        self.comm.set(comm);
    }
    /// Gives the address of a send's route.
    pub fn route(&self) -> *const c_void {
        self.route.get()
    }
    /// Notes a send's route.
    pub fn set_route(&self, route: *const c_void) {
        self.route.set(route);
    }
    /// Gives the address of the peer at the other end, or null.
    pub fn peer(&self) -> *const c_void {
        self.peer.get()
    }
    /// Notes the peer at the other end.
    pub fn set_peer(&self, peer: *const c_void) {
        self.peer.set(peer);
    }

    /// Gives the header, by which the host knows the request.
    #[inline(always)]
    pub fn handle(&self) -> *mut RequestHeader {
        self.header.get()
    }

    /// Gives the request that a header is part of.
    ///
    /// # Safety
    /// [`Request::handle`] gave `header`.
    pub unsafe fn of(header: *mut RequestHeader) -> &'static Request {
        // SAFETY: the header is the first field of a request, and requests are never freed.
        unsafe { &*header.cast::<Request>() }
    }

    /// Fills the request's node for the matching engine and gives it. The request is the caller's, and not in an
    /// engine.
    #[inline(always)]
    pub fn node(&self, pattern: Pattern, stamp: u64) -> NonNull<Posted> {
        let node = self.posted.get();
        // SAFETY: the request is not in the engine, so the node is the caller's.
        unsafe {
            (*node).pattern = pattern;
            (*node).stamp = stamp;
            NonNull::new_unchecked(node)
        }
    }

    /// Gives the request's node, whatever it holds, for taking it out of the matching engine.
    pub fn posted_node(&self) -> NonNull<Posted> {
        // SAFETY: the address of a field is not null.
        unsafe { NonNull::new_unchecked(self.posted.get()) }
    }

    /// Gives the request that a node of the matching engine lies in.
    ///
    /// # Safety
    /// [`Request::node`] gave `node`.
    #[inline(always)]
    pub unsafe fn from_node(node: NonNull<Posted>) -> &'static Request {
        // SAFETY: the node lies in a request at this offset, and requests are never freed.
        unsafe { &*node.as_ptr().byte_sub(offset_of!(Request, posted)).cast::<Request>() }
    }

    /// Sets the status. By the request's owner, before it completes.
    #[inline(always)]
    pub fn set_status(&self, status: MsgStatus) {
        // SAFETY: the owner (see the states) alone writes the status, before completion.
        unsafe { (*self.header.get()).status = status }
    }
    /// Gives the status as it is now. By the request's owner.
    #[inline(always)]
    pub fn status(&self) -> MsgStatus {
        // SAFETY: as above.
        unsafe { (*self.header.get()).status }
    }
    /// Sets the error of the status. By the request's owner, before it completes.
    pub fn set_error(&self, error: Status) {
        // SAFETY: as above.
        unsafe { (*self.header.get()).status.error = error }
    }
    /// Whether the request is complete.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        // SAFETY: the completion word is atomic.
        unsafe { (*self.header.get()).completion.is_complete() }
    }
    /// Gives the flags of the header, as [`RequestHeader`] names them.
    fn flags(&self) -> u32 {
        // SAFETY: flags change only while the request is the caller's.
        unsafe { (*self.header.get()).flags }
    }
    /// Whether the request is a persistent one.
    pub fn is_persistent(&self) -> bool {
        self.flags() & RequestHeader::PERSISTENT != 0
    }
    /// Gives the kind of the operation, as [`RequestHeader`] names it (`SEND` and others).
    pub fn kind(&self) -> u32 {
        // SAFETY: set when the request is taken, constant until it is recycled.
        unsafe { (*self.header.get()).kind }
    }

    /// Resets the header of a request just taken from its pool.
    #[inline(always)]
    pub fn begin(&self, kind: u32, host_comm: *mut c_void) {
        // SAFETY: the request is the caller's alone.
        let h = unsafe { &mut *self.header.get() };
        h.completion.rearm();
        h.kind = kind;
        h.comm = host_comm;
        h.flags = 0;
        h.status = MsgStatus::EMPTY;
    }

    /// Makes a request that nobody refers to any more FREE and gives up its datatype; the caller puts it into its pool.
    #[inline(always)]
    pub fn leave(&self, threaded: bool) {
        debug_assert_eq!(self.id.get(), 0, "a peer may still quote it");
        debug_assert!(self.memory.get().is_null() && !self.listed.get() && self.pulls.get() == 0);
        self.drop_type(threaded);
        self.released.set(false);
        self.state.set(State::Free);
    }

    /// Makes the request a persistent one, inactive: complete, with an empty status.
    pub fn make_persistent(&self) {
        // SAFETY: the request is the caller's alone.
        let h = unsafe { &mut *self.header.get() };
        h.flags = RequestHeader::PERSISTENT;
        h.completion.finish_alone();
    }

    /// Makes a persistent request that starts pending again, with an empty status.
    pub fn restart(&self) {
        // SAFETY: the host starts inactive requests only, which are nobody else's.
        let h = unsafe { &mut *self.header.get() };
        h.status = MsgStatus::EMPTY;
        h.flags |= RequestHeader::ACTIVE;
        h.completion.rearm();
    }

    /// Completes a request that nobody else has seen yet.
    #[inline(always)]
    pub fn complete_unseen(&self) {
        self.state.set(State::Done);
        // SAFETY: the request is the caller's alone.
        unsafe { (*self.header.get()).completion.finish_alone() }
    }

    /// Keeps the datatype of data that is not contiguous alive, until [`Request::drop_type`]. Notes none for contiguous
    /// data.
    #[inline(always)]
    pub fn keep_type(&self, dtype: &TypeDesc, count: u64, threaded: bool) {
        if dtype.is_contiguous() {
            self.dtype.set(null());
            return;
        }
        self.keep_layout(dtype, count, threaded)
    }
    /// Keeps the datatype of data that is not contiguous by its type alive. If it is one block all the same, no type is
    /// kept and `buf` moves to the block: all protocols can have it.
    #[inline(never)]
    fn keep_layout(&self, dtype: &TypeDesc, count: u64, threaded: bool) {
        if let Some((disp, _)) = dtype.one_block(count) {
            self.buf.set(self.buf.get().wrapping_offset(disp as isize));
            self.dtype.set(null());
            return;
        }
        // SAFETY: alive for the call that we are in; without threads nobody else is in the library.
        let kept = unsafe { if threaded { TypeRef::retain(dtype) } else { TypeRef::retain_alone(dtype) } };
        self.dtype.set(kept.as_ptr());
        self.count.set(count);
        core::mem::forget(kept);
    }
    /// Gives up the datatype that [`Request::keep_type`] kept, if any.
    #[inline(always)]
    pub(super) fn drop_type(&self, threaded: bool) {
        let dtype = self.dtype.replace(null());
        if dtype.is_null() {
            return;
        }
        // SAFETY: the reference that `keep_type` took; without threads nobody else is in the library.
        unsafe {
            let kept = TypeRef::adopt(dtype);
            if threaded { drop(kept) } else { kept.release_alone() }
        }
    }
    /// Gives the datatype of the data. `None`: the data is contiguous.
    #[inline(always)]
    pub fn dtype(&self) -> Option<&TypeDesc> {
        // SAFETY: retained.
        unsafe { self.dtype.get().as_ref() }
    }

    /// Copies `len` packed bytes from `src` to where they belong in the receive buffer, `from` bytes into the packed
    /// message.
    ///
    /// # Safety
    /// `from + len` is at most `total`, and `src` readable for `len` bytes.
    #[inline(always)]
    pub unsafe fn store(&self, copies: &Copies, from: u64, src: *const u8, len: u64) {
        // SAFETY: inside the user's buffer by the caller's promise.
        unsafe {
            match self.dtype() {
                None => copies.copy(src, self.buf.get().add(from as usize), len as usize),
                Some(d) => {
                    oxmpi_datatype::unpack(d, self.count.get(), self.buf.get(), from, src, len);
                }
            }
        }
    }
}

impl Linked for Request {
    #[inline(always)]
    fn next(&self) -> &Cell<*const Request> {
        &self.next
    }
}

/// Keeps the field order honest: an eager receive touches two lines.
const _: () = {
    #[cfg(not(loom))]
    assert!(size_of::<Request>() == 256);
    #[cfg(not(loom))]
    assert!(offset_of!(Request, dtype) == 128);
};

/// Gives the request of a receive that was posted in an engine.
///
/// # Safety
/// `node` came out of a shard's engine.
#[inline(always)]
pub unsafe fn request_of(node: NonNull<Posted>) -> &'static Request {
    // SAFETY: the engine holds nodes of requests only.
    unsafe { Request::from_node(node) }
}
