//! Tables and descriptions that cross the boundary between the host and a file system component.

use core::ffi::c_void;
use oxmpi_mca::{Status, StrRef, Version};

/// Version of this contract: minors append slots, a major may do anything.
pub const VERSION: Version = Version { major: 1, minor: 0, patch: 0 };
/// The framework's name, as descriptors and file names have it.
pub const FRAMEWORK: &str = "fs";
/// Version of [`FsTable`]'s layout.
pub const TABLE_VERSION: u32 = 1;

/// Facts that the host knows of a path before it is opened; valid during the call.
#[repr(C)]
pub struct PathFacts {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// 1: the user has named the component, by a prefix or a parameter, and a low priority does not matter.
    pub named: u32,
    /// The path without prefix. Like all texts here it need not be UTF-8: bytes of the system.
    pub path: StrRef,
    /// The number of the file system's type as `statfs` answers it for the file, or for its folder where there is no file yet; 0: neither can be asked.
    pub magic: u64,
    /// The mount's type, source and options, as `/proc/self/mountinfo` has them, those of mount and superblock joined by a comma; empty: not known.
    pub fs_type: StrRef,
    /// Device or server of the mount.
    pub source: StrRef,
    /// Options of the mount.
    pub options: StrRef,
}

/// Bits of [`OpenFile::mode`]. They stand for the modes of MPI 5.0 §14.2.1, in numbers of this contract: those of `mpi.h` are the C interface's.
pub mod mode {
    /// MPI_MODE_CREATE.
    pub const CREATE: u32 = 1;
    /// MPI_MODE_RDONLY.
    pub const RDONLY: u32 = 2;
    /// MPI_MODE_WRONLY.
    pub const WRONLY: u32 = 4;
    /// MPI_MODE_RDWR.
    pub const RDWR: u32 = 8;
    /// MPI_MODE_DELETE_ON_CLOSE.
    pub const DELETE_ON_CLOSE: u32 = 16;
    /// MPI_MODE_UNIQUE_OPEN.
    pub const UNIQUE_OPEN: u32 = 32;
    /// MPI_MODE_EXCL.
    pub const EXCL: u32 = 64;
    /// MPI_MODE_APPEND.
    pub const APPEND: u32 = 128;
    /// MPI_MODE_SEQUENTIAL.
    pub const SEQUENTIAL: u32 = 256;
}

/// How a file is to be opened; valid during the call. Values of hints are 0 where nothing was asked for.
#[repr(C)]
pub struct OpenFile {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Bits of [`mode`]. CREATE and EXCL are the creating rank's alone: in other ranks, and in a later open of the same rank, the host has taken them
    /// out. A component looks at CREATE, EXCL and the three of access.
    pub mode: u32,
    /// The path without prefix.
    pub path: StrRef,
    /// Permissions of a new file (hint `file_perm`), before the process's mask.
    pub permissions: u32,
    /// Devices to stripe a new file over (hint `striping_factor`).
    pub striping_factor: u32,
    /// Bytes of a stripe of a new file (hint `striping_unit`).
    pub striping_unit: u64,
    /// The first device of a new file (hint `start_iodevice`) plus 1.
    pub first_device: u32,
    /// 1: reads past the system's cache (hint `direct_read`), where the file system can.
    pub direct_read: u32,
    /// 1: writes past it (hint `direct_write`).
    pub direct_write: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The host's facts of the path on this node, as [`FsModule::query`] gets it: the options of the mount decide what can be told in [`FsFile::keeps`].
    pub facts: *const PathFacts,
}

/// Bits of [`FsFile::keeps`].
pub mod keeps {
    /// Byte-range locks exclude other processes of this node.
    pub const LOCKS_HERE: u32 = 1;
    /// Byte-range locks exclude processes of all nodes.
    pub const LOCKS: u32 = 2;
    /// Any other node reads afterwards what one has written.
    pub const COHERENT: u32 = 4;
    /// To take a lock reads the file anew, and to give it back writes what was changed (as NFS does): it is how nodes see each other's data.
    pub const LOCK_REVALIDATES: u32 = 8;
    /// Space can be had ahead without writing ([`super::FsTable::preallocate`]).
    pub const PREALLOCATES: u32 = 16;
}

