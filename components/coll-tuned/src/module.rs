//! The component's state for one communicator.

use crate::params::Settings;
use oxmpi_coll::CollTable;
use oxmpi_coll_support::Scratch;
use oxmpi_mca::Host;
use std::sync::Arc;

/// The largest temporary buffer that a communicator keeps for its next collective.
const KEPT: usize = 4 << 20;

pub struct TunedModule {
    pub host: Host,
    pub settings: Arc<Settings>,
    pub scratch: Scratch,
    /// The operations that are offered to this communicator.
    pub table: CollTable,
}

impl TunedModule {
    pub fn new(host: Host, settings: Arc<Settings>, table: CollTable) -> TunedModule {
        TunedModule { host, settings, scratch: Scratch::new(KEPT), table }
    }
}
