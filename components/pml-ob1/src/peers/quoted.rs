//! A peer quotes a request of ours by its id, which is believed only as far as it was given to that process.

use crate::peers::table::Peers;
use crate::requests::request::Request;
use oxmpi_mca::CriGuard;

impl Peers {
    /// The request of this `kind` whose id a peer quotes. `None`: there is none, and the peer is closed unless the
    /// request was retired.
    pub fn quoted(&self, held: &mut CriGuard<'_>, id: u64, proc: u32, kind: u32) -> Option<&'static Request> {
        let req = self.quoted_by(held, id, proc)?;
        if req.kind() != kind {
            self.bad_header(held, proc, "a request id that was given for something else");
            return None;
        }
        Some(req)
    }

    /// The request, send or receive, whose id a process quotes. `None`: it has none with that process; the peer is
    /// closed unless the id was retired.
    pub fn quoted_by(&self, held: &mut CriGuard<'_>, id: u64, proc: u32) -> Option<&'static Request> {
        let req = self.instance().own(held).ids().get(id).filter(|r| r.proc() == proc);
        if req.is_none() && !self.requests().is_of_revoked(held, id) {
            self.bad_header(held, proc, "a request id that it was not given");
        }
        req
    }
}
