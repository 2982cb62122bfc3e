//! Memory to share, and the name of this machine.

use super::error::Error;
use rustix::fs::{MemfdFlags, SealFlags};
use std::os::fd::OwnedFd;

/// Memory to share: without a name, empty, unable to shrink. A peer that could shorten it would
/// have everybody else die of SIGBUS.
pub(super) fn new_segment() -> Result<OwnedFd, Error> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let segment = rustix::fs::memfd_create("oxmpi", flags)
        .map_err(|why| Error::system("cannot make the shared segment", why))?;
    rustix::fs::fcntl_add_seals(&segment, SealFlags::SHRINK)
        .map_err(|why| Error::system("cannot seal the shared segment against shrinking", why))?;
    Ok(segment)
}

/// This node's name as the kernel has it.
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
