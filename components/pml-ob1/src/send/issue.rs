//! A send by a request is issued: its protocol is chosen by size, mode, credit and transport, and its first message goes out, or waits for room.

use crate::communicators::comm::Comm;
use crate::long::rdma::{worth_reading, worth_writing};
use crate::long::runs::RunList;
use crate::order::flows::Order;
use crate::peers::choice::Transfer;
use crate::peers::peer::{Peer, can_get_vector, whole_pages};
use crate::peers::route::Route;
use crate::requests::completer::Completer;
use crate::requests::request::{Request, State};
use crate::send::sender::Sender;
use crate::wire::{self, Header, PREFIX_BYTES, Parcel, flag, kind};
use oxmpi_mca::{CriGuard, Status};
use oxmpi_pml::mode;

/// Mode of a request that sends a FAILURE, beside those of [`mode`]; `wanted` has the error.
pub const FAILURE: u32 = u32::MAX;

impl Sender {
    /// Starts a send that has a FIFO: issues it at once, or queues it behind the sends that wait for room. `Err`: it failed outright, and is the
    /// caller's again.
    pub fn offer(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        completer: Completer,
    ) -> Result<(), (Status, Completer)> {
        completer.begin_offer();
        let flow = peer.flow(held);
        let clear = flow.is_clear();
        if flow.is_failed() || peer.base().is_lost() {
            return Err((Status::PEER_FAILED, completer));
        }
        let req = completer.park(held.ctx());
        match if clear { self.issue(held, peer, req) } else { Status::NO_RESOURCE } {
            Status::NO_RESOURCE => {
                req.wait_for_room();
                peer.enqueue(held, req);
                self.peers().remember(held, peer);
                Ok(())
            }
            status if status.is_err() => {
                self.peers().peer_failed(held, peer, status);
                Err((Status::PEER_FAILED, req.claim(held)))
            }
            _ => Ok(()),
        }
    }

    /// Chooses the protocol of a send and transmits its first message. NO_RESOURCE: there was no room, and nothing
    /// happened. Other errors are the transport's; the request is the caller's then.
    pub fn issue(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request) -> Status {
        // SAFETY: communicators and routes stay while requests are queued on them (`comm.rs`).
        let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
        let order = req.order();
        if order != 0 {
            match self.order().open_switches(held, peer, comm, route) {
                Status::OK => {}
                status => return status,
            }
        }
        let (ordered, order) = Order::order_words(peer, order);
        let head = route.head();
        let total = req.total();
        let sync = req.mode() == mode::SYNCHRONOUS;
        let prefixed = wire::flags_of(head) & flag::CID != 0;
        let matching = wire::MATCH_BYTES + if prefixed { PREFIX_BYTES } else { 0 };
        let start = |kind: u8, flags: u8| {
            let head = head & !0xff | kind as u64 | ((flags | ordered) as u64) << 8;
            let mut h = Header::new(&[head, wire::source_tag(comm.my_rank(), req.tag()), order]);
            if prefixed {
                h.push_prefix(&comm.prefix());
            }
            h
        };
        if req.mode() == FAILURE {
            let mut h = start(kind::FAILURE, 0);
            h.push(req.carried());
            let status = peer.transmit(held, &Parcel::header_only(&h));
            return self.issued_eager(held, peer, req, status, false);
        }
        let eager_header = matching as u64 + if sync { 8 } else { 0 };
        let contiguous = req.dtype().is_none();
        let readable = contiguous && peer.flow(held).may_read() && worth_reading(peer, req);
        let is_eager = total + eager_header <= peer.eager_limit();
        let measured = readable && !is_eager && total + eager_header <= peer.copied_limit(held);
        let transfer = if measured {
            peer.choice().next(held, total, || self.instance().age().as_nanos() as u32)
        } else {
            None
        };
        let copied = transfer.map_or(is_eager, |transfer| transfer == Transfer::Copy);
        if copied && peer.flow(held).take_credit(total) {
            let mut h = start(kind::MATCH, if sync { flag::SYNC } else { 0 });
            if sync {
                h.push(self.requests().id_of(held, req));
            }
            let status = self.transfers().transmit_part(held, peer, req, &h, 0, total);
            return self.issued_eager(held, peer, req, status, sync);
        }
        if readable
            && let Some(status) = self.transfers().offer_reading(held, peer, req, || start(kind::RGET, 0))
        {
            return self.issued_long(held, req, status, State::WaitFin);
        }
        // Where it was offered before and found no room, and reading has been refused since.
        self.requests().release_memory(req);
        if contiguous && worth_writing(held, peer, req) {
            let mut h = start(kind::RPUT, 0);
            h.push(total);
            h.push(self.requests().id_of(held, req));
            let status = peer.transmit(held, &Parcel::header_only(&h));
            return self.issued_long(held, req, status, State::WaitPut);
        }
        if !contiguous && let Some(status) = self.offer_runs(held, peer, req, || start(kind::RUNS, 0)) {
            return status;
        }
        let room = peer.rndv_limit().saturating_sub(matching as u64 + 16);
        let room = if total <= room { total } else { whole_pages(room) };
        let first = if peer.flow(held).take_credit(room) { room } else { 0 };
        let mut h = start(kind::RNDV, 0);
        h.push(total);
        h.push(self.requests().id_of(held, req));
        let status = self.transfers().transmit_part(held, peer, req, &h, 0, first);
        if status.is_ok() {
            req.send_first(first);
        } else if first > 0 {
            peer.flow(held).give_credit(first);
        }
        self.issued_long(held, req, status, State::WaitAck)
    }

