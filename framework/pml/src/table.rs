//! Tables, descriptions and constants that cross the boundary between the host and a PML.

use crate::polling::{Polling, Words};
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, BtlServices};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 3, minor: 1, patch: 0 };
/// Version of [`PmlTable`]'s layout.
pub const TABLE_VERSION: u32 = 3;
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "pml";

/// As a receive's source: any rank (MPI_ANY_SOURCE). This number and [`ANY_TAG`]'s are those of MPI's ABI.
pub const ANY_SOURCE: i32 = -1;
/// As a receive's tag: any message of a user's tag, which is 0 or more (MPI_ANY_TAG).
pub const ANY_TAG: i32 = -2;

/// Send modes (MPI 5.0 §3.4).
pub mod mode {
    /// The send completes as soon as its buffer may be used again (MPI_Send).
    pub const STANDARD: u32 = 0;
    /// The send completes when a receive has met it (MPI_Ssend).
    pub const SYNCHRONOUS: u32 = 1;
    /// The program promises that the receive is posted (MPI_Rsend); a PML may treat it as STANDARD.
    pub const READY: u32 = 2;
    /// Data already lies in a buffer that the request owns (MPI_Bsend); completes when that is free again.
    pub const BUFFERED: u32 = 3;
}

/// Bits of [`CommDesc::flags`]: the standard's assertions (MPI 5.0 §7.4.4).
pub mod assert_flag {
    /// No receive has `ANY_TAG` (`mpi_assert_no_any_tag`).
    pub const NO_ANY_TAG: u32 = 1;
    /// No receive has `ANY_SOURCE` (`mpi_assert_no_any_source`).
    pub const NO_ANY_SOURCE: u32 = 2;
    /// Each receive's buffer is as long as its message (`mpi_assert_exact_length`).
    pub const EXACT_LENGTH: u32 = 4;
    /// Messages need not be matched in the order in which they were sent (`mpi_assert_allow_overtaking`).
    pub const ALLOW_OVERTAKING: u32 = 8;
}

/// A communicator as one of its local ranks sees it.
#[repr(C)]
pub struct CommDesc {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Bits of [`assert_flag`] that all ranks gave.
    pub flags: u32,
    /// Global id: equal in all its processes, different from every other communicator of the job. The lowest byte of the first
    /// word counts: that of communicators made one after another from one parent differs.
    pub gid: [u64; 2],
    /// This rank in the local group, from 0.
    pub my_rank: i32,
    /// Ranks that sends may name (the remote group of an inter-communicator).
    pub num_peers: u32,
    /// Index of each one's process; valid until `del_comm`.
    pub procs: *const u32,
    /// Endpoint number within the process of each, or null: all 0 (one rank per process).
    pub endpoints: *const u16,
    /// Number of this rank within its process, from 0; 0 where the process is one rank.
    pub my_endpoint: u16,
    /// 1: an index fixed for all processes (world 0, self 1), no exchange needed; 0: `fixed_index` is nothing.
    pub has_fixed_index: u16,
    /// The index, where `has_fixed_index` is 1.
    pub fixed_index: u32,
    /// Name of the matching engine from an info key, or empty: the parameter's.
    pub matching: oxmpi_mca::StrRef,
    /// The CRI that this rank's messages prefer (an endpoint's own), or [`NO_HINT`].
    pub fifo_hint: u32,
    /// 0 from the host.
    pub reserved: u32,
}

/// `CommDesc::fifo_hint` where there is none.
pub const NO_HINT: u32 = u32::MAX;

/// The transports that a PML sends over; valid as long as the instance.
#[repr(C)]
pub struct Transports {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// The accepted modules, best first. No verb of theirs is emulated.
    pub btls: SliceRef<*const BtlHandle>,
    /// The host's services around them: those that reach a process, and registered memory.
    pub services: *const BtlServices,
    /// The polling of them. The host's engine does that; a PML may, too, on a context whose lock it holds.
    pub polling: *const Polling,
}

/// Arguments of all sends. Valid during the call; the buffer until completion; the type is retained by
/// the PML as long as it needs it.
#[repr(C)]
pub struct SendArgs {
    /// The communicator that `add_comm` gave.
    pub comm: *mut c_void,
    /// The context of the calling thread, or null.
    pub thread: *mut ThreadCtx,
    /// The address of element 0 of the data, from which the type's displacements count; anything where `count` is 0.
    pub buf: *const u8,
    /// Number of elements of `dtype`.
    pub count: u64,
    /// The type of an element; not null.
    pub dtype: *const TypeDesc,
    /// The receiver's rank, below `CommDesc::num_peers`; MPI_PROC_NULL does not come here.
    pub dst: i32,
    /// User tags are ≥ 0; collectives use negative ones, which MPI_ANY_TAG does not match.
    pub tag: i32,
    /// One of [`mode`].
    pub mode: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// Goes into `RequestHeader::comm`.
    pub host_comm: *mut c_void,
}

