//! The traits that an author implements.

use super::job::{Job, Key, Refusal};
use oxmpi_mca::Status;
use std::os::fd::RawFd;

/// An open file, as the file system component answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Descriptor for data; it stays open until the file's module is dropped.
    pub fd: RawFd,
    /// A descriptor that passes the system's cache by.
    pub direct_fd: Option<RawFd>,
    /// Offsets, lengths and addresses on it are multiples of this; at least 1.
    pub direct_unit: u64,
    /// It is for reads.
    pub direct_reads: bool,
    /// It is for writes.
    pub direct_writes: bool,
    /// The file is open for reading.
    pub reads: bool,
    /// The file is open for writing.
    pub writes: bool,
    /// Bits of `oxmpi_fs::keeps`.
    pub keeps: u32,
    /// Number of the file system's type (`statfs`), 0: not known.
    pub magic: u64,
}

/// A component that transfers data, of one instance. All functions may be called concurrently.
pub trait Fbtl: Send + Sync + Sized + 'static {
    /// Its state for one open file; dropped when the file is closed and no transfer of it is under way.
    type File: Transfers;

    /// Looks at an open file, and answers the priority to serve it with; `None`: cannot serve it.
    fn query(&self, file: &Opened) -> Option<i32>;
    /// Prepares for a file.
    fn open(&self, file: Opened) -> Result<Self::File, Status>;
    /// Looks for completions and ends their operations: how many. Does not wait.
    fn harvest(&self) -> u32 {
        0
    }
    /// A descriptor that is readable when `harvest` has something to do.
    fn event_fd(&self) -> Option<RawFd> {
        None
    }
    /// Ends the component: the last call, when all files are closed.
    fn finalize(&self) {}
}

/// The state of a component for one open file.
pub trait Transfers: Send + Sync + 'static {
    /// Takes a transfer in a direction that the file is open for. It waits for nothing unless [`Job::is_now`]; a failure of the data is the job's end, not a refusal.
    fn submit(&self, job: Job) -> Result<(), Refusal>;
    /// Asks for an early end, with NOT_AVAILABLE, of an operation; does not wait. It may have ended meanwhile.
    fn cancel(&self, key: Key);
}
