//! The component's state for one communicator.

use crate::params::Settings;
use oxmpi_coll_support::Scratch;
use oxmpi_mca::Host;

pub struct BasicModule {
    pub settings: Settings,
    pub scratch: Scratch,
    pub host: Host,
}

impl BasicModule {
    pub fn new(host: Host, settings: Settings) -> BasicModule {
        BasicModule { settings, scratch: Scratch::new(settings.scratch_limit), host }
    }
}
