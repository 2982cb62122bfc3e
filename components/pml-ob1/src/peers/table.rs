//! The peers of an instance: a table by process, filled at first contact (`contact.rs`), and how many were lost.

use crate::peers::peer::Peer;
use crate::requests::pool::Requests;
use crate::state::instance::Instance;
use crate::state::paged::Paged;
use oxmpi_mca::Lock;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};

/// The processes that messages go to and come from.
#[repr(C)]
pub struct Peers {
    requests: Requests,
    /// By process, each on the first FIFO.
    pub(super) table: Paged<AtomicPtr<Peer>>,
    /// Guards the making of peers and routes.
    pub(super) lock: Lock,
    /// Peers that were lost.
    pub(super) lost: AtomicU32,
}

impl Peers {
    /// Makes the table of an instance, without peers.
    pub fn new(requests: Requests) -> Peers {
        let table = Paged::new(requests.instance().host().job().job_size as usize);
        Peers { requests, table, lock: Lock::new(), lost: AtomicU32::new(0) }
    }

    /// Gives how many peers were lost.
    #[inline(always)]
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::Acquire)
    }

    /// Gives the word that counts them, for the host's engine.
    pub fn lost_word(&self) -> *const AtomicU32 {
        &raw const self.lost
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.requests.instance()
    }
}
