//! The traits that an author implements.

use super::views::{Facts, LockKind, Opening};
use crate::table::Range;
use oxmpi_mca::Status;
use std::os::fd::RawFd;
use std::path::Path;

/// A file system component of one instance. All functions may be called concurrently, and may wait for the file system.
pub trait Fs: Send + Sync + Sized + 'static {
    /// An open file.
    type File: File;

    /// Looks at a path, and answers the priority to serve it with; `None`: does not serve such a file system. It makes and changes nothing.
    fn query(&self, facts: &Facts<'_>) -> Option<i32>;
    /// Opens a file in this process. A hint that the file system has no use for is passed over. A failure: the file is not open.
    fn open(&self, how: &Opening<'_>) -> Result<Self::File, Status>;
    /// Deletes a file (MPI_File_delete).
    fn delete(&self, path: &Path) -> Result<(), Status>;
    /// Ends the component: the last call, when all files are closed.
    fn finalize(&self) {}
}

/// An open file of a component.
pub trait File: Send + Sync + 'static {
    /// Tells what can be relied upon; asked once, behind `open`.
    fn about(&self) -> Description;
    /// Closes it, whatever it answers. Data may have been lost where that is a failure.
    fn close(self) -> Result<(), Status>;
    /// The file's length in bytes, as other nodes have made it.
    fn length(&self) -> Result<u64, Status>;
    /// Cuts or extends the file to that length.
    fn resize(&self, bytes: u64) -> Result<(), Status>;
    /// Has space for the first `bytes` bytes ready, the file at least that long, and what was written as it was. NOT_SUPPORTED: the host writes.
    fn preallocate(&self, bytes: u64) -> Result<(), Status> {
        let _ = bytes;
        Err(Status::NOT_SUPPORTED)
    }
    /// Writes everything to the device, and has what other processes wrote and made durable read from now on.
    fn sync(&self) -> Result<(), Status>;
    /// Takes a lock or changes the kind of one, of the open file description. It does not wait. NOT_SUPPORTED: the file system has no locks.
    fn lock(&self, range: Range, kind: LockKind) -> Result<Locked, Status>;
    /// Gives back the locks of a range; fine also where there was none.
    fn unlock(&self, range: Range) -> Result<(), Status>;
    /// Forgets what the system keeps of a range without having asked the server. This process has written before what it changed.
    fn refresh(&self, range: Range) -> Result<(), Status> {
        let _ = range;
        Ok(())
    }
}

/// The answer to a lock that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// It is held.
    Taken,
    /// Another description holds one that excludes it; nothing was changed.
    Excluded,
}

/// A second descriptor, which passes the system's cache by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direct {
    /// The descriptor; open as long as the file.
    pub fd: RawFd,
    /// Offsets, lengths and addresses are multiples of this many bytes.
    pub unit: u64,
    /// It is for reads.
    pub reads: bool,
    /// It is for writes.
    pub writes: bool,
}

/// An open file, and what can be relied upon: see [`crate::FsFile`].
#[derive(Clone, Debug)]
pub struct Description {
    /// Descriptor for data; open as long as the file.
    pub fd: RawFd,
    /// Bits of [`crate::keeps`].
    pub keeps: u32,
    /// Why a bit is missing, as one clause for people that names the mount's option or type; empty where none is.
    pub because: String,
    /// Bytes by which ranks had better part the file; at least 1.
    pub block: u64,
    /// Devices that the file is striped over; 0: not known, or it is not striped.
    pub striping_factor: u32,
    /// Bytes of a stripe; 0 likewise.
    pub striping_unit: u64,
    /// The first device; `None`: not known.
    pub first_device: Option<u32>,
    /// The second descriptor.
    pub direct: Option<Direct>,
}

impl Description {
    /// A file of which nothing is known but its descriptor.
    pub fn new(fd: RawFd) -> Description {
        Description {
            fd,
            keeps: 0,
            because: String::new(),
            block: 1,
            striping_factor: 0,
            striping_unit: 0,
            first_device: None,
            direct: None,
        }
    }
}