    /// Sends RUNS, which tells where a send's data lies in pieces, if reading it there pays. `None`: it does not, and
    /// nothing was sent.
    fn offer_runs(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        start: impl FnOnce() -> Header,
    ) -> Option<Status> {
        let (limits, total) = (&self.instance().config().pieces, req.total());
        let pays =
            limits.permit(total) && peer.flow(held).may_read() && total >= peer.btl().attrs().min_get_size;
        if !pays || !can_get_vector(peer.btl()) {
            return None;
        }
        let list = RunList::of(req.dtype()?, req.count(), req.buf() as u64, total, limits.remote)?;
        let bytes = list.bytes();
        let mut h = start();
        h.push(total);
        h.push(self.requests().id_of(held, req));
        let len = bytes.len() as u64;
        if len + h.bytes() as u64 > peer.rndv_limit() || !peer.flow(held).take_credit(len) {
            return None;
        }
        let status = peer.transmit(held, &Parcel::with_payload(&h, bytes));
        if !status.is_ok() {
            peer.flow(held).give_credit(len);
        }
        Some(self.issued_long(held, req, status, State::WaitFin))
    }

    /// Ends the issue of an eager message by the transport's status: completes the request, has a synchronous one wait
    /// for its ACK, or gives the credit back.
    fn issued_eager(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &'static Request,
        status: Status,
        sync: bool,
    ) -> Status {
        if !status.is_ok() {
            peer.flow(held).give_credit(req.total());
        } else if sync {
            req.await_ack_of_all();
        } else {
            // It may have been announced before, which found no room: nobody is to answer it.
            if req.id() != 0 {
                self.requests().drop_id(held, req);
            }
            self.requests().complete(req.claim(held), held.entry());
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Ends the issue of a long message's first header by the transport's status: the request goes to the state `next`
    /// if it was sent.
    fn issued_long(
        &self,
        held: &mut CriGuard<'_>,
        req: &'static Request,
        status: Status,
        next: State,
    ) -> Status {
        if status.is_ok() {
            req.await_answer(next);
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Takes the id and the registered memory from a send that failed for good, so that closing its peer does not find
    /// it. NO_RESOURCE is no such failure.
    fn drop_id_on_error(&self, held: &mut CriGuard<'_>, req: &'static Request, status: Status) {
        if status.is_err() && status != Status::NO_RESOURCE {
            self.requests().drop_id(held, req);
            self.requests().release_memory(req);
        }
    }

    /// Takes a send that waits for room out of its peer's queue. `None`: it is not queued any more.
    pub fn unqueue(&self, held: &mut CriGuard<'_>, req: &'static Request) -> Option<Completer> {
        let peer = Peer::of_request(req).filter(|_| req.state() == State::Queued)?;
        if !peer.remove(held, req) {
            return None;
        }
        self.requests().drop_id(held, req);
        self.requests().release_memory(req);
        // SAFETY: communicators and routes stay while requests are queued on them (`comm.rs`).
        let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
        self.order().give_up_number(held, peer, comm, route, req.tag(), req.order());
        Some(req.claim(held))
    }
}
