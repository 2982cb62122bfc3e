//! Tables, descriptions and constants that cross the boundary between the host and a one-sided component.

use core::ffi::c_void;
use oxmpi_btl::{BtlServices, Reach};
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};
use oxmpi_mca::Place;
use oxmpi_mca::{MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx, Version};

pub const VERSION: Version = Version { major: 1, minor: 2, patch: 0 };
/// Version of [`OscTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;
pub const FRAMEWORK: &str = "osc";

/// How a window was made (MPI 5.0 §12.2); in [`WinDesc::flavor`].
pub mod flavor {
    /// MPI_Win_create: memory of the user's.
    pub const CREATE: u32 = 1;
    /// MPI_Win_allocate: memory of the host's.
    pub const ALLOCATE: u32 = 2;
    /// MPI_Win_create_dynamic: memory is attached later, targets are named by address.
    pub const DYNAMIC: u32 = 3;
    /// MPI_Win_allocate_shared: memory that all ranks map.
    pub const SHARED: u32 = 4;
}

/// Lock types (MPI 5.0 §12.5.3).
pub mod lock_type {
    pub const SHARED: u32 = 1;
    pub const EXCLUSIVE: u32 = 2;
}

/// Assertions of synchronisation calls (MPI 5.0 §12.5.5).
pub mod assertion {
    pub const NOCHECK: u32 = 1;
    pub const NOSTORE: u32 = 2;
    pub const NOPUT: u32 = 4;
    pub const NOPRECEDE: u32 = 8;
    pub const NOSUCCEED: u32 = 16;
}

/// Hints of a window, by bit in [`WinDesc::hints`] (MPI 5.0 §12.2.1). All ranks gave the same.
pub mod hint {
    /// `no_locks`: MPI_Win_lock and MPI_Win_lock_all are not called.
    pub const NO_LOCKS: u32 = 1;
    /// `same_size`: all ranks' memory has one size.
    pub const SAME_SIZE: u32 = 2;
    /// `same_disp_unit`: all ranks gave one displacement unit.
    pub const SAME_DISP_UNIT: u32 = 4;
    /// `accumulate_ops` is `same_op`: concurrent accumulates to one target use one operation.
    pub const SAME_OP: u32 = 8;
    /// `accumulate_ops` is `same_op_no_op` (the default): or that one and MPI_NO_OP.
    pub const SAME_OP_NO_OP: u32 = 16;
    /// `mpix_unordered`: operations that overlap, are not both accumulates, and of which the first is complete at the origin when the second is issued may take
    /// effect in any order. Without it they take effect in the order of their calls.
    pub const UNORDERED: u32 = 32;
}

/// Which pairs of accumulates to one target are ordered (`accumulate_ordering`), by bit in [`WinDesc::ordering`].
/// All four by default.
pub mod ordering {
    pub const RAR: u32 = 1;
    pub const RAW: u32 = 2;
    pub const WAR: u32 = 4;
    pub const WAW: u32 = 8;
    pub const ALL: u32 = 15;
}

/// A window to be made; valid during the call. `comm` is valid until the window is freed.
#[repr(C)]
pub struct WinDesc {
    pub size: u32,
    /// One of [`flavor`].
    pub flavor: u32,
    pub comm: *const WinComm,
    /// This rank's memory; null in a dynamic window, and where `bytes` is 0 perhaps.
    pub base: *mut u8,
    pub bytes: u64,
    /// Bytes of a unit of displacement at this rank, at least 1.
    pub disp_unit: i64,
    /// Bits of [`hint`].
    pub hints: u32,
    /// Bits of [`ordering`].
    pub ordering: u32,
    /// `mpi_accumulate_granularity`: bytes below which accumulates are not atomic as one; 0: the default.
    pub granularity: u64,
    /// For `RequestHeader::comm` of the window's requests.
    pub host_win: *mut c_void,
    /// Counters of notifications at each rank, the same number at all (version 1.2).
    pub num_notify: u32,
    pub reserved: u32,
}

/// A window's communicator. Fixed while the window lives.
#[repr(C)]
pub struct WinComm {
    pub size: u32,
    pub num_ranks: u32,
    /// This process's rank in the window's group.
    pub rank: u32,
    /// Nodes that have ranks of the window.
    pub num_nodes: u32,
    /// First argument of every service.
    pub comm: *mut c_void,
    pub services: *const WinServices,
    /// Services around transports; registration of memory, for one.
    pub btl: *const BtlServices,
}

