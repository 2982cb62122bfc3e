//! Every system call of this component, and nothing else.
//!
//! None of them is on the path of a message: they open, reserve and map memory, run the barrier of a
//! receiver that is about to sleep, wake a sleeper, and copy large messages between processes.

use oxmpi_btl::Piece;
use oxmpi_mca::sync::AtomicU32;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Pid, Resource, getrlimit};
use rustix::thread::{MembarrierCommand, futex, membarrier as run_membarrier, membarrier_query};
use std::fmt;

/// Why memory of the segment could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// The limit on file sizes (`ulimit -f`) ends before it, in bytes.
    FileLimit(u64),
    /// The kernel said no.
    Refused(Errno),
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shortage::FileLimit(limit) => {
                write!(f, "the limit on file sizes is {limit} bytes (ulimit -f)")
            }
            Shortage::Refused(errno) => write!(f, "{errno}"),
        }
    }
}

/// Duplicates a descriptor of the host, closed on exec, so that the segment stays open after `open`.
pub fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    if fd < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the host keeps the descriptor open during `open`; it is borrowed for this call only.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    rustix::io::fcntl_dupfd_cloexec(fd, 0)
}

/// Size of a file in bytes.
pub fn file_size(fd: impl AsFd) -> Result<u64, Errno> {
    Ok(fstat(fd)?.st_size.max(0) as u64)
}

/// Allocates the pages of a range of the segment's file, growing it if need be, so that touching them later cannot
/// fail. Growing a file beyond RLIMIT_FSIZE would kill the process with SIGXFSZ, so that limit is looked at first.
pub fn reserve(fd: impl AsFd, offset: u64, len: u64) -> Result<(), Shortage> {
    let end = offset.checked_add(len).ok_or(Shortage::Refused(Errno::OVERFLOW))?;
    if let Some(limit) = getrlimit(Resource::Fsize).current
        && end > limit
        && end > file_size(&fd).map_err(Shortage::Refused)?
    {
        return Err(Shortage::FileLimit(limit));
    }
    loop {
        match fallocate(&fd, FallocateFlags::empty(), offset, len) {
            Err(Errno::INTR) => continue,
            other => return other.map_err(Shortage::Refused),
        }
    }
}

/// A shared mapping of a part of the segment; unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    len: usize,
}

