//! Peers that are lost or break the protocol are closed: everything under way with them ends in an error.

use crate::peers::contact::free_peer;
use crate::peers::peer::Peer;
use crate::peers::streamed::{Streamed, StreamedPart};
use crate::peers::table::Peers;
use crate::requests::completer::Completer;
use crate::requests::request::{Outcome, Request};
use crate::requests::work::Work;
use crate::state::fifos::FIFO;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{CriGuard, CriSetGuard, Entry, Status};

impl Peers {
    /// A transport to a peer failed for good: everything under way with it ends in an error.
    #[cold]
    pub fn peer_failed(&self, held: &mut CriGuard<'_>, peer: &Peer, status: Status) {
        let first = self.lose(held, peer);
        if first {
            let message = format!("{} cannot send to process {}: {status}", peer.btl().name(), peer.proc());
            self.instance().host().peer_error(peer.proc(), true, &message);
        }
    }

    /// Marks a peer as lost and closes it on the CRI whose lock is held; the other CRIs follow in their next turn.
    /// `false`: it was lost already.
    fn lose(&self, held: &mut CriGuard<'_>, peer: &Peer) -> bool {
        let first = !peer.base.lost.swap(true, Ordering::AcqRel);
        if first {
            self.instance().watch_closer();
            self.lost.fetch_add(1, Ordering::Release);
        }
        self.instance().cri(held.ctx()).work().mark(Work::SWEEP);
        if !core::mem::replace(&mut peer.flow(held).failed, true) {
            self.close(held, peer);
        }
        first
    }

    /// Closes the peer that the host reports as failed. Operations under way with it end in the next turn of each CRI.
    pub fn lose_process(&self, entry: &mut Entry, proc: u32) -> Status {
        // Under the lock: the process may part meanwhile, and then there is nothing to close.
        let mut held = self.instance().hold(entry, FIFO);
        if let Ok(peer) = self.peer(proc, held.entry()) {
            self.lose(&mut held, peer);
        }
        Status::OK
    }

    /// Closes on the held CRI all peers that were lost on another CRI since this was last done.
    #[cold]
    pub fn close_lost(&self, held: &mut CriGuard<'_>) {
        *self.instance().own(held).closed() = self.lost();
        self.instance().cri(held.ctx()).work().mark(Work::SWEEP);
        for peer in self.each().filter(|peer| peer.base.is_lost()) {
            if let Ok(flow) = self.flow_of(peer, held.ctx(), held.entry())
                && !core::mem::replace(&mut flow.flow(held).failed, true)
            {
                self.close(held, flow);
            }
        }
    }

    /// Ends what is still under way on the held CRI with a process that has parted: messages of the protocols that found no room, if any did.
    pub fn shut_on(&self, held: &mut CriGuard<'_>, proc: u32) {
        let Some(flow) = self.flow_made(proc, held.ctx()) else { return };
        if !core::mem::replace(&mut flow.flow(held).failed, true) {
            self.close(held, flow);
        }
        let at = self.instance().own(held).backlog().iter().position(|of| *of == proc);
        if let Some(at) = at {
            self.forget(held, at, flow);
        }
    }

    /// Frees the peers of a process that has parted and was shut on all CRIs.
    ///
    /// # Safety
    /// All CRIs are held, no verb is under way that names the process, and no request is.
    pub unsafe fn free_process(&self, all: &CriSetGuard<'_>, proc: u32) {
        let _guard = self.lock.guard(all.entry());
        let Some(slot) = self.table.get(proc as usize) else { return };
        if self.is_closed(proc) {
            self.instance().watch_less();
        }
        // SAFETY: the caller's promise: who uses a peer holds a CRI or is in such a verb.
        unsafe { free_peer(slot) };
    }

    /// Fails everything under way with a peer on one FIFO: queued sends, streams, and requests whose ids it may quote.
    /// Those that a transport still has pieces of fail with the last piece.
    fn close(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        peer.flow(held).drop_control();
        self.abandon_streamed(held, peer);
        let queued: Vec<&Request> = peer.shut(held);
        let streams: Vec<&Request> = peer.flow(held).take_streams_of(|_| true);
        let waiting = self.instance().own(held).ids().those(|req| req.proc() == peer.proc());
        // A queued send may have its id already: it is in both lists, and fails once.
        for req in queued.into_iter().chain(streams).chain(waiting) {
            if req.pulls() > 0 || req.is_listed() {
                // The transport may still touch its buffer; it fails with the last piece.
                self.requests().drop_id(held, req);
                req.worsen(Outcome::Revoked);
            } else if let Some(completer) = req.claim_any(held) {
                self.requests().drop_id(held, req);
                self.fail_taken(held.entry(), completer, Status::PEER_FAILED);
            }
        }
    }

    /// Completes a request that goes on under the CRI that is held with an error, and takes its registered memory back.
    pub fn fail(&self, held: &mut CriGuard<'_>, req: &'static Request, status: Status) {
        self.fail_taken(held.entry(), req.claim(held), status);
    }

    /// The same for a request whose completer the caller has.
    pub fn fail_taken(&self, entry: &Entry, completer: Completer, status: Status) {
        self.requests().release_memory(&completer);
        completer.set_error(status);
        self.requests().complete(completer, entry);
    }

    /// Closes the peer that sent a header which makes no sense; `what` says to the operator what was wrong with it.
    #[cold]
    pub fn bad_header(&self, held: &mut CriGuard<'_>, proc: u32, what: &str) {
        match self.flow(proc, held.ctx(), held.entry()) {
            Ok(peer) if !self.lose(held, peer) => return,
            // It has parted: there is nobody to complain of.
            Err(_) if self.is_unknown(proc) => return,
            _ => {}
        }
        let message = format!("process {proc} sent a message that pml ob1 cannot accept: {what}");
        self.instance().host().peer_error(proc, true, &message);
    }

    /// Drops the message that has come only in part from a peer that is being closed, and fails its receive.
    pub fn abandon_streamed(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        // The transport that was asked for more knows the request, which fails with all that peers know.
        if let Some(Streamed { req, part: StreamedPart::Whole(_), .. }) = peer.flow(held).end_streamed() {
            self.fail(held, req, Status::PEER_FAILED);
        }
    }
}
