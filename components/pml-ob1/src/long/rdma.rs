//! Long messages by the transport's get and put: in pieces, over registered memory where the transport wants that.
//!
//! ```text
//! sender                           receiver
//! RGET   address, handle   ─────►  matched: gets in pieces
//! complete                 ◄─────  FIN (or ACK: what was read, and fragments for the rest)
//!
//! RPUT   length            ─────►  matched: its buffer is registered
//! puts in pieces, flushes  ◄─────  PUT: address, handle (or ACK: fragments)
//! FIN                      ─────►  complete
//! ```
//!
//! The sender offers a get where the transport has one and the message is of `min_get_size` or more, else a put in the
//! same way. Both ends may decline: memory that cannot be registered, addresses that the transport's alignment does
//! not allow, data in pieces, a refusal before. Then the message goes by fragments (`rendezvous.rs`).
//!
//! **Pieces** have the transport's limit and alignment; so many as `pml_ob1_recv_pipeline_depth` says are under way at once. A verb that
//! answers NO_RESOURCE is offered again from the peer's list of streams. One that answers PENDING ends by [`landed`], which the
//! transport calls from its progress: **that only counts**, and puts the request on its CRI's list of those to be
//! looked at when that progress has returned ([`Transfers::take_landed`]). A request is on one list at most (`Request::listed`).
//!
//! Where several transports share the message's memory (`stripes.rs`) the header has a handle of each, and the pieces, which are shorter then,
//! go over that with the least to do.
//!
//! **Ends.** A request ends when none of its pieces is under way, however they went ([`Outcome`], the worst
//! counts), since until then the transport may touch its buffer. A put ends behind a flush, unless the transport's `done` already
//! says that the data is visible, so that FIN follows the data. A refusal is remembered for the peer, and the message starts
//! over by fragments; **before the first of them is stored the receiver takes its memory back**, so no late put
//! lands in what the program uses again. Any other failure is the peer's.

use crate::long::registration::{handle_size, handles_size};
use crate::long::transfer::{TransferProgress, fin};
use crate::long::transfers::Transfers;
use crate::peers::abilities::piece;
use crate::peers::link::Link;
use crate::peers::peer::Peer;
use crate::receive::incoming::Incoming;
use crate::requests::request::{Outcome, Request, State};
use crate::wire::{self, Header, Parcel, kind};
use core::ffi::c_void;
use oxmpi_btl::{BtlAttrs, FlushDesc, RmaDesc, access};
use oxmpi_mca::{CriGuard, RequestHeader, Status};

/// Bytes of one piece where `rails` transports share a message: several pieces for each, so that a slow one gets fewer,
/// but none so small that its own costs count. A multiple of the alignment and of pages.
fn stripe(wanted: u64, rails: usize, alignment: u64) -> u64 {
    const PIECES: u64 = 4;
    const LEAST: u64 = 64 << 10;
    wanted.div_ceil(PIECES * rails as u64).max(LEAST).next_multiple_of(alignment.max(4096))
}

/// Starts a get or put of a piece by a transport, on the FIFO that is held.
///
/// # Safety
/// The request of the descriptor keeps its buffer and its handles until [`landed`].
unsafe fn start(held: &mut CriGuard<'_>, gets: bool, link: &Link, rma: &RmaDesc) -> Status {
    let (btl, to) = (link.btl(), link.endpoint());
    // SAFETY: endpoints stay as long as peers; the rest is the caller's promise.
    unsafe { if gets { btl.get(held, to, rma) } else { btl.put(held, to, rma) } }
}

/// Whether all values are multiples of a transport's alignment (0 or 1: none is asked for).
pub fn aligned(alignment: u64, values: &[u64]) -> bool {
    alignment <= 1 || values.iter().all(|v| v.is_multiple_of(alignment))
}

/// Whether a send's buffer is long enough and aligned for the transport's get.
pub fn worth_reading(peer: &Peer, req: &Request) -> bool {
    let a = peer.btl().attrs();
    let (total, addr) = (req.total(), req.buf() as u64);
    total >= a.min_get_size && aligned(a.get_alignment, &[total, addr])
}

/// Whether a send's buffer is long enough and aligned for the transport's put, and the peer has not refused puts.
pub fn worth_writing(held: &mut CriGuard<'_>, peer: &Peer, req: &Request) -> bool {
    let a = peer.btl().attrs();
    let (total, addr) = (req.total(), req.buf() as u64);
    total >= a.min_put_size && peer.flow(held).is_writable() && aligned(a.put_alignment, &[total, addr])
}

