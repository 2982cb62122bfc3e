//! The object behind a handle of a communicator: the runtime's [`Communicator`] with its error handler, attributes,
//! topology and buffer.

use crate::attr::Attributes;
use crate::buffered::Slot;
use crate::call::handle::{Kind, Table, is_of};
use crate::call::thread_rank;
use crate::constants::*;
use crate::error::handler::Handler;
use crate::error::{Failure, Res};
use crate::session::{WORLD, buffer_of};
use crate::types::Comm;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::topo::{Neighbors, Topology};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// The fields that a message needs stand in the first words.
#[repr(C, align(64))]
pub struct CommObject {
    pub comm: Arc<Communicator>,
    /// Ranks that a send or receive may name are below this.
    pub peers: u32,
    pub handle: AtomicUsize,
    handler: Mutex<Handler>,
    /// The program has given it its handler.
    handler_given: AtomicBool,
    pub attributes: Attributes,
    pub topology: OnceLock<Arc<Placed>>,
    /// The stream that it was made with (`streams`): a handle, or that of none.
    pub stream: OnceLock<usize>,
    /// For buffered sends on this communicator.
    pub buffer: Arc<Slot>,
    /// That of the session it comes from.
    pub session_buffer: OnceLock<Arc<Slot>>,
}

/// A communicator's topology, and the calling rank's neighbors in it.
pub struct Placed {
    pub topology: Topology,
    pub neighbors: Neighbors,
}

pub static TABLE: Table<CommObject> = Table::new(Kind::Comm);

/// MPI_COMM_WORLD and MPI_COMM_SELF while MPI runs.
pub static PREDEFINED: [AtomicPtr<CommObject>; 2] = [const { AtomicPtr::new(null_mut()) }; 2];

/// The object of a handle.
#[inline(always)]
pub fn get(comm: Comm) -> Option<&'static CommObject> {
    let predefined = comm.0.wrapping_sub(MPI_COMM_WORLD);
    if predefined < PREDEFINED.len() {
        // SYNC POINT with `install`.
        let object = PREDEFINED[predefined].load(Ordering::Acquire);
        // SAFETY: null, or leaked by `install` and taken back after everything else has ended.
        return unsafe { object.as_ref() };
    }
    TABLE.get(comm.0).or_else(|| TABLE.get(thread_rank::of(comm.0)?))
}

/// The object of a handle, or what to tell the user.
#[inline]
pub fn require(comm: Comm) -> Res<&'static CommObject> {
    get(comm).ok_or_else(|| wrong(comm))
}

#[cold]
pub fn wrong(comm: Comm) -> Failure {
    match comm.0 {
        MPI_COMM_NULL => Failure::new(MPI_ERR_COMM, "comm is MPI_COMM_NULL"),
        other if is_of(Kind::Threadcomm, other) => Failure::new(
            MPI_ERR_COMM,
            "the calling thread has not started the thread communicator (MPIX_Threadcomm_start)",
        ),
        other => Failure::new(MPI_ERR_COMM, format!("comm {other:#x} is no communicator, or was freed")),
    }
}

impl CommObject {
    /// An object for a communicator, without a handle.
    pub fn new(comm: Arc<Communicator>, handler: Handler) -> CommObject {
        let session_buffer = OnceLock::new();
        let session = comm.group().session();
        if session != WORLD
            && let Some(buffer) = buffer_of(session)
        {
            let _ = session_buffer.set(buffer);
        }
        CommObject {
            peers: comm.num_peers(),
            comm,
            handle: AtomicUsize::new(0),
            handler: Mutex::new(handler),
            handler_given: AtomicBool::new(false),
            attributes: Attributes::default(),
            topology: OnceLock::new(),
            stream: OnceLock::new(),
            buffer: Arc::default(),
            session_buffer,
        }
    }

    /// A copy, so that no guard is alive when it is called.
    pub fn handler(&self) -> Handler {
        self.handler.lock().clone()
    }

    /// Whether the handler is one that the program has set, not the first one.
    pub fn handler_given(&self) -> bool {
        self.handler_given.load(Ordering::Relaxed)
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler_given.store(true, Ordering::Relaxed);
        let old = core::mem::replace(&mut *self.handler.lock(), handler);
        drop(old);
    }

    pub fn handle(&self) -> Comm {
        Comm(self.handle.load(Ordering::Relaxed))
    }

    /// For messages to people.
    pub fn describe(&self) -> String {
        let name = self.comm.name();
        let size = self.comm.size();
        if name.is_empty() {
            let inter = self.comm.remote_group().map(|r| format!(" (remote group: {})", r.size()));
            format!("a communicator of {size} ranks{}, rank {}", inter.unwrap_or_default(), self.comm.rank())
        } else {
            format!("{name}, rank {}", self.comm.rank())
        }
    }
}
