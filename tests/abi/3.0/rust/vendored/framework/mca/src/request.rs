//! The part of a request that host and components share, and its completion word.
//!
//! **States of the completion word.** `PENDING` (0) → `COMPLETE` (1), or `PENDING` → address of a
//! sync object → `COMPLETE`. Nothing leaves `COMPLETE` except [`Completion::rearm`], called by
//! the owner before the request is handed out or started again.
//!
//! **Access.** The component that owns the request writes `status` and then completes;
//! after that it does not touch the header until the host calls `ops.release` (or `ops.start`).
//! A waiter may swap its sync object in (`attach`) and out again (`detach`), by compare-and-swap
//! only. The completer may find that the memory is reused the moment the word says `COMPLETE`:
//! it reads everything it needs before.
//!
//! **Memory.** Headers live in pools that are never given back while the instance lives, so a
//! stale handle reads a valid header and is told apart by its generation.

use crate::status::Status;
use crate::sync::{AtomicU32, AtomicUsize, Ordering};
use crate::thread::ThreadCtx;
use core::ffi::c_void;

/// Status of a finished receive (or probe). `error` is a [`Status`] code, `OK` or not.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsgStatus {
    /// The sender's rank in the communicator (of the remote group of an inter-communicator); -1 in an empty status.
    pub source: i32,
    /// The message's tag; -2 in an empty status.
    pub tag: i32,
    /// The outcome: OK, or the failure that the operation ended with.
    pub error: Status,
    /// Bit 0: the operation was cancelled. With `error` TRUNCATED the bits above it say how many bytes of the message did not
    /// fit, at most 31 bits of that number; otherwise they are 0.
    pub cancelled: u32,
    /// Bytes received (packed size).
    pub bytes: u64,
}

impl MsgStatus {
    /// MPI's empty status: any source, any tag, no error, no bytes. (MPI 5.0 §3.7.3)
    pub const EMPTY: MsgStatus = MsgStatus { source: -1, tag: -2, error: Status::OK, cancelled: 0, bytes: 0 };
}

/// The word everything waits on.
#[repr(transparent)]
#[derive(Debug)]
pub struct Completion(AtomicUsize);

/// Result of [`Completion::attach`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Attach {
    /// The request is pending, and its completion will name the sync object.
    Attached,
    /// The request was complete before; nothing is attached, and nobody will be told.
    AlreadyComplete,
}

impl Completion {
    /// The word of an operation that is under way and that no sync object is attached to.
    pub const PENDING: usize = 0;
    /// The word of an operation that is done.
    pub const COMPLETE: usize = 1;

    /// The word of an operation that has not begun: pending.
    #[cfg(not(loom))]
    pub const fn new() -> Completion {
        Completion(AtomicUsize::new(Self::PENDING))
    }
    /// The word of an operation that has not begun, of model atomics.
    #[cfg(loom)]
    pub fn new() -> Completion {
        Completion(AtomicUsize::new(Self::PENDING))
    }

