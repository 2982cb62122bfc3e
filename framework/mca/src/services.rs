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
    /// The 16 bytes of the name, to be sent and compared as they are.
    pub bytes: [u8; 16],
}

/// The place of a process in its job, and its nearness to this one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcPlace {
    /// Number of its node in its job, from 0; `u32::MAX` where that is not known.
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
    /// The memory that is nearest to both, a NUMA node.
    pub const SAME_NUMA: u32 = 1;
    /// The processor package.
    pub const SAME_SOCKET: u32 = 2;
    /// The third-level cache.
    pub const SAME_CACHE: u32 = 4;
    /// The core: its hardware threads take turns.
    pub const SAME_CORE: u32 = 8;
}

/// The place of a rank of a communicator or window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The process, by its index in this process's tables (as in `RecvDesc::proc`).
    pub proc: u32,
    /// The node, numbered from 0 by the lowest rank on each.
    pub node: u32,
    /// Number among the ranks on that node; 0 is the node's leader.
    pub node_rank: u32,
    /// Number of the ranks on that node.
    pub node_size: u32,
    /// Number of the rank within its process, from 0; 0 where the process is one rank.
    pub endpoint: u32,
    /// 1 on this process's node.
    pub local: u32,
}

/// Bytes of a proof of the job's secret.
pub const AUTH_BYTES: usize = 32;

/// Number of tags that a one-sided component has ([`HostServices::osc_tags`]).
pub const OSC_TAGS: u8 = 4;

/// Memory that the processes of a node share.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NodeMemory {
    /// The first byte in this address space, aligned to pages.
    pub base: *mut u8,
    /// Bytes of the memory, as they were asked for.
    pub bytes: u64,
    /// 1 at the first asking of all. It is zero then.
    pub first: u32,
    /// 0 from the host.
    pub reserved: u32,
}

/// A shared segment on this node, as this process has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedSegment {
    /// Its descriptor, a memfd. It is the host's, and open until the answer to the same question is NOT_FOUND; who keeps it duplicates it.
    pub fd: i32,
    /// Place of this process among those that share the segment: less than `local_size`.
    pub local_rank: u32,
    /// Number of processes that may share it, alike in all of them for as long as it exists.
    pub local_size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// Its length in bytes at the time of the question; it grows and does not shrink. 0: nobody has written anything yet.
    pub bytes: u64,
}

/// The question of a wait; not 0 ends it. Runs with no lock held and does not wait itself.
pub type Predicate = extern "C" fn(ctx: *mut c_void) -> u32;
/// A process failed. Runs where no lock is held, once per process and subscriber.
pub type PeerFailed = extern "C" fn(ctx: *mut c_void, proc: u32, status: Status);

