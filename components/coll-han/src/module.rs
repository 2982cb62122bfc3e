//! The component's state for one communicator, and getting it ready: the parts of the communicator, and the notes of the node.

use crate::notes::Notes;
use crate::params::Settings;
use crate::shape::Shape;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::slice;
use oxmpi_coll::{CollComm, CollServices, part};
use oxmpi_coll_support::Scratch;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Host, Place, Status, StrRef};
use std::sync::OnceLock;

/// The largest temporary buffer that a communicator keeps for its next collective.
const KEPT: usize = 4 << 20;

pub struct HanModule {
    pub host: Host,
    pub settings: Settings,
    pub scratch: Scratch,
    ready: OnceLock<Ready>,
    /// Collectives so far; used by one thread at a time.
    calls: AtomicU32,
}

/// A module's parts that are there from its preparation on.
pub struct Ready {
    pub shape: Shape,
    /// The ranks of this node; those of this rank's number on their nodes; all.
    pub node: Part,
    pub across: Part,
    pub all: Part,
    notes: *const Notes,
    on_node: usize,
}

// SAFETY: parts may be used from any thread, and so may notes, which are atomic.
unsafe impl Send for Ready {}
// SAFETY: as above.
unsafe impl Sync for Ready {}

/// A part of the communicator, with collectives of its own.
#[derive(Clone, Copy)]
pub struct Part(pub *mut c_void);

impl HanModule {
    pub fn new(host: Host, settings: Settings) -> HanModule {
        HanModule {
            host,
            settings,
            scratch: Scratch::new(KEPT),
            ready: OnceLock::new(),
            calls: AtomicU32::new(0),
        }
    }

    /// The parts that `prepare` has made. `None`: it has not.
    pub fn ready(&self) -> Option<&Ready> {
        self.ready.get()
    }

    /// The number of a call that begins, from 1 on.
    pub fn next_call(&self) -> u32 {
        let next = self.calls.load(Ordering::Relaxed).wrapping_add(1);
        self.calls.store(next, Ordering::Relaxed);
        next
    }

    /// Gets the module ready; called by all ranks.
    pub fn prepare(&self, comm: &CollComm) -> Result<(), Status> {
        // SAFETY: the host's table, valid as long as the communicator.
        let services = unsafe { &*comm.services };
        if !services.can_lose() {
            return Err(Status::NOT_AVAILABLE);
        }
        let places: Result<Vec<Place>, Status> =
            (0..comm.num_ranks).map(|rank| place(services, comm, rank)).collect();
        let shape = Shape::new(&places?);
        let on_node = shape.on(shape.seat(comm.rank).node).len();
        let mut memory = null_mut();
        (services.node_memory)(comm, (on_node * size_of::<Notes>()) as u64, &mut memory).ok()?;
        let made = |which| -> Result<Part, Status> {
            let mut sub = null_mut();
            (services.sub_comm)(comm, which, StrRef::new("han"), &mut sub).ok()?;
            Ok(Part(sub))
        };
        // All ranks make them in this order.
        let (node, across, all) = (made(part::NODE)?, made(part::ACROSS)?, made(part::ALL)?);
        // There is one preparation.
        let _ =
            self.ready.set(Ready { shape, node, across, all, notes: memory.cast_const().cast(), on_node });
        Ok(())
    }
}

fn place(services: &CollServices, comm: &CollComm, rank: u32) -> Result<Place, Status> {
    let mut place = Place::default();
    (services.place)(comm, rank, &mut place).ok()?;
    Ok(place)
}

impl Ready {
    /// The notes of a rank of this node, by its number there.
    pub fn notes(&self, local: u32) -> &Notes {
        // SAFETY: memory of this size that the node's ranks share, zero when it is made, aligned to pages, until the module is freed; nothing but notes is in it.
        let all = unsafe { slice::from_raw_parts(self.notes, self.on_node) };
        &all[local as usize]
    }
}
