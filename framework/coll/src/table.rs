//! Tables, descriptions and constants that cross the boundary between the host and a collective component.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};
use oxmpi_mca::{MsgStatus, Place, RequestHeader, Status, StrRef, ThreadCtx, Version, WakingWord};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 2, minor: 4, patch: 0 };
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "coll";
/// Version of [`CollTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;

/// Largest tag of the range collectives may use; they count downwards from it.
pub const FIRST_TAG: i32 = -100;
/// Smallest tag of that range.
pub const LAST_TAG: i32 = -100_000;

/// `root` of the root itself on an inter-communicator; MPI_ROOT in MPI's ABI.
pub const ROOT: i32 = -4;
/// `root` of the other ranks of the root's group there; MPI_PROC_NULL in MPI's ABI.
pub const NO_ROOT: i32 = -3;

/// Bits of `CollModule::flags`.
pub mod flag {
    /// Serves inter-communicators, too.
    pub const INTER: u32 = 1;
    /// Its collectives use `node_memory` or `sub_comm`: it is not asked for the communicators that the host makes for these itself.
    pub const NESTS: u32 = 2;
}

/// A communicator as a collective sees it; valid during the call.
#[repr(C)]
pub struct CollComm {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Ranks of the (local) group.
    pub num_ranks: u32,
    /// This process's rank in it.
    pub rank: u32,
    /// 1: the launcher started more ranks than there are cores. The same in all ranks of the job, so
    /// an algorithm may be chosen by it.
    pub oversubscribed: u32,
    /// First argument of every service.
    pub comm: *mut c_void,
    /// The context of the calling thread, or null; services use it.
    pub thread: *mut ThreadCtx,
    /// The services that may be used on this communicator; valid as long as it.
    pub services: *const CollServices,
    /// Ranks of the remote group; 0: no inter-communicator.
    pub num_remote: u32,
    /// 1: what is asked for is a plan.
    pub planning: u32,
    /// Of an inter-communicator: its local group, as a communicator of its own. Null otherwise, and
    /// while a component is asked.
    pub local: *const CollComm,
    /// Nodes that have ranks of the (local) group, and this process's among them.
    pub num_nodes: u32,
    /// Number of this process's node among those, from 0, in the order of the lowest rank on each.
    pub node: u32,
}

