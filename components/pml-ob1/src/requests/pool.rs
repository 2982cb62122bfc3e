//! The requests of an instance: pools that grow and are never given back, one for each thread (`thread_state.rs`).

use crate::requests::thread_state::ThreadState;
use crate::state::instance::Instance;
use oxmpi_mca::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// The requests.
#[repr(C)]
pub struct Requests {
    instance: Instance,
    /// The state for calls without a context; made by the first.
    pub(super) shared: OnceLock<&'static ThreadState>,
    /// The operations that the host calls on requests.
    pub(super) operations: &'static RequestOps,
    /// Sends that were released while pending and still are.
    pub(super) detached: AtomicU32,
}

impl Requests {
    /// Makes the record of an instance without requests and thread states.
    pub fn new(instance: Instance, operations: &'static RequestOps) -> Requests {
        Requests { instance, shared: OnceLock::new(), operations, detached: AtomicU32::new(0) }
    }

    /// Gives how many sends were released while pending and still are.
    pub fn detached(&self) -> u32 {
        self.detached.load(Ordering::Relaxed)
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }
}
