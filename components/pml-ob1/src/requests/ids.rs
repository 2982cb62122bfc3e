//! Ids by which peers quote requests: slot and generation of a table, of which each CRI has one.

use crate::requests::pool::Requests;
use crate::state::guarded::Held;
use crate::state::objects::Request;

impl Requests {
    /// The id by which peers quote a request, in the table of the held CRI; made when first needed and kept while the
    /// request waits for room.
    pub fn id_of(&self, held: &Held<'_>, req: &'static Request) -> u64 {
        if req.id.get() == 0 {
            req.id.set(self.instance().cri(held.ctx).ids.with(held, |t| t.insert(req)));
        }
        req.id.get()
    }

    /// Takes a request's id out of the table of the held CRI, and forgets its fragments that came ahead of their turn.
    pub fn drop_id(&self, held: &Held<'_>, req: &'static Request) {
        let id = req.id.replace(0);
        self.instance().cri(held.ctx).ids.with(held, |t| t.remove(id));
        self.instance().cri(held.ctx).ahead.with(held, |ahead| {
            if !ahead.is_empty() {
                ahead.forget(id);
            }
        });
    }
}
