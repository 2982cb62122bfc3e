//! The memory behind a window: the program's, the process's own, or a segment that the ranks of a node share.
//!
//! MPI_Win_allocate gets memory that the node's ranks share where several ranks of the window are on a node and the system
//! gives it, else memory of the process; all ranks of a node agree. MPI_Win_allocate_shared gets shared memory or fails.

use super::memory::Memory;
use crate::objects::Communicator;
use crate::places::Places;
use crate::shared_memory::Wish;
use crate::window::memory::AllocatedBlock;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;

impl Memory {
    /// Allocates the memory of MPI_Win_allocate: shared on the node where that can be, else of the process; called by
    /// all ranks.
    pub fn allocate(
        comm: &Communicator,
        entry: &mut Entry,
        places: &Places,
        wish: Wish,
        align: usize,
    ) -> Result<Memory, Error> {
        let shared = match align <= oxmpi_system::page_size() {
            true => Memory::of_node(comm, entry, places, wish)?,
            false => None,
        };
        let memory = match shared {
            Some(memory) => Ok(memory),
            None => AllocatedBlock::new(wish.bytes, align).map(Memory::Allocated),
        };
        agreed(comm, entry, memory)
    }

    /// Allocates the window's memory in a segment that the ranks of `comm` on this node share; called by all ranks of
    /// `comm`, which is split by node. `None`, for all ranks of a node alike: there is only one, or the node cannot
    /// share memory or has too little (logged); each rank takes memory of its own then. `Err`: `comm` cannot be split.
    fn of_node(
        comm: &Communicator,
        entry: &mut Entry,
        places: &Places,
        wish: Wish,
    ) -> Result<Option<Memory>, Error> {
        let Some(place) = places.get(comm.rank()).copied() else {
            return Err(Error::new(ErrorKind::Intern, "a window's rank has no place"));
        };
        let Some(node) = comm.split(entry, Some(place.node), comm.rank() as i32)? else {
            return Err(Error::new(ErrorKind::Intern, "a node of a window has no communicator"));
        };
        if node.size() == 1 {
            return Ok(None);
        }
        match node.share_memory(entry, wish) {
            Ok(memory) => Ok(Some(Memory::Shared(memory))),
            Err(why) => {
                let line = format!("a window's memory is not shared on the node: {}", why.message);
                comm.instance().logger().info("osc", &line);
                Ok(None)
            }
        }
    }
}

/// Our memory, if all ranks have theirs; else an error on every rank. Called by all ranks.
fn agreed(comm: &Communicator, entry: &mut Entry, own: Result<Memory, Error>) -> Result<Memory, Error> {
    let missing = comm.first_without(entry, own.is_ok())?;
    match (own, missing) {
        (Ok(memory), None) => Ok(memory),
        (Err(why), _) => Err(why),
        (Ok(_), Some(rank)) => {
            let message = format!("rank {rank} of the communicator has not the memory it asks for");
            Err(Error::new(ErrorKind::NoMem, message))
        }
    }
}
