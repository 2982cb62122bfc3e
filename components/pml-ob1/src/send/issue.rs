//! A send by a request is issued: its protocol is chosen by size, mode, credit and transport, and its first message goes out, or waits for room.

use crate::communicators::comm::Comm;
use crate::long::rdma::{worth_reading, worth_writing};
use crate::long::runs::RunList;
use crate::order::flows::Order;
use crate::peers::choice::Transfer;
use crate::peers::peer::{Peer, can_get_vector, whole_pages};
use crate::peers::route::Route;
use crate::requests::request::{Request, State};
use crate::send::sender::Sender;
use crate::state::guarded::Held;
use crate::wire::{self, Header, PREFIX_BYTES, flag, header_only, kind};
use oxmpi_mca::Status;
use oxmpi_pml::mode;

/// Mode of a request that sends a FAILURE, beside those of [`mode`]; `wanted` has the error.
pub const FAILURE: u32 = u32::MAX;

impl Sender {
    /// Starts a send that has a FIFO: issues it at once, or queues it behind the sends that wait for room.
    pub fn offer(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Status {
        req.begin_offer();
        if peer.is_failed() || peer.base().is_lost() {
            return Status::PEER_FAILED;
        }
        let status = if peer.is_clear() { self.issue(held, peer, req) } else { Status::NO_RESOURCE };
        match status {
            Status::NO_RESOURCE => {
                req.wait_for_room();
                peer.enqueue(held, req);
                self.peers().remember(held, peer);
                Status::OK
            }
            status if status.is_err() => {
                self.peers().peer_failed(held, peer, status);
                Status::PEER_FAILED
            }
            status => status,
        }
    }

    /// Chooses the protocol of a send and transmits its first message. NO_RESOURCE: there was no room, and nothing
    /// happened. Other errors are the transport's; the request is the caller's then.
    pub fn issue(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Status {
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
            return self.issued_eager(held, peer, req, peer.transmit(held, &header_only(&h)), false);
        }
        let eager_header = matching as u64 + if sync { 8 } else { 0 };
        let contiguous = req.dtype().is_none();
        let readable = contiguous && peer.may_read() && worth_reading(peer, req);
        let is_eager = total + eager_header <= peer.eager_limit();
        let measured = readable && !is_eager && total + eager_header <= peer.copied_limit();
        let transfer = if measured {
            peer.choice().next(total, || self.instance().age().as_nanos() as u32)
        } else {
            None
        };
        let copied = transfer.map_or(is_eager, |transfer| transfer == Transfer::Copy);
        if copied && peer.take_credit(held, total) {
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
        if contiguous && worth_writing(peer, req) {
            let mut h = start(kind::RPUT, 0);
            h.push(total);
            h.push(self.requests().id_of(held, req));
            return self.issued_long(held, req, peer.transmit(held, &header_only(&h)), State::WaitPut);
        }
        if !contiguous && let Some(status) = self.offer_runs(held, peer, req, || start(kind::RUNS, 0)) {
            return status;
        }
        let room = peer.rndv_limit().saturating_sub(matching as u64 + 16);
        let room = if total <= room { total } else { whole_pages(room) };
        let first = if peer.take_credit(held, room) { room } else { 0 };
        let mut h = start(kind::RNDV, 0);
        h.push(total);
        h.push(self.requests().id_of(held, req));
        let status = self.transfers().transmit_part(held, peer, req, &h, 0, first);
        if status.is_ok() {
            req.send_first(first);
        } else if first > 0 {
            peer.give_credit(held, first);
        }
        self.issued_long(held, req, status, State::WaitAck)
    }

    /// Sends RUNS, which tells where a send's data lies in pieces, if reading it there pays. `None`: it does not, and
    /// nothing was sent.
    fn offer_runs(
        &self,
        held: &Held<'_>,
        peer: &Peer,
        req: &'static Request,
        start: impl FnOnce() -> Header,
    ) -> Option<Status> {
        let (limits, total) = (&self.instance().config().pieces, req.total());
        let pays = limits.permit(total) && peer.may_read() && total >= peer.btl().attrs().min_get_size;
        if !pays || !can_get_vector(peer.btl()) {
            return None;
        }
        let list = RunList::of(req.dtype()?, req.count(), req.buf() as u64, total, limits.remote)?;
        let bytes = list.bytes();
        let mut h = start();
        h.push(total);
        h.push(self.requests().id_of(held, req));
        let len = bytes.len() as u64;
        if len + h.bytes() as u64 > peer.rndv_limit() || !peer.take_credit(held, len) {
            return None;
        }
        let mut desc = header_only(&h);
        (desc.payload, desc.len) = (bytes.as_ptr(), len);
        let status = peer.transmit(held, &desc);
        if !status.is_ok() {
            peer.give_credit(held, len);
        }
        Some(self.issued_long(held, req, status, State::WaitFin))
    }

    /// Ends the issue of an eager message by the transport's status: completes the request, has a synchronous one wait
    /// for its ACK, or gives the credit back.
    fn issued_eager(
        &self,
        held: &Held<'_>,
        peer: &Peer,
        req: &'static Request,
        status: Status,
        sync: bool,
    ) -> Status {
        if !status.is_ok() {
            peer.give_credit(held, req.total());
        } else if sync {
            req.await_ack_of_all();
        } else {
            // It may have been announced before, which found no room: nobody is to answer it.
            if req.id() != 0 {
                self.requests().drop_id(held, req);
            }
            self.requests().complete(req, held.threaded);
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Ends the issue of a long message's first header by the transport's status: the request goes to the state `next`
    /// if it was sent.
    fn issued_long(&self, held: &Held<'_>, req: &'static Request, status: Status, next: State) -> Status {
        if status.is_ok() {
            req.await_answer(next);
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Takes the id and the registered memory from a send that failed for good, so that closing its peer does not find
    /// it. NO_RESOURCE is no such failure.
    fn drop_id_on_error(&self, held: &Held<'_>, req: &'static Request, status: Status) {
        if status.is_err() && status != Status::NO_RESOURCE {
            self.requests().drop_id(held, req);
            self.requests().release_memory(req);
        }
    }

    /// Takes a send that waits for room out of its peer's queue. `false`: it is not queued any more.
    pub fn unqueue(&self, held: &Held<'_>, req: &'static Request) -> bool {
        let Some(peer) = Peer::of_request(req).filter(|_| req.state() == State::Queued) else {
            return false;
        };
        let found = peer.remove(held, req);
        if found {
            self.requests().drop_id(held, req);
            self.requests().release_memory(req);
            // SAFETY: communicators and routes stay while requests are queued on them (`comm.rs`).
            let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
            self.order().give_up_number(held, peer, comm, route, req.tag(), req.order());
        }
        found
    }
}
