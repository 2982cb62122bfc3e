//! Events of the sockets of direct links: their numbers in the epoll, and what of a socket is waited for.

use rustix::event::epoll::{self, EventData, EventFlags};
use std::os::fd::{AsFd, BorrowedFd};

/// Kinds of what is ready: the lowest two bits of an event's number.
pub const LISTENER: u64 = 0;
pub const GUEST: u64 = 1;
pub const LINE: u64 = 2;

/// Waits for what comes, and for room where there is something to send.
pub fn watch(epoll: BorrowedFd<'_>, fd: impl AsFd, number: u64, hears: bool, sends: bool) {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, hears);
    flags.set(EventFlags::OUT, sends);
    // It was added before, and is taken out by being closed.
    let _ = epoll::modify(epoll, fd, EventData::new_u64(number), flags);
}

/// Begins to wait for events of a socket.
pub fn add(epoll: BorrowedFd<'_>, fd: impl AsFd, number: u64, flags: EventFlags) -> std::io::Result<()> {
    Ok(epoll::add(epoll, fd, EventData::new_u64(number), flags)?)
}
