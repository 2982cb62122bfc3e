//! Bytes that are copied between two processes, and the other process.

use crate::segment::map::Identity;
use oxmpi_btl::RmaDesc;

/// Bytes here and in a peer's memory, by their addresses. It may outlive the call that named them, in any thread.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    local: usize,
    pub(crate) remote: u64,
    pub(crate) len: u64,
}

impl Stretch {
    /// The bytes of a descriptor.
    pub(crate) fn of(rma: &RmaDesc) -> Stretch {
        Stretch { local: rma.local.expose_provenance(), remote: rma.remote, len: rma.len }
    }
    /// `len` bytes at these addresses, the local one of which has been exposed.
    pub(crate) fn at(local: u64, remote: u64, len: u64) -> Stretch {
        Stretch { local: local as usize, remote, len }
    }
    /// `len` of the bytes, from `offset` on.
    pub(crate) fn part(self, offset: u64, len: u64) -> Stretch {
        Stretch { local: self.local + offset as usize, remote: self.remote + offset, len }
    }
    /// Where the bytes here begin.
    pub(crate) fn local(self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.local)
    }
}

/// The peer whose memory is copied.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    /// Its local rank.
    pub(crate) peer: u32,
    /// As it is known in the segment.
    pub(crate) who: Identity,
}
