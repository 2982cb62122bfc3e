//! Memory of the ranks of a window, as this process sees it.

use crate::objects::WindowData;
use oxmpi_osc::{Mapped, flavor};

impl WindowData {
    /// A rank's memory, if this process can load and store it.
    pub(crate) fn mapped(&self, rank: u32) -> Option<Mapped> {
        if self.flavor == flavor::DYNAMIC {
            return None;
        }
        if rank == self.comm.rank() {
            return Some(self.own);
        }
        let place = self.comm.places().get(rank).filter(|place| place.local != 0)?;
        self.memory.mapped(place.node_rank)
    }
}
