//! Copies through a mapping of a peer's memory.

use crate::device::Shm;
use crate::segment::map::Identity;
use crate::sys::Direction;

impl Shm {
    /// Copies `len` bytes between `local` and address `remote` of a peer through an XPMEM mapping of the peer's
    /// memory. False: the memory cannot be mapped, and nothing was copied.
    ///
    /// # Safety
    /// `local` must be valid for `len` bytes (writable for `Read`). `remote` is the peer's word; see the head of
    /// `xpmem.rs`.
    pub(crate) unsafe fn copy_attached(
        &self,
        direction: Direction,
        (ctx, peer): (u32, u32),
        who: &Identity,
        local: *mut u8,
        remote: u64,
        len: u64,
    ) -> bool {
        let (Some(device), Some(receiver)) = (self.xpmem(), self.receiver(ctx)) else { return false };
        if who.xpmem == 0 {
            return false;
        }
        let found = receiver.attached.borrow_mut().find(device, (peer, who.xpmem), remote, len);
        let there = match found {
            Ok(there) => there,
            Err(errno) => {
                self.xpmem_refused(errno);
                return false;
            }
        };
        let (src, dst) = match direction {
            Direction::Read => (there, local),
            Direction::Write => (local, there),
        };
        // SAFETY: `local` by the caller's promise. `there` is mapped for `len` bytes, and memory of another process, so
        // they do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(src, dst, len as usize) };
        true
    }
}

#[cfg(all(test, not(loom)))]
#[path = "xpmem_tests.rs"]
pub mod tests;
