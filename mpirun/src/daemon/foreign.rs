//! Looks for another MPI in ranks that have not come.

use super::ranks;
use super::state::Daemon;
use oxmpi_wireup::server::Membership;
use std::time::Instant;

impl Daemon {
    /// Looks for another MPI in all ranks that have not come, when it is time to.
    pub(super) fn look_for_strangers(&mut self, now: Instant) {
        if self.strangers.due(now) {
            (0..self.ranks.len()).for_each(|local| self.look_for_stranger(local));
        }
    }

    /// Looks for another MPI in a rank, if it runs and has not come.
    pub(super) fn look_for_stranger(&mut self, local: usize) {
        let Some(rank) = self.ranks.get(local).filter(|rank| rank.running) else { return };
        if self.server.membership(local) == Membership::Absent {
            self.strangers.look(local, rank.number());
        }
    }

    /// The library of another MPI that a rank has loaded or is linked with.
    pub(super) fn other_mpi(&mut self, local: usize) -> Option<String> {
        let launch = &self.launch;
        let program = launch.places.get(local)?.program;
        self.strangers.library(local, program, || ranks::other_mpi(launch, local))
    }
}
