//! The profiles of a group, for another group.

use crate::objects::Communicator;
use oxmpi_loading::error::Error;
use oxmpi_mca::Entry;

impl Communicator {
    /// The profiles of all processes of this communicator, at rank `root`. Called by all.
    pub(crate) fn collect_profiles(&self, entry: &mut Entry, root: u32) -> Result<Vec<u8>, Error> {
        let mut own = Vec::new();
        self.instance().own_profile().encode(&mut own);
        self.collect(entry, root, own)
    }
}
