//! MPI_Allgather (MPI 5.0 §6.7), round a ring: each rank hands the block on that it got last.

use crate::module::{Algorithm, TemplateModule};
use oxmpi_coll::safe::{Allgather, Call, Place, Result, Source};

impl Allgather for TemplateModule {
    fn allgather(&self, call: &Call<'_>, own: Option<Source<'_>>, mut result: Place<'_>) -> Result {
        self.goes_by(call, Algorithm::Allgather);
        let (ranks, rank) = (call.num_ranks(), call.rank());
        // None: in place.
        if let Some(own) = own {
            call.copy(own, result.block(rank, ranks)?)?;
        }
        let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for step in 0..ranks - 1 {
            let ours = (rank + ranks - step) % ranks;
            let theirs = (ours + ranks - 1) % ranks;
            let (block, into) = result.pair(ours, theirs, ranks)?;
            call.exchange(block, right, into, left)?;
        }
        Ok(())
    }
}
