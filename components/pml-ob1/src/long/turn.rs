//! Long operations go on: each turn of progress takes one step of those that are listed.

use crate::long::transfer::TransferProgress;
use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::request::{Request, State};
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
            let n = (wanted - done).min(peer.fragment());
            let h = Header::new(&[wire::head(kind::FRAG, 0, 0, 0), req.remote_id(), done]);
            let status = match peer.rails().is_empty() {
                true => self.transmit_part(held, peer, req, &h, done, n),
                false => Self::with_part(req, &h, done, n, |parcel| peer.rails().transmit(held, parcel)),
            };
            match status {
                Status::OK => {}
                Status::NO_RESOURCE => return TransferProgress::NoRoom,
                error => return self.give_up(held, peer, req, error),
            }
            req.reach(done + n);
            if done + n == wanted {
                self.requests().complete(req.claim(held), held.entry());
                return TransferProgress::Over;
            }
        }
        TransferProgress::Unfinished
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
