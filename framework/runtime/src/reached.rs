//! Endpoints of an instance by process, and the cache of registrations.

use oxmpi_btl::{BtlHandle, BtlServices, Reach};
use oxmpi_mca::SliceRef;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_rcache::Cache;
use oxmpi_system::locks::Mutex;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Endpoints of an instance, and the table of services around them.
#[derive(Default)]
pub(crate) struct Transports {
    pub(crate) services: OnceLock<Box<BtlServices>>,
    pub(crate) reached: Mutex<HashMap<u32, Box<[Reach]>>>,
    /// One bit for each process of the job, set once it was found to be reached: what is asked for each message of a
    /// collective takes no lock. Made at the first question.
    pub(crate) known: OnceLock<Box<[AtomicU64]>>,
    /// Of registrations; `None` where nothing is kept.
    pub(crate) cache: OnceLock<Option<Box<Cache<BtlHandle>>>>,
}

// SAFETY: the table's only pointer is to the instance that has it.
unsafe impl Send for Transports {}

// SAFETY: the instance may be used from any thread; lists are under their locks.
unsafe impl Sync for Transports {}

impl Transports {
    /// Gives all endpoints back to their BTL modules. Nobody uses one any more.
    pub fn close(&self) {
        for (_, reached) in self.reached.lock().drain() {
            for r in reached {
                let (btl, endpoint) = (r.btl(), r.endpoint);
                // SAFETY: made by the module's `add_procs`; it leaves the table here, and nobody uses it any more.
                unsafe { (btl.del_procs)(btl.state, SliceRef { ptr: &endpoint, len: 1 }) };
            }
        }
    }
}
