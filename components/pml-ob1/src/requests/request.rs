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
//! | STREAMING | sending fragments, which the transport may keep a while | the lock of its CRI |
//! | RECEIVING | expecting fragments | the lock of its CRI |
//! | OFFERING | a receive whose PUT has to go out | the lock of its CRI |
//! | EXPOSED | expecting to be written to by the sender | the lock of its CRI |
//! | PULLING, PUSHING | getting or putting (`rdma.rs`) | the lock of its CRI |
//! | FLUSHING, LANDING | a flush behind the puts has to be issued, or to end | the lock of its CRI |
//! | DONE | about to complete or complete | the completer, then the host |
//!
//! "The lock of its CRI": the owner has the guard of the CRI that the request's FIFO is on (`Peer::flow`, `Instance::own`). A receive leaves POSTED under
//! the shard's lock, into the hands of the thread that matched it.
//!
//! **Completing.** `status` first, then the completion word, then nothing: the host may release the
//! request and another thread reuse it at once. The right to complete a request is a [`Completer`](crate::requests::completer::Completer): one is made for each
//! start, and completing takes it.
//!
//! **Release of a pending request** (MPI_Request_free). Where calls are alone a plain flag says that
//! nobody waits, and who completes it recycles. Among threads the flag would race with that, so
//! the releasing thread instead attaches [`ABANDONED`](crate::requests::life::ABANDONED) where a waiter would attach its sync object: the
//! completer's swap finds it and recycles. A flag set while calls were alone stays valid.

use crate::matching::{Pattern, Posted};
use crate::requests::copy::Copies;
use crate::requests::links::{FreeList, Linked};
use crate::requests::memory::Memory;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
#[cfg(not(loom))]
use core::mem::offset_of;
use core::ptr::{null, null_mut};
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{Entry, MsgStatus, Object, Owner, RequestHeader, RequestOps, Status};

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
    Claimed,
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
    /// Set while pending by a `release` that is alone.
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
    /// Pieces of a get or put, or fragments that a transport keeps, under way.
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
    /// The CRI that its completer is parked on, plus 1, or 0 (`completer.rs`).
    pub(super) parked: Cell<u8>,
    /// The FIFO to the other end, once it is chosen (`Peer::of_request`).
    peer: Cell<*const c_void>,
    /// A send's stamp, or 0.
    pub(super) order: Cell<u64>,
    /// Registered memory (`registration.rs`).
    pub(super) memory: Cell<Option<Box<Memory>>>,
}

// SAFETY: all but the completion word, which is atomic, and `home`, which never changes, belongs to the owner that the state names: one thread, that which
// has taken the request or its completer, or the lock. A request goes from one owner to the next under a lock, by the completion word, or by a free list,
// each of which orders what both do.
unsafe impl Sync for Request {}
// SAFETY: nothing of it is bound to the thread that made it; its pointers are to what the host and other threads made, too.
unsafe impl Send for Request {}

// SAFETY: the header is the first field of a `repr(C)` type, and requests are never freed.
unsafe impl Object for Request {
    #[inline(always)]
    fn header(&self) -> *mut RequestHeader {
        self.header.get()
    }
}