/// Arguments of all receives.
#[repr(C)]
pub struct RecvArgs {
    /// The communicator that `add_comm` gave.
    pub comm: *mut c_void,
    /// The context of the calling thread, or null.
    pub thread: *mut ThreadCtx,
    /// The address of element 0 of the place for the data, the caller's until completion; not looked at by probes.
    pub buf: *mut u8,
    /// Number of elements of `dtype` that there is room for; not looked at by probes.
    pub count: u64,
    /// The type of an element, retained by the PML as long as it needs it; not looked at by probes.
    pub dtype: *const TypeDesc,
    /// The sender's rank, below `CommDesc::num_peers`, or [`ANY_SOURCE`]; MPI_PROC_NULL does not come here.
    pub src: i32,
    /// The message's tag, or [`ANY_TAG`]; negative tags of collectives are as good as others.
    pub tag: i32,
    /// Goes into `RequestHeader::comm`.
    pub host_comm: *mut c_void,
}

/// A PML's counts on a communicator, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since
/// the communicator was made. The host sets `size`; a PML fills what lies within it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes of this struct as the asking side knows it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// Messages that came before a receive that fits them.
    pub unexpected: u64,
    /// Those of them that are still kept.
    pub waiting: u64,
    /// Most that were ever kept at once.
    pub most_waiting: u64,
    /// Receives that were posted because no message was there.
    pub posted: u64,
    /// Messages that came before one that their sender had sent earlier, and were kept for that.
    pub out_of_sequence: u64,
    /// Those of them that are still kept.
    pub out_of_sequence_now: u64,
    /// Most that were ever kept of one source at once.
    pub most_out_of_sequence: u64,
    /// Times that matching was spread over several locks.
    pub spreads: u64,
    /// Receives that are posted now.
    pub posted_now: u64,
    /// Nanoseconds spent on finding receives for messages that came, waiting for locks included: of all
    /// communicators, and only while [`PmlTable::measure`] asks for it.
    pub match_time: u64,
}

pub(crate) type State = *mut c_void;
/// A message taken out of matching by `improbe`; the PML's object.
pub type Message = c_void;