// SAFETY: a mapping belongs to the process, so any thread of it may use it, and unmap it.
unsafe impl Send for Mapping {}
// SAFETY: it gives out addresses, and touches nothing there itself.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes of a file from `offset` (a multiple of a page) on, shared, for reading and writing.
    pub fn new(fd: impl AsFd, offset: u64, len: u64) -> Result<Mapping, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::OVERFLOW)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            mmap(
                core::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                fd,
                offset,
            )?
        };
        Ok(Mapping { base: base.cast(), len })
    }

    /// Bytes that are mapped, whole pages.
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Address of the first byte.
    #[inline(always)]
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Address of byte `offset`, which is in the mapping if its length is more than that.
    #[inline(always)]
    pub fn at(&self, offset: u64) -> *mut u8 {
        debug_assert!((offset as usize) < self.len);
        self.base.wrapping_add(offset as usize)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made by `new`, dropped once, and nothing refers to it any more. A failure would
        // leave memory mapped, no more.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}

/// Registers this process for [`membarrier`], so that one of any process reaches it. False: the kernel refuses. Cheap
/// while the process has one thread, which is when components are opened.
pub fn register_for_membarrier() -> bool {
    // The query is not trusted alone: a filter may let it pass and refuse the command itself.
    membarrier_query().contains_command(MembarrierCommand::GlobalExpedited)
        && run_membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
        && run_membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

/// Runs a full memory barrier on every running thread of all registered processes and on this one. False: the kernel
/// refused, and nothing is ordered.
#[cfg(not(loom))]
pub fn membarrier() -> bool {
    run_membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

/// Wakes one sleeper on a futex word that processes share.
pub fn wake(word: &AtomicU32) {
    // SAFETY: an aligned word that lives, of which only the address is used; models do not come here.
    let word = unsafe { &*core::ptr::from_ref(word).cast::<core::sync::atomic::AtomicU32>() };
    // Fails only for a bad address, which that of a word is not.
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

/// Id of this process, in its own pid namespace.
pub fn pid() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get() as u32
}

/// Device and inode of the file behind a descriptor of the host's.
pub fn file_identity(fd: RawFd) -> Result<(u64, u64), Errno> {
    if fd < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the host keeps the descriptor open during the call in which it told it; it is borrowed for this call only.
    let stat = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(fd) })?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Number of the pid namespace that this process's id belongs to; 0 where /proc does not say.
pub fn pid_namespace() -> u64 {
    rustix::fs::stat("/proc/self/ns/pid").map_or(0, |s| s.st_ino)
}

/// Permits process `keeper` and its descendants to read our memory, where the Yama module asks for it. Without Yama
/// the kernel says EINVAL, and everyone of our user may anyway.
pub fn permit_reads_by_descendants_of(keeper: u32) {
    if let Some(pid) = Pid::from_raw(keeper as i32) {
        let _ = rustix::process::set_ptracer(rustix::process::PTracer::ProcessID(pid));
    }
}

/// Pieces of one call to the kernel, which takes no more than 1024.
const PIECES: usize = 256;

/// Writes the next pieces of `list`, from byte `done` of its first one on, into a vector for the kernel: at most
/// [`PIECES`] of them with at most `most` bytes together. Returns the number of pieces and of bytes.
fn fill(vector: &mut [libc::iovec; PIECES], list: &[Piece], mut done: u64, most: u64) -> (usize, u64) {
    let (mut count, mut bytes) = (0, 0);
    for piece in list {
        let len = (piece.len - done).min(most - bytes);
        if count == PIECES || bytes == most {
            break;
        }
        if len > 0 {
            let base = piece.addr.wrapping_add(done) as *mut libc::c_void;
            vector[count] = libc::iovec { iov_base: base, iov_len: len as usize };
            count += 1;
            bytes += len;
        }
        done = 0;
    }
    (count, bytes)
}

/// Moves a place in a list, byte `done` of its first piece, on by `bytes`.
fn skip(list: &mut &[Piece], done: &mut u64, bytes: u64) {
    *done += bytes;
    while let Some(first) = list.first()
        && first.len <= *done
    {
        *done -= first.len;
        *list = &list[1..];
    }
}

/// Copies `len` bytes from the pieces `remote` of process `pid` to the pieces `local` here; the lists may be cut
/// differently.
///
/// # Safety
/// The memory that `local` names must be writable. (The kernel checks that of `remote`.)
pub unsafe fn read_lists(pid: u32, mut local: &[Piece], mut remote: &[Piece], len: u64) -> Result<(), Errno> {
    const NONE: libc::iovec = libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 };
    let (mut here, mut there) = ([NONE; PIECES], [NONE; PIECES]);
    let (mut local_done, mut remote_done, mut left) = (0, 0, len);
    while left > 0 {
        let (theirs, bytes) = fill(&mut there, remote, remote_done, left);
        let (ours, bytes) = fill(&mut here, local, local_done, bytes);
        if bytes == 0 {
            // A list that is too short.
            return Err(Errno::INVAL);
        }
        // SAFETY: both vectors have that many entries; `here` is valid by the caller's promise, and the
        // kernel checks `there` in the other process. It copies as much as both have.
        let n = unsafe {
            libc::process_vm_readv(
                pid as i32,
                here.as_ptr(),
                ours as libc::c_ulong,
                there.as_ptr(),
                theirs as libc::c_ulong,
                0,
            )
        };
        match n {
            0 => return Err(Errno::FAULT),
            n if n > 0 => {
                skip(&mut local, &mut local_done, n as u64);
                skip(&mut remote, &mut remote_done, n as u64);
                left -= n as u64;
            }
            _ => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(code) => return Err(Errno::from_raw_os_error(code)),
                None => return Err(Errno::IO),
            },
        }
    }
    Ok(())
}

/// Which way [`copy_between`] copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Read,
    Write,
}

/// Copies `len` bytes between `local` and address `remote` of process `pid` by system call. An error leaves the
/// destination undefined.
///
/// # Safety
/// `local` must be valid for `len` bytes (writable for `Read`).
pub unsafe fn copy_between(
    direction: Direction,
    pid: u32,
    local: *mut u8,
    remote: u64,
    len: u64,
) -> Result<(), Errno> {
    let mut done = 0u64;
    while done < len {
        let left = (len - done) as usize;
        // SAFETY: `done` is less than `len`, for which `local` is valid.
        let here = libc::iovec { iov_base: unsafe { local.add(done as usize) }.cast(), iov_len: left };
        let there = libc::iovec { iov_base: remote.wrapping_add(done) as *mut libc::c_void, iov_len: left };
        // SAFETY: both vectors have one entry; `here` is valid by the caller's promise, and the kernel
        // checks `there` in the other process.
        let n = unsafe {
            match direction {
                Direction::Read => libc::process_vm_readv(pid as i32, &here, 1, &there, 1, 0),
                Direction::Write => libc::process_vm_writev(pid as i32, &here, 1, &there, 1, 0),
            }
        };
        match n {
            // Nothing copied and no error: it would stay so for ever.
            0 => return Err(Errno::FAULT),
            n if n > 0 => done += n as u64,
            _ => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(code) => return Err(Errno::from_raw_os_error(code)),
                None => return Err(Errno::IO),
            },
        }
    }
    Ok(())
}

/// The kernel module XPMEM.
pub struct Xpmem(OwnedFd);

/// Numbers and arguments of the kernel module's calls.
mod xpmem {
    use core::ffi::c_int;