impl Transfers {
    /// Registers a send's buffer and sends RGET, which offers it for reading. `start` makes the header. `None`: credit,
    /// room or a registration is missing, and nothing was sent.
    pub fn offer_reading(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        start: impl FnOnce() -> Header,
    ) -> Option<Status> {
        let mut h = start();
        // Behind the head of a kept message address and handle are payload, which costs credit.
        let mut payload = (8 + handles_size(peer)) as u64;
        if h.bytes() as u64 + 16 + payload > peer.largest() || !peer.flow(held).take_credit(payload) {
            return None;
        }
        if self.register_memory(peer, req, req.total(), access::REMOTE_READ).is_err() {
            peer.flow(held).give_credit(payload);
            return None;
        }
        for word in [req.total(), self.requests().id_of(held, req), req.buf() as u64] {
            h.push(word);
        }
        let handles = req.handle_bytes();
        // It was registered with fewer transports, perhaps.
        let len = handles.len() as u64;
        peer.flow(held).give_credit(payload - 8 - len);
        payload = 8 + len;
        let status = peer.transmit(held, &Parcel::with_payload(&h, handles));
        if !status.is_ok() {
            peer.flow(held).give_credit(payload);
        }
        Some(status)
    }

    /// Prepares a receive for getting its message's data out of the sender's memory; the caller takes the first step.
    /// `false`: the memory cannot be read or registered.
    pub fn prepare_pull(&self, peer: &Peer, req: &'static Request, inc: &Incoming<'_>) -> bool {
        let Some((remote, handle)) = inc.address() else { return false };
        let (local, wanted) = (req.buf() as u64, req.wanted());
        if !aligned(peer.btl().attrs().get_alignment, &[remote, local, wanted])
            || self.register_memory(peer, req, wanted, access::LOCAL_WRITE).is_err()
        {
            return false;
        }
        req.keep_remote_handles(handle_size(peer), handle);
        req.read_from(remote);
        req.begin_pieces(State::Pulling);
        true
    }

    /// Registers a receive's buffer, so that it can be offered to the sender, which puts the data there; the caller takes
    /// that step. `false`: the buffer is not contiguous, not aligned, or cannot be registered.
    pub fn prepare_exposure(&self, peer: &Peer, req: &'static Request) -> bool {
        let (local, wanted) = (req.buf() as u64, req.wanted());
        if req.dtype().is_some()
            || !aligned(peer.btl().attrs().put_alignment, &[local, wanted])
            || self.register_memory(peer, req, wanted, access::LOCAL_WRITE | access::REMOTE_WRITE).is_err()
        {
            return false;
        }
        req.begin_offering();
        true
    }

    /// Sends PUT, which tells the sender where to put a message's data and by which handles.
    pub fn offer_memory(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
    ) -> TransferProgress {
        let words = [req.remote_id(), self.requests().id_of(held, req), req.wanted(), req.buf() as u64];
        let mut h = Header::new(&[wire::head(kind::PUT, 0, 0, 0)]);
        words.into_iter().for_each(|word| h.push(word));
        match peer.transmit(held, &Parcel::with_payload(&h, req.handle_bytes())) {
            Status::OK => req.be_exposed(),
            Status::NO_RESOURCE => return TransferProgress::NoRoom,
            error => return self.give_up(held, peer, req, error),
        }
        TransferProgress::Over
    }

    /// Issues pieces until all are under way, enough are, or the transport has no room.
    pub fn move_pieces(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
    ) -> TransferProgress {
        if peer.is_failed(held) || self.is_revoked(req) {
            req.worsen(Outcome::Revoked);
        }
        let a = peer.btl().attrs();
        let gets = req.state() == State::Pulling;
        let (most, unit) = match gets {
            true => (piece(a.get_limit, a.get_alignment), a.get_alignment),
            false => (piece(a.put_limit, a.put_alignment), a.put_alignment),
        };
        while req.done() < req.wanted() && req.outcome() == Outcome::Fine {
            if req.pulls() >= self.instance().config().pipeline_depth {
                return TransferProgress::Over;
            }
            let done = req.done();
            let rails = req.registered_rails().min(peer.rails().for_rdma().len());
            let most = if rails > 1 { stripe(req.wanted(), rails, unit).min(most) } else { most };
            let len = (req.wanted() - done).min(most);
            let rma = |rail| RmaDesc {
                local: req.buf().wrapping_add(done as usize),
                remote: req.remote_addr() + done,
                len,
                local_handle: req.local_handle(rail),
                remote_handle: req.remote_handle(rail),
                done: Some(landed),
                done_ctx: core::ptr::from_ref(req).cast_mut().cast(),
            };
            // SAFETY: the request has its buffer and its handles until the last piece has landed.
            let start =
                |held: &mut CriGuard<'_>, rail, link: &Link| unsafe { start(held, gets, link, &rma(rail)) };
            let status = if rails > 1 {
                peer.rails().issue(held, rails, len, start)
            } else {
                start(held, 0, peer.link())
            };
            match status {
                Status::OK => {}
                Status::PENDING => peer.work().take_off(held, req),
                Status::NO_RESOURCE => return TransferProgress::NoRoom,
                Status::NO_PERMISSION | Status::NOT_SUPPORTED => {
                    // Pieces that were issued before may still arrive, and are not sent again.
                    req.worsen(Outcome::Refused);
                    break;
                }
                error => req.break_off(error),
            }
            if req.outcome() == Outcome::Fine {
                req.reach(done + len);
            }
        }
        if req.state() == State::Pushing
            && req.outcome() == Outcome::Fine
            && a.flags & BtlAttrs::PUT_DONE_IS_REMOTE == 0
        {
            req.be_flushing();
            return self.flush_pieces(held, peer, req);
        }
        self.conclude_if_down(held, peer, req)
    }

