//! Tables, descriptions and constants that cross the boundary between the host and a PML.

use crate::polling::{Polling, Words};
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, BtlServices};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, SliceRef, Status, ThreadCtx, Version};

pub const VERSION: Version = Version { major: 3, minor: 0, patch: 0 };
/// Version of [`PmlTable`]'s layout.
pub const TABLE_VERSION: u32 = 3;
pub const FRAMEWORK: &str = "pml";

/// Wildcards as MPI's ABI numbers them.
pub const ANY_SOURCE: i32 = -1;
pub const ANY_TAG: i32 = -2;

/// Send modes (MPI 5.0 §3.4).
pub mod mode {
    pub const STANDARD: u32 = 0;
    pub const SYNCHRONOUS: u32 = 1;
    pub const READY: u32 = 2;
    /// Data already lies in a buffer that the request owns; completes when that is free again.
    pub const BUFFERED: u32 = 3;
}

/// Bits of [`CommDesc::flags`]: the standard's assertions (MPI 5.0 §7.4.4).
pub mod assert_flag {
    pub const NO_ANY_TAG: u32 = 1;
    pub const NO_ANY_SOURCE: u32 = 2;
    pub const EXACT_LENGTH: u32 = 4;
    pub const ALLOW_OVERTAKING: u32 = 8;
}

/// A communicator as one of its local ranks sees it.
#[repr(C)]
pub struct CommDesc {
    pub size: u32,
    pub flags: u32,
    /// Global id: equal in all its processes, different from every other communicator of the job. The lowest byte of the first
    /// word counts: that of communicators made one after another from one parent differs.
    pub gid: [u64; 2],
    pub my_rank: i32,
    /// Ranks that sends may name (the remote group of an inter-communicator).
    pub num_peers: u32,
    /// Index of each one's process; valid until `del_comm`.
    pub procs: *const u32,
    /// Endpoint number within the process of each, or null: all 0 (one rank per process).
    pub endpoints: *const u16,
    pub my_endpoint: u16,
    /// 1: an index fixed for all processes (world 0, self 1), no exchange needed; 0: `fixed_index` is nothing.
    pub has_fixed_index: u16,
    pub fixed_index: u32,
    /// Name of the matching engine from an info key, or empty: the parameter's.
    pub matching: oxmpi_mca::StrRef,
    /// The CRI that this rank's messages prefer (an endpoint's own), or [`NO_HINT`].
    pub fifo_hint: u32,
    pub reserved: u32,
}

/// `CommDesc::fifo_hint` where there is none.
pub const NO_HINT: u32 = u32::MAX;

/// The transports that a PML sends over; valid as long as the instance.
#[repr(C)]
pub struct Transports {
    pub size: u32,
    pub reserved: u32,
    /// The accepted modules, best first. No verb of theirs is emulated.
    pub btls: SliceRef<*const BtlHandle>,
    /// Which of them reach a process, and registered memory.
    pub services: *const BtlServices,
    /// How they are polled. The host's engine does that; a PML may, too, on a context whose lock it holds.
    pub polling: *const Polling,
}

/// Arguments of all sends. Valid during the call; the buffer until completion; the type is retained by
/// the PML as long as it needs it.
#[repr(C)]
pub struct SendArgs {
    /// The communicator that `add_comm` gave.
    pub comm: *mut c_void,
    pub thread: *mut ThreadCtx,
    pub buf: *const u8,
    pub count: u64,
    pub dtype: *const TypeDesc,
    pub dst: i32,
    /// User tags are ≥ 0; collectives use negative ones, which MPI_ANY_TAG does not match.
    pub tag: i32,
    pub mode: u32,
    pub reserved: u32,
    /// Goes into `RequestHeader::comm`.
    pub host_comm: *mut c_void,
}

/// Arguments of all receives.
#[repr(C)]
pub struct RecvArgs {
    pub comm: *mut c_void,
    pub thread: *mut ThreadCtx,
    pub buf: *mut u8,
    pub count: u64,
    pub dtype: *const TypeDesc,
    pub src: i32,
    pub tag: i32,
    pub host_comm: *mut c_void,
}

