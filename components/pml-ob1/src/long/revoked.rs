//! A rendezvous on a revoked communicator ends on both sides: each side tells the other's request by FIN with REVOKED (`ending/revoke.rs`).

use crate::communicators::comm::Comm;
use crate::long::transfer::fin;
use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::request::{Outcome, Request, State};
use crate::wire::{Header, flag};
use oxmpi_mca::{CriGuard, Status};

/// A FIN header that ends the other side's request because the communicator was revoked.
pub fn fin_revoked(req: u64) -> Header {
    let mut h = fin(req);
    h.set_flags(flag::REVOKED);
    h
}

impl Transfers {
    /// Fails a long operation on a revoked communicator of which nothing is under way, and tells the other side by a
    /// FIN with REVOKED.
    pub fn end_revoked(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) {
        self.requests().drop_id(held, req);
        self.peers().control(held, peer, fin_revoked(req.remote_id()));
        self.peers().fail(held, req, Status::PEER_FAILED);
    }

    /// Fails a request on a revoked communicator whose id a peer may quote: its id is retired. One whose buffer a peer
    /// may still write to only notes the revocation, and fails when the peer says FIN.
    pub fn end_named(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        match req.state() {
            State::Exposed => return req.worsen(Outcome::Revoked),
            State::WaitFin => self.requests().retire(held, req, req.take_memory()),
            _ => self.requests().retire(held, req, None),
        }
        self.peers().fail(held, req, Status::PEER_FAILED);
    }

    /// Answers a PUT for a send that failed when its communicator was revoked: a FIN with REVOKED tells the receiver
    /// that nothing will be put.
    pub fn answer_put_of_revoked(&self, held: &mut CriGuard<'_>, src_req: u64, dst_req: u64, proc: u32) {
        if self.requests().is_of_revoked(held, src_req)
            && let Ok(peer) = self.peers().flow(proc, held.ctx(), held.entry())
        {
            self.peers().control(held, peer, fin_revoked(dst_req));
        }
    }

    /// Whether a request's communicator was revoked.
    pub fn is_revoked(&self, req: &Request) -> bool {
        // SAFETY: communicators stay while requests are under way on them (`comm.rs`).
        unsafe { Comm::of_request(req) }.is_revoked()
    }
}
