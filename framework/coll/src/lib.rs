//! The contract of collective components, first version.
//!
//! For every new communicator the host asks each component (`comm_query`) whether it wants to serve
//! it and with what priority; from lowest to highest their tables are laid over one another, so each
//! collective may come from a different component (as in Open MPI). A collective gets its
//! communicator as a [`CollComm`]: who is in it and the services it may use. Collectives talk with
//! negative tags, which MPI_ANY_TAG does not match.
//!
//! **Threads.** Different communicators concurrently; one communicator one call at a time, as MPI
//! demands of the user.

mod author;

pub use author::{Coll, CollModule, module};

use core::ffi::c_void;
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx, Version};

pub const VERSION: Version = Version { major: 1, minor: 0, patch: 0 };
pub const FRAMEWORK: &str = "coll";

/// Largest tag of the range collectives may use; they count downwards from it.
pub const FIRST_TAG: i32 = -100;

/// A communicator as a collective sees it; valid during the call.
#[repr(C)]
pub struct CollComm {
    pub size: u32,
    pub num_ranks: u32,
    pub rank: u32,
    /// 1: the launcher started more ranks than there are cores. The same in all ranks of the job, so
    /// an algorithm may be chosen by it.
    pub oversubscribed: u32,
    /// First argument of every service.
    pub comm: *mut c_void,
    pub thread: *mut ThreadCtx,
    pub services: *const CollServices,
}

/// What the host does for a collective: point-to-point on the communicator.
#[repr(C)]
pub struct CollServices {
    pub size: u32,
    pub reserved: u32,
    pub send: extern "C" fn(*const CollComm, *const u8, u64, *const TypeDesc, dst: u32, tag: i32) -> Status,
    pub recv: extern "C" fn(
        *const CollComm,
        *mut u8,
        u64,
        *const TypeDesc,
        src: u32,
        tag: i32,
        status: *mut MsgStatus,
    ) -> Status,
    pub isend: extern "C" fn(
        *const CollComm,
        *const u8,
        u64,
        *const TypeDesc,
        dst: u32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    pub irecv: extern "C" fn(
        *const CollComm,
        *mut u8,
        u64,
        *const TypeDesc,
        src: u32,
        tag: i32,
        out: *mut *mut RequestHeader,
    ) -> Status,
    /// Waits for all and releases them; the first error, if any.
    pub wait_all: extern "C" fn(*const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status,
}

/// Sentinel for MPI_IN_PLACE in buffer arguments.
pub const IN_PLACE: *const u8 = core::ptr::without_provenance(1);

/// Arguments of all collectives of version 1; each uses the fields it needs, as the MPI function of
/// its name does, and looks at no other:
///
/// | | buffers, counts, types | others |
/// |---|---|---|
/// | barrier | | |
/// | bcast | `recv*` in all ranks (read in the root) | `root` |
/// | reduce, allreduce | `sendbuf`, `recvbuf`; count and type in `recvcount`, `recvtype` | `op`, `root` |
/// | allgather, alltoall | `send*`, `recv*` (counts per rank) | |
/// | gather, scatter | `send*`, `recv*` (counts per rank) | `root` |
///
/// [`IN_PLACE`] where MPI allows it, as `sendbuf` (scatter: as `recvbuf`); the count and type beside
/// it are not looked at. What MPI calls significant at the root only may be anything elsewhere.
#[repr(C)]
pub struct CollArgs {
    pub sendbuf: *const u8,
    pub sendcount: u64,
    pub sendtype: *const TypeDesc,
    pub recvbuf: *mut u8,
    pub recvcount: u64,
    pub recvtype: *const TypeDesc,
    pub op: *const OpDesc,
    pub root: i32,
    pub reserved: u32,
}

/// A collective: the component's module for this communicator, the communicator, the arguments.
pub type CollFn = extern "C" fn(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status;

/// The collectives of one module; an empty slot leaves the lower component's in place.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CollTable {
    pub size: u32,
    pub version: u32,
    pub barrier: Option<CollFn>,
    pub bcast: Option<CollFn>,
    pub reduce: Option<CollFn>,
    pub allreduce: Option<CollFn>,
    pub allgather: Option<CollFn>,
    pub gather: Option<CollFn>,
    pub scatter: Option<CollFn>,
    pub alltoall: Option<CollFn>,
}

/// What `comm_query` answers with.
#[repr(C)]
pub struct CollOffer {
    pub priority: i32,
    pub reserved: u32,
    pub module: *mut c_void,
    pub table: *const CollTable,
}

const _: () = {
    use core::mem::size_of;
    assert!(size_of::<CollComm>() == 40);
    assert!(size_of::<CollServices>() == 48);
    assert!(size_of::<CollArgs>() == 64);
    assert!(size_of::<CollTable>() == 72);
    assert!(size_of::<CollOffer>() == 24);
};
