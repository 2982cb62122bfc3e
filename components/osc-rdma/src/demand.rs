//! Targets of operations: ranks that the epoch allows, locked at the first operation where ranks are locked on demand.

use crate::call::Call;
use crate::epoch::{Access, Allowed};
use crate::locks;
use crate::peer::{Met, held_by};
use crate::tally::Attempt;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

impl<'a> Call<'a> {
    /// The target of an operation, which the epoch allows.
    #[inline]
    pub fn target(&mut self, rank: u32) -> Result<Met<'a>, Status> {
        let peer = self.peer(rank)?;
        match self.win.epochs.operate(peer.peer())? {
            Allowed::Yes => Ok(peer),
            Allowed::Lock => self.lock_on_demand(peer).map(|()| peer),
        }
    }

    /// The first operation to a rank under lock_all, where ranks are locked on demand.
    pub fn lock_on_demand(&mut self, peer: Met<'_>) -> Result<(), Status> {
        let has = || peer.epoch.load(Ordering::Acquire) & held_by::LOCK != 0;
        let mut taken = false;
        self.insist(|call| {
            // Another thread may have it meanwhile.
            if has() {
                return Ok(true);
            }
            taken = call.win.tally.tried(Attempt::Shared, locks::try_shared(call, peer.rank))?;
            Ok(taken)
        })?;
        if !taken {
            return Ok(());
        }
        let mut state = self.win.epochs.lock();
        let Access::All { ranks, .. } = &mut state.access else { return Err(Status::RMA_SYNC) };
        // Two threads may have taken it: then it is given back twice.
        ranks.push(peer.rank);
        peer.epoch.fetch_or(held_by::LOCK, Ordering::AcqRel);
        Ok(())
    }
}
