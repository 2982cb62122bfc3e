//! The requests of an instance: pools that grow and are never given back, one for each thread (`thread_state.rs`).

use crate::requests::thread_state::ThreadState;
use crate::state::instance::Instance;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// The requests.
#[repr(C)]
pub struct Requests {
    instance: Instance,
    /// The state for calls without a context; made by the first.
    pub(super) shared: OnceLock<&'static ThreadState>,
    /// The operations that the host calls on requests, and the object that these find in a request.
    pub(super) operations: &'static RequestOps,
    pub(super) owner: Cell<*mut c_void>,
    /// Sends that were released while pending and still are.
    pub(super) detached: AtomicU32,
}

impl Requests {
    /// Makes the record of an instance without requests and thread states.
    pub fn new(instance: Instance, operations: &'static RequestOps) -> Requests {
        Requests {
            instance,
            shared: OnceLock::new(),
            operations,
            owner: Cell::new(null_mut()),
            detached: AtomicU32::new(0),
        }
    }

    /// Notes the object that the host's operations find in a request, before the first is made.
    pub fn set_owner(&self, owner: *mut c_void) {
        self.owner.set(owner);
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
