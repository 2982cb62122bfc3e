//! Communicators that are revoked and processes that failed: how what is under way with them ends.
//!
//! **Revoked** (`PmlTable::revoke`). Every operation on the communicator ends with PEER_FAILED: posted receives and sends that wait at once,
//! what a transport has pieces of when these have landed, a receive that its sender may write to when the sender says
//! that it does not any more (FIN) or is lost: until then its buffer is not safe. Sends started later find no route;
//! receives started later, and messages that come later, are swept out by the next turn of progress.
//! A rendezvous has two ends, and the other one may not know yet. The side that ends one tells the other side's request so by FIN with the
//! flag REVOKED, where it knows it; a sender that does not know it **retires** its request's id, with the memory that a peer may still read,
//! and ignores what the peer says of it.
//!
//! **Failed** (`PmlTable::peer_failed`, or a transport's final failure). Operations under way with the process end on each CRI in its next
//! turn (`Ob1::close`). Receives that name one of its ranks are swept out in the same way as those of a revoked communicator, unless their
//! message is here; MPI_ANY_SOURCE stays.
//!
//! **The sweep** costs nothing before the first failure: it hangs on a bit of `Cri::waiting`, which progress reads in any case. A
//! shard is swept only if something was posted in it since, so a program that goes on without its failed process pays
//! one look at each communicator for a turn.

use crate::communicators::comm::Comm;
use crate::ob1::Ob1;
use crate::peers::peer::Peer;
use crate::peers::streamed::{Streamed, StreamedPart};
use crate::requests::request::Request;
use crate::requests::work::Work;
use oxmpi_mca::{CriGuard, Entry, Status};

impl Ob1 {
    /// Revokes a communicator: fails every request on it, refuses the messages that wait there, and tells the other
    /// sides. Takes all CRI locks.
    pub fn revoke_communicator(&self, entry: &mut Entry, comm: &Comm) -> Status {
        let mut all = self.instance().hold_wide(entry);
        if comm.revoke() {
            return Status::OK;
        }
        all.for_each(|held| {
            self.instance().own(held).last_arrival().forget();
            for peer in self.peers().flows_on(held.ctx()) {
                self.end_on_flow(held, peer, comm);
            }
            let named = self.instance().own(held).ids().those(|req| comm.is_of(req));
            named.into_iter().for_each(|req| self.transfers().end_named(held, req));
            self.instance().cri(held.ctx()).work().mark(Work::SWEEP);
        });
        let mut early = Vec::new();
        for inbound in comm.all_inbound() {
            inbound.with(|s| early.extend(s.clear().map(|early| early.incoming().about)));
        }
        early.iter().for_each(|about| self.receiver().refuse_message(&mut all.held(about.ctx.into()), about));
        all.for_each(|held| self.receiver().sweep_communicator(held, comm));
        Status::OK
    }

    /// Fails, with PEER_FAILED, the requests on a revoked communicator that use the FIFO of `peer` on the held CRI:
    /// sends that found no room, long sends and gets that progress would continue, and a receive whose message has come
    /// in part. A request with pieces of a get or put under way fails when these have landed (`conclude`). Does nothing
    /// if the peer has failed.
    fn end_on_flow(&self, held: &mut CriGuard<'_>, peer: &Peer, comm: &Comm) {
        if peer.is_failed(held) {
            return;
        }
        let of_comm = |req: &&'static Request| comm.is_of(req);
        let queued: Vec<_> = peer.queued_of(held, of_comm);
        for req in queued {
            if let Some(completer) = self.sender().unqueue(held, req) {
                self.peers().fail_taken(held.entry(), completer, Status::PEER_FAILED);
            }
        }
        self.abandon_streamed_of(held, peer, comm);
        let streams = peer.flow(held).take_streams_of(of_comm);
        for req in streams {
            if req.pulls() > 0 {
                // `conclude` looks at the communicator.
                continue;
            }
            self.transfers().end_revoked(held, peer, req);
        }
    }

    /// Drops the message of a revoked communicator that has come only in part from a peer, and fails its receive; what
    /// still comes of it goes nowhere.
    pub fn abandon_streamed_of(&self, held: &mut CriGuard<'_>, peer: &Peer, comm: &Comm) {
        let of_comm = |c: &Streamed| comm.is_of(c.req);
        let flow = peer.flow(held);
        let ours = flow.streamed().is_some_and(of_comm).then(|| flow.end_streamed()).flatten();
        // The transport that was asked for more knows the request, which ends with all that peers know.
        if let Some(Streamed { req, part: StreamedPart::Whole(_), .. }) = ours {
            self.peers().fail(held, req, Status::PEER_FAILED);
        }
    }
}
