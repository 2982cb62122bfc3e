//! Services of the host that components ask for off a message's path: names and places of processes, address
//! exchange per module, proofs of the job's secret, memory of the node and of peers, waiting, failures of peers.
//!
//! **Indices and names.** A component sees processes as indices (`u32`) of this process, which only grow in number. A
//! peer that does not know this process yet is sent its [`ProcName`], opaque and alike everywhere.
//!
//! **Marked functions** (`HELD`) may be called while a CRI is held or from a receive callback; the others may not.

use crate::refs::{SliceRef, StrRef};
use crate::status::Status;
use crate::thread::ThreadCtx;
use crate::waking::WakingWord;
use core::ffi::c_void;

/// Wire name of a process: job, rank and check bits. Compared as bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcName {
    pub bytes: [u8; 16],
}

/// Where a process is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcPlace {
    pub node: u32,
    /// Number among the processes of its node.
    pub local_rank: u32,
    /// 1: on this node, as its launcher numbers nodes.
    pub local: u32,
    /// Bits of [`distance`]: hardware that is known to be shared, so more bits are nearer; 0 of processes of other nodes. The bits follow from
    /// the hardware that both processes are bound to, which this process knows of another one from the first contact on (`BtlServices::reach`);
    /// before that they are those that hold for all processes of the node. This process shares all with itself.
    pub distance: u32,
}

/// Hardware that two processes of a node share, by bit; not set where that is not known.
pub mod distance {
    pub const SAME_NUMA: u32 = 1;
    pub const SAME_SOCKET: u32 = 2;
    /// The third-level cache.
    pub const SAME_CACHE: u32 = 4;
    /// The core: its hardware threads take turns.
    pub const SAME_CORE: u32 = 8;
}

/// Where a rank of a communicator or window is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The process, by its index in this process's tables (as in `RecvDesc::proc`).
    pub proc: u32,
    /// The node, numbered from 0 by the lowest rank on each.
    pub node: u32,
    /// Number among the ranks on that node; 0 is the node's leader.
    pub node_rank: u32,
    /// How many of the ranks are on that node.
    pub node_size: u32,
    pub endpoint: u32,
    /// 1 on this process's node.
    pub local: u32,
}

/// Bytes of a proof of the job's secret.
pub const AUTH_BYTES: usize = 32;

/// How many tags a one-sided component has ([`HostServices::osc_tags`]).
pub const OSC_TAGS: u8 = 4;

/// Memory that the processes of a node share.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NodeMemory {
    pub base: *mut u8,
    pub bytes: u64,
    /// 1 at the first asking of all. It is zero then.
    pub first: u32,
    pub reserved: u32,
}

/// The question of a wait; not 0 ends it. Runs with no lock held and does not wait itself.
pub type Predicate = extern "C" fn(ctx: *mut c_void) -> u32;
/// A process failed. Runs where no lock is held, once per process and subscriber.
pub type PeerFailed = extern "C" fn(ctx: *mut c_void, proc: u32, status: Status);

