//! Tables, descriptions and constants that cross the boundary between the host and a one-sided component.

use core::ffi::c_void;
use oxmpi_btl::{BtlServices, Reach};
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};
use oxmpi_mca::Place;
use oxmpi_mca::{MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 1, minor: 3, patch: 0 };
/// Version of [`OscTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "osc";

/// The ways of making a window (MPI 5.0 §12.2); in [`WinDesc::flavor`].
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
    /// Others may hold shared locks of the same rank's memory meanwhile (MPI_LOCK_SHARED).
    pub const SHARED: u32 = 1;
    /// Nobody else holds a lock of that rank's memory meanwhile (MPI_LOCK_EXCLUSIVE).
    pub const EXCLUSIVE: u32 = 2;
}

/// Assertions of synchronisation calls (MPI 5.0 §12.5.5).
pub mod assertion {
    /// The epoch at the other side is open, or no conflicting lock is held: no message is needed for it (MPI_MODE_NOCHECK).
    pub const NOCHECK: u32 = 1;
    /// This rank's memory was not changed by stores or receives since the last synchronisation (MPI_MODE_NOSTORE).
    pub const NOSTORE: u32 = 2;
    /// This rank's memory will not be changed by puts and accumulates in the epoch that begins (MPI_MODE_NOPUT).
    pub const NOPUT: u32 = 4;
    /// A fence ends no epoch with operations of this process; all ranks say so or none (MPI_MODE_NOPRECEDE).
    pub const NOPRECEDE: u32 = 8;
    /// A fence begins no epoch with operations of this process; all ranks say so or none (MPI_MODE_NOSUCCEED).
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

/// Pairs of accumulates to one target that are ordered (`accumulate_ordering`), by bit in [`WinDesc::ordering`].
/// All four by default.
pub mod ordering {
    /// A read behind a read.
    pub const RAR: u32 = 1;
    /// A read behind a write.
    pub const RAW: u32 = 2;
    /// A write behind a read.
    pub const WAR: u32 = 4;
    /// A write behind a write.
    pub const WAW: u32 = 8;
    /// All four, the default.
    pub const ALL: u32 = 15;
}

/// A window to be made; valid during the call. `comm` is valid until the window is freed.
#[repr(C)]
pub struct WinDesc {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// One of [`flavor`].
    pub flavor: u32,
    /// The window's communicator, with the services on it; not null.
    pub comm: *const WinComm,
    /// This rank's memory; null in a dynamic window, and where `bytes` is 0 perhaps.
    pub base: *mut u8,
    /// Bytes of that memory; 0 in a dynamic window.
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
    /// 0 from the host.
    pub reserved: u32,
}

/// A window's communicator. Fixed while the window lives.
#[repr(C)]
pub struct WinComm {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Ranks of the window's group, at least 1.
    pub num_ranks: u32,
    /// This process's rank in the window's group.
    pub rank: u32,
    /// Nodes that have ranks of the window.
    pub num_nodes: u32,
    /// First argument of every service.
    pub comm: *mut c_void,
    /// The services for this window; valid as long as it.
    pub services: *const WinServices,
    /// Services around transports; registration of memory, for one.
    pub btl: *const BtlServices,
}

/// A rank's memory as this process can load and store it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The first byte of the rank's memory in this process's address space.
    pub base: *mut u8,
    /// Bytes of the memory.
    pub bytes: u64,
    /// Bytes of a unit of displacement at that rank, at least 1.
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
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// Gives the place of a rank. BAD_PARAM: there is no such rank.
    pub place: extern "C" fn(*mut c_void, rank: u32, out: *mut Place) -> Status,
    /// The transports that reach a rank's process, best for one-sided operations first: native verbs before emulated ones.
    /// Endpoints are made at first contact. UNREACHABLE: none.
    pub reach: extern "C" fn(*mut c_void, rank: u32, out: *mut SliceRef<Reach>) -> Status,
    /// A rank's window memory in this process's address space: of this rank itself, and of ALLOCATE and SHARED windows'
    /// ranks on the node. NOT_FOUND: not mapped here.
    pub mapped: extern "C" fn(*mut c_void, rank: u32, out: *mut Mapped) -> Status,
    /// Starts a standard send of `count` elements to rank `dst`. `*out` is a request for `wait`, `test` or `cancel`, and the elements stay as they
    /// are until that has released it. BAD_PARAM: there is no such rank, or `tag` is not from 0 to 32767.
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
    /// Starts a receive of at most `count` elements, whose place is the message's until its request is released, as with `isend`. `src` may be -1
    /// (any source), `tag` -2 (any tag). BAD_PARAM as for `isend`. PEER_FAILED: the only process that could send is lost.
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
    /// Waits for a request of `isend` or `irecv` and releases it; its status goes to `status` if that is not null. Answers that status' error.
    pub wait:
        extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader, status: *mut MsgStatus) -> Status,
    /// Looks without progress. PENDING: it is not complete, and stays. Otherwise it does as `wait`.
    pub test:
        extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader, status: *mut MsgStatus) -> Status,
    /// Tries to cancel a request, waits until it is complete, and releases it. Answers its status' error; OK says nothing about success.
    pub cancel: extern "C" fn(*mut c_void, *mut ThreadCtx, *mut RequestHeader) -> Status,
    /// Makes progress until the predicate says 1. Always OK.
    pub wait_until: extern "C" fn(*mut c_void, *mut ThreadCtx, Predicate, ctx: *mut c_void) -> Status,
    /// One turn of progress. The events handled.
    pub progress: extern "C" fn(*mut c_void, *mut ThreadCtx) -> i32,
    /// Returns when all ranks of the window have called it, in the same order of collectives. PEER_FAILED: a rank is lost.
    pub barrier: extern "C" fn(*mut c_void, *mut ThreadCtx) -> Status,
    /// `bytes` of each rank to all: `all` has room for `num_ranks` times as many. Failures as of `barrier`.
    pub allgather:
        extern "C" fn(*mut c_void, *mut ThreadCtx, mine: *const u8, bytes: u64, all: *mut u8) -> Status,
    /// `bytes` from each rank to each rank: both buffers have `num_ranks` times as many, in the order of the ranks. Failures as of `barrier`.
    pub alltoall:
        extern "C" fn(*mut c_void, *mut ThreadCtx, to: *const u8, bytes: u64, from: *mut u8) -> Status,
    /// The least status of all ranks: a failure anywhere is everybody's. PEER_FAILED, too, where the exchange fails.
    pub agree: extern "C" fn(*mut c_void, *mut ThreadCtx, Status) -> Status,
    /// The predefined type of single bytes, for messages.
    pub byte_type: extern "C" fn(*mut c_void) -> *const TypeDesc,
    /// Waits until `outstanding` answers that nothing is under way any more, as a flush does (version 1.1). Of the contexts in its
    /// answer those that nobody has progressed since the last look are entered, one at a time, taking their locks from their owners: a thread
    /// that issued operations and computes now keeps nobody waiting. The caller holds nothing. Always OK. See "Completion" in the contract's text.
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
    /// The context of the calling thread, or null.
    pub thread: *mut ThreadCtx,
    /// Address of element 0 of the origin's buffer; of a get it is written.
    pub origin: *mut u8,
    /// Number of elements in the origin's buffer.
    pub origin_count: u64,
    /// The type of the elements in the origin's buffer.
    pub origin_type: *const TypeDesc,
    /// Address of element 0 of the place for the target's old values.
    pub result: *mut u8,
    /// Number of elements that go there.
    pub result_count: u64,
    /// The type of the elements that go there.
    pub result_type: *const TypeDesc,
    /// Address of the one element that compare_and_swap compares with, of `origin_type`.
    pub compare: *const u8,
    /// The target's rank in the window's group; valid, and not MPI_PROC_NULL.
    pub target: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// In the target's units; in dynamic windows an address.
    pub disp: i64,
    /// Number of elements at the target.
    pub target_count: u64,
    /// The type of the elements at the target, whose displacements count from the place that `disp` names.
    pub target_type: *const TypeDesc,
    /// The operation of an accumulate: a predefined one, with REPLACE and NO_OP (MPI 5.0 §12.3.4).
    pub op: *const OpDesc,
}