/// A rank's memory as this process can load and store it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub base: *mut u8,
    pub bytes: u64,
    pub disp_unit: i64,
}

/// The question `wait_until` asks again and again: 1 ends the wait. It runs with no lock held and must not wait itself.
pub type Predicate = extern "C" fn(ctx: *mut c_void) -> u32;

/// The question `wait_contexts` asks again and again: the contexts, by bit, on which something is under way that the caller
/// waits for; 0 ends the wait. It runs with no lock held, must not wait itself, and only compares counters (`Flow::is_complete`).
pub type Outstanding = extern "C" fn(ctx: *mut c_void) -> u64;

/// The host's services for a window: messages and collectives on its communicator, places, transports, memory.
/// All may be called from any thread; none while a CRI is held, except `place` and `mapped`.
#[repr(C)]
pub struct WinServices {
    pub size: u32,
    pub reserved: u32,
    /// Where a rank is. BAD_PARAM: there is no such rank.
    pub place: extern "C" fn(*mut c_void, rank: u32, out: *mut Place) -> Status,
    /// The transports that reach a rank's process, best for one-sided operations first: native verbs before emulated ones.
    /// Endpoints are made at first contact. UNREACHABLE: none.
    pub reach: extern "C" fn(*mut c_void, rank: u32, out: *mut SliceRef<Reach>) -> Status,
    /// A rank's window memory in this process's address space: of this rank itself, and of ALLOCATE and SHARED windows'
    /// ranks on the node. NOT_FOUND: not mapped here.
    pub mapped: extern "C" fn(*mut c_void, rank: u32, out: *mut Mapped) -> Status,
    pub isend: extern "C" fn(
        *mut c_void,
        *mut ThreadCtx,
        *const u8,
        count: u64,
        *const TypeDesc,
        dst: u32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// `src` may be -1 (any source), `tag` -2 (any tag).
    pub irecv: extern "C" fn(
        *mut c_void,
        *mut ThreadCtx,
        *mut u8,
        count: u64,
        *const TypeDesc,
        src: i32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// Waits for a request of `isend` or `irecv` and releases it; its status goes to `status` if that is not null.
    pub wait:
        extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader, status: *mut MsgStatus) -> Status,
    /// Looks without progress: OK releases the request and fills `status`; PENDING leaves it.
    pub test:
        extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader, status: *mut MsgStatus) -> Status,
    /// Tries to cancel a request and releases it in any case, once it is complete.
    pub cancel: extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader) -> Status,
    /// Makes progress until the predicate says 1.
    pub wait_until: extern "C" fn(*mut c_void, *mut ThreadCtx, Predicate, ctx: *mut c_void) -> Status,
    /// One turn of progress. The events handled.
    pub progress: extern "C" fn(*mut c_void, *mut ThreadCtx) -> i32,
    pub barrier: extern "C" fn(*mut c_void, *mut ThreadCtx) -> Status,
    /// `bytes` of each rank to all: `all` has room for `num_ranks` times as many.
    pub allgather:
        extern "C" fn(*mut c_void, *mut ThreadCtx, mine: *const u8, bytes: u64, all: *mut u8) -> Status,
    /// `bytes` from each rank to each rank.
    pub alltoall:
        extern "C" fn(*mut c_void, *mut ThreadCtx, to: *const u8, bytes: u64, from: *mut u8) -> Status,
    /// The least status of all ranks: a failure anywhere is everybody's.
    pub agree: extern "C" fn(*mut c_void, *mut ThreadCtx, Status) -> Status,
    /// The predefined type of single bytes, for messages.
    pub byte_type: extern "C" fn(*mut c_void) -> *const TypeDesc,
    /// Waits until `outstanding` answers that nothing is under way any more, as a flush does (version 1.1). Of the contexts in its
    /// answer those that nobody has progressed since the last look are entered, one at a time, taking their locks from their owners: a thread
    /// that issued operations and computes now keeps nobody waiting. The caller holds nothing. See "Completion" in the contract's text.
    pub wait_contexts: extern "C" fn(*mut c_void, *mut ThreadCtx, Outstanding, ctx: *mut c_void) -> Status,
}