/// The table. Grows at the end. The first argument of every function is `HostTable::instance`.
#[repr(C)]
pub struct HostServices {
    pub size: u32,
    pub reserved: u32,
    /// `HELD`. The wire name of an index. NOT_FOUND: there is no such process.
    pub name_of: extern "C" fn(*mut c_void, proc: u32, out: *mut ProcName) -> Status,
    /// `HELD`. The index of a wire name; a new one for a process that was not known. BAD_PARAM: no name of anybody.
    pub index_of: extern "C" fn(*mut c_void, name: *const ProcName, out: *mut u32) -> Status,
    /// `HELD`.
    pub place_of: extern "C" fn(*mut c_void, proc: u32, out: *mut ProcPlace) -> Status,
    /// As `HostTable::exchange_put`, under a name of the module's own beside the component's.
    pub exchange_put: extern "C" fn(*mut c_void, module: StrRef, data: SliceRef<u8>) -> Status,
    /// Fetches what a process published for a module, without waiting. PENDING: asked for, call again; OK, NOT_FOUND,
    /// NO_RESOURCE (`len` is what is needed) as `HostTable::exchange_get`.
    pub exchange_try:
        extern "C" fn(*mut c_void, module: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status,
    /// `HELD`. Answers a challenge: `AUTH_BYTES` that only processes of the job can make of `challenge` and `context` (which
    /// side, which connection, what protocol).
    pub auth_make:
        extern "C" fn(*mut c_void, challenge: SliceRef<u8>, context: SliceRef<u8>, out: *mut u8) -> Status,
    /// `HELD`. OK, or NO_PERMISSION where the answer is not that of a process of the job. Takes as long for either.
    pub auth_check: extern "C" fn(
        *mut c_void,
        challenge: SliceRef<u8>,
        context: SliceRef<u8>,
        answer: SliceRef<u8>,
    ) -> Status,
    /// Memory of `bytes` bytes (not 0), aligned to pages, that all processes of the node share whose component of this name asks
    /// with the same key (of at most 160 bytes; other components' keys are apart). New memory is zero. It exists while somebody has it: asking again adds
    /// to a count in this process, and each asking is undone by one `node_memory_free`, at the latest by the end of the instance; the
    /// last frees it, and a later asking gets new memory. So processes that are to meet in it let each other know that all have
    /// it before one frees it. Asks the node's daemon and waits for the answer. MISMATCH: it exists with another size.
    /// BAD_PARAM: no bytes, or a key that is too long. OUT_OF_MEMORY here does not mean that others failed.
    pub node_memory: extern "C" fn(*mut c_void, key: StrRef, bytes: u64, out: *mut NodeMemory) -> Status,
    /// Copies from or to a process's memory on this node, by the kernel. NOT_SUPPORTED, NO_PERMISSION: not here.
    pub peer_read: extern "C" fn(*mut c_void, proc: u32, remote: u64, local: *mut u8, bytes: u64) -> Status,
    pub peer_write:
        extern "C" fn(*mut c_void, proc: u32, remote: u64, local: *const u8, bytes: u64) -> Status,
    /// A process's memory in this address space, where that can be had without its help (the process itself, node memory).
    /// NOT_SUPPORTED elsewhere.
    pub peer_pointer:
        extern "C" fn(*mut c_void, proc: u32, remote: u64, bytes: u64, out: *mut *mut u8) -> Status,
    /// Makes progress until the predicate says so.
    pub wait_until: extern "C" fn(*mut c_void, *mut ThreadCtx, Predicate, ctx: *mut c_void) -> Status,
    /// Makes progress, or sleeps, until the word (it may be shared between processes) is not `value` any more; whoever changes it wakes the
    /// sleeper by `wake_word`. PEER_FAILED: a process has failed meanwhile, and the word is still `value`; processes that failed before are
    /// those that `on_peer_failure` has told.
    pub wait_word: extern "C" fn(*mut c_void, *mut ThreadCtx, word: *const WakingWord, value: u32) -> Status,
    /// Subscribes to failures of peers. Those that failed before are told at once.
    pub on_peer_failure: extern "C" fn(*mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status,
    pub off_peer_failure: extern "C" fn(*mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status,
    /// `HELD`. A transport's final failure of a process: everybody who subscribed is told, and unless somebody
    /// took that upon itself the job ends with one report.
    pub peer_failed: extern "C" fn(*mut c_void, proc: u32, status: Status, message: StrRef) -> Status,
    /// The first of [`OSC_TAGS`] consecutive AM tags of a one-sided component. They follow from its name alone and so are alike in all
    /// processes, whatever components each has. NOT_FOUND: it is of another framework. BAD_PARAM: another
    /// component of this process has the same tags; the host has said which. To be called in `open`.
    pub osc_tags: extern "C" fn(*mut c_void, first: *mut u8) -> Status,
    /// Undoes one `node_memory` of the key; by the last one of this process the address is gone. NOT_FOUND: none is left.
    pub node_memory_free: extern "C" fn(*mut c_void, key: StrRef) -> Status,
    /// `HELD`. Wakes those who sleep on a word, of whatever process, because the caller has changed it and [`WakingWord::store`]
    /// says that there are some.
    pub wake_word: extern "C" fn(*mut c_void, word: *const WakingWord) -> Status,
}

const _: () = {
    assert!(core::mem::size_of::<ProcName>() == 16);
    assert!(core::mem::size_of::<ProcPlace>() == 16);
    assert!(core::mem::size_of::<Place>() == 24);
    assert!(core::mem::size_of::<NodeMemory>() == 24);
    assert!(core::mem::size_of::<HostServices>() == 8 + 19 * 8);
};
