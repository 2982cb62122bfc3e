//! A private anonymous mapping: memory that shares no page with anything else, so that a device may register it.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;

/// The size of a page here and to every device.
const PAGE: usize = 4096;

/// Memory of its own pages, zero at first. It is unmapped when the value is dropped.
pub struct Pages {
    base: *mut u8,
    len: usize,
}

// SAFETY: an address and a length; only the owner of the value hands out the memory and says who may use it when.
unsafe impl Send for Pages {}
// SAFETY: as above: a shared `Pages` gives no more than the address and the length.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps at least `len` bytes, rounded up to whole pages; at least one page. Fails as the kernel says.
    pub fn new(len: usize) -> io::Result<Pages> {
        let len = len.max(1).next_multiple_of(PAGE);
        let flags = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at a place of the kernel's choice overlaps nothing.
        let base = unsafe { mmap_anonymous(core::ptr::null_mut(), len, flags.0, flags.1) }?;
        Ok(Pages { base: base.cast(), len })
    }

    /// Returns the address of the first byte.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Returns the number of bytes, a multiple of the page size.
    #[allow(clippy::len_without_is_empty, reason = "there is always a page")]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped exactly this, and the owner, who drops it, has ended every use.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_whole_and_zero() {
        for (asked, got) in [(0, PAGE), (1, PAGE), (PAGE, PAGE), (PAGE + 1, 2 * PAGE)] {
            let pages = Pages::new(asked).expect("memory");
            assert_eq!((pages.len(), pages.base().addr() % PAGE), (got, 0));
            // SAFETY: the mapping lives until the end of this block.
            let bytes = unsafe { core::slice::from_raw_parts(pages.base(), got) };
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
        assert!(Pages::new(usize::MAX / 2).is_err(), "more than there is");
    }
}