/// An open file, and what can be relied upon.
#[repr(C)]
pub struct FsFile {
    /// Bytes of this struct as the host was built with it; a component writes no field behind that.
    pub size: u32,
    /// Descriptor for data; valid until the file is closed.
    pub fd: i32,
    /// First argument of the functions of [`FsTable`] behind `open`.
    pub file: *mut c_void,
    /// Bits of [`keeps`].
    pub keeps: u32,
    /// Devices that the file is striped over; 0: not known, or it is not striped.
    pub striping_factor: u32,
    /// Bytes of a stripe; 0 likewise.
    pub striping_unit: u64,
    /// Bytes by which ranks had better part a file, so that no two write in one unit: the stripe, the block, the page. At least 1.
    pub block: u64,
    /// The number of the first device plus 1; 0: not known.
    pub first_device: u32,
    /// A second descriptor that passes the system's cache by, -1: none. Offsets, lengths and addresses on it are multiples of `direct_unit`.
    pub direct_fd: i32,
    /// See `direct_fd`.
    pub direct_unit: u64,
    /// Bits of [`mode`]: RDONLY and WRONLY where the direct descriptor is for these, RDWR for both; 0: none.
    pub direct_for: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Why a bit of `keeps` is missing, as one clause for people that names the mount's option or type; empty where none is. Valid until the file is closed.
    pub because: StrRef,
}

/// A range of a file to be locked.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0: up to whatever the end of the file becomes.
    pub len: u64,
}

/// Kinds of [`FsTable::lock`].
pub mod lock {
    /// For readers, who do not exclude each other.
    pub const SHARED: u32 = 1;
    /// For a writer.
    pub const EXCLUSIVE: u32 = 2;
}

/// Functions of a module. All but the two with `path` take an open file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FsTable {
    /// Bytes of this table as the component was built with it, a multiple of 8.
    pub size: u32,
    /// [`TABLE_VERSION`].
    pub version: u32,
    /// Opens a file in this process alone: what ranks agree upon is the host's. A [`crate::error::system`] code: the file is not open, and nothing was
    /// made unless it was to be created. A hint that the file system has no use for is passed over.
    pub open: extern "C" fn(state: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status,
    /// Closes it, whatever it answers; data may have been lost where that is a failure. Locks of the file are gone.
    pub close: extern "C" fn(file: *mut c_void) -> Status,
    /// MPI_File_delete in this process.
    pub delete: extern "C" fn(state: *mut c_void, path: StrRef) -> Status,
    /// The file's length in bytes, as other nodes have made it.
    pub length: extern "C" fn(file: *mut c_void, out: *mut u64) -> Status,
    /// Cuts or extends the file to that length.
    pub resize: extern "C" fn(file: *mut c_void, bytes: u64) -> Status,
    /// Has space for the first `bytes` bytes ready, the file at least that long, and what was written as it was. NOT_SUPPORTED: the host writes.
    pub preallocate: extern "C" fn(file: *mut c_void, bytes: u64) -> Status,
    /// Writes everything to the device, and has what other processes wrote and made durable read from now on (MPI_File_sync).
    pub sync: extern "C" fn(file: *mut c_void) -> Status,
    /// Takes a lock (one of [`lock`]), or changes the kind of one. PENDING: another description holds one that excludes it, and nothing was changed.
    /// NOT_SUPPORTED: the file system has no locks. It does not wait.
    pub lock: extern "C" fn(file: *mut c_void, range: *const Range, kind: u32) -> Status,
    /// Gives back the locks of a range; OK also where there was none.
    pub unlock: extern "C" fn(file: *mut c_void, range: *const Range) -> Status,
    /// Forgets what the system keeps of a range without having asked the server; what this process wrote has been written before.
    /// OK where nothing is kept.
    pub refresh: extern "C" fn(file: *mut c_void, range: *const Range) -> Status,
}

/// The module of an fs component as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FsModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// First argument of `query`, `finalize`, and of the functions of `table` that have it.
    pub state: *mut c_void,
    /// Not null, valid until `finalize`.
    pub table: *const FsTable,
    /// Looks at a path, and answers the priority to serve it with. NOT_AVAILABLE: does not serve such a file system. It makes and changes nothing.
    pub query: extern "C" fn(state: *mut c_void, facts: *const PathFacts, priority: *mut i32) -> Status,
    /// Ends the component and frees `state`: the last call, when all files are closed.
    pub finalize: extern "C" fn(state: *mut c_void),
}

impl oxmpi_mca::component::Module for FsModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

const _: () = {
    assert!(size_of::<PathFacts>() == 80);
    assert!(size_of::<OpenFile>() == 64);
    assert!(size_of::<FsFile>() == 80);
    assert!(size_of::<Range>() == 16);
    assert!(size_of::<FsTable>() == 88);
    assert!(size_of::<FsModule>() == 40);
};
