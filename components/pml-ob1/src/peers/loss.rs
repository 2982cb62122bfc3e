//! Peers that are lost or break the protocol are closed: everything under way with them ends in an error.

use crate::peers::peer::{Peer, btl_name};
use crate::peers::streamed::{Streamed, StreamedPart};
use crate::peers::table::Peers;
use crate::requests::request::{Outcome, Request, State};
use crate::requests::work::Work;
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Peers {
    /// A transport to a peer failed for good: everything under way with it ends in an error.
    #[cold]
    pub fn peer_failed(&self, held: &Held<'_>, peer: &Peer, status: Status) {
        let first = self.lose(held, peer);
        if first {
            let message = format!("{} cannot send to process {}: {status}", btl_name(peer.btl), peer.proc);
            self.instance().host().peer_error(peer.proc, true, &message);
        }
    }

    /// Marks a peer as lost and closes it on the CRI whose lock is held; the other CRIs follow in their next turn.
    /// `false`: it was lost already.
    fn lose(&self, held: &Held<'_>, peer: &Peer) -> bool {
        let first = !peer.base.lost.swap(true, Ordering::AcqRel);
        if first {
            self.instance().watch_closer();
            self.lost.fetch_add(1, Ordering::Release);
        }
        self.instance().cri(held.ctx).work().mark(Work::SWEEP);
        if !peer.failed.replace(true) {
            self.close(held, peer);
        }
        first
    }

    /// Closes the peer that the host reports as failed. Operations under way with it end in the next turn of each CRI.
    pub fn lose_process(&self, proc: u32) -> Status {
        let Ok(peer) = self.peer(proc, self.instance().threaded()) else { return Status::OK };
        let held = self.instance().hold(FIFO, None, self.instance().threaded());
        self.lose(&held, peer);
        Status::OK
    }

    /// Closes on the held CRI all peers that were lost on another CRI since this was last done.
    #[cold]
    pub fn close_lost(&self, held: &Held<'_>) {
        self.instance().cri(held.ctx).note_closed(self.lost());
        self.instance().cri(held.ctx).work().mark(Work::SWEEP);
        let lost = self.table.iter().filter_map(|slot| {
            // SAFETY: peers stay until `finalize`.
            unsafe { slot.load(Ordering::Acquire).as_ref() }.filter(|p| p.base.is_lost())
        });
        for base in lost {
            if let Ok(peer) = self.flow_of(base, held.ctx, held.threaded)
                && !peer.failed.replace(true)
            {
                self.close(held, peer);
            }
        }
    }

    /// Fails everything under way with a peer on one FIFO: queued sends, streams, and requests whose ids it may quote.
    /// Those that a transport still has pieces of fail with the last piece.
    fn close(&self, held: &Held<'_>, peer: &Peer) {
        peer.drop_control(held);
        self.abandon_streamed(held, peer);
        let queued: Vec<&Request> = peer.shut(held);
        let streams: Vec<&Request> = peer.take_streams_of(held, |_| true);
        let waiting = self.instance().cri(held.ctx).ids().with(held, |t| t.of_proc(peer.proc));
        // A queued send may have its id already: it is in both lists, and fails once.
        for req in queued.into_iter().chain(streams).chain(waiting) {
            if req.state() == State::Done {
                continue;
            }
            self.requests().drop_id(held, req);
            if req.pulls() > 0 || req.is_listed() {
                // The transport may still touch its buffer; it fails with the last piece.
                req.worsen(Outcome::Revoked);
            } else {
                self.fail(held, req, Status::PEER_FAILED);
            }
        }
    }

    /// Completes a request with an error, and takes its registered memory back.
    pub fn fail(&self, held: &Held<'_>, req: &'static Request, status: Status) {
        self.requests().release_memory(req);
        req.set_error(status);
        self.requests().complete(req, held.threaded);
    }

    /// Closes the peer that sent a header which makes no sense; `what` says to the operator what was wrong with it.
    #[cold]
    pub fn bad_header(&self, held: &Held<'_>, proc: u32, what: &str) {
        if let Ok(peer) = self.flow(proc, held.ctx, held.threaded)
            && !self.lose(held, peer)
        {
            return;
        }
        let message = format!("process {proc} sent a message that pml ob1 cannot accept: {what}");
        self.instance().host().peer_error(proc, true, &message);
    }

    /// Drops the message that has come only in part from a peer that is being closed, and fails its receive.
    pub fn abandon_streamed(&self, held: &Held<'_>, peer: &Peer) {
        // The transport that was asked for more knows the request, which fails with all that peers know.
        if let Some(Streamed { req, part: StreamedPart::Whole(_), .. }) = peer.end_streamed(held) {
            self.fail(held, req, Status::PEER_FAILED);
        }
    }
}
