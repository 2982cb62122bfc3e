//! MPI_Barrier (MPI 5.0 §6.3), by dissemination: in step k everyone tells the one 2^k ahead; after ceil(log2 n) steps all know of all.

use crate::module::{Algorithm, TemplateModule};
use oxmpi_coll::safe::{Barrier, Call, Result};

impl Barrier for TemplateModule {
    fn barrier(&self, call: &Call<'_>) -> Result {
        self.goes_by(call, Algorithm::Barrier);
        let (ranks, rank) = (call.num_ranks(), call.rank());
        let mut distance = 1;
        while distance < ranks {
            let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
            let (nothing, into) = call.nothing()?;
            // Both at once: if all sent first, nobody would receive. An error ends the call only where going on is of no use, since the
            // others wait for the next message; one that is met on the way is noted, and the call returns it in the end.
            call.exchange(nothing, to, into, from)?;
            distance *= 2;
        }
        Ok(())
    }
}
