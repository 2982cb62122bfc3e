//! Vectored transfers at an offset, and signals of threads.

use crate::batches::Extent;
use rustix::io::Errno;
use std::os::fd::RawFd;

const _: () = {
    assert!(size_of::<Extent>() == size_of::<libc::iovec>());
    assert!(core::mem::offset_of!(Extent, memory) == core::mem::offset_of!(libc::iovec, iov_base));
    assert!(core::mem::offset_of!(Extent, len) == core::mem::offset_of!(libc::iovec, iov_len));
};

/// Makes one call: how many bytes it transferred.
///
/// # Safety
/// The memory of the extents is readable (a write) or writable (a read) for the call.
pub unsafe fn transfer(fd: RawFd, is_write: bool, extents: &[Extent], offset: u64) -> Result<u64, Errno> {
    let Ok(offset) = libc::off_t::try_from(offset) else { return Err(Errno::INVAL) };
    let (list, count) = (extents.as_ptr().cast::<libc::iovec>(), extents.len() as libc::c_int);
    // SAFETY: a list of the system's layout (asserted above) whose memory the caller vouches for. An address that is not there is an answer of the system.
    let done = unsafe {
        match (is_write, extents) {
            (true, [one]) => libc::pwrite(fd, one.memory.cast(), one.len, offset),
            (false, [one]) => libc::pread(fd, one.memory.cast(), one.len, offset),
            (true, _) => libc::pwritev(fd, list, count, offset),
            (false, _) => libc::preadv(fd, list, count, offset),
        }
    };
    u64::try_from(done)
        .map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// Sleeps until a descriptor that would not wait by itself has something, or a moment where that cannot be told.
pub fn wait_for(fd: RawFd, is_write: bool) {
    const MOMENT_MS: i32 = 1;
    let mut wanted =
        libc::pollfd { fd, events: if is_write { libc::POLLOUT } else { libc::POLLIN }, revents: 0 };
    // SAFETY: one description on the stack.
    let ready = unsafe { libc::poll(&mut wanted, 1, MOMENT_MS) };
    if ready != 0 {
        // Ready all the time, as files are: something else holds it up.
        std::thread::sleep(std::time::Duration::from_millis(MOMENT_MS as u64));
    }
}

/// Runs `f` with all signals blocked, so that a thread that it starts takes none of the program's.
pub fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    let mut before = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets on the stack, of which the first call fills one and the second the other.
    unsafe {
        let mut all = core::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = f();
    // SAFETY: the mask that the call above gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    result
}
