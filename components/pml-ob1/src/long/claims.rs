//! Claimed messages of a CRI (`receive/claimed.rs`) take their receives from the id, by which the transport names them, to the end.

use crate::long::transfer::ack;
use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::claim::Claim;
use crate::requests::request::{Request, State};
use crate::state::hand::Hand;
use oxmpi_mca::CriGuard;
use oxmpi_pml::{Claimed, Placed};

impl Transfers {
    /// Gives the receive of a claimed message its id, and asks for what comes behind the first part of a rendezvous.
    pub fn begin_claimed(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        mut claim: Claim,
    ) -> Option<Claimed> {
        let about = claim.about();
        let wanted = about.msg_len.min(req.total());
        peer.note_in(req);
        req.begin_answer(about.proc, about.src_req, wanted, 0);
        req.be_claimed();
        let id = self.requests().id_of(held, req);
        claim.name(id);
        self.instance().own(held).add_claim(claim);
        if about.src_req != 0 {
            self.peers().consumed(&about, Hand::Held(held));
        }
        if about.len < wanted {
            self.ask_for_fragments(held, peer, req, about.len);
        }
        // A peer that could not be sent to has failed its requests, and nothing of what it sends is delivered.
        self.place_of_claimed(held, about.proc, id).map(|place| Claimed { place, name: id })
    }

    /// Says where the payload of a claimed message belongs. `None`: its receive is over.
    pub fn place_of_claimed(&self, held: &mut CriGuard<'_>, proc: u32, id: u64) -> Option<Placed> {
        let req = self.claimed(held, proc, id)?;
        let claim = self.instance().own(held).claims().iter_mut().find(|claim| claim.id() == id)?;
        Some(claim.place(req))
    }

    /// Goes on with the receive of a claimed message that has come whole. `there` is false where its payload has gone nowhere, since the receive was over.
    pub fn on_claimed(&self, held: &mut CriGuard<'_>, proc: u32, id: u64, there: bool) {
        let Some(claim) = self.instance().own(held).take_claim(id) else { return };
        let Some(req) = self.claimed(held, proc, id) else { return };
        debug_assert!(there, "a receive that is not over has a place");
        let (about, wanted) = (claim.about(), req.wanted());
        let here = about.len.min(wanted);
        if !self.instance().own(held).ahead().is_free(id, 0, here) {
            return self.peers().bad_header(held, proc, "a fragment over the first part of its message");
        }
        if let Some(memory) = claim.memory()
            && here > 0
        {
            // SAFETY: `wanted` is at most the buffer's size; the request is not over.
            unsafe { req.store(&self.instance().config().copies, 0, &memory[..here as usize]) };
        }
        if about.len < wanted {
            req.be_receiving();
            return self.fragment_stored(held, req, here);
        }
        if about.is_plain() {
            self.peers().consumed(&about, Hand::Held(held));
        } else if let Ok(peer) = self.peers().flow(proc, held.ctx(), held.entry()) {
            // The sender counts what it has sent, so it is told that all of that was wanted.
            self.peers().control(held, peer, ack(0, about.src_req, 0, about.len, about.len));
        }
        // A peer that could not be sent to has failed its requests.
        if self.claimed(held, proc, id).is_some() {
            self.requests().drop_id(held, req);
            self.requests().complete(req.claim(held), held.entry());
            // As behind fragments.
            self.instance().cri(held.ctx()).ask_to_stop();
        }
    }

    /// The receive with that id, if a message of the process is coming to it.
    fn claimed(&self, held: &mut CriGuard<'_>, proc: u32, id: u64) -> Option<&'static Request> {
        let req = self.instance().own(held).ids().get(id)?;
        (req.state() == State::Claimed && req.proc() == proc).then_some(req)
    }
}
