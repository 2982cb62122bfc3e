//! Memory for the steps of one plan. The memory of a plan of a nonblocking operation is kept for the next one
//! in the same request, up to a limit.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// The alignment that the contract promises.
const ALIGN: usize = 64;
/// Bytes that a request without a plan keeps.
const KEEP: usize = 64 << 10;

/// An aligned block from the allocator, given back when dropped.
struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

impl Block {
    /// Allocates at least `len` bytes, aligned to 64; `None`: there is no memory.
    fn new(len: usize) -> Option<Block> {
        let size = len.max(ALIGN).checked_next_multiple_of(ALIGN)?;
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        Some(Block { start, layout })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// The blocks of one plan, and those of earlier ones.
#[derive(Default)]
pub struct Memory {
    used: Vec<Block>,
    spare: Vec<Block>,
}

impl Memory {
    /// Gives at least `len` bytes that are valid until `clear`, from a spare block or the allocator; `None`: there is
    /// no memory.
    pub fn take(&mut self, len: u64) -> Option<*mut u8> {
        let len = usize::try_from(len).ok()?;
        let fits = |block: &&Block| block.layout.size() >= len;
        let best = self.spare.iter().filter(fits).map(|block| block.layout.size()).min();
        let place = best.and_then(|size| self.spare.iter().position(|block| block.layout.size() == size));
        let block = match place {
            Some(place) => self.spare.swap_remove(place),
            None => Block::new(len)?,
        };
        let start = block.start.as_ptr();
        self.used.push(block);
        Some(start)
    }

    /// The number of blocks in use.
    pub fn blocks(&self) -> usize {
        self.used.len()
    }

    /// Ends the use of all blocks but for the first `keep`, in the order in which they were taken: keeps some as spare, up to a limit, and frees
    /// the others.
    pub fn clear(&mut self, keep: usize) {
        let mut kept: usize = self.spare.iter().map(|block| block.layout.size()).sum();
        for block in self.used.drain(keep.min(self.used.len())..) {
            if kept + block.layout.size() <= KEEP {
                kept += block.layout.size();
                self.spare.push(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_up_to_a_limit() {
        let mut memory = Memory::default();
        let (small, large) = (memory.take(100).unwrap(), memory.take(5000).unwrap());
        assert!(small.addr().is_multiple_of(ALIGN) && small != large);
        memory.clear(0);
        assert_eq!((memory.take(90).unwrap(), memory.take(4999).unwrap()), (small, large), "the best fit");
        assert_ne!(memory.take(1).unwrap(), small);
        assert!(memory.take(u64::MAX).is_none());
        memory.take(KEEP as u64).unwrap();
        memory.clear(0);
        let kept: usize = memory.spare.iter().map(|b| b.layout.size()).sum();
        assert!(kept <= KEEP && memory.used.is_empty());
    }

    #[test]
    fn the_first_blocks_stay_in_use_where_only_the_later_ones_end() {
        let mut memory = Memory::default();
        let (first, second) = (memory.take(64).unwrap(), memory.take(64).unwrap());
        memory.clear(1);
        assert_eq!(memory.blocks(), 1);
        assert_eq!(memory.take(64).unwrap(), second, "the later one is spare");
        memory.clear(5);
        assert_eq!(memory.blocks(), 2, "there are not so many");
        memory.clear(0);
        assert!(memory.spare.iter().any(|block| block.start.as_ptr() == first));
    }
}