/// The verbs. All slots up to `finalize` are mandatory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PmlTable {
    /// Bytes of this table as the component was built with it; it reaches over `finalize` at least.
    pub size: u32,
    /// [`TABLE_VERSION`] of what the component was built with; equal or refused.
    pub version: u32,
    /// Once, before any other verb; a failure ends the start. The PML fills `words`, which are empty. From then on the host polls the transports, and calls
    /// `after_turn` as the words say.
    pub enable: extern "C" fn(State, *const Transports, words: *mut Words) -> Status,
    /// Makes a communicator, which all local verbs name by `*out` from then on. The description is read during the call, but for the two lists.
    /// OUT_OF_MEMORY, NO_RESOURCE: nothing was made.
    pub add_comm: extern "C" fn(State, *const CommDesc, out: *mut *mut c_void) -> Status,
    /// Ends a communicator: no verb names it afterwards, and its lists are gone. Requests and messages on it that are under way go on. A failure
    /// is logged, and the communicator is gone all the same.
    pub del_comm: extern "C" fn(State, comm: *mut c_void) -> Status,
    /// Sends, and may return before that is over. OK: done, no request. PENDING: wait for `*out`. PEER_FAILED: the process is lost, or the
    /// communicator revoked; nothing is under way, as after any error.
    pub send: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    /// Starts a send. Always a request (it may be complete already), whose status has the failures of `send`. OUT_OF_MEMORY: there is none.
    pub isend: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    /// Receives, and may return before that is over. OK: done, `status` filled (its `error` may be TRUNCATED), no request. PENDING: wait for `*out`.
    pub recv:
        extern "C" fn(State, *const RecvArgs, status: *mut MsgStatus, out: *mut *mut RequestHeader) -> Status,
    /// Starts a receive. Always a request (it may be complete already), whose status has TRUNCATED, PEER_FAILED and so on. OUT_OF_MEMORY: there is
    /// none.
    pub irecv: extern "C" fn(State, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Makes the inactive request of a persistent send, which `RequestOps::start` starts. OUT_OF_MEMORY: there is none.
    pub send_init: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    /// As `send_init`, of a receive. OUT_OF_MEMORY: there is none.
    pub recv_init: extern "C" fn(State, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Looks for a message without progressing. OK: found, `status` filled; if `message` is not
    /// null the message is taken out of matching. PENDING: none. PEER_FAILED: none, and there will be none, since the only process that
    /// could send it (`src` names one) has failed; of ANY_SOURCE: all others of the communicator have. An error is no message: nothing is filled.
    pub probe:
        extern "C" fn(State, *const RecvArgs, status: *mut MsgStatus, message: *mut *mut Message) -> Status,
    /// Receives a message that `probe` took out. Fails as `irecv`; the message is gone in any case.
    pub imrecv:
        extern "C" fn(State, message: *mut Message, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Called behind the transports' turn of context `ctx`, under its lock, while there is work ([`Words`]): takes up what landed, and offers what
    /// waits for room to the transports again. Returns how many messages went on.
    pub after_turn: extern "C" fn(State, ctx: u32) -> i32,
    /// Called when the thread level has risen to MULTIPLE, while no other thread is in a verb. A failure: it cannot, nothing has changed, and the
    /// level stays.
    pub threads_begin: extern "C" fn(State) -> Status,
    /// Sends out everything still queued inside (progressing the BTLs); PENDING: call again.
    pub flush: extern "C" fn(State) -> Status,
    /// A process failed: what is under way with it ends with PEER_FAILED, what is started later, too. Holding nothing.
    pub peer_failed: extern "C" fn(State, proc: u32) -> Status,
    /// Ends the module: the last call, when nothing is under way. Requests stay valid, as all pools do.
    pub finalize: extern "C" fn(State) -> Status,
    /// Counts on a communicator. Not on a message's path. NOT_SUPPORTED: the PML counts nothing.
    pub counts: extern "C" fn(State, comm: *mut c_void, out: *mut Counts) -> Status,
    /// The assertions on a communicator are now `flags` ([`assert_flag`], as in [`CommDesc::flags`]):
    /// MPI_Comm_set_info. NOT_SUPPORTED: only new communicators take them.
    pub set_flags: extern "C" fn(State, comm: *mut c_void, flags: u32) -> Status,
    /// From now on the time of matching is measured (`on` is 1), or not any more. Not on a message's path. NOT_SUPPORTED: it cannot be.
    pub measure: extern "C" fn(State, on: u32) -> Status,
    /// Ends all operations on a communicator with PEER_FAILED, and those started later. NOT_SUPPORTED: the PML cannot.
    pub revoke: extern "C" fn(State, comm: *mut c_void) -> Status,
    /// As `isend`, of an empty message in place of one whose data does not come: the receive that it meets completes with
    /// `error`, an error, and no data. `buf`, `count`, `dtype` and `mode` are not looked at. It keeps the order of messages; a probe shows
    /// an empty message. NOT_SUPPORTED: receives cannot be ended from the other side.
    pub send_failure:
        extern "C" fn(State, *const SendArgs, error: Status, out: *mut *mut RequestHeader) -> Status,
    /// A process of another job has parted for good (MPI_Comm_disconnect): no communicator has it, nothing is under way with it, and its number never
    /// means another. The layer frees all that it keeps of it before the call returns, since its endpoints go then; a message of it that still comes is dropped.
    /// Holding nothing. NOT_SUPPORTED: what is kept of it stays until `finalize`.
    pub peer_parted: extern "C" fn(State, proc: u32) -> Status,
}

/// The one module of a PML component.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PmlModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// The largest tag that sends may have; less than 32767 is refused (MPI 5.0 §9.1.2).
    pub max_tag: i32,
    /// First argument of every function in `table`.
    pub state: *mut c_void,
    /// The module's verbs; valid until `finalize`, and read when the module is accepted.
    pub table: *const PmlTable,
}

impl oxmpi_mca::component::Module for PmlModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

const _: () = {
    use core::mem::size_of;
    assert!(size_of::<CommDesc>() == 80);
    assert!(size_of::<SendArgs>() == 64);
    assert!(size_of::<RecvArgs>() == 56);
    assert!(size_of::<PmlTable>() == 8 + 22 * 8);
    assert!(size_of::<PmlModule>() == 24);
    assert!(size_of::<Counts>() == 88);
};
