//! Copies through a mapping of a peer's memory.

use crate::device::Shm;
use crate::single_copy::stretch::{Owner, Stretch};
use crate::single_copy::xpmem::Attachments;
use crate::sys::Direction;

impl Shm {
    /// Copies bytes between here and a peer through an XPMEM mapping of the peer's memory. False: the memory cannot be
    /// mapped, and nothing was copied.
    ///
    /// # Safety
    /// The bytes here are valid (writable for `Read`). The address there is the peer's word; see the head of
    /// `xpmem.rs`.
    pub(crate) unsafe fn copy_attached(
        &self,
        attached: &mut Attachments,
        direction: Direction,
        owner: &Owner,
        what: Stretch,
    ) -> bool {
        let Some(device) = self.xpmem() else { return false };
        if owner.who.xpmem == 0 {
            return false;
        }
        let there = match attached.find(device, (owner.peer, owner.who.xpmem), what.remote, what.len) {
            Ok(there) => there,
            Err(errno) => {
                self.xpmem_refused(errno);
                return false;
            }
        };
        let (src, dst) = match direction {
            Direction::Read => (there, what.local()),
            Direction::Write => (what.local(), there),
        };
        // SAFETY: the bytes here are valid by the caller's promise. `there` is mapped for as many, and memory of another
        // process, so they do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(src, dst, what.len as usize) };
        true
    }
}

#[cfg(all(test, not(loom)))]
#[path = "xpmem_tests.rs"]
pub mod tests;