/// Services of the host for a collective: point-to-point on the communicator.
#[repr(C)]
pub struct CollServices {
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// Sends `count` elements to rank `dst` and returns when they may be changed. `tag` is one from [`LAST_TAG`] to [`FIRST_TAG`], as in all
    /// services. BAD_PARAM: there is no such rank. PEER_FAILED, REVOKED: the message does not go.
    pub send: extern "C" fn(*const CollComm, *const u8, u64, *const TypeDesc, dst: u32, tag: i32) -> Status,
    /// Receives from rank `src` and returns when the data is there, `status` filled unless it is null. Answers the message's error, such as
    /// TRUNCATED, or BAD_PARAM, PEER_FAILED and REVOKED as `send`.
    pub recv: extern "C" fn(
        *const CollComm,
        *mut u8,
        u64,
        *const TypeDesc,
        src: u32,
        tag: i32,
        status: *mut MsgStatus,
    ) -> Status,
    /// Starts what `send` does; `*out` is a request for `wait_all`, and the elements stay as they are until then. Errors as of `send`, and then there
    /// is no request.
    pub isend: extern "C" fn(
        *const CollComm,
        *const u8,
        u64,
        *const TypeDesc,
        dst: u32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// Starts what `recv` does; `*out` is a request for `wait_all`, and the place is the message's until then. Errors as of `recv`, and then there is
    /// no request.
    pub irecv: extern "C" fn(
        *const CollComm,
        *mut u8,
        u64,
        *const TypeDesc,
        src: u32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// Waits for `n` requests at `reqs`, of which none is null, and releases them all. Answers the first error of their messages, if any. In plans
    /// BAD_PARAM: something is no request of this plan.
    pub wait_all: extern "C" fn(*const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status,
    /// The next fields are for plans only; elsewhere they answer NOT_SUPPORTED. In a plan `recv` with a
    /// place for a status wants a message that fills its buffer, and answers as if it had come. Another one is the
    /// operation's error, and what the plan sends on from there is what came.
    ///
    /// Memory for the steps of the plan, aligned to 64 bytes, not initialised. OUT_OF_MEMORY: there is not so much.
    pub memory: extern "C" fn(*const CollComm, len: u64, out: *mut *mut u8) -> Status,
    /// Packs `len` bytes, from byte `from` of the packed data on, of `count` elements at `base`.
    pub pack: extern "C" fn(
        *const CollComm,
        *const TypeDesc,
        count: u64,
        base: *const u8,
        from: u64,
        dst: *mut u8,
        len: u64,
    ) -> Status,
    /// The reverse: unpacks `len` bytes at `src`, the packed data from byte `from` on, into `count` elements at `base`.
    pub unpack: extern "C" fn(
        *const CollComm,
        *const TypeDesc,
        count: u64,
        base: *mut u8,
        from: u64,
        src: *const u8,
        len: u64,
    ) -> Status,
    /// Copies elements from one place to another that does not overlap.
    pub copy:
        extern "C" fn(*const CollComm, *const TypeDesc, count: u64, src: *const u8, dst: *mut u8) -> Status,
    /// `right[i] = left[i] op right[i]`, with the operation of the call. BAD_PARAM: that has none.
    pub reduce: extern "C" fn(
        *const CollComm,
        *const TypeDesc,
        count: u64,
        left: *const u8,
        right: *mut u8,
    ) -> Status,
    /// Writes down a step of the component's own, which the host carries out by calls of `f` with `ctx`.
    pub step: extern "C" fn(*const CollComm, f: StepFn, ctx: *mut c_void) -> Status,
    /// None of the fields below communicates unless it says so, and none may be called while a component is
    /// asked (`comm_query`).
    ///
    /// Gives the place of a rank of the (local) group. BAD_PARAM: there is no such rank.
    pub place: extern "C" fn(*const CollComm, rank: u32, out: *mut Place) -> Status,
    /// Memory that the communicator's ranks on this node share, zero when it is made. Collective over those ranks, which all
    /// ask for the same size; communicates. Aligned to pages, valid until the module is freed. For components with
    /// [`flag::NESTS`]. OUT_OF_MEMORY: it could not be made, which the log explains. In plans NOT_SUPPORTED.
    pub node_memory: extern "C" fn(*const CollComm, bytes: u64, out: *mut *mut u8) -> Status,
    /// Copies from the memory of a rank's process on this node to `local`, by the kernel. NOT_SUPPORTED, NO_PERMISSION: not here. BAD_PARAM: there is
    /// no such rank, or the memory is not mapped.
    pub peer_read:
        extern "C" fn(*const CollComm, rank: u32, remote: u64, local: *mut u8, bytes: u64) -> Status,
    /// The same to the memory of a rank's process, from `local`; failures as of `peer_read`.
    pub peer_write:
        extern "C" fn(*const CollComm, rank: u32, remote: u64, local: *const u8, bytes: u64) -> Status,
    /// The memory of a rank's process in this address space, where that can be had. NOT_SUPPORTED elsewhere. BAD_PARAM: there is no such rank.
    pub peer_pointer:
        extern "C" fn(*const CollComm, rank: u32, remote: u64, bytes: u64, out: *mut *mut u8) -> Status,
    /// Waits, with progress or asleep, until the word is not `value` any more; the word may be shared between processes, and whoever
    /// changes it wakes its sleepers by `wake_word`. In plans a step: what was written down before is done first, and an error is the
    /// operation's. PEER_FAILED: a process of the communicator is lost, and the word is still `value`. REVOKED: the communicator was
    /// revoked meanwhile or before.
    pub wait_word: extern "C" fn(*const CollComm, word: *const WakingWord, value: u32) -> Status,
    /// Wakes those who sleep on a word, in whatever process, because the caller has changed it and [`WakingWord::store`] says that there are
    /// some. In plans a step, for a word that a step before it changes: it looks itself whether anybody sleeps. Always OK.
    pub wake_word: extern "C" fn(*const CollComm, word: *const WakingWord) -> Status,
    /// A part of the communicator (one of [`part`]) as a communicator of its own, for which components are selected anew,
    /// without the one named `except`. All ranks call it in the same order. NOT_FOUND: this rank is not in it. Lives as
    /// long as the communicator. For components with [`flag::NESTS`]. In plans NOT_SUPPORTED.
    pub sub_comm: extern "C" fn(*const CollComm, part: u32, except: StrRef, out: *mut *mut c_void) -> Status,
    /// Fills `view` with a part as services take it: for the calling thread, and as long as `comm` is valid. In plans NOT_SUPPORTED.
    pub sub_view: extern "C" fn(comm: *const CollComm, sub: *mut c_void, view: *mut CollComm) -> Status,
    /// Runs a collective (one of [`which`]) of the components that were selected for a part; `view` is from `sub_view`.
    /// Answers as that collective does, or BAD_PARAM: there is none of that number. In plans NOT_SUPPORTED.
    pub call: extern "C" fn(view: *const CollComm, which: u32, args: *const CollArgs) -> Status,
    /// Starts, as `isend`, an empty message in place of one whose data does not come: the receive that it meets ends with
    /// `error` and no data. For a rank whose part of a collective failed: the others wait for its messages, and are to hear that what
    /// they would say is not known. In plans NOT_SUPPORTED: there the host sends this in place of each message that comes after a receive
    /// that failed, and leaves work on data undone. NOT_SUPPORTED elsewhere: the PML cannot.
    pub send_failure: extern "C" fn(
        *const CollComm,
        dst: u32,
        tag: i32,
        error: Status,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// Writes down a step that writes further steps when the plan has come to it, from what was received until then. For plans only;
    /// elsewhere NOT_SUPPORTED. Hosts of coll 2.0 do not have it: see [`CollServices::can_extend`].
    pub extend: extern "C" fn(*const CollComm, f: ExtendFn, ctx: *mut c_void) -> Status,
    /// Runs a collective of a part, as `call` does, for a rank whose data did not come: the rank takes part in all messages of the collective, and
    /// each that it would send ends its receive with `error`, as `send_failure` says. So the others do not wait for it, and hear that what they get is
    /// not known. It receives what others send. Answers as `call`, or BAD_PARAM: `error` is none. In plans NOT_SUPPORTED. Hosts of coll 2.2 do not have
    /// it: see [`CollServices::can_lose`].
    pub call_lost:
        extern "C" fn(view: *const CollComm, which: u32, args: *const CollArgs, error: Status) -> Status,
    /// Tells that the collective under way, or the plan that is being made, goes by an algorithm: a number of those that the component named `component` lists in
    /// `CollModule::algorithms`. The host counts it for tools, while somebody asks. Told once for each collective. BAD_PARAM: there is no such component or number. Hosts
    /// of coll 2.3 do not have it: see [`CollServices::tell_algorithm`].
    pub took: extern "C" fn(*const CollComm, component: StrRef, algorithm: u32) -> Status,
}

impl CollServices {
    /// Whether the host's table reaches to `extend`.
    pub fn can_extend(&self) -> bool {
        self.size as usize >= core::mem::offset_of!(CollServices, extend) + size_of::<ExtendFn>()
    }

    /// Whether the host's table reaches to `call_lost`; then it knows [`part::ALL`], too.
    pub fn can_lose(&self) -> bool {
        self.size as usize >= core::mem::offset_of!(CollServices, call_lost) + size_of::<usize>()
    }

    /// Tells the host that a collective goes by an algorithm ([`CollServices::took`]), if its table reaches to that.
    #[inline]
    pub fn tell_algorithm(&self, comm: &CollComm, component: &'static str, algorithm: u32) {
        if self.size as usize >= core::mem::offset_of!(CollServices, took) + size_of::<usize>() {
            let _of_no_use_to_a_component = (self.took)(comm, StrRef::new(component), algorithm);
        }
    }
}

/// Parts of a communicator by the nodes of its ranks.
pub mod part {
    /// The ranks of this node.
    pub const NODE: u32 = 0;
    /// The lowest rank of each node.
    pub const LEADERS: u32 = 1;
    /// The ranks with this rank's number on their nodes.
    pub const ACROSS: u32 = 2;
    /// All ranks, in their order: for collectives that a component hands on to those below it. Hosts of coll 2.2 answer BAD_PARAM.
    pub const ALL: u32 = 3;
}

/// Collectives by number: their places in [`CollTable`].
pub mod which {
    /// MPI_Barrier.
    pub const BARRIER: u32 = 0;
    /// MPI_Bcast.
    pub const BCAST: u32 = 1;
    /// MPI_Reduce.
    pub const REDUCE: u32 = 2;
    /// MPI_Allreduce.
    pub const ALLREDUCE: u32 = 3;
    /// MPI_Allgather.
    pub const ALLGATHER: u32 = 4;
    /// MPI_Gather.
    pub const GATHER: u32 = 5;
    /// MPI_Scatter.
    pub const SCATTER: u32 = 6;
    /// MPI_Alltoall.
    pub const ALLTOALL: u32 = 7;
    /// MPI_Gatherv.
    pub const GATHERV: u32 = 8;
    /// MPI_Scatterv.
    pub const SCATTERV: u32 = 9;
    /// MPI_Allgatherv.
    pub const ALLGATHERV: u32 = 10;
    /// MPI_Alltoallv.
    pub const ALLTOALLV: u32 = 11;
    /// MPI_Alltoallw.
    pub const ALLTOALLW: u32 = 12;
    /// MPI_Scan.
    pub const SCAN: u32 = 13;
    /// MPI_Exscan.
    pub const EXSCAN: u32 = 14;
    /// MPI_Reduce_scatter.
    pub const REDUCE_SCATTER: u32 = 15;
    /// MPI_Reduce_scatter_block.
    pub const REDUCE_SCATTER_BLOCK: u32 = 16;
}

/// A component's step; `what` is one of [`step`]. Must not block. No lock is held but for `DROP`, which must not call
/// the host. An error is the operation's unless it had one, and the plan's messages that come later say that their data is missing.
pub type StepFn = extern "C" fn(ctx: *mut c_void, what: u32) -> Status;

/// The question to a [`StepFn`].
pub mod step {
    /// Begins; OK: done, PENDING: not yet, or an error. For each start of a persistent operation.
    pub const START: u32 = 0;
    /// Answers as `START`; again and again while that is PENDING.
    pub const LOOK: u32 = 1;
    /// The plan is given up, `ctx` is not used again.
    pub const DROP: u32 = 2;
}

/// A step that writes further steps; `what` is one of [`extend`].
///
/// It is called when all steps that were written down before it are done, so it may look at the data of each message that was waited for. Through
/// the services of `comm`, which are those of a plan, it writes down as many steps as it likes, more of its own kind among them. They are done
/// in place of this one: before those that stand behind it. They may name the collective's buffers, types and operation, memory of the plan, and what
/// `ctx` keeps. Memory that it gets by `memory` lives until this start of the operation has ended; then the steps that it wrote are thrown
/// away, and each start calls it anew. A request of a message that the plan has started before may be waited for.
///
/// It runs in whatever thread makes progress, which holds no lock, and must not block. `comm` is valid during the call, in that thread.
/// Nobody else runs a step of the same plan meanwhile, and whoever runs the next one sees what it has written.
///
/// An error is the operation's unless it had one. The steps that it has written until then are done all the same, as those behind a step
/// that failed: other ranks count on their messages, which say that their data is missing. PENDING is no answer, and counts as INTERNAL.
///
/// # Safety
/// `ctx` must be the one that the step was written down with, and `comm` what the host made for this call; DROP comes once, and nothing
/// after it.
pub type ExtendFn = unsafe extern "C" fn(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status;

/// The question to an [`ExtendFn`].
pub mod extend {
    /// Write the steps that follow.
    pub const WRITE: u32 = 0;
    /// The same, but data of the plan is missing: a receive failed, or work on data. Buffers that were received into tell nothing. The messages that are
    /// written down now say so to their receivers; a component writes those that other ranks may wait for, if it knows them.
    pub const LOST: u32 = 1;
    /// The step is thrown away, `ctx` is not used again. `comm` is null. The host is not to be called, and locks may be held.
    pub const DROP: u32 = 2;
}

/// Sentinel for MPI_IN_PLACE in buffer arguments.
pub const IN_PLACE: *const u8 = core::ptr::without_provenance(1);

/// Arguments of all collectives; each uses the fields it needs, as the MPI function of
/// its name does, and looks at no other:
///
/// | | buffers, counts, types | others |
/// |---|---|---|
/// | barrier | | |
/// | bcast | `recv*` in all ranks (read in the root) | `root` |
/// | reduce, allreduce | `sendbuf`, `recvbuf`; count and type in `recvcount`, `recvtype` | `op`, `root` |
/// | allgather, alltoall | `send*`, `recv*` (counts per rank) | |
/// | gather, scatter | `send*`, `recv*` (counts per rank) | `root` |
/// | scan, exscan | as reduce | `op` |
/// | reduce_scatter_block | as reduce, count per rank | `op` |
/// | reduce_scatter | `sendbuf`, `recvbuf`, `recvcounts`, `recvtype` | `op` |
/// | gatherv | `send*`; `recvbuf`, `recvcounts`, `rdispls`, `recvtype` | `root` |
/// | scatterv | `sendbuf`, `sendcounts`, `sdispls`, `sendtype`; `recv*` | `root` |
/// | allgatherv | `send*`; `recvbuf`, `recvcounts`, `rdispls`, `recvtype` | |
/// | alltoallv | `sendbuf`, `sendcounts`, `sdispls`, `sendtype`; the same of `recv` | |
/// | alltoallw | `sendbuf`, `sendcounts`, `sdispls` (bytes), `sendtypes`; the same of `recv` | |
/// | neighbor_… | as allgather, allgatherv, alltoall, alltoallv, alltoallw | `neighbors` |
///
/// Arrays have one entry per rank (of the remote group on an inter-communicator; `recvcounts` of
/// reduce_scatter: of the local one; in neighborhood collectives per source or destination). Displacements count in extents of the type except in alltoallw.
///
/// On an inter-communicator only the sides a rank has are looked at: the root of a bcast has `recv*`,
/// which the other ranks of its group do not; in reduce and gather the root has no operand or block of its own, in
/// scatter none to receive; nothing is in place.
///
/// [`IN_PLACE`] where MPI allows it, as `sendbuf` (scatter and scatterv: as `recvbuf`); the counts and types
/// beside it are not looked at. Arguments that MPI calls significant at the root only may be anything elsewhere.
#[repr(C)]
pub struct CollArgs {
    /// Address of element 0 of the data to send, or [`IN_PLACE`].
    pub sendbuf: *const u8,
    /// Number of elements that go to a rank.
    pub sendcount: u64,
    /// The type of the elements in `sendbuf`.
    pub sendtype: *const TypeDesc,
    /// Address of element 0 of the place for the result, or [`IN_PLACE`].
    pub recvbuf: *mut u8,
    /// Number of elements that come from a rank; in a reduction those of an operand.
    pub recvcount: u64,
    /// The type of the elements in `recvbuf`; in a reduction that of the operands.
    pub recvtype: *const TypeDesc,
    /// The operation of a reduction, defined on its type; valid during the call, in a plan as long as that.
    pub op: *const OpDesc,
    /// The root's rank, or on an inter-communicator [`ROOT`], [`NO_ROOT`] or a rank of the remote group.
    pub root: i32,
    /// 0 from the host.
    pub reserved: u32,
    /// Numbers of elements that go to each rank.
    pub sendcounts: *const u64,
    /// Displacements of each rank's elements in `sendbuf`.
    pub sdispls: *const i64,
    /// The types of each rank's elements in `sendbuf`.
    pub sendtypes: *const *const TypeDesc,
    /// Numbers of elements that come from each rank; in reduce_scatter those of each rank's result.
    pub recvcounts: *const u64,
    /// Displacements of each rank's elements in `recvbuf`.
    pub rdispls: *const i64,
    /// The types of each rank's elements in `recvbuf`.
    pub recvtypes: *const *const TypeDesc,
    /// Of neighborhood collectives.
    pub neighbors: *const Neighbors,
}

/// The ranks that a rank gets from and sends to, in the order of the blocks in its buffers. A rank may be in there several times,
/// and itself, too; [`NO_ROOT`] (MPI_PROC_NULL) is nobody, and its block is left alone. Blocks that go from one rank to
/// another over several edges arrive in their order at both ends.
#[repr(C)]
pub struct Neighbors {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Of [`neighbors`].
    pub flags: u32,
    /// Number of sources, and of blocks that are received.
    pub num_sources: u32,
    /// Number of destinations, and of blocks that are sent.
    pub num_destinations: u32,
    /// The rank that each received block comes from, or [`NO_ROOT`]; `num_sources` of them.
    pub sources: *const i32,
    /// The rank that each sent block goes to, or [`NO_ROOT`]; `num_destinations` of them.
    pub destinations: *const i32,
}

/// Bits of [`Neighbors::flags`].
pub mod neighbors {
    /// Blocks come in pairs, a grid's neighbors down and up in a dimension. A block that was sent down comes from
    /// above: where both are one rank, the first it sends is for the second block of the pair.
    pub const PAIRS: u32 = 1;
}

impl CollArgs {
    /// No argument at all.
    pub const NONE: CollArgs = CollArgs {
        sendbuf: null(),
        sendcount: 0,
        sendtype: null(),
        recvbuf: null_mut(),
        recvcount: 0,
        recvtype: null(),
        op: null(),
        root: 0,
        reserved: 0,
        sendcounts: null(),
        sdispls: null(),
        sendtypes: null(),
        recvcounts: null(),
        rdispls: null(),
        recvtypes: null(),
        neighbors: null(),
    };
}

/// A collective: the component's module for this communicator, the communicator, the arguments. Answers OK, or the first failure of its messages
/// and of its work on data; TRUNCATED or MISMATCH where ranks gave arguments that do not fit together; NOT_SUPPORTED where the component
/// cannot serve these arguments. A planning function: any failure, and no plan comes to be.
pub type CollFn = extern "C" fn(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status;

/// The collectives of one module; an empty slot leaves the lower component's in place.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CollTable {
    /// Bytes of this table as the component was built with it, a multiple of 8; slots behind that are empty.
    pub size: u32,
    /// [`TABLE_VERSION`] of what the component was built with; its descriptor says the same, and that is compared.
    pub version: u32,
    /// MPI_Barrier (MPI 5.0 §6.3).
    pub barrier: Option<CollFn>,
    /// MPI_Bcast (§6.4).
    pub bcast: Option<CollFn>,
    /// MPI_Reduce (§6.9.1).
    pub reduce: Option<CollFn>,
    /// MPI_Allreduce (§6.9.6).
    pub allreduce: Option<CollFn>,
    /// MPI_Allgather (§6.7).
    pub allgather: Option<CollFn>,
    /// MPI_Gather (§6.5).
    pub gather: Option<CollFn>,
    /// MPI_Scatter (§6.6).
    pub scatter: Option<CollFn>,
    /// MPI_Alltoall (§6.8).
    pub alltoall: Option<CollFn>,
    /// MPI_Gatherv (§6.5).
    pub gatherv: Option<CollFn>,
    /// MPI_Scatterv (§6.6).
    pub scatterv: Option<CollFn>,
    /// MPI_Allgatherv (§6.7).
    pub allgatherv: Option<CollFn>,
    /// MPI_Alltoallv (§6.8).
    pub alltoallv: Option<CollFn>,
    /// MPI_Alltoallw (§6.8).
    pub alltoallw: Option<CollFn>,
    /// MPI_Scan (§6.11.1).
    pub scan: Option<CollFn>,
    /// MPI_Exscan (§6.11.2).
    pub exscan: Option<CollFn>,
    /// MPI_Reduce_scatter (§6.10.2).
    pub reduce_scatter: Option<CollFn>,
    /// MPI_Reduce_scatter_block (§6.10.1).
    pub reduce_scatter_block: Option<CollFn>,
    /// MPI_Neighbor_allgather (§8.6.1).
    pub neighbor_allgather: Option<CollFn>,
    /// MPI_Neighbor_allgatherv (§8.6.1).
    pub neighbor_allgatherv: Option<CollFn>,
    /// MPI_Neighbor_alltoall (§8.6.2).
    pub neighbor_alltoall: Option<CollFn>,
    /// MPI_Neighbor_alltoallv (§8.6.2).
    pub neighbor_alltoallv: Option<CollFn>,
    /// MPI_Neighbor_alltoallw (§8.6.2).
    pub neighbor_alltoallw: Option<CollFn>,
}

/// The answer of `comm_query`.
#[repr(C)]
pub struct CollOffer {
    /// The component's rank for this communicator; tables of a higher one are laid over those of a lower one.
    pub priority: i32,
    /// Must be 0.
    pub reserved: u32,
    /// First argument of the functions in `table` and `plans`; given back by `comm_free`.
    pub module: *mut c_void,
    /// The functions that carry collectives out; not null, and read when `comm_query` has returned.
    pub table: *const CollTable,
    /// The functions that make plans; null: none.
    pub plans: *const CollTable,
}

impl CollOffer {
    /// The offer that a component is given to fill.
    pub const NONE: CollOffer =
        CollOffer { priority: 0, reserved: 0, module: null_mut(), table: null(), plans: null() };
}

const _: () = {
    use core::mem::size_of;
    assert!(size_of::<CollComm>() == 64);
    assert!(size_of::<CollServices>() == 208);
    assert!(size_of::<CollArgs>() == 120);
    assert!(size_of::<CollTable>() == 184);
    assert!(size_of::<Neighbors>() == 32);
    assert!(size_of::<CollOffer>() == 32);
};
