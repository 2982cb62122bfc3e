//! Steps that all long messages share: the question for fragments, the list of what goes on with the next room, the ends.

use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::request::Request;
use crate::wire::{self, Header, flag, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::{CriGuard, Status};

/// How a long operation stands after a turn.
#[derive(PartialEq, Eq)]
pub enum TransferProgress {
    /// Nothing more to do here: finished, failed, or somebody else's move.
    Over,
    /// More to do.
    Unfinished,
    /// More to do, and no room in the transport.
    NoRoom,
}

/// An ACK header: the sender is to send bytes `[offset, wanted)` as fragments to `dst_req`; nothing more is wanted if
/// the two are equal.
pub fn ack(flags: u8, src_req: u64, dst_req: u64, offset: u64, wanted: u64) -> Header {
    Header::new(&[wire::head(kind::ACK, flags, 0, 0), src_req, dst_req, offset, wanted])
}

/// A FIN header: all data of the get or put that the request `req` waits for has arrived.
pub fn fin(req: u64) -> Header {
    Header::new(&[wire::head(kind::FIN, 0, 0, 0), req])
}

impl Transfers {
    /// Asks the sender to send bytes from `offset` as fragments.
    pub fn ask_for_copies(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request, offset: u64) {
        req.await_fragments(offset);
        self.ask_for_fragments(held, peer, req, offset);
    }

    /// Asks the sender of a receive's message to send bytes from `offset` as fragments.
    pub fn ask_for_fragments(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        offset: u64,
    ) {
        let id = self.requests().id_of(held, req);
        let flags = if !peer.flow(held).is_readable() { flag::REFUSED } else { 0 };
        self.peers().control(held, peer, ack(flags, req.remote_id(), id, offset, req.wanted()));
    }

    /// Puts a long operation on its peer's list of streams, which progress continues.
    pub fn queue_transfer(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) {
        peer.flow(held).add_stream(req);
        self.peers().remember(held, peer);
    }

    /// Fails a request after an error of the transport, and closes its peer.
    pub fn give_up(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        error: Status,
    ) -> TransferProgress {
        self.peers().fail(held, req, Status::PEER_FAILED);
        self.peers().peer_failed(held, peer, error);
        TransferProgress::Over
    }

    /// Completes a receive that has read all of its message. FIN goes to the sender before the program here knows: what
    /// that says to the other program, by another thread's FIFO, is not to be there while FIN is not even on its way
    /// (MPI_Bsend counts on its buffer being free then).
    pub fn end_pull(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request, src_req: u64) {
        self.peers().control(held, peer, fin(src_req));
        self.requests().complete(req.claim(held), held.entry());
    }

    /// Notes that gets from the peer are refused, so that its messages come by fragments.
    #[cold]
    pub fn remember_refusal(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        peer.flow(held).be_unreadable();
        self.tell_refusal(peer, "read");
    }

    /// Notes that puts to the peer are refused, so that messages to it go by fragments.
    #[cold]
    pub fn remember_put_refusal(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        peer.flow(held).be_unwritable();
        self.tell_refusal(peer, "write");
    }

    /// Tells the operator, once in a process, that a transport may not `what` (read or write) a peer's memory.
    fn tell_refusal(&self, peer: &Peer, what: &str) {
        if !self.told_no_get.swap(true, Ordering::Relaxed) {
            self.instance().host().info(&format!(
                "{} may not {what} the memory of process {}; long messages are copied through it instead",
                peer.btl().name(),
                peer.proc()
            ));
        }
    }
}