impl Request {
    /// Makes a request that is on no list yet. `owner`: the object that `ops` find in it; `ops`: the operations that the
    /// host calls; `home`: the list that it goes on when it is free.
    pub fn new(owner: Owner, ops: &'static RequestOps, home: &'static FreeList<Request>) -> Request {
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
            parked: Cell::new(0),
            peer: Cell::new(null()),
            order: Cell::new(0),
            memory: Cell::new(None),
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
    ///
    /// # Safety
    /// It is the address of a `Comm`.
    #[inline(always)]
    pub unsafe fn set_comm(&self, comm: *const c_void) {
        self.comm.set(comm);
    }
    /// Gives the address of a send's route.
    pub fn route(&self) -> *const c_void {
        self.route.get()
    }
    /// Notes a send's route.
    ///
    /// # Safety
    /// It is the address of a `Route`.
    pub unsafe fn set_route(&self, route: *const c_void) {
        self.route.set(route);
    }
    /// Gives the address of the peer at the other end, or null.
    pub fn peer(&self) -> *const c_void {
        self.peer.get()
    }
    /// Notes the peer at the other end.
    ///
    /// # Safety
    /// It is the address of a `Peer`, which stays as long as the request is under way.
    pub unsafe fn set_peer(&self, peer: *const c_void) {
        self.peer.set(peer);
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
        // SAFETY: nobody but the owner, who asks, writes it.
        unsafe { (*self.header.get()).status }
    }
    /// Sets the error of the status. By the request's owner, before it completes.
    pub fn set_error(&self, error: Status) {
        // SAFETY: before completion the owner alone reaches the status.
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

    /// Whether it has registered memory.
    pub fn has_memory(&self) -> bool {
        // SAFETY: nothing but the owner, who asks, changes it.
        unsafe { (*self.memory.as_ptr()).is_some() }
    }

    /// Makes a request that nobody refers to any more FREE and gives up its datatype; the caller puts it into its pool.
    #[inline(always)]
    pub fn leave(&self, entry: &Entry) {
        debug_assert_eq!(
            (self.id.get(), self.parked.get()),
            (0, 0),
            "a peer may still quote it, or its CRI complete it"
        );
        debug_assert!(!self.has_memory() && !self.listed.get() && self.pulls.get() == 0);
        self.drop_type(entry);
        self.released.set(false);
        self.state.set(State::Free);
    }

    /// Keeps the datatype of data that is not contiguous alive, until [`Request::drop_type`]. Notes none for contiguous
    /// data.
    #[inline(always)]
    pub fn keep_type(&self, dtype: &TypeDesc, count: u64, entry: &Entry) {
        if dtype.is_contiguous() {
            self.dtype.set(null());
            return;
        }
        self.keep_layout(dtype, count, &entry.seen())
    }
    /// Keeps the datatype of data that is not contiguous by its type alive. If it is one block all the same, no type is
    /// kept and `buf` moves to the block: all protocols can have it.
    #[inline(never)]
    fn keep_layout(&self, dtype: &TypeDesc, count: u64, entry: &Entry) {
        if let Some((disp, _)) = dtype.one_block(count) {
            self.buf.set(self.buf.get().wrapping_offset(disp as isize));
            self.dtype.set(null());
            return;
        }
        // SAFETY: alive for the call that we are in; alone, nobody else is in the library.
        let kept =
            unsafe { if entry.is_among() { TypeRef::retain(dtype) } else { TypeRef::retain_alone(dtype) } };
        self.dtype.set(kept.as_ptr());
        self.count.set(count);
        core::mem::forget(kept);
    }
    /// Gives up the datatype that [`Request::keep_type`] kept, if any.
    #[inline(always)]
    pub(super) fn drop_type(&self, entry: &Entry) {
        let dtype = self.dtype.replace(null());
        if dtype.is_null() {
            return;
        }
        // SAFETY: the reference that `keep_type` took; alone, nobody else is in the library.
        unsafe {
            let kept = TypeRef::adopt(dtype);
            if entry.is_among() { drop(kept) } else { kept.release_alone() }
        }
    }
    /// Gives the datatype of the data. `None`: the data is contiguous.
    #[inline(always)]
    pub fn dtype(&self) -> Option<&TypeDesc> {
        // SAFETY: null, or retained by `keep_type` until the owner, who asks, gives it up.
        unsafe { self.dtype.get().as_ref() }
    }

    /// Copies packed bytes to where they belong in the receive buffer, `from` bytes into the packed message.
    ///
    /// # Safety
    /// They end at `total` or before.
    #[inline(always)]
    pub unsafe fn store(&self, copies: &Copies, from: u64, bytes: &[u8]) {
        let (src, len) = (bytes.as_ptr(), bytes.len());
        // SAFETY: inside the user's buffer, which is there until completion, by the caller's promise.
        unsafe {
            match self.dtype() {
                None => copies.copy(src, self.buf.get().add(from as usize), len),
                Some(d) => {
                    oxmpi_datatype::unpack(d, self.count.get(), self.buf.get(), from, src, len as u64);
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
