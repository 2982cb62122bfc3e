//! MPI_Cancel.
//!
//! A receive that is posted is taken back, and so is a send that waits for room. A send that is out, but whose
//! sender waits for an answer (synchronous, or long), may still lie unmatched at its receiver:
//!
//! ```text
//! sender                          receiver
//! MATCH+SYNC, RNDV, RGET … ────► nobody wants it: kept
//! CANCEL                       ─► still there: out with it
//! complete, cancelled          ◄─ CANCELLED
//! ```
//!
//! CANCEL goes behind its message in the same FIFO, so it finds it where it waits: among those that came before
//! their turn (`numbered.rs`), the deferred (`ordered.rs`), or the unexpected. If it is in none of them it was
//! matched; then nothing is said, because the answer to the message itself is on its way and completes the send.
//! Where the communicator is not there the message is either kept until it is (`unknown.rs`), or it went with it: the
//! receiver notes whose messages those were ([`Receiver::discard_message`](crate::receive::receiver::Receiver::discard_message)), because what was received before it went is not given
//! back.
//! So a cancelled send ends as soon as its receiver makes progress, whether or not it ever receives
//! (MPI 5.0 §3.8.4). Sends that were complete when they were made, as short ones are, cannot be cancelled.
//!
//! **The order of all others stays.** Looking for the message costs the receiver a walk over all that wait in
//! that shard, which nobody pays who does not cancel.

use crate::communicators::comm::Comm;
use crate::ob1::Ob1;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::receive::withdraw::CANCELLED;
use crate::requests::completer::Completer;
use crate::requests::request::{Request, State};
use crate::state::fifos::FIFO;
use crate::wire::{self, Header, flag, kind};
use oxmpi_mca::{Entry, RequestHeader, Status};

impl Ob1 {
    /// Cancels a receive that is posted, or a send that nobody has received. PENDING: whether that works is not known
    /// yet, or it is too late; the request completes in any case as if nothing had been asked, or cancelled.
    pub fn cancel_request(&self, entry: &mut Entry, req: &'static Request) -> Status {
        if req.is_complete() {
            // Its peer may have parted.
            return Status::PENDING;
        }
        let found = match req.kind() {
            RequestHeader::SEND => self.take_back(entry, req),
            _ => self.receiver().unpost(entry, req),
        };
        let Some(completer) = found else {
            if req.kind() == RequestHeader::SEND && req.proc() == self.instance().host().job().rank {
                self.answer_oneself(entry, req);
            }
            return Status::PENDING;
        };
        completer.set_status(CANCELLED);
        self.requests().complete(completer, entry);
        Status::OK
    }

    /// Makes a few turns of progress for the answer to a CANCEL that was sent to this process, so that a program which
    /// looks at the status behind MPI_Cancel without waiting finds it.
    fn answer_oneself(&self, entry: &mut Entry, req: &'static Request) {
        const TURNS: u32 = 8;
        for _ in 0..TURNS {
            if req.is_complete() {
                return;
            }
            if entry.is_among() {
                self.poll_all(entry);
            } else {
                self.poll_own(entry);
            }
        }
    }

    /// Takes back a send that waits for room, or sends CANCEL to its receiver. `Some`: it had not been sent.
    fn take_back(&self, entry: &mut Entry, req: &'static Request) -> Option<Completer> {
        let peer = Peer::of_request(req);
        let mut held = self.instance().hold(entry, peer.map_or(FIFO, |p| p.ctx()));
        let queued = self.sender().unqueue(&mut held, req);
        if queued.is_some() {
            return queued;
        }
        let out = matches!(req.state(), State::WaitAck | State::WaitFin | State::WaitPut);
        // The answer comes here, whoever waits for it.
        self.instance().share(held.ctx());
        let peer = peer.filter(|_| out && req.ask_back())?;
        // SAFETY: communicators and routes stay while requests are under way on them (`comm.rs`).
        let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
        let head = route.head();
        let first = head & !0xff | kind::CANCEL as u64;
        let mut h = Header::new(&[first, wire::source_tag(comm.my_rank(), req.tag()), 0]);
        if wire::flags_of(head) & flag::CID != 0 {
            h.push_prefix(&comm.prefix());
        }
        h.push(req.id());
        // The answer may come within this call: the request is not touched again.
        self.peers().control(&mut held, peer, h);
        None
    }
}
