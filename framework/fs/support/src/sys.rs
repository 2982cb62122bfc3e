//! System calls on files, with failures as the contract's codes. An interrupted call is made again.

use oxmpi_fs::{Access, LockKind, Locked, Range, error};
use oxmpi_mca::Status;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::path::Path;

/// The code of a failure.
pub fn code(errno: Errno) -> Status {
    error::system(errno.raw_os_error())
}

/// The failure of the last call of libc.
fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Makes a call until no signal interrupts it.
fn again<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn flags(access: Access) -> OFlags {
    match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::WRONLY,
        Access::Both => OFlags::RDWR,
    }
}

/// Opens a file, with these further flags.
pub fn open(path: &Path, access: Access, further: OFlags, permissions: u32) -> Result<OwnedFd, Status> {
    let mode = Mode::from_raw_mode(permissions & 0o7777);
    let all = flags(access) | OFlags::CLOEXEC | further;
    found(path, || again(|| rustix::fs::open(path, all, mode)))
}

/// Makes a call on a path, and once more where it finds no file there, behind a question to the server for the folder: a client of a server remembers that there was no file (NFS
/// for half a minute), even if another node has made it since.
fn found<T>(path: &Path, call: impl Fn() -> Result<T, Errno>) -> Result<T, Status> {
    match call() {
        Err(Errno::NOENT) if ask_for_folder(path) => call(),
        answer => answer,
    }
    .map_err(code)
}

/// Has the system ask for the innermost folder of a path that is there, by which it sees that the folder has changed.
fn ask_for_folder(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let how = AtFlags::STATX_FORCE_SYNC;
        again(|| rustix::fs::statx(rustix::fs::CWD, folder, how, StatxFlags::BASIC_STATS)).is_ok()
    })
}

/// Opens the file of a descriptor a second time, past the system's cache.
pub fn reopen_direct(fd: BorrowedFd<'_>, access: Access) -> Result<OwnedFd, Status> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    open(Path::new(&path), access, OFlags::DIRECT, 0)
}

/// The system's description of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its type.
    pub kind: FileType,
    /// Length in bytes.
    pub length: u64,
    /// Bytes of a block of good size.
    pub block: u64,
    /// Alignment of transfers past the cache, in bytes: 0: there are none; `None`: not told.
    pub direct_unit: Option<u64>,
}

