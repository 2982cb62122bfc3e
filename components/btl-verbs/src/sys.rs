//! System calls that only this driver makes: sets of descriptors, waiting, random numbers, the error number of C libraries.

use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// Whether the kernel knows a verbs device, as far as one look tells.
pub fn kernel_has_devices() -> bool {
    std::fs::read_dir("/sys/class/infiniband_verbs").is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|e| e.file_name().to_string_lossy().starts_with("uverbs"))
    })
}

/// Bytes that nobody guesses.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        at += rustix::rand::getrandom(&mut bytes[at..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// A set of descriptors that is one itself.
pub struct Set(OwnedFd);

impl Set {
    pub fn new() -> io::Result<Set> {
        Ok(Set(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }
    /// # Safety
    /// The descriptor is open as long as the set.
    pub unsafe fn add(&self, fd: RawFd) -> io::Result<()> {
        // SAFETY: the caller's promise.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?)
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Makes a library's descriptor answer at once where nothing is there.
///
/// # Safety
/// The descriptor is open.
pub unsafe fn never_block(fd: RawFd) -> io::Result<()> {
    // SAFETY: the caller's promise.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::ioctl_fionbio(fd.as_fd(), true)?)
}

/// Waits until one of the descriptors has something, or for so long. `None`: for ever.
///
/// # Safety
/// The descriptors are open.
pub unsafe fn wait(fds: &[RawFd], limit: Option<Duration>) {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        // SAFETY: the caller's promise.
        .map(|fd| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::IN))
        .collect();
    let limit = limit.map(|l| Timespec { tv_sec: l.as_secs() as i64, tv_nsec: l.subsec_nanos().into() });
    let _ = rustix::event::poll(&mut polled, limit.as_ref());
}

/// Runs a call of a C library, and says why it failed where it has told.
pub fn called<R>(call: impl FnOnce() -> R) -> (R, String) {
    // SAFETY: this thread's own error number.
    unsafe { *libc::__errno_location() = 0 };
    let result = call();
    let error = io::Error::last_os_error();
    let why = if error.raw_os_error() == Some(0) { "it is refused".to_owned() } else { error.to_string() };
    (result, why)
}