    /// The number of a call: `_IO('x', number)`.
    const fn io(number: libc::Ioctl) -> libc::Ioctl {
        (b'x' as libc::Ioctl) << 8 | number
    }
    pub const VERSION: libc::Ioctl = io(0);
    pub const MAKE: libc::Ioctl = io(1);
    pub const GET: libc::Ioctl = io(3);
    pub const RELEASE: libc::Ioctl = io(4);
    pub const ATTACH: libc::Ioctl = io(5);
    pub const DETACH: libc::Ioctl = io(6);

    /// Bytes of an offer that has all memory.
    pub const WHOLE: usize = usize::MAX;
    pub const READ_AND_WRITE: c_int = 2;
    /// Type of permit: a file mode.
    pub const MODE: c_int = 1;
    pub const OWNER_ONLY: u64 = 0o600;

    /// Argument of [`MAKE`]: offers memory, and takes the number of the offer.
    #[repr(C)]
    pub struct Make {
        pub vaddr: u64,
        pub size: usize,
        pub permit_type: c_int,
        pub permit_value: u64,
        pub segment: i64,
    }
    /// Argument of [`GET`]: asks for access to an offer, and takes the number of the access.
    #[repr(C)]
    pub struct Get {
        pub segment: i64,
        pub flags: c_int,
        pub permit_type: c_int,
        pub permit_value: u64,
        pub grant: i64,
    }
    /// Argument of [`RELEASE`]: gives an access back.
    #[repr(C)]
    pub struct Release {
        pub grant: i64,
    }
    /// Argument of [`ATTACH`]: maps a range of offered memory, and takes its address here.
    #[repr(C)]
    pub struct Attach {
        pub grant: i64,
        pub offset: i64,
        pub size: usize,
        pub vaddr: u64,
        pub fd: c_int,
        pub flags: c_int,
    }
    /// Argument of [`DETACH`]: unmaps such a range.
    #[repr(C)]
    pub struct Detach {
        pub vaddr: u64,
    }

    // As the module's header has them.
    const _: () = assert!(size_of::<Make>() == 40 && size_of::<Get>() == 32 && size_of::<Attach>() == 40);
}

impl Xpmem {
    /// Opens /dev/xpmem, and asks it for its version to see that calls are answered.
    pub fn open() -> Result<Xpmem, Errno> {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
        let device = Xpmem(rustix::fs::open("/dev/xpmem", flags, rustix::fs::Mode::empty())?);
        // SAFETY: this call takes nothing.
        unsafe { device.call(xpmem::VERSION, &mut ())? };
        Ok(device)
    }

    /// Makes call `number` of the device with argument `about`.
    ///
    /// # Safety
    /// `about` must be what call `number` takes.
    unsafe fn call<T>(&self, number: libc::Ioctl, about: &mut T) -> Result<(), Errno> {
        use rustix::fd::AsRawFd;
        // SAFETY: the caller's promise; the pointer is good for the call.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), number, core::ptr::from_mut(about)) } {
            -1 => {
                let code = std::io::Error::last_os_error().raw_os_error();
                Err(code.map_or(Errno::IO, Errno::from_raw_os_error))
            }
            _ => Ok(()),
        }
    }
}

impl crate::single_copy::mapper::Device for Xpmem {
    fn make(&self) -> Result<i64, Errno> {
        let (permit_type, permit_value) = (xpmem::MODE, xpmem::OWNER_ONLY);
        let mut make = xpmem::Make { vaddr: 0, size: xpmem::WHOLE, permit_type, permit_value, segment: 0 };
        // SAFETY: what this call takes.
        unsafe { self.call(xpmem::MAKE, &mut make)? };
        if make.segment == 0 { Err(Errno::INVAL) } else { Ok(make.segment) }
    }

    fn get(&self, segment: i64) -> Result<i64, Errno> {
        let (flags, permit_type) = (xpmem::READ_AND_WRITE, xpmem::MODE);
        let mut get = xpmem::Get { segment, flags, permit_type, permit_value: 0, grant: 0 };
        // SAFETY: what this call takes.
        unsafe { self.call(xpmem::GET, &mut get)? };
        Ok(get.grant)
    }

    fn attach(&self, grant: i64, from: u64, len: u64) -> Result<*mut u8, Errno> {
        use rustix::fd::AsRawFd;
        let offset = i64::try_from(from).map_err(|_| Errno::FAULT)?;
        let (size, fd) = (len as usize, self.0.as_raw_fd());
        let mut attach = xpmem::Attach { grant, offset, size, vaddr: 0, fd, flags: 0 };
        // SAFETY: what this call takes; the kernel chooses where to map.
        unsafe { self.call(xpmem::ATTACH, &mut attach)? };
        Ok(attach.vaddr as *mut u8)
    }

    unsafe fn detach(&self, at: *mut u8, _len: u64) {
        // SAFETY: what this call takes; by the caller's promise nobody uses the attachment any more. A failure would leave it mapped.
        let _ = unsafe { self.call(xpmem::DETACH, &mut xpmem::Detach { vaddr: at as u64 }) };
    }

    fn release(&self, grant: i64) {
        // SAFETY: what this call takes: a number.
        let _ = unsafe { self.call(xpmem::RELEASE, &mut xpmem::Release { grant }) };
    }
}
