//! An open file of the system: a descriptor for data, maybe a second one that passes the cache by, and what a trial has shown of its locks.
//!
//! Whether a file system has locks is not told by its type (an NFS server without a lock daemon, a FUSE daemon), so a file tries one when it is opened: a lock of the last byte that
//! a file can have, by the new description, given back at once. A description that ends takes its locks with it, so nothing can be left behind. Excluded is a
//! good answer, too: then somebody else's lock is seen.

use crate::sys;
use oxmpi_fs::{Access, Description, Direct, LockKind, Locked, Opening, Range, error};
use oxmpi_mca::Status;
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The unit of transfers past the cache where the system does not tell it: no device that is in use needs more.
const DIRECT_UNIT: u64 = 4096;
/// The byte on which locks are tried.
const LAST_BYTE: Range = Range { offset: i64::MAX as u64 - 1, len: 1 };

/// An open file.
#[derive(Debug)]
pub struct PosixFile {
    fd: OwnedFd,
    direct: Option<(OwnedFd, Direct)>,
    access: Access,
    kind: FileType,
    block: u64,
    has_locks: bool,
}

impl PosixFile {
    /// Opens a file as the host asks for. Folders and pipes are refused, as no offset leads into them.
    pub fn open(how: &Opening<'_>) -> Result<PosixFile, Status> {
        PosixFile::open_with(how, 0)
    }

    /// The same, with further flags of the file system's own.
    pub fn open_with(how: &Opening<'_>, own: u32) -> Result<PosixFile, Status> {
        let mut flags = OFlags::from_bits_retain(own) | OFlags::NOCTTY;
        flags.set(OFlags::CREATE, how.create);
        flags.set(OFlags::EXCL, how.create && how.exclusive);
        let fd = sys::open(how.facts.path, how.access, flags, how.permissions)?;
        let described = sys::describe(fd.as_fd())?;
        match described.kind {
            FileType::Directory => return Err(sys::code(Errno::ISDIR)),
            FileType::Fifo | FileType::Socket => return Err(sys::code(Errno::SPIPE)),
            _ => {}
        }
        let direct = direct(fd.as_fd(), how, described.direct_unit);
        let (access, kind, block) = (how.access, described.kind, described.block.max(1));
        let mut file = PosixFile { fd, direct, access, kind, block, has_locks: true };
        file.has_locks = file.try_locks();
        Ok(file)
    }

    fn try_locks(&self) -> bool {
        match self.lock(LAST_BYTE, LockKind::Shared) {
            Ok(Locked::Taken) => self.unlock(LAST_BYTE).is_ok(),
            Ok(Locked::Excluded) => true,
            Err(_) => false,
        }
    }

    /// Whether the trial of a lock went well, and nobody has forbidden them since.
    pub fn has_locks(&self) -> bool {
        self.has_locks
    }

    /// Takes no locks from now on.
    pub fn forbid_locks(&mut self) {
        self.has_locks = false;
    }

    /// The descriptor for data.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Directions in which it is open.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Facts of the file itself: descriptors, block. The component adds what the mount keeps.
    pub fn about(&self) -> Description {
        let direct = self.direct.as_ref().map(|(_, direct)| *direct);
        Description { block: self.block, direct, ..Description::new(self.fd.as_raw_fd()) }
    }

    /// The length in bytes, as the server has it.
    pub fn length(&self) -> Result<u64, Status> {
        if self.kind == FileType::BlockDevice {
            return sys::device_length(self.fd());
        }
        Ok(sys::describe(self.fd())?.length)
    }

    /// Cuts or extends it.
    pub fn resize(&self, bytes: u64) -> Result<(), Status> {
        sys::resize(self.fd(), bytes)
    }

    /// Has space ready for the first bytes. NOT_SUPPORTED: the file system cannot.
    pub fn preallocate(&self, bytes: u64) -> Result<(), Status> {
        sys::allocate(self.fd(), bytes)
    }

    /// Writes everything to the device.
    pub fn sync(&self) -> Result<(), Status> {
        sys::sync(self.fd())
    }

    /// Takes a lock; does not wait. NOT_SUPPORTED: there are none.
    pub fn lock(&self, range: Range, kind: LockKind) -> Result<Locked, Status> {
        if !self.has_locks {
            return Err(Status::NOT_SUPPORTED);
        }
        sys::lock(self.fd(), self.access, range, kind)
    }

    /// Gives locks back.
    pub fn unlock(&self, range: Range) -> Result<(), Status> {
        if !self.has_locks {
            return Err(Status::NOT_SUPPORTED);
        }
        sys::unlock(self.fd(), range)
    }

    /// Closes it. A failure of the descriptor for data tells of data that was lost.
    pub fn close(self) -> Result<(), Status> {
        let direct = self.direct.map_or(Ok(()), |(fd, _)| sys::close(fd));
        sys::close(self.fd).and(direct)
    }
}

/// The second descriptor, where the user asks for one and the file system has such transfers.
fn direct(fd: BorrowedFd<'_>, how: &Opening<'_>, told: Option<u64>) -> Option<(OwnedFd, Direct)> {
    let reads = how.direct_read && how.access != Access::Write;
    let writes = how.direct_write && how.access != Access::Read;
    // A page must not be written past the cache and through it at the same time, whoever does so: the system can keep only one of both.
    let unit = told.unwrap_or(DIRECT_UNIT).max(rustix::param::page_size() as u64);
    if !(reads || writes) || !unit.is_power_of_two() {
        return None;
    }
    let second = sys::reopen_direct(fd, how.access).ok()?;
    let direct = Direct { fd: second.as_raw_fd(), unit, reads, writes };
    Some((second, direct))
}

/// The words of the system for a code of [`error::system`]; the code's own name otherwise.
pub fn words(status: Status) -> String {
    match error::errno(status) {
        Some(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        None => status.name().to_owned(),
    }
}
