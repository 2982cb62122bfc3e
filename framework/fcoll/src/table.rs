//! Tables and descriptions that cross the boundary between the host and a component that plans collective file access.

use core::ffi::c_void;
use oxmpi_coll::CollComm;
use oxmpi_datatype::TypeDesc;
use oxmpi_fbtl::Piece;
use oxmpi_mca::{Status, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 1, minor: 0, patch: 0 };
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "fcoll";
/// Version of [`FcollTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;

/// Facts that are equal in all ranks of a file: valid from `open` or the last `set_view` of the file on.
#[repr(C)]
pub struct Layout {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Number of `aggregators`, at least 1.
    pub num_aggregators: u32,
    /// The ranks that transfer for others, each once, in the order of their domains.
    pub aggregators: *const u32,
    /// Bytes by which aggregators part the file, a multiple of the file system's block: byte `b` belongs to aggregator `b / unit % num_aggregators` for as
    /// long as the layout is valid, so that no two nodes write in one block.
    pub unit: u64,
    /// Bytes that an aggregator may use at once for a round (hint `cb_buffer_size`), at least `unit`.
    pub buffer: u64,
    /// One of [`want`] for reads: hint `romio_cb_read` and its kin.
    pub read: u32,
    /// The same for writes.
    pub write: u32,
    /// Bits of `oxmpi_fs::keeps`.
    pub keeps: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Answers to whether accesses are to go by aggregators.
pub mod want {
    /// The component decides, by the accesses.
    pub const AUTOMATIC: u32 = 0;
    /// Always.
    pub const ALWAYS: u32 = 1;
    /// Never: each rank transfers its own.
    pub const NEVER: u32 = 2;
}

/// A rank's own access: a part of its view, and memory.
///
/// The data of a view is that of type `filetype`, repeated from `displacement` on at distances of its extent: byte `p` of the view is byte `p` of the packed data of so many
/// elements. The types are in the file's representation; memory holds the same bytes in the same order. Valid until the plan has ended.
#[repr(C)]
pub struct Access {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// `oxmpi_fbtl::transfer::READ` or `WRITE`.
    pub what: u32,
    /// Bytes before the view in the file.
    pub displacement: u64,
    /// Its displacements are not negative and do not fall, and elements do not overlap.
    pub filetype: *const TypeDesc,
    /// First byte of the view that is accessed.
    pub from: u64,
    /// Number of bytes that are accessed; 0 where the rank takes part without data.
    pub len: u64,
    /// Address of element 0.
    pub memory: *mut u8,
    /// Number of elements in memory, whose packed data is `len` bytes.
    pub count: u64,
    /// The type of the elements in memory.
    pub memtype: *const TypeDesc,
}

/// Services of the host for a planner, beside those of the plan.
#[repr(C)]
pub struct FcollServices {
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Writes down a step that transfers a list of pieces, which is copied. `moved`, unless null, is memory of the plan, where
    /// the step writes how many bytes were transferred; `outcome`, unless null, likewise, where it writes the transfer's status as its number. Where `outcome` is null a failure is the operation's
    /// error, otherwise the planner sees to it. The step is done when the transfer has ended, in the background: what is written down behind it waits for it, unless `later` is 1; then
    /// only [`FcollServices::settle`] and the plan's end wait for it.
    pub transfer: extern "C" fn(
        access: *mut c_void,
        comm: *const CollComm,
        what: u32,
        pieces: *const Piece,
        num_pieces: usize,
        moved: *mut u64,
        outcome: *mut i32,
        later: u32,
    ) -> Status,
    /// Writes down a step that waits for all transfers of the plan that were written down before with `later` 1.
    pub settle: extern "C" fn(access: *mut c_void, comm: *const CollComm) -> Status,
    /// Says how many bytes of its own access the rank has moved, and with what outcome (OK, or a code of `oxmpi_fs::error`). To be called once, at the latest in the plan's last
    /// step; not a step itself.
    pub moved: extern "C" fn(access: *mut c_void, bytes: u64, outcome: Status),
}

/// The arguments of [`FcollTable::plan`]; valid during the call, what the pointers lead to until the plan has ended.
#[repr(C)]
pub struct PlanArgs {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The communicator of the file, with the services of a plan.
    pub comm: *const CollComm,
    /// The facts that are equal in all ranks.
    pub layout: *const Layout,
    /// This rank's part.
    pub access: *const Access,
    /// Further services.
    pub services: *const FcollServices,
    /// First argument of those.
    pub ctx: *mut c_void,
}

/// Functions of a module.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FcollTable {
    /// Bytes of this table as the component was built with it, a multiple of 8.
    pub size: u32,
    /// [`TABLE_VERSION`].
    pub version: u32,
    /// Writes down the plan of one collective access. A failure: no plan comes to be, in no rank; so it fails for what is equal in all of them only.
    pub plan: extern "C" fn(state: *mut c_void, args: *const PlanArgs) -> Status,
}

/// Facts with which a component is asked; equal in all ranks.
#[repr(C)]
pub struct FcollFacts {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Ranks of the file's communicator.
    pub num_ranks: u32,
    /// Nodes that they are on.
    pub num_nodes: u32,
    /// Bits of `oxmpi_fs::keeps`.
    pub keeps: u32,
    /// The facts that are equal in all ranks.
    pub layout: *const Layout,
}

/// The module of an fcoll component as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FcollModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// First argument of the functions.
    pub state: *mut c_void,
    /// Not null, valid until `finalize`.
    pub table: *const FcollTable,
    /// Looks at a file, and answers the priority to serve it with. NOT_AVAILABLE: not this one. All ranks answer alike.
    pub query: extern "C" fn(state: *mut c_void, facts: *const FcollFacts, priority: *mut i32) -> Status,
    /// Ends the component and frees `state`: the last call, when all files are closed.
    pub finalize: extern "C" fn(state: *mut c_void),
}

impl oxmpi_mca::component::Module for FcollModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

const _: () = {
    assert!(size_of::<Layout>() == 48);
    assert!(size_of::<Access>() == 64);
    assert!(size_of::<FcollServices>() == 32);
    assert!(size_of::<PlanArgs>() == 48);
    assert!(size_of::<FcollTable>() == 16);
    assert!(size_of::<FcollFacts>() == 24);
    assert!(size_of::<FcollModule>() == 40);
};
