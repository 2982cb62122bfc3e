//! The host of one rank, and the component opened for it.

use crate::net::Net;
use oxmpi_coll::CollModule;
use oxmpi_mca::host::HostTable;
use oxmpi_mca::{Descriptor, Status};
use oxmpi_testing::{Desk, FakeHost, JobState, setup};
use std::sync::Arc;

/// A component of one rank. Collectives get everything from their communicator, so the host has nothing for them but its
/// facts and its ears.
pub struct Opened {
    pub module: CollModule,
    _table: Box<HostTable>,
    _host: Box<Ears>,
}

// SAFETY: modules may be used in any thread.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

struct Ears {
    desk: Desk,
    net: Arc<Net>,
}

impl FakeHost for Ears {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        self.net.violation(format!("rank {} {what}", self.desk.job.rank));
        Status::NOT_SUPPORTED
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        self.net.violation(format!("rank {} reported process {proc}: {message}", self.desk.job.rank));
    }
}

impl Opened {
    /// Opens a component for a rank; every second one may have several threads.
    pub fn new(descriptor: &Descriptor, given: &setup::ParamSettings, rank: u32, net: &Arc<Net>) -> Opened {
        let desk = Desk::new(Desk::job_of(rank, net.size()), 1, rank % 2 == 1, Arc::<JobState>::default());
        let host = Box::new(Ears { desk, net: net.clone() });
        let table = Box::new(host.desk.table(&*host));
        let (_, modules) = setup::open::<CollModule>(descriptor, &table, given)
            .unwrap_or_else(|status| panic!("open: {status}"));
        assert_eq!(modules.len(), 1, "a collective component has one module");
        Opened { module: modules[0], _table: table, _host: host }
    }

    pub fn has(&self, flag: u32) -> bool {
        self.module.flags & flag != 0
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        (self.module.finalize)(self.module.state);
    }
}