/// Arguments of all operations; each uses the fields it needs and looks at no other.
///
/// | | origin | result | target | others |
/// |---|---|---|---|---|
/// | put, get | `origin*` (of get: written) | | `target*` | |
/// | accumulate | `origin*` | | `target*` | `op` |
/// | get_accumulate | `origin*` (nothing for NO_OP) | `result*` | `target*` | `op` |
/// | fetch_and_op | one element of `origin_type` | one element | `target`, `disp` | `op` |
/// | compare_and_swap | one element of `origin_type` | one element | `target`, `disp` | `compare` |
///
/// Types are valid during the call; a component that needs one longer retains it (`TypeRef`).
#[repr(C)]
pub struct RmaArgs {
    pub thread: *mut ThreadCtx,
    pub origin: *mut u8,
    pub origin_count: u64,
    pub origin_type: *const TypeDesc,
    pub result: *mut u8,
    pub result_count: u64,
    pub result_type: *const TypeDesc,
    pub compare: *const u8,
    pub target: u32,
    pub reserved: u32,
    /// In the target's units; in dynamic windows an address.
    pub disp: i64,
    pub target_count: u64,
    pub target_type: *const TypeDesc,
    pub op: *const OpDesc,
}

pub(crate) type State = *mut c_void;
pub(crate) type Win = *mut c_void;
/// An operation. `out` null: MPI_Put and the like, which complete by synchronisation; else MPI_Rput and the like, and
/// a request is written there (it may be complete already).
pub type RmaFn = extern "C" fn(Win, *const RmaArgs, out: *mut *mut RequestHeader) -> Status;

/// Counts of a component for one window, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since the window was made, of this process, of
/// all its threads (version 1.2). Numbers that a component does not count stay 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinCounts {
    pub size: u32,
    pub reserved: u32,
    /// Attempts at exclusive locks of a rank (MPI_Win_lock): one for each that was granted at once, one more for each retry.
    pub exclusive_attempts: u64,
    /// Attempts at shared locks: of a rank (MPI_Win_lock, or on demand), or of all at once (MPI_Win_lock_all).
    pub shared_attempts: u64,
    /// Those of both kinds that were refused, and tried again.
    pub lock_retries: u64,
    /// Locks taken to make an accumulate atomic.
    pub accumulate_locks: u64,
    /// Attempts at such a lock that were refused, and tried again.
    pub accumulate_retries: u64,
    /// Locks taken on the way of MPI_Put's, of whatever is shared by threads: of communication resource instances, of pools.
    pub put_locks: u64,
}

/// A notified put or get: the arguments of the operation, and the number of the target's counter.
pub type NotifyFn = extern "C" fn(Win, *const RmaArgs, counter: u32) -> Status;

