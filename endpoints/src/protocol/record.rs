//! A command with its result, in shared memory.
//!
//! Four lines: what the proxy answers (with the completion word), the command with its first buffer, the second buffer, and
//! further arguments; behind them room for a small message. A message in one direction needs the first two lines.

use super::completion::Completion;
use crate::abi::Status;

/// How a proxy reaches the data of a buffer.
pub mod mode {
    pub const NONE: u32 = 0;
    pub const IN_PLACE: u32 = 1;
    /// `addr` is an address of the client's inside the segment.
    pub const MAPPED: u32 = 2;
    /// `addr` is an address of the client's elsewhere: copied by process_vm_readv and process_vm_writev.
    pub const REMOTE: u32 = 3;
    /// The same for several runs, which stand in the record's list.
    pub const RUNS: u32 = 4;
}

/// Accesses of a proxy to the data: it reads it before, writes it after the operation, or both.
pub mod access {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
}

/// One buffer of a command.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Part {
    pub mode: u32,
    pub access: u32,
    pub addr: u64,
    /// Count as the operation takes it (that of one block, in a gather).
    pub count: i64,
    /// A datatype of the proxy's.
    pub dtype: u64,
    /// Length of all the data.
    pub bytes: u64,
}

pub const INLINE: usize = 768;
pub const ARGS: usize = 8;

#[repr(C, align(64))]
pub struct Record {
    // The answer of the proxy.
    pub state: Completion,
    /// An error class.
    pub error: i32,
    pub status: Status,
    pub out: [u64; 3],
    // The command.
    pub op: u32,
    pub root: i32,
    pub tag: i32,
    pub flags: u32,
    pub comm: u64,
    pub first: Part,
    // The second buffer; and what only some commands have.
    pub second: Part,
    pub mpi_op: u64,
    /// Address, in the client, of a list of words inside the segment.
    pub lists: u64,
    /// Address, in the client, of the hints of an info object inside the segment; 0: none.
    pub hints: u64,
    pub args: [i64; ARGS],
    pub inline: [u8; INLINE],
}

/// Distance from one record to the next.
pub const STRIDE: usize = size_of::<Record>();
const _: () = assert!(STRIDE == 1024);
const _: () =
    assert!(core::mem::offset_of!(Record, op) == 64 && core::mem::offset_of!(Record, second) == 128);

/// Commands. Numbers are the protocol's: what is added goes to the end of its group.
pub mod op {
    pub const QUIT: u32 = 1;
    pub const NOTHING: u32 = 2;
    /// Starts the persistent operation of the record.
    pub const START: u32 = 3;
    /// Frees the persistent operation of record `args[0]`.
    pub const REQUEST_FREE: u32 = 4;
    pub const CANCEL: u32 = 5;

    pub const SEND: u32 = 10;
    pub const SSEND: u32 = 11;
    pub const RSEND: u32 = 12;
    pub const RECV: u32 = 13;
    pub const MRECV: u32 = 14;
    pub const SENDRECV: u32 = 15;
    pub const IPROBE: u32 = 16;
    pub const PROBE: u32 = 17;
    pub const IMPROBE: u32 = 18;
    pub const MPROBE: u32 = 19;

    pub const BARRIER: u32 = 30;
    pub const BCAST: u32 = 31;
    pub const GATHER: u32 = 32;
    pub const GATHERV: u32 = 33;
    pub const SCATTER: u32 = 34;
    pub const SCATTERV: u32 = 35;
    pub const ALLGATHER: u32 = 36;
    pub const ALLGATHERV: u32 = 37;
    pub const ALLTOALL: u32 = 38;
    pub const ALLTOALLV: u32 = 39;
    pub const ALLTOALLW: u32 = 40;
    pub const REDUCE: u32 = 41;
    pub const ALLREDUCE: u32 = 42;
    pub const REDUCE_SCATTER: u32 = 43;
    pub const REDUCE_SCATTER_BLOCK: u32 = 44;
    pub const SCAN: u32 = 45;
    pub const EXSCAN: u32 = 46;
    pub const NEIGHBOR_ALLGATHER: u32 = 47;
    pub const NEIGHBOR_ALLGATHERV: u32 = 48;
    pub const NEIGHBOR_ALLTOALL: u32 = 49;
    pub const NEIGHBOR_ALLTOALLV: u32 = 50;
    pub const NEIGHBOR_ALLTOALLW: u32 = 51;

    pub const COMM_DUP: u32 = 70;
    pub const COMM_SPLIT: u32 = 71;
    pub const COMM_SPLIT_TYPE: u32 = 72;
    pub const COMM_CREATE: u32 = 73;
    pub const COMM_CREATE_GROUP: u32 = 74;
    pub const COMM_FREE: u32 = 75;
    pub const COMM_COMPARE: u32 = 76;
    pub const COMM_GROUP: u32 = 77;
    pub const INTERCOMM_CREATE: u32 = 78;
    pub const INTERCOMM_MERGE: u32 = 79;
    /// An endpoints communicator: MPI_Comm_create_group on the world of the job.
    pub const ENDPOINTS: u32 = 80;
    pub const CART_CREATE: u32 = 81;
    pub const CART_SUB: u32 = 82;
    pub const GRAPH_CREATE: u32 = 83;
    pub const DIST_GRAPH_ADJACENT: u32 = 84;
    pub const TOPOLOGY: u32 = 85;
    pub const DIST_GRAPH: u32 = 86;

    pub const TYPE_CREATE: u32 = 90;
    pub const TYPE_FREE: u32 = 91;

    pub const COMM_SET_INFO: u32 = 100;
    pub const COMM_GET_INFO: u32 = 101;

    pub const WIN_CREATE: u32 = 110;
    pub const WIN_FREE: u32 = 111;
    pub const WIN_SET_INFO: u32 = 112;
    pub const WIN_GET_INFO: u32 = 113;
    pub const WIN_ATTACH: u32 = 114;
    pub const WIN_DETACH: u32 = 115;
    pub const WIN_FENCE: u32 = 116;
    pub const WIN_POST: u32 = 117;
    pub const WIN_START: u32 = 118;
    pub const WIN_COMPLETE: u32 = 119;
    pub const WIN_WAIT: u32 = 120;
    pub const WIN_TEST: u32 = 121;
    pub const WIN_LOCK: u32 = 122;
    pub const WIN_UNLOCK: u32 = 123;
    pub const WIN_FLUSH: u32 = 124;
    pub const WIN_FLUSH_LOCAL: u32 = 125;
    pub const WIN_SYNC: u32 = 126;

    pub const PUT: u32 = 130;
    pub const GET: u32 = 131;
    pub const ACCUMULATE: u32 = 132;
    pub const GET_ACCUMULATE: u32 = 133;
    pub const COMPARE_AND_SWAP: u32 = 134;

    /// Or'ed to a command: make it persistent instead of starting it.
    pub const PERSISTENT: u32 = 1 << 16;
}