    /// Issues the flush behind the last put, unless a piece failed, and ends the operation if nothing is under way.
    pub fn flush_pieces(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
    ) -> TransferProgress {
        let flush = FlushDesc { done: Some(landed), done_ctx: core::ptr::from_ref(req).cast_mut().cast() };
        if req.outcome() == Outcome::Fine {
            // SAFETY: endpoints stay as long as peers; the request waits for the completion.
            match unsafe { peer.btl().flush(held, peer.endpoint(), &flush) } {
                Status::OK => {}
                Status::PENDING => peer.work().take_off(held, req),
                Status::NO_RESOURCE => return TransferProgress::NoRoom,
                error => req.break_off(error),
            }
        }
        req.be_landing();
        self.conclude_if_down(held, peer, req)
    }

    /// Ends a get or put operation unless a piece or flush of it is still under way.
    pub fn conclude_if_down(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
    ) -> TransferProgress {
        if req.pulls() == 0 {
            self.conclude(held, peer, req);
        }
        TransferProgress::Over
    }

    /// Ends a get or put operation of which nothing is under way, by its [`Outcome`]: completes the request, goes over
    /// to fragments, or fails it.
    fn conclude(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) {
        let is_get = req.kind() == RequestHeader::RECV;
        if self.is_revoked(req) {
            req.worsen(Outcome::Revoked);
        }
        match req.outcome() {
            Outcome::Fine => self.requests().leave_memory(req),
            _ => self.requests().release_memory(req),
        }
        match req.outcome() {
            _ if peer.is_failed(held) => self.peers().fail(held, req, Status::PEER_FAILED),
            Outcome::Fine if is_get => self.end_pull(held, peer, req, req.remote_id()),
            Outcome::Fine => {
                self.peers().control(held, peer, fin(req.remote_id()));
                self.requests().complete(req.claim(held), held.entry());
            }
            Outcome::Refused | Outcome::Lost if is_get => {
                self.remember_refusal(held, peer);
                // Which pieces arrived is not known in order if one of them got lost.
                let done = if req.outcome() == Outcome::Lost { 0 } else { req.done() };
                self.ask_for_copies(held, peer, req, done);
            }
            Outcome::Refused | Outcome::Lost => {
                self.remember_put_refusal(held, peer);
                req.stream_from(0);
                self.queue_transfer(held, peer, req);
            }
            Outcome::Broken => {
                let error = req.status().error;
                self.give_up(held, peer, req, error);
            }
            Outcome::Revoked => self.end_revoked(held, peer, req),
        }
    }

    /// Completes a receive into whose buffer the sender has put all data; one on a revoked communicator fails.
    pub fn end_exposure(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        self.requests().drop_id(held, req);
        if req.outcome() == Outcome::Revoked {
            return self.peers().fail(held, req, Status::PEER_FAILED);
        }
        self.requests().leave_memory(req);
        req.reach(req.wanted());
        self.requests().complete(req.claim(held), held.entry());
        // As behind the last fragment.
        self.instance().cri(held.ctx()).ask_to_stop();
    }

    /// Takes the offered memory back from a sender that sends fragments instead of putting. `false`: the receive has
    /// ended, since its communicator was revoked.
    pub fn takes_memory_back(&self, held: &mut CriGuard<'_>, req: &'static Request) -> bool {
        self.requests().release_memory(req);
        req.be_receiving();
        let revoked = req.outcome() == Outcome::Revoked;
        if revoked {
            self.end_named(held, req);
        }
        !revoked
    }
}

/// The transport's callback for a piece, a flush, or a fragment that it had kept, that has ended: counts it and lists the request for
/// [`Transfers::take_landed`].
///
/// # Safety
/// `ctx` is the request that a verb got; it runs in the transport's progress of the context of that request's FIFO.
pub unsafe extern "C" fn landed(ctx: *mut c_void, status: Status) {
    // SAFETY: the caller's promise, and requests are never freed.
    let req: &'static Request = unsafe { &*ctx.cast::<Request>() };
    let Some(peer) = Peer::of_request(req) else { return };
    match status {
        status if !status.is_err() => {}
        Status::NO_PERMISSION | Status::NOT_SUPPORTED => {
            req.worsen(Outcome::Lost);
        }
        error => req.break_off(error),
    }
    // SAFETY: the transport's caller holds the context, or is alone, and has lent its guard to the transport. Nothing here takes a lock.
    peer.work().land(&mut unsafe { CriGuard::inherited(peer.ctx(), true, None) }, req);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_several_transports_are_whole_units() {
        assert_eq!(stripe(8 << 20, 2, 0), 1 << 20, "four for each of two");
        assert_eq!(stripe((8 << 20) + 1, 2, 4), (1 << 20) + 4096);
        assert_eq!(stripe(100, 2, 0), 64 << 10, "no smaller ones");
        assert_eq!(stripe(3 << 20, 3, 1 << 19), 1 << 19);
    }
}
