//! Ids are retired whose requests ended with their communicator: peers may still quote them, and read what they name.

use crate::requests::memory::KeptMemory;
use crate::requests::pool::Requests;
use crate::requests::request::Request;
use crate::state::guarded::Held;

impl Requests {
    /// Retires a request's id: a peer that quotes it later is ignored. `kept`: memory that the peer may read until
    /// then.
    pub fn retire(&self, held: &Held<'_>, req: &'static Request, kept: Option<KeptMemory>) {
        let id = req.id.get();
        self.drop_id(held, req);
        self.instance().cri(held.ctx).retired().with(held, |r| r.0.insert(id, kept));
    }

    /// Whether an id is a retired one, of a request that failed when its communicator was revoked. A peer that quotes
    /// it does not read the request's memory any more, so that is given back.
    #[cold]
    pub fn is_of_revoked(&self, held: &Held<'_>, id: u64) -> bool {
        let (known, kept) = self.instance().cri(held.ctx).retired().with(held, |r| match r.0.get_mut(&id) {
            Some(kept) => (true, kept.take()),
            None => (false, None),
        });
        if let Some(KeptMemory(memory)) = kept {
            self.give_memory_back(memory);
        }
        known
    }

    /// Gives back the memory of all retired ids of this CRI, since no peer will quote one any more.
    pub fn forget_retired(&self, held: &Held<'_>) {
        let all = self.instance().cri(held.ctx).retired().with(held, core::mem::take);
        for KeptMemory(memory) in all.0.into_values().flatten() {
            self.give_memory_back(memory);
        }
    }
}
