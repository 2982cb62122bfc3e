//! The ring of the kernel, and the process's number.

use io_uring::squeue::Flags;
use io_uring::{IoUring, Probe, opcode, types};
use oxmpi_fbtl_support::Extent;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

const _: () = {
    assert!(size_of::<Extent>() == size_of::<libc::iovec>());
    assert!(core::mem::offset_of!(Extent, memory) == core::mem::offset_of!(libc::iovec, iov_base));
    assert!(core::mem::offset_of!(Extent, len) == core::mem::offset_of!(libc::iovec, iov_len));
};

/// Numbers of errors after which a request is made once more: it was interrupted, its worker or the thread that submitted it went away, or it would have had to wait.
pub const AGAIN: [i32; 3] = [libc::EINTR, libc::EAGAIN, libc::ECANCELED];
/// The failure of a write that does nothing.
pub const WROTE_NOTHING: i32 = libc::EIO;

/// The process's number.
pub fn process() -> u32 {
    std::process::id()
}

/// One vectored transfer.
pub struct Vectored<'a> {
    pub fd: RawFd,
    pub is_write: bool,
    pub extents: &'a [Extent],
    pub offset: u64,
    /// A worker of the kernel does all of it, so that whoever submits copies nothing.
    pub by_worker: bool,
}

/// A ring. Its memory is not a child's.
pub struct Ring {
    ring: IoUring,
}

impl Ring {
    /// Makes a ring for so many requests at once. An error: the kernel is too old, or refuses.
    pub fn new(depth: u32, workers: u32) -> io::Result<Ring> {
        let ring = IoUring::builder().dontfork().setup_clamp().build(depth)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let has = |code| probe.is_supported(code);
        let params = ring.params();
        let whole = params.is_feature_nodrop() && params.is_feature_submit_stable();
        if !whole || !has(opcode::Readv::CODE) || !has(opcode::Writev::CODE) {
            return Err(io::Error::other("the kernel's rings are too old"));
        }
        // Older kernels have no such limit, and then it is their own.
        let _ = ring.submitter().register_iowq_max_workers(&mut [workers, 0]);
        Ok(Ring { ring })
    }

    /// A descriptor that is readable while a completion lies in the ring.
    pub fn fd(&self) -> RawFd {
        self.ring.as_raw_fd()
    }

    /// Puts a request into the ring, to be submitted; false: there is no room.
    ///
    /// # Safety
    /// The extents and their memory stay, and belong to the request alone, until its completion was taken out.
    pub unsafe fn push(&mut self, what: &Vectored<'_>, number: u64) -> bool {
        let (list, count) = (what.extents.as_ptr().cast::<libc::iovec>(), what.extents.len() as u32);
        let fd = types::Fd(what.fd);
        let entry = if what.is_write {
            opcode::Writev::new(fd, list, count).offset(what.offset).build()
        } else {
            opcode::Readv::new(fd, list, count).offset(what.offset).build()
        };
        let flags = if what.by_worker { Flags::ASYNC } else { Flags::empty() };
        let entry = entry.flags(flags).user_data(number);
        // SAFETY: the caller's promise.
        unsafe { self.ring.submission().push(&entry).is_ok() }
    }

    /// Gives the kernel what was pushed. False: it has no resources for all of that now.
    pub fn submit(&mut self) -> bool {
        const TRIES: u32 = 1000;
        for _ in 0..TRIES {
            if self.ring.submission().is_empty() {
                return true;
            }
            match self.ring.submit() {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(_) => std::thread::yield_now(),
            }
        }
        self.ring.submission().is_empty()
    }

    /// Takes the next completion out: the request's number, and the bytes or the number of the error below 0.
    pub fn next(&mut self) -> Option<(u64, i32)> {
        self.ring.completion().next().map(|entry| (entry.user_data(), entry.result()))
    }
}
