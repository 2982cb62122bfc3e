//! System calls of this driver: random numbers, and waiting for descriptors.

use rustix::event::{PollFd, PollFlags, poll};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

/// Bytes that nobody guesses.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        at += rustix::rand::getrandom(&mut bytes[at..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Waits until one of the descriptors has something.
///
/// # Safety
/// The descriptors are open.
pub unsafe fn wait(fds: [RawFd; 2]) {
    // SAFETY: the caller's promise.
    let mut polled =
        fds.map(|fd| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(fd) }, PollFlags::IN));
    let _ = poll(&mut polled, None);
}
