//! The memory behind a window: the program's, the process's own, or a segment that the ranks of a node share.

use crate::shared_memory::SharedMemory;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_osc::Mapped;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Owner of the memory.
pub(crate) enum Memory {
    /// The program's.
    Users,
    /// From the allocator.
    Allocated(AllocatedBlock),
    /// Of the ranks of the window on this node, in the order of their ranks.
    Shared(SharedMemory),
}

/// A block from the allocator, given back when dropped.
pub(crate) struct AllocatedBlock(*mut c_void);

// SAFETY: memory belongs to the process, not to a thread.
unsafe impl Send for AllocatedBlock {}
// SAFETY: nobody looks into it here.
unsafe impl Sync for AllocatedBlock {}

impl Drop for AllocatedBlock {
    fn drop(&mut self) {
        // SAFETY: from the allocator, given back once.
        unsafe { libc::free(self.0) };
    }
}

impl AllocatedBlock {
    /// Allocates `bytes` bytes. `align`: a power of two, at least a pointer's size.
    pub(crate) fn new(bytes: u64, align: usize) -> Result<AllocatedBlock, Error> {
        let none = || Error::new(ErrorKind::NoMem, format!("there are no {bytes} bytes"));
        let mut memory = null_mut();
        let size = usize::try_from(bytes).map_err(|_| none())?;
        // SAFETY: a place for the answer; the caller's promise.
        let failed = unsafe { libc::posix_memalign(&mut memory, align, size.max(1)) };
        if failed == 0 { Ok(AllocatedBlock(memory)) } else { Err(none()) }
    }
}

impl Memory {
    /// Where the calling rank's memory begins; `node_rank` is its number on the node.
    pub fn base(&self, node_rank: u32) -> *mut u8 {
        match self {
            Memory::Users => null_mut(),
            Memory::Allocated(own) => own.0.cast(),
            Memory::Shared(memory) => {
                memory.parts().get(node_rank as usize).map_or(null_mut(), |part| memory.at(part))
            }
        }
    }

    /// The memory of the rank with this number on the node; `None`: the memory is not shared, or there is no such rank.
    pub fn mapped(&self, node_rank: u32) -> Option<Mapped> {
        let Memory::Shared(memory) = self else { return None };
        let part = memory.parts().get(node_rank as usize)?;
        Some(Mapped { base: memory.at(part), bytes: part.bytes, disp_unit: part.disp_unit })
    }
}
