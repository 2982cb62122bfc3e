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
use crate::requests::request::{Request, State};
use crate::state::fifos::FIFO;
use crate::wire::{self, Header, flag, kind};
use core::ptr::null_mut;
use oxmpi_mca::{RequestHeader, Status};

impl Ob1 {
    /// Cancels a receive that is posted, or a send that nobody has received. PENDING: whether that works is not known
    /// yet, or it is too late; the request completes in any case as if nothing had been asked, or cancelled.
    pub fn cancel(&self, req: &'static Request) -> Status {
        let threaded = self.instance().threaded();
        let found = match req.kind() {
            RequestHeader::SEND => self.take_back(req, threaded),
            _ => self.receiver().unpost(req, threaded),
        };
        if !found {
            if req.kind() == RequestHeader::SEND && req.proc() == self.instance().host().job().rank {
                self.answer_oneself(req, threaded);
            }
            return Status::PENDING;
        }
        req.set_status(CANCELLED);
        self.requests().complete(req, threaded);
        Status::OK
    }

    /// Makes a few turns of progress for the answer to a CANCEL that was sent to this process, so that a program which
    /// looks at the status behind MPI_Cancel without waiting finds it.
    fn answer_oneself(&self, req: &'static Request, threaded: bool) {
        const TURNS: u32 = 8;
        for _ in 0..TURNS {
            if req.is_complete() {
                return;
            }
            if threaded {
                self.poll_all();
            } else {
                self.poll_own(null_mut(), false);
            }
        }
    }

    /// Takes back a send that waits for room, or sends CANCEL to its receiver. `true`: it had not been sent.
    fn take_back(&self, req: &'static Request, threaded: bool) -> bool {
        let peer = Peer::of_request(req);
        let held = self.instance().hold(peer.map_or(FIFO, |p| p.ctx()), None, threaded);
        if self.sender().unqueue(&held, req) {
            return true;
        }
        let out = matches!(req.state(), State::WaitAck | State::WaitFin | State::WaitPut);
        // The answer comes here, whoever waits for it.
        self.instance().share(held.ctx);
        let Some(peer) = peer.filter(|_| out && req.ask_back()) else { return false };
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
        self.peers().control(&held, peer, h);
        false
    }
}