/// The table. Grows at the end. The first argument of every function is `HostTable::instance`.
#[repr(C)]
pub struct HostServices {
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// `HELD`. The wire name of an index. NOT_FOUND: there is no such process.
    pub name_of: extern "C" fn(*mut c_void, proc: u32, out: *mut ProcName) -> Status,
    /// `HELD`. The index of a wire name; a new one for a process that was not known. BAD_PARAM: no name of anybody.
    pub index_of: extern "C" fn(*mut c_void, name: *const ProcName, out: *mut u32) -> Status,
    /// `HELD`. The place of a process. NOT_FOUND: there is no such process.
    pub place_of: extern "C" fn(*mut c_void, proc: u32, out: *mut ProcPlace) -> Status,
    /// As `HostTable::exchange_put`, under a name of the module's own beside the component's. BAD_PARAM: the name is not UTF-8.
    pub exchange_put: extern "C" fn(*mut c_void, module: StrRef, data: SliceRef<u8>) -> Status,
    /// Fetches what a process published for a module, without waiting. PENDING: asked for, call again; OK, NOT_FOUND,
    /// NO_RESOURCE (`len` is what is needed), PEER_FAILED as `HostTable::exchange_get`. BAD_PARAM: the name is not UTF-8.
    pub exchange_try:
        extern "C" fn(*mut c_void, module: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status,
    /// `HELD`. Answers a challenge: `AUTH_BYTES` that only processes of the job can make of `challenge` and `context` (which
    /// side, which connection, what protocol). A context with the wire name of a process of another job (`name_of`) is about a connection
    /// with that one: only the two can answer then.
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
    /// Copies from a process's memory on this node to `local`, by the kernel. NOT_SUPPORTED, NO_PERMISSION: not here. BAD_PARAM: the memory is not
    /// mapped. OUT_OF_MEMORY: the kernel's. After a failure a part may have been copied.
    pub peer_read: extern "C" fn(*mut c_void, proc: u32, remote: u64, local: *mut u8, bytes: u64) -> Status,
    /// The same to the process's memory, from `local`; failures as of `peer_read`.
    pub peer_write:
        extern "C" fn(*mut c_void, proc: u32, remote: u64, local: *const u8, bytes: u64) -> Status,
    /// A process's memory in this address space, where that can be had without its help (the process itself, node memory).
    /// NOT_SUPPORTED elsewhere. BAD_PARAM: the range does not fit an address space.
    pub peer_pointer:
        extern "C" fn(*mut c_void, proc: u32, remote: u64, bytes: u64, out: *mut *mut u8) -> Status,
    /// Makes progress until the predicate says so. Always OK.
    pub wait_until: extern "C" fn(*mut c_void, *mut ThreadCtx, Predicate, ctx: *mut c_void) -> Status,
    /// Makes progress, or sleeps, until the word (it may be shared between processes) is not `value` any more; whoever changes it wakes the
    /// sleeper by `wake_word`. PEER_FAILED: a process has failed meanwhile, and the word is still `value`; processes that failed before are
    /// those that `on_peer_failure` has told.
    pub wait_word: extern "C" fn(*mut c_void, *mut ThreadCtx, word: *const WakingWord, value: u32) -> Status,
    /// Subscribes to failures of peers. Those that failed before are told at once. BAD_PARAM: that function has that context already.
    pub on_peer_failure: extern "C" fn(*mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status,
    /// Ends a subscription with that function and context; a call that has begun may still run. NOT_FOUND: there is none.
    pub off_peer_failure: extern "C" fn(*mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status,
    /// `HELD`. A transport's final failure of a process: everybody who subscribed is told, and unless somebody
    /// took that upon itself the job ends with one report. NOT_FOUND: there is no such process.
    pub peer_failed: extern "C" fn(*mut c_void, proc: u32, status: Status, message: StrRef) -> Status,
    /// The first of [`OSC_TAGS`] consecutive AM tags of a one-sided component. They follow from its name alone and so are alike in all
    /// processes, whatever components each has. NOT_FOUND: it is of another framework. BAD_PARAM: another
    /// component of this process has the same tags; the host has said which. To be called in `open`.
    pub osc_tags: extern "C" fn(*mut c_void, first: *mut u8) -> Status,
    /// Undoes one `node_memory` of the key; by the last one of this process the address is gone. NOT_FOUND: none is left.
    pub node_memory_free: extern "C" fn(*mut c_void, key: StrRef) -> Status,
    /// `HELD`. Wakes those who sleep on a word, of whatever process, because the caller has changed it and [`WakingWord::store`]
    /// says that there are some. Always OK.
    pub wake_word: extern "C" fn(*mut c_void, word: *const WakingWord) -> Status,
    /// Describes shared segment `number` of this node: 0 is the one that this process was started with (`JobInfo::segment_fd`), others come with
    /// processes of further jobs, whose `ProcInfo::segment` names them, and go when the last of those has been taken back. A number may come again,
    /// for the same segment or another one. NOT_FOUND: there is no such segment. Any thread, holding nothing.
    pub segment: extern "C" fn(*mut c_void, number: u32, out: *mut SharedSegment) -> Status,
}

const _: () = {
    assert!(core::mem::size_of::<ProcName>() == 16);
    assert!(core::mem::size_of::<ProcPlace>() == 16);
    assert!(core::mem::size_of::<Place>() == 24);
    assert!(core::mem::size_of::<NodeMemory>() == 24);
    assert!(core::mem::size_of::<SharedSegment>() == 24);
    assert!(core::mem::size_of::<HostServices>() == 8 + 20 * 8);
};
