//! Tables and descriptions that cross the boundary between the host and a component that transfers file data.

use crate::operation::{Bell, Operation};
use core::ffi::c_void;
use oxmpi_mca::{Status, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 1, minor: 0, patch: 0 };
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "fbtl";
/// Version of [`FbtlTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;

/// An open file as a component gets it, from the file system component's answer.
#[repr(C)]
pub struct FileFacts {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Descriptor for data, open for reading or writing as the file's mode says.
    pub fd: i32,
    /// Descriptor that passes the system's cache by, -1: none; `oxmpi_fs::FsFile` says for what.
    pub direct_fd: i32,
    /// Bits of `oxmpi_fs::mode` for which the direct descriptor is.
    pub direct_for: u32,
    /// Offsets, lengths and addresses on it are multiples of this.
    pub direct_unit: u64,
    /// Bits of `oxmpi_fs::keeps`.
    pub keeps: u32,
    /// Bits of `oxmpi_fs::mode`.
    pub mode: u32,
    /// Number of the file system's type (`statfs`), 0: not known.
    pub magic: u64,
    /// The host's bell; the pointer is valid during the call, the bell until the file is closed.
    pub bell: *const Bell,
}

/// One piece: bytes that lie together in the file and in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first byte from the beginning of the file.
    pub offset: u64,
    /// Address of the first byte; written by reads.
    pub memory: *mut u8,
    /// Number of bytes; may be 0, and more than a system call takes.
    pub len: u64,
}

/// Directions and flags of a [`Transfer`].
pub mod transfer {
    /// Data goes from the file to memory.
    pub const READ: u32 = 0;
    /// Data goes from memory to the file.
    pub const WRITE: u32 = 1;
    /// A flag: the caller waits for the end and has nothing else to do; the operation may have ended when `submit` returns.
    pub const NOW: u32 = 1;
    /// A flag of reads: the holes between pieces may be read too, into memory of the component, where that is faster.
    pub const SIEVE: u32 = 2;
}

/// A list of pieces to be transferred. It, the list and the memory stay as they are until the operation has ended.
#[repr(C)]
pub struct Transfer {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// [`transfer::READ`] or [`transfer::WRITE`].
    pub what: u32,
    /// Bits: [`transfer::NOW`], [`transfer::SIEVE`].
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The pieces.
    pub pieces: *const Piece,
    /// Number of pieces; may be 0.
    pub num_pieces: usize,
    /// Bytes that may be used at once for sieving (hint `ind_rd_buffer_size`); 0: the component's own measure.
    pub sieve_bytes: u64,
}

/// Functions of a module.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FbtlTable {
    /// Bytes of this table as the component was built with it, a multiple of 8.
    pub size: u32,
    /// [`TABLE_VERSION`].
    pub version: u32,
    /// Prepares for a file; `*out` is the first argument of `submit` and `close`.
    pub open: extern "C" fn(state: *mut c_void, facts: *const FileFacts, out: *mut *mut c_void) -> Status,
    /// Ends what `open` prepared; no operation of the file is under way. The descriptors are still open. A thread that has just ended an operation may still be ringing the bell: it has
    /// done so before this returns.
    pub close: extern "C" fn(file: *mut c_void),
    /// Takes a transfer. OK: it is under way, or has ended. NO_RESOURCE: the queue is full, nothing was taken, and the caller offers it again when an operation
    /// has ended. Other failures of the data are the operation's, not of this call. BAD_PARAM: of another file or direction than there is.
    pub submit:
        extern "C" fn(file: *mut c_void, transfer: *const Transfer, operation: *const Operation) -> Status,
    /// Asks for an early end of an operation that is under way: it ends as ever, and with NOT_AVAILABLE if that was early. Does not wait.
    pub cancel: extern "C" fn(file: *mut c_void, operation: *const Operation),
    /// Looks for completions, and ends their operations: how many.
    pub harvest: extern "C" fn(state: *mut c_void) -> u32,
    /// A descriptor that is readable when `harvest` has something to do; -1: never. `harvest` makes it quiet again.
    pub event_fd: extern "C" fn(state: *mut c_void) -> i32,
}

/// The module of an fbtl component as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FbtlModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// First argument of `query`, `finalize`, and of the functions of `table` that have it.
    pub state: *mut c_void,
    /// Not null, valid until `finalize`.
    pub table: *const FbtlTable,
    /// Looks at an open file, and answers the priority to serve it with. NOT_AVAILABLE: cannot serve it.
    pub query: extern "C" fn(state: *mut c_void, facts: *const FileFacts, priority: *mut i32) -> Status,
    /// Ends the component and frees `state`: the last call, when all files are closed.
    pub finalize: extern "C" fn(state: *mut c_void),
}

impl oxmpi_mca::component::Module for FbtlModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

const _: () = {
    assert!(size_of::<FileFacts>() == 48);
    assert!(size_of::<Piece>() == 24);
    assert!(size_of::<Transfer>() == 40);
    assert!(size_of::<FbtlTable>() == 56);
    assert!(size_of::<FbtlModule>() == 40);
};
