//! Long operations go on: each turn of progress takes one step of those that are listed.

use crate::long::rdma::landed;
use crate::long::transfer::TransferProgress;
use crate::long::transfers::Transfers;
use crate::peers::link::Link;
use crate::peers::peer::Peer;
use crate::requests::request::{Outcome, Request, State};
use crate::wire::{self, Header, kind};
use oxmpi_mca::{CriGuard, Status};

/// Fragments of one message sent in a row before others get their turn.
const FRAGMENTS_PER_TURN: u32 = 32;

impl Transfers {
    /// Takes one step of a long operation, and puts it on its peer's list of streams if it is not over.
    pub fn advance_transfer(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) {
        if self.turn(held, peer, req) != TransferProgress::Over {
            self.queue_transfer(held, peer, req);
        }
    }

    /// Takes one step of each long operation on a peer's list of streams. `false`: the transport has no room.
    pub fn drain_streams(&self, held: &mut CriGuard<'_>, peer: &Peer) -> bool {
        for _ in 0..peer.flow(held).num_streams() {
            let Some(req) = peer.flow(held).next_stream() else { break };
            let turn = self.turn(held, peer, req);
            if turn != TransferProgress::Over {
                // Behind the others: they get the next room.
                self.queue_transfer(held, peer, req);
            }
            if turn == TransferProgress::NoRoom {
                return false;
            }
        }
        true
    }

    /// Takes one step of a long operation, by the state of its request.
    fn turn(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) -> TransferProgress {
        match req.state() {
            State::Pulling | State::Pushing => self.move_pieces(held, peer, req),
            State::Flushing => self.flush_pieces(held, peer, req),
            State::Landing => self.conclude_if_down(held, peer, req),
            State::Offering => self.offer_memory(held, peer, req),
            State::Asking => {
                self.ask_for_copies(held, peer, req, req.done());
                TransferProgress::Over
            }
            _ => self.stream(held, peer, req),
        }
    }

    /// Sends the next fragments of a long message, at most [`FRAGMENTS_PER_TURN`].
    fn stream(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) -> TransferProgress {
        for _ in 0..FRAGMENTS_PER_TURN {
            let (done, wanted) = (req.done(), req.wanted());
            if self.is_stream_over(req) {
                return self.end_stream(held, peer, req);
            }
            let n = (wanted - done).min(peer.fragment());
            let h = Header::new(&[wire::head(kind::FRAG, 0, 0, 0), req.remote_id(), done]);
            let ctx = core::ptr::from_ref(req).cast_mut().cast();
            let send = |held: &mut CriGuard<'_>, link: &Link| {
                // SAFETY: the buffer is the user's until the request is complete, which it is not before the last piece has landed.
                Self::with_part(req, &h, done, n, |parcel| unsafe {
                    link.transmit_kept(held, parcel, landed, ctx)
                })
            };
            let status = match peer.rails().is_empty() {
                true => send(held, peer.link()),
                false => peer.rails().transmit(held, n, send),
            };
            match status {
                Status::OK => {}
                Status::PENDING => peer.work().take_off(held, req),
                Status::NO_RESOURCE => return TransferProgress::NoRoom,
                error => req.break_off(error),
            }
            if req.outcome() == Outcome::Fine {
                req.reach(done + n);
            }
        }
        match self.is_stream_over(req) {
            true => self.end_stream(held, peer, req),
            false => TransferProgress::Unfinished,
        }
    }

    /// Whether no more fragments of a send are to go.
    fn is_stream_over(&self, req: &Request) -> bool {
        req.done() == req.wanted() || req.outcome() != Outcome::Fine || self.is_revoked(req)
    }

    /// Ends a send of which all fragments were sent, or that goes on no more, unless a transport has some of them still.
    fn end_stream(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) -> TransferProgress {
        if req.pulls() > 0 {
            // It is listed when the last of them has landed.
            return TransferProgress::Over;
        }
        match req.outcome() {
            _ if peer.is_failed(held) => self.peers().fail(held, req, Status::PEER_FAILED),
            Outcome::Broken => return self.give_up(held, peer, req, req.status().error),
            // The receiver has all of it, whatever became of the communicator.
            _ if req.done() == req.wanted() => self.requests().complete(req.claim(held), held.entry()),
            _ => self.end_revoked(held, peer, req),
        }
        TransferProgress::Over
    }

    /// Continues the operations whose pieces ended in the turn that has just gone by; returns how many operations.
    pub fn take_landed(&self, held: &mut CriGuard<'_>) -> i32 {
        let mut events = 0;
        for req in self.instance().cri(held.ctx()).work().take_landed(held) {
            events += 1;
            if let Some(peer) = Peer::of_request(req) {
                self.advance_transfer(held, peer, req);
            }
        }
        events
    }
}