/// A PML's counts on a communicator, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since
/// the communicator was made. The host sets `size`; a PML fills what lies within it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub size: u32,
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
    /// How often matching was spread over several locks.
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
    pub size: u32,
    pub version: u32,
    /// Once, before any other verb. The PML fills `words`, which are empty. From then on the host polls the transports, and calls
    /// `after_turn` as the words say.
    pub enable: extern "C" fn(State, *const Transports, words: *mut Words) -> Status,
    pub add_comm: extern "C" fn(State, *const CommDesc, out: *mut *mut c_void) -> Status,
    pub del_comm: extern "C" fn(State, comm: *mut c_void) -> Status,
    /// OK: done, no request. PENDING: wait for `*out`.
    pub send: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    /// Always a request (it may be complete already).
    pub isend: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    /// OK: done, `status` filled (its `error` may be TRUNCATED), no request. PENDING: wait for `*out`.
    pub recv:
        extern "C" fn(State, *const RecvArgs, status: *mut MsgStatus, out: *mut *mut RequestHeader) -> Status,
    pub irecv: extern "C" fn(State, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Inactive persistent requests.
    pub send_init: extern "C" fn(State, *const SendArgs, out: *mut *mut RequestHeader) -> Status,
    pub recv_init: extern "C" fn(State, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Looks for a message without progressing. OK: found, `status` filled; if `message` is not
    /// null the message is taken out of matching. PENDING: none. PEER_FAILED: none, and there will be none, since the only process that
    /// could send it (`src` names one) has failed; of ANY_SOURCE: all others of the communicator have. An error is no message: nothing is filled.
    pub probe:
        extern "C" fn(State, *const RecvArgs, status: *mut MsgStatus, message: *mut *mut Message) -> Status,
    /// Receives a message that `probe` took out. As `irecv`.
    pub imrecv:
        extern "C" fn(State, message: *mut Message, *const RecvArgs, out: *mut *mut RequestHeader) -> Status,
    /// Called behind the transports' turn of context `ctx`, under its lock, while there is work ([`Words`]): takes up what landed, and offers what
    /// waits for room to the transports again. Returns how many messages went on.
    pub after_turn: extern "C" fn(State, ctx: u32) -> i32,
    /// Called when the thread level has risen to MULTIPLE, while no other thread is in a verb.
    pub threads_begin: extern "C" fn(State) -> Status,
    /// Sends out everything still queued inside (progressing the BTLs); PENDING: call again.
    pub flush: extern "C" fn(State) -> Status,
    /// A process failed: what is under way with it ends with PEER_FAILED, what is started later, too. Holding nothing.
    pub peer_failed: extern "C" fn(State, proc: u32) -> Status,
    pub finalize: extern "C" fn(State) -> Status,
    /// Counts on a communicator. Not on a message's path.
    pub counts: extern "C" fn(State, comm: *mut c_void, out: *mut Counts) -> Status,
    /// The assertions on a communicator are now `flags` ([`assert_flag`], as in [`CommDesc::flags`]):
    /// MPI_Comm_set_info. NOT_SUPPORTED: only new communicators take them.
    pub set_flags: extern "C" fn(State, comm: *mut c_void, flags: u32) -> Status,
    /// From now on the time of matching is measured (`on` is 1), or not any more. Not on a message's path.
    pub measure: extern "C" fn(State, on: u32) -> Status,
    /// Ends all operations on a communicator with PEER_FAILED, and those started later.
    pub revoke: extern "C" fn(State, comm: *mut c_void) -> Status,
    /// As `isend`, of an empty message in place of one whose data does not come: the receive that it meets completes with
    /// `error`, an error, and no data. `buf`, `count`, `dtype` and `mode` are not looked at. It keeps the order of messages; a probe shows
    /// an empty message. NOT_SUPPORTED: receives cannot be ended from the other side.
    pub send_failure:
        extern "C" fn(State, *const SendArgs, error: Status, out: *mut *mut RequestHeader) -> Status,
}

/// The one module of a PML component.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PmlModule {
    pub size: u32,
    pub max_tag: i32,
    pub state: *mut c_void,
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
    assert!(size_of::<PmlTable>() == 8 + 21 * 8);
    assert!(size_of::<PmlModule>() == 24);
    assert!(size_of::<Counts>() == 88);
};
