//! MPI_Bcast (MPI 5.0 §6.4), down a binomial tree.
//!
//! Ranks may describe the data by different types; in bytes it is the same.

use crate::module::{Algorithm, TemplateModule};
use crate::tree::Tree;
use oxmpi_coll::safe::{Bcast, Broadcast, Call, Result};

impl Bcast for TemplateModule {
    fn bcast(&self, call: &Call<'_>, data: Broadcast<'_>, root: u32) -> Result {
        self.goes_by(call, Algorithm::Bcast);
        spread(call, data, root)
    }
}

/// From the root to all others.
pub fn spread(call: &Call<'_>, data: Broadcast<'_>, root: u32) -> Result {
    let tree = Tree::new(call, root);
    let data = match (data, tree.parent()) {
        (Broadcast::Root(source), _) => source,
        (Broadcast::Other(mut place), parent) => {
            if let Some(parent) = parent {
                call.recv(place.all(), parent)?;
            }
            place.into_source()
        }
    };
    // The farthest first, since the tree below it is the largest. All are under way at once, and nothing is borrowed when `together` returns.
    call.together(|sends| tree.children().rev().try_for_each(|child| sends.send(data, child)))
}
