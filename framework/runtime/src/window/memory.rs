//! The memory behind a window: the program's, the process's own, or a segment that the ranks of a node share.
//!
//! MPI_Win_allocate gets memory that the node's ranks share where several ranks of the window are on a node and the system
//! gives it, else memory of the process; all ranks of a node agree. MPI_Win_allocate_shared gets shared memory or fails.

use crate::communicator::Communicator;
use crate::error::{Error, ErrorKind};
use crate::places::Places;
use crate::shared::{SharedMemory, Wish};
use oxmpi_mca::ThreadCtx;
use oxmpi_osc::Mapped;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Owner of the memory.
pub(super) enum Memory {
    /// The program's.
    Users,
    /// From the allocator.
    Own(Own),
    /// Of the ranks of the window on this node, in the order of their ranks.
    Shared(SharedMemory),
}

/// A block from the allocator, given back when dropped.
pub(super) struct Own(*mut c_void);

// SAFETY: memory belongs to the process, not to a thread.
unsafe impl Send for Own {}
// SAFETY: as above; nobody looks into it here.
unsafe impl Sync for Own {}

impl Own {
    /// `align`: a power of two, at least a pointer's size.
    fn new(bytes: u64, align: usize) -> Result<Own, Error> {
        let none = || Error::new(ErrorKind::NoMem, format!("there are no {bytes} bytes"));
        let mut memory = null_mut();
        let size = usize::try_from(bytes).map_err(|_| none())?;
        // SAFETY: a place for the answer; the caller's promise.
        let failed = unsafe { libc::posix_memalign(&mut memory, align, size.max(1)) };
        if failed == 0 { Ok(Own(memory)) } else { Err(none()) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: from the allocator, given back once.
        unsafe { libc::free(self.0) };
    }
}

impl Memory {
    /// MPI_Win_allocate; called by all ranks.
    pub fn allocate(
        comm: &Communicator,
        thread: *mut ThreadCtx,
        places: &Places,
        wish: Wish,
        align: usize,
    ) -> Result<Memory, Error> {
        let shared = match align <= crate::system::page_size() {
            true => Memory::of_node(comm, thread, places, wish)?,
            false => None,
        };
        let memory = match shared {
            Some(memory) => Ok(memory),
            None => Own::new(wish.bytes, align).map(Memory::Own),
        };
        agreed(comm, thread, memory)
    }

    /// A segment of the node's ranks; `None` where there is none.
    fn of_node(
        comm: &Communicator,
        thread: *mut ThreadCtx,
        places: &Places,
        wish: Wish,
    ) -> Result<Option<Memory>, Error> {
        let Some(place) = places.get(comm.rank()).copied() else {
            return Err(Error::new(ErrorKind::Intern, "a window's rank has no place"));
        };
        let Some(node) = comm.split(thread, Some(place.node), comm.rank() as i32)? else {
            return Err(Error::new(ErrorKind::Intern, "a node of a window has no communicator"));
        };
        if node.size() == 1 {
            return Ok(None);
        }
        match node.share_memory(thread, wish) {
            Ok(memory) => Ok(Some(Memory::Shared(memory))),
            Err(why) => {
                let line = format!("a window's memory is not shared on the node: {}", why.message);
                comm.instance().logger().info("osc", &line);
                Ok(None)
            }
        }
    }

    /// Where the calling rank's memory begins; `node_rank` is its number on the node.
    pub fn base(&self, node_rank: u32) -> *mut u8 {
        match self {
            Memory::Users => null_mut(),
            Memory::Own(own) => own.0.cast(),
            Memory::Shared(memory) => {
                memory.parts().get(node_rank as usize).map_or(null_mut(), |part| memory.at(part))
            }
        }
    }

    /// The memory of the rank with this number on the node.
    pub fn mapped(&self, node_rank: u32) -> Option<Mapped> {
        let Memory::Shared(memory) = self else { return None };
        let part = memory.parts().get(node_rank as usize)?;
        Some(Mapped { base: memory.at(part), bytes: part.bytes, disp_unit: part.disp_unit })
    }
}

/// Our outcome, if it is everybody's.
fn agreed(comm: &Communicator, thread: *mut ThreadCtx, own: Result<Memory, Error>) -> Result<Memory, Error> {
    let missing = comm.first_without(thread, own.is_ok())?;
    match (own, missing) {
        (Ok(memory), None) => Ok(memory),
        (Err(why), _) => Err(why),
        (Ok(_), Some(rank)) => {
            let message = format!("rank {rank} of the communicator has not the memory it asks for");
            Err(Error::new(ErrorKind::NoMem, message))
        }
    }
}