    /// True once the operation is done; all that its completer wrote before, the status for one, is visible then. Any thread.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        // SYNC POINT with `finish` and `finish_alone`.
        self.0.load(Ordering::Acquire) == Self::COMPLETE
    }

    /// Ends the wait of whoever is attached: returns the address of the sync object that must be
    /// told, or 0. May be called once per start; the request may be gone when it returns.
    #[inline(always)]
    pub fn finish(&self) -> usize {
        // SYNC POINT with `is_complete`, `attach` and `detach`.
        match self.0.swap(Self::COMPLETE, Ordering::AcqRel) {
            Self::PENDING | Self::COMPLETE => 0,
            sync => sync,
        }
    }

    /// [`Self::finish`] where only one thread makes MPI calls: no read-modify-write.
    #[inline(always)]
    pub fn finish_alone(&self) {
        self.0.store(Self::COMPLETE, Ordering::Release);
    }

    /// Attaches the sync object at `sync` (an address, neither 0 nor 1).
    pub fn attach(&self, sync: usize) -> Attach {
        debug_assert!(sync > Self::COMPLETE);
        // SYNC POINT with `finish`.
        match self.0.compare_exchange(Self::PENDING, sync, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Attach::Attached,
            Err(_) => Attach::AlreadyComplete,
        }
    }

    /// Takes `sync` off again. False: it completed meanwhile, and the sync object was or will be told.
    #[must_use]
    pub fn detach(&self, sync: usize) -> bool {
        // SYNC POINT with `finish`.
        self.0.compare_exchange(sync, Self::PENDING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Back to pending, by the owner, while nobody else can reach the request.
    #[inline(always)]
    pub fn rearm(&self) {
        self.0.store(Self::PENDING, Ordering::Relaxed);
    }
}

impl Default for Completion {
    fn default() -> Self {
        Self::new()
    }
}

/// Operations that the host may ask of the owner of a request.
#[repr(C)]
pub struct RequestOps {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The host is done with it. If it is still pending (MPI_Request_free) the owner keeps it
    /// until it completes and then recycles it. `thread`: the calling thread's context, or null.
    pub release: extern "C" fn(req: *mut RequestHeader, thread: *mut ThreadCtx),
    /// Tries to cancel (MPI 5.0 §3.8.4). OK: it is complete as cancelled. PENDING: that is not known yet, or it is too late; it completes in any
    /// case, and its status tells. NOT_SUPPORTED: the owner cancels nothing.
    pub cancel: extern "C" fn(req: *mut RequestHeader) -> Status,
    /// Starts a persistent request that is inactive. A failure: it stays inactive, as with `send` and `irecv` of its owner's table.
    pub start: extern "C" fn(req: *mut RequestHeader) -> Status,
}

/// The state of a request's owner, as the header names it: an address that nobody but the owner's own functions follows.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(*mut c_void);

// SAFETY: a number. Unsafe code of the owner alone follows it, and says why it may, in whichever thread it runs.
unsafe impl Send for Owner {}
// SAFETY: a shared one gives copies of the number away and nothing else.
unsafe impl Sync for Owner {}

impl Owner {
    /// A request whose functions need no state.
    pub const NOBODY: Owner = Owner(core::ptr::null_mut());

    /// That state, by its address.
    pub fn of<T>(state: &T) -> Owner {
        Owner(core::ptr::from_ref(state).cast_mut().cast())
    }

    /// Tells the address.
    pub fn address(self) -> *mut c_void {
        self.0
    }
}

/// First field of every request object, whoever owns it.
#[repr(C)]
pub struct RequestHeader {
    /// The word that waiters look at.
    pub completion: Completion,
    /// The outcome, written by the owner before it completes the request, and read by nobody before that.
    pub status: MsgStatus,
    /// The owner's functions; valid as long as the instance.
    pub ops: *const RequestOps,
    /// The owner's own state (for a PML request, its module).
    pub owner: *mut c_void,
    /// The host's: the communicator whose error handler an error goes to, or null.
    pub comm: *mut c_void,
    /// The host's: slot of the handle, given when the object was made (see `Host::request_slot`).
    pub slot: u32,
    /// The host's: counts the uses of the slot, so that a stale handle is seen.
    pub generation: AtomicU32,
    /// [`RequestHeader::SEND`] …
    pub kind: u32,
    /// [`RequestHeader::PERSISTENT`] …
    pub flags: u32,
}

/// A request of a component's own kind, as host and component share it.
///
/// # Safety
/// The header is the first field of a `repr(C)` type, whose objects are never freed while the component's module lives; `header` answers its address.
pub unsafe trait Object: Send + Sync + Sized + 'static {
    /// The header.
    fn header(&self) -> *mut RequestHeader;
}

impl RequestHeader {
    /// In `kind`: the request of a send.
    pub const SEND: u32 = 1;
    /// In `kind`: the request of a receive, whose status has source, tag and length.
    pub const RECV: u32 = 2;
    /// In `kind`: the request of any other operation (one-sided, collective, the user's own).
    pub const OTHER: u32 = 3;
    /// In `flags`: survives completion.
    pub const PERSISTENT: u32 = 1;
    /// In `flags`: a persistent request that was started and not yet waited for.
    pub const ACTIVE: u32 = 2;

    /// The header of a pending request without slot, communicator and flags. `kind`: [`RequestHeader::SEND`], `RECV` or `OTHER`; `ops` are called with
    /// it, and `owner` is for them.
    pub fn new(kind: u32, ops: &'static RequestOps, owner: Owner) -> RequestHeader {
        RequestHeader {
            completion: Completion::new(),
            status: MsgStatus::EMPTY,
            ops,
            owner: owner.address(),
            comm: core::ptr::null_mut(),
            slot: u32::MAX,
            generation: AtomicU32::new(0),
            kind,
            flags: 0,
        }
    }
}

const _: () = {
    assert!(core::mem::size_of::<MsgStatus>() == 24);
    #[cfg(not(loom))]
    assert!(core::mem::size_of::<RequestHeader>() == 72);
};