/// Asks about an open file; remote file systems ask their server.
pub fn describe(fd: BorrowedFd<'_>) -> Result<Described, Status> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN;
    let how = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
    match again(|| rustix::fs::statx(fd, c"", how, wanted)) {
        Ok(said) => Ok(Described {
            kind: FileType::from_raw_mode(said.stx_mode.into()),
            length: said.stx_size,
            block: said.stx_blksize.into(),
            direct_unit: (said.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
                .then(|| said.stx_dio_mem_align.max(said.stx_dio_offset_align).into()),
        }),
        // Old kernels, and sandboxes that know no newer call.
        Err(Errno::NOSYS | Errno::PERM) => {
            let said = again(|| rustix::fs::fstat(fd)).map_err(code)?;
            Ok(Described {
                kind: FileType::from_raw_mode(said.st_mode),
                length: said.st_size.try_into().unwrap_or(0),
                block: said.st_blksize.try_into().unwrap_or(1),
                direct_unit: None,
            })
        }
        Err(errno) => Err(code(errno)),
    }
}

/// The length of a device of blocks, of which descriptions say 0.
pub fn device_length(fd: BorrowedFd<'_>) -> Result<u64, Status> {
    rustix::fs::seek(fd, rustix::fs::SeekFrom::End(0)).map_err(code)
}

/// Cuts or extends a file.
pub fn resize(fd: BorrowedFd<'_>, bytes: u64) -> Result<(), Status> {
    if bytes > i64::MAX as u64 {
        return Err(code(Errno::FBIG));
    }
    again(|| rustix::fs::ftruncate(fd, bytes)).map_err(code)
}

/// Has space for the first bytes ready. NOT_SUPPORTED: the file system has no such call. That of libc is not used: it writes where the file system cannot, over what others
/// write at the same time.
pub fn allocate(fd: BorrowedFd<'_>, bytes: u64) -> Result<(), Status> {
    if bytes == 0 {
        return Ok(());
    }
    if bytes > i64::MAX as u64 {
        return Err(code(Errno::FBIG));
    }
    let call = || rustix::fs::fallocate(fd, rustix::fs::FallocateFlags::empty(), 0, bytes);
    again(call).map_err(|errno| match errno {
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::NODEV => Status::NOT_SUPPORTED,
        other => code(other),
    })
}

/// Writes everything to the device. Files that have none are written always.
pub fn sync(fd: BorrowedFd<'_>) -> Result<(), Status> {
    match again(|| rustix::fs::fsync(fd)) {
        Err(Errno::INVAL | Errno::ROFS) | Ok(()) => Ok(()),
        Err(errno) => Err(code(errno)),
    }
}

/// Deletes a file.
pub fn unlink(path: &Path) -> Result<(), Status> {
    found(path, || again(|| rustix::fs::unlink(path)))
}

/// Closes a descriptor. A failure tells of data that was not written; the descriptor is closed all the same.
pub fn close(fd: OwnedFd) -> Result<(), Status> {
    // SAFETY: the caller's own descriptor, given up here.
    if unsafe { libc::close(fd.into_raw_fd()) } == 0 {
        return Ok(());
    }
    match last() {
        // Linux has closed it when it answers so.
        Errno::INTR => Ok(()),
        errno => Err(code(errno)),
    }
}

/// Has the system drop what it keeps of a range, as far as it was written; a length of 0 reaches to the end.
pub fn forget(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<(), Status> {
    let len = core::num::NonZeroU64::new(len);
    match rustix::fs::fadvise(fd, offset, len, rustix::fs::Advice::DontNeed) {
        // Pipes and the like keep nothing.
        Ok(()) | Err(Errno::SPIPE | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(code(errno)),
    }
}

/// A range as the system's calls on locks have it. BAD_PARAM: it begins behind what they reach.
fn described(range: Range, kind: i32) -> Result<libc::flock, Status> {
    let start = i64::try_from(range.offset).map_err(|_| Status::BAD_PARAM)?;
    let end = range.offset.saturating_add(range.len);
    // SAFETY: plain numbers, of which 0 are all fine.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = kind as _;
    lock.l_whence = libc::SEEK_SET as _;
    lock.l_start = start;
    // Up to the last byte that there can be is up to the end.
    lock.l_len = if end >= i64::MAX as u64 { 0 } else { range.len as i64 };
    Ok(lock)
}

fn set_lock(fd: BorrowedFd<'_>, range: Range, kind: i32) -> Result<Locked, Status> {
    let lock = described(range, kind)?;
    let call = || {
        // SAFETY: a description on the stack, which the call reads.
        let answer = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
        if answer == 0 { Ok(()) } else { Err(last()) }
    };
    match again(call) {
        Ok(()) => Ok(Locked::Taken),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(Locked::Excluded),
        Err(Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::OPNOTSUPP) => Err(Status::NOT_SUPPORTED),
        Err(errno) => Err(code(errno)),
    }
}

/// Takes a lock of the open file description, or changes its kind; does not wait. NOT_SUPPORTED: the file system has none. A description that is open for writing alone
/// cannot hold the shared kind, and takes the other one, which excludes more.
pub fn lock(fd: BorrowedFd<'_>, access: Access, range: Range, kind: LockKind) -> Result<Locked, Status> {
    let kind = match kind {
        LockKind::Shared if access != Access::Write => libc::F_RDLCK,
        _ => libc::F_WRLCK,
    };
    set_lock(fd, range, kind)
}

/// Gives locks back.
pub fn unlock(fd: BorrowedFd<'_>, range: Range) -> Result<(), Status> {
    set_lock(fd, range, libc::F_UNLCK).map(|_| ())
}