/// The verbs of a window. All slots up to `free` are mandatory; of those behind it each may be missing: the host answers NOT_SUPPORTED in its place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OscTable {
    pub size: u32,
    pub version: u32,
    pub put: RmaFn,
    pub get: RmaFn,
    pub accumulate: RmaFn,
    pub get_accumulate: RmaFn,
    /// `out` is null.
    pub fetch_and_op: RmaFn,
    /// `out` is null.
    pub compare_and_swap: RmaFn,
    /// Bits of [`assertion`] in `assert`. Collective.
    pub fence: extern "C" fn(Win, *mut ThreadCtx, assert: u32) -> Status,
    /// Opens an exposure epoch for the ranks (MPI_Win_post).
    pub post: extern "C" fn(Win, *mut ThreadCtx, ranks: SliceRef<u32>, assert: u32) -> Status,
    /// Opens an access epoch to the ranks (MPI_Win_start).
    pub start: extern "C" fn(Win, *mut ThreadCtx, ranks: SliceRef<u32>, assert: u32) -> Status,
    pub complete: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Ends the exposure epoch; `block` 0 (MPI_Win_test): PENDING if it cannot end yet.
    pub wait: extern "C" fn(Win, *mut ThreadCtx, block: u32) -> Status,
    /// `kind`: one of [`lock_type`].
    pub lock: extern "C" fn(Win, *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status,
    pub unlock: extern "C" fn(Win, *mut ThreadCtx, rank: u32) -> Status,
    pub lock_all: extern "C" fn(Win, *mut ThreadCtx, assert: u32) -> Status,
    pub unlock_all: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Completes operations to a rank ([`ALL`]: to all) at origin and target; `local` 1: at the origin alone.
    pub flush: extern "C" fn(Win, *mut ThreadCtx, rank: u32, local: u32) -> Status,
    pub sync: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Memory of a dynamic window. RMA_ATTACH: overlaps what is attached, or cannot be attached.
    pub attach: extern "C" fn(Win, *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status,
    pub detach: extern "C" fn(Win, *mut ThreadCtx, base: *mut u8) -> Status,
    /// The hints changed (MPI_Win_set_info): bits of [`hint`] and [`ordering`].
    pub set_hints: extern "C" fn(Win, hints: u32, ordering: u32) -> Status,
    /// Frees the module. `discard` 0: collective; returns when no rank uses this rank's memory through the window any more.
    /// RMA_SYNC: an epoch is open, and the window stays. `discard` 1: another rank's `create` failed; communicates with nobody.
    pub free: extern "C" fn(Win, *mut ThreadCtx, discard: u32) -> Status,
    /// A put that is told to its target (version 1.2, as all that follow).
    pub put_notify: NotifyFn,
    /// A get that is told to its target.
    pub get_notify: NotifyFn,
    /// The value of a counter of this rank. `reset` 1: it is 0 afterwards, and no notification is lost in between. One turn of progress if that is needed for
    /// notifications to come.
    pub notify_read: extern "C" fn(Win, *mut ThreadCtx, counter: u32, reset: u32, value: *mut u64) -> Status,
    /// Waits until a counter of this rank is at least `threshold`, and gives its value.
    pub notify_wait:
        extern "C" fn(Win, *mut ThreadCtx, counter: u32, threshold: u64, value: *mut u64) -> Status,
    /// Makes another window on the same memory, collective. The new one has the flavor, the memory, and what is attached now or later of this one, and
    /// locks, epochs, counters and flushes of its own; either may be freed first. Accumulates by one and the other are atomic to each other.
    /// `desc`: as `create` would get it; its memory is this window's. After a failure on any rank the host frees the others' with `discard`.
    pub dup: extern "C" fn(Win, *const WinDesc, *mut ThreadCtx, out: *mut OscWindow) -> Status,
    /// Fills `out` as far as its `size` says.
    pub counts: extern "C" fn(Win, out: *mut WinCounts) -> Status,
    /// Starts what `flush` with `local` 0 would do for a rank ([`ALL`]: for all), and does not wait: `flush` follows. RMA_SYNC as `flush`.
    pub flush_begin: extern "C" fn(Win, *mut ThreadCtx, rank: u32) -> Status,
}

/// `rank` of `flush` for all ranks.
pub const ALL: u32 = 0xffff_ffff;

/// `create`'s answer.
#[repr(C)]
pub struct OscWindow {
    pub window: *mut c_void,
    pub table: *const OscTable,
}

/// The one module of an OSC component, as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OscModule {
    pub size: u32,
    pub reserved: u32,
    pub state: *mut c_void,
    /// OK: `priority` is filled. NOT_AVAILABLE: not this window. Must not communicate.
    pub query: extern "C" fn(State, *const WinDesc, priority: *mut i32) -> Status,
    /// Collective over the window's ranks. After a failure on any rank the host frees the windows of the others with `discard`.
    pub create: extern "C" fn(State, *const WinDesc, *mut ThreadCtx, out: *mut OscWindow) -> Status,
    /// The thread level has risen to MULTIPLE; no other thread is in a verb.
    pub threads_begin: extern "C" fn(State) -> Status,
    /// Last call.
    pub finalize: extern "C" fn(State) -> Status,
}

impl oxmpi_mca::component::Module for OscModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

const _: () = {
    use core::mem::size_of;
    assert!(size_of::<WinDesc>() == 72);
    assert!(size_of::<WinComm>() == 40);
    assert!(size_of::<WinServices>() == 8 + 16 * 8);
    assert!(size_of::<RmaArgs>() == 104);
    assert!(size_of::<WinCounts>() == 56);
    assert!(size_of::<OscTable>() == 8 + 28 * 8);
    assert!(size_of::<OscModule>() == 48);
};