pub(crate) type State = *mut c_void;
pub(crate) type Win = *mut c_void;
/// An operation. `out` null: MPI_Put and the like, which complete by synchronisation; else MPI_Rput and the like, and
/// a request is written there (it may be complete already). Failures are those of [`OscTable::put`]; one that comes later is the request's, or that
/// of the synchronisation.
pub type RmaFn = extern "C" fn(Win, *const RmaArgs, out: *mut *mut RequestHeader) -> Status;

/// Counts of a component for one window, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since the window was made, of this process, of
/// all its threads (version 1.2). Numbers that a component does not count stay 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinCounts {
    /// Bytes of this struct as the asking side knows it.
    pub size: u32,
    /// 0 from the host.
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
    /// Ranks that this one has met so far and whose memory it loads and stores (version 1.3, as all that follow). A rank is in one of these numbers at most.
    pub ranks_mapped: u64,
    /// Ranks that it has met and reaches by verbs of a transport, atomics included.
    pub ranks_by_transport: u64,
    /// Ranks that it has met and reaches by a transport, and whose process carries out atomics, and what else the transport lacks.
    pub ranks_by_requests: u64,
    /// Ranks that it reaches by messages.
    pub ranks_by_messages: u64,
}

/// A notified put or get: the arguments of the operation, and the number of the target's counter. Failures are those of [`OscTable::put`], and
/// BAD_PARAM: the window has no such counter.
pub type NotifyFn = extern "C" fn(Win, *const RmaArgs, counter: u32) -> Status;

