//! Ids are retired whose requests ended with their communicator: peers may still quote them, and read what they name.

use crate::requests::memory::Memory;
use crate::requests::pool::Requests;
use crate::requests::request::Request;
use oxmpi_mca::CriGuard;

impl Requests {
    /// Retires a request's id: a peer that quotes it later is ignored. `kept`: memory that the peer may read until
    /// then.
    pub fn retire(&self, held: &mut CriGuard<'_>, req: &'static Request, kept: Option<Box<Memory>>) {
        let id = req.id.get();
        self.drop_id(held, req);
        self.instance().own(held).retired().0.insert(id, kept);
    }

    /// Whether an id is a retired one, of a request that failed when its communicator was revoked. A peer that quotes
    /// it does not read the request's memory any more, so that is given back.
    #[cold]
    pub fn is_of_revoked(&self, held: &mut CriGuard<'_>, id: u64) -> bool {
        let Some(kept) = self.instance().own(held).retired().0.get_mut(&id) else { return false };
        if let Some(memory) = kept.take() {
            self.give_memory_back(*memory);
        }
        true
    }

    /// Gives back the memory of all retired ids of this CRI, since no peer will quote one any more.
    pub fn forget_retired(&self, held: &mut CriGuard<'_>) {
        let all = core::mem::take(self.instance().own(held).retired());
        for memory in all.0.into_values().flatten() {
            self.give_memory_back(*memory);
        }
    }
}
