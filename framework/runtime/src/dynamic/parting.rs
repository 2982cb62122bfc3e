//! Parting: MPI_Comm_disconnect of a communicator with processes of other jobs (MPI 5.0 §11.10.4).
//!
//! All ranks of both groups come, and hear that all have come, before one goes; so whatever was sent before on any communicator between them
//! is there. All that is queued is sent, and then the processes that are in no other communicator are known no more.

use crate::objects::Communicator;
use crate::wires::tag;
use oxmpi_loading::error::Error;
use oxmpi_mca::Entry;

impl Communicator {
    /// Waits until all its ranks are here, if some are of another job than this one, and has those go with it that are in no other
    /// communicator. Nothing is under way on it. An error: a rank cannot be told; it goes all the same.
    pub fn part_from_jobs(&self, entry: &mut Entry) -> Result<(), Error> {
        let own = self.instance().job().job_size;
        let far = self.remote_group().is_some_and(|group| !group.strangers(own).is_empty());
        if !far && self.group().strangers(own).is_empty() {
            return Ok(());
        }
        // mpirun is told before the ranks meet: once one has left, no failure of it is one of the others.
        for group in std::iter::once(self.group()).chain(self.remote_group()) {
            let going = self.instance().strangers().jobs_that_would_go(group.strangers(own));
            going.into_iter().for_each(|job| self.instance().tell_of_link(job, false));
        }
        let met = match self.local() {
            None => self
                .collect(entry, 0, Vec::new())
                .and_then(|_| self.spread(entry, 0, (self.rank() == 0).then(|| Ok(Vec::new())), tag::SPREAD))
                .map(drop),
            Some(local) => {
                local.collect(entry, 0, Vec::new()).and_then(|_| self.swap(entry, Ok(&[]))).map(drop)
            }
        };
        let flushed = self.instance().flush(entry);
        self.part_at_close();
        met.and(flushed)
    }
}