/// The verbs of a window. All slots up to `free` are mandatory; of those behind it each may be missing: the host answers NOT_SUPPORTED in its place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OscTable {
    /// Bytes of this table as the component was built with it; it reaches over `free` at least.
    pub size: u32,
    /// [`TABLE_VERSION`] of what the component was built with; equal or refused.
    pub version: u32,
    /// MPI_Put, MPI_Rput (MPI 5.0 §12.3.1). Of this and all operations: RMA_SYNC: outside of an epoch to the target; RMA_RANGE: beyond the target's
    /// memory; PEER_FAILED: the target is lost; OUT_OF_MEMORY, NO_RESOURCE: it could not begin. After an error nothing is under way.
    pub put: RmaFn,
    /// MPI_Get, MPI_Rget (§12.3.2).
    pub get: RmaFn,
    /// MPI_Accumulate, MPI_Raccumulate (§12.3.4).
    pub accumulate: RmaFn,
    /// MPI_Get_accumulate, MPI_Rget_accumulate (§12.3.4).
    pub get_accumulate: RmaFn,
    /// MPI_Fetch_and_op (§12.3.4); `out` is null.
    pub fetch_and_op: RmaFn,
    /// MPI_Compare_and_swap (§12.3.4); `out` is null.
    pub compare_and_swap: RmaFn,
    /// MPI_Win_fence (§12.5.1); collective. Bits of [`assertion`] in `assert`. RMA_SYNC: another epoch than a fence's is open.
    pub fence: extern "C" fn(Win, *mut ThreadCtx, assert: u32) -> Status,
    /// Opens an exposure epoch for the ranks (MPI_Win_post; §12.5.2). RMA_SYNC: one is open.
    pub post: extern "C" fn(Win, *mut ThreadCtx, ranks: SliceRef<u32>, assert: u32) -> Status,
    /// Opens an access epoch to the ranks (MPI_Win_start). RMA_SYNC: one is open.
    pub start: extern "C" fn(Win, *mut ThreadCtx, ranks: SliceRef<u32>, assert: u32) -> Status,
    /// Ends the access epoch that `start` opened; its operations are complete at the origin (MPI_Win_complete). RMA_SYNC: none is open.
    pub complete: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Ends the exposure epoch (MPI_Win_wait); `block` 0 (MPI_Win_test): PENDING if it cannot end yet. RMA_SYNC: none is open.
    pub wait: extern "C" fn(Win, *mut ThreadCtx, block: u32) -> Status,
    /// Opens a passive epoch at a rank (MPI_Win_lock; §12.5.3). `kind`: one of [`lock_type`]. RMA_SYNC: the rank is locked, an access
    /// epoch of another kind is open, or the window has the hint `no_locks`.
    pub lock: extern "C" fn(Win, *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status,
    /// Ends the passive epoch at a rank; its operations are complete at origin and target (MPI_Win_unlock). RMA_SYNC: the rank is not locked.
    pub unlock: extern "C" fn(Win, *mut ThreadCtx, rank: u32) -> Status,
    /// Opens a passive epoch at all ranks, as with a shared lock of each (MPI_Win_lock_all). RMA_SYNC: another access epoch is open, or the window
    /// has the hint `no_locks`.
    pub lock_all: extern "C" fn(Win, *mut ThreadCtx, assert: u32) -> Status,
    /// Ends the passive epoch at all ranks; its operations are complete at origins and targets (MPI_Win_unlock_all). RMA_SYNC: `lock_all` has opened
    /// none.
    pub unlock_all: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Completes operations to a rank ([`ALL`]: to all) at origin and target; `local` 1: at the origin alone (MPI_Win_flush and its kin; §12.5.4).
    /// RMA_SYNC: no passive epoch to it is open.
    pub flush: extern "C" fn(Win, *mut ThreadCtx, rank: u32, local: u32) -> Status,
    /// Makes stores to this rank's memory and accesses through the window visible to each other (MPI_Win_sync).
    pub sync: extern "C" fn(Win, *mut ThreadCtx) -> Status,
    /// Memory of a dynamic window. RMA_ATTACH: overlaps what is attached, or cannot be attached.
    pub attach: extern "C" fn(Win, *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status,
    /// Takes the memory that `attach` added with this address from the window; peers reach it no more. RMA_ATTACH: none begins there.
    pub detach: extern "C" fn(Win, *mut ThreadCtx, base: *mut u8) -> Status,
    /// The hints changed (MPI_Win_set_info): bits of [`hint`] and [`ordering`]. NOT_SUPPORTED: they cannot change, and the call fails.
    pub set_hints: extern "C" fn(Win, hints: u32, ordering: u32) -> Status,
    /// Frees the module. `discard` 0: collective; returns when no rank uses this rank's memory through the window any more.
    /// RMA_SYNC: an epoch is open, and the window stays. `discard` 1: another rank's `create` failed; communicates with nobody.
    pub free: extern "C" fn(Win, *mut ThreadCtx, discard: u32) -> Status,
    /// A put that is told to its target (version 1.2, as all that follow).
    pub put_notify: NotifyFn,
    /// A get that is told to its target.
    pub get_notify: NotifyFn,
    /// The value of a counter of this rank. `reset` 1: it is 0 afterwards, and no notification is lost in between. One turn of progress if that is needed for
    /// notifications to come. BAD_PARAM: the window has no such counter.
    pub notify_read: extern "C" fn(Win, *mut ThreadCtx, counter: u32, reset: u32, value: *mut u64) -> Status,
    /// Waits until a counter of this rank is at least `threshold`, and gives its value. BAD_PARAM: the window has no such counter.
    pub notify_wait:
        extern "C" fn(Win, *mut ThreadCtx, counter: u32, threshold: u64, value: *mut u64) -> Status,
    /// Makes another window on the same memory, collective. The new one has the flavor, the memory, and what is attached now or later of this one, and
    /// locks, epochs, counters and flushes of its own; either may be freed first. Accumulates by one and the other are atomic to each other.
    /// `desc`: as `create` would get it; its memory is this window's. After a failure on any rank the host frees the others' with `discard`.
    pub dup: extern "C" fn(Win, *const WinDesc, *mut ThreadCtx, out: *mut OscWindow) -> Status,
    /// Fills `out` as far as its `size` says. NOT_SUPPORTED: the component counts nothing.
    pub counts: extern "C" fn(Win, out: *mut WinCounts) -> Status,
    /// Starts what `flush` with `local` 0 would do for a rank ([`ALL`]: for all), and does not wait: `flush` follows. RMA_SYNC as `flush`.
    pub flush_begin: extern "C" fn(Win, *mut ThreadCtx, rank: u32) -> Status,
}

/// `rank` of `flush` for all ranks.
pub const ALL: u32 = 0xffff_ffff;

/// `create`'s answer.
#[repr(C)]
pub struct OscWindow {
    /// First argument of every function in `table`.
    pub window: *mut c_void,
    /// The window's verbs; read by the host when `create` or `dup` has returned OK.
    pub table: *const OscTable,
}

/// The one module of an OSC component, as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OscModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// First argument of every function below.
    pub state: *mut c_void,
    /// OK: `priority` is filled. NOT_AVAILABLE: not this window. Must not communicate.
    pub query: extern "C" fn(State, *const WinDesc, priority: *mut i32) -> Status,
    /// Makes the module of a window. Collective over its ranks. After a failure on any rank (OUT_OF_MEMORY, UNREACHABLE, PEER_FAILED and so on) the
    /// host frees the windows of the others with `discard`, and asks the next component.
    pub create: extern "C" fn(State, *const WinDesc, *mut ThreadCtx, out: *mut OscWindow) -> Status,
    /// The thread level has risen to MULTIPLE; no other thread is in a verb. A failure: it cannot, and the level stays.
    pub threads_begin: extern "C" fn(State) -> Status,
    /// Ends the component and frees `state`: the last call, when no window is left. A failure is logged.
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
    assert!(size_of::<WinCounts>() == 88);
    assert!(size_of::<OscTable>() == 8 + 28 * 8);
    assert!(size_of::<OscModule>() == 48);
};
