//! The sending verbs, and which protocol a message takes.
//!
//! Life of an eager message: `send_blocking` → `eager` (`eager.rs`): one call of the transport with a 24-byte
//! header on the stack and the user's buffer (or a packer), no request, done. A message that cannot go that
//! way gets a request and is **issued**: `issue` decides by size, mode, credit and transport, and runs again
//! from progress when the transport had no room. **Order**: while a peer's queue holds anything, everything
//! later to that peer goes behind it.

use crate::order::switch::Sending;
use crate::protocol::choice::Transfer;
use crate::protocol::rdma::{worth_reading, worth_writing};
use crate::protocol::runs::RunList;
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use crate::state::instance::Ob1;
use crate::state::objects::{Comm, Peer, Request, Route, State};
use crate::state::peer::{can_get_vector, whole_pages};
use crate::wire::{self, Header, PREFIX_BYTES, flag, header_only, kind};
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::Ordering;
use oxmpi_btl::SendDesc;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{SendArgs, mode};

/// Mode of a request that sends a FAILURE, beside those of [`mode`]; `wanted` has the error.
const FAILURE: u32 = u32::MAX;

/// Packs a part of a user's buffer straight into the transport's.
pub struct Packer {
    pub dtype: *const TypeDesc,
    pub count: u64,
    pub base: *const u8,
    pub from: u64,
}

/// The transport's callback that packs bytes `[offset, offset + len)` of a message into `dst`. `ctx`: the [`Packer`] of
/// the descriptor that is being sent.
pub extern "C" fn pack_part(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64) {
    // SAFETY: the transport passes the context of the descriptor we are in the middle of sending.
    let p = unsafe { &*ctx.cast::<Packer>() };
    // SAFETY: the buffer is the user's until completion; `dst` is the transport's.
    unsafe {
        oxmpi_datatype::pack(&*p.dtype, p.count, p.base, p.from + offset, dst, len);
    }
}

/// One message of the user as the protocols see it.
pub struct Outgoing<'a> {
    pub comm: &'a Comm,
    pub route: &'a Route,
    pub peer: &'a Peer,
    pub total: u64,
}

impl Ob1 {
    /// Looks up the route, the peer and the length of a send. `Err`: no such rank, the peer cannot be reached, or the
    /// length overflows.
    #[inline(always)]
    pub fn outgoing<'a>(&'a self, args: &SendArgs, threaded: bool) -> Result<Outgoing<'a>, Status> {
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let (route, peer) = comm.route(self, args.dst, threaded)?;
        let total = dtype.packed.checked_mul(args.count).ok_or(Status::BAD_PARAM)?;
        Ok(Outgoing { comm, route, peer, total })
    }

    /// Sends a blocking message by a request, where it could not go at once. Null: the request completed within the
    /// call and was recycled. `number`: the one that the message keeps, or 0.
    #[inline(never)]
    pub fn send_blocking_slowly(
        &self,
        args: &SendArgs,
        number: u64,
        threaded: bool,
    ) -> Result<*mut RequestHeader, Status> {
        let out = self.outgoing(args, threaded)?;
        let req = match self.take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm) {
            Ok(req) => req,
            Err(status) => {
                let held = self.hold(FIFO, None, threaded);
                self.give_up_number(&held, out.peer, out.comm, out.route, args.tag, number);
                return Err(status);
            }
        };
        self.describe(req, &out, args, threaded);
        self.offer_new(req, &out, args.thread, number, threaded)?;
        // Anybody may complete it, but only we may recycle it: nobody else has its handle.
        if req.is_complete() && req.status().error == Status::OK {
            self.recycle(req, args.thread, threaded);
            return Ok(null_mut());
        }
        Ok(req.handle())
    }

    /// Sends a message by the request that the caller took, where it could not go at once. `number`: the one that the
    /// message keeps, or 0.
    #[inline(never)]
    pub fn send_immediate_slowly(
        &self,
        req: &'static Request,
        args: &SendArgs,
        number: u64,
        threaded: bool,
    ) -> Result<*mut RequestHeader, Status> {
        let out = self.outgoing(args, threaded)?;
        self.describe(req, &out, args, threaded);
        self.offer_new(req, &out, args.thread, number, threaded)?;
        Ok(req.handle())
    }

    /// Makes the inactive persistent request of MPI_Send_init and its other modes; nothing is sent before it is started.
    /// `Err`: the destination cannot be sent to, or no request can be had.
    pub fn send_persistent(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        let threaded = self.threaded();
        let out = self.outgoing(args, threaded)?;
        let req = self.take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
        self.describe(req, &out, args, threaded);
        req.make_persistent();
        Ok(req.handle())
    }

    /// Sends a FAILURE in place of a message of `args`; returns its request. `Err`: the destination cannot be sent to, or no
    /// request can be had.
    pub fn send_failing(&self, args: &SendArgs, error: Status) -> Result<*mut RequestHeader, Status> {
        if !error.is_err() {
            return Err(Status::BAD_PARAM);
        }
        let threaded = self.threaded();
        // Contiguous, so no request keeps it.
        let nothing = TypeDesc::basic(Base::BYTE).ok_or(Status::INTERNAL)?;
        let args = SendArgs { buf: null(), count: 0, dtype: &nothing, mode: FAILURE, ..*args };
        let out = self.outgoing(&args, threaded)?;
        let req = self.take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
        self.describe(req, &out, &args, threaded);
        req.wanted.set(i64::from(error.0).cast_unsigned());
        self.offer_new(req, &out, args.thread, 0, threaded)?;
        Ok(req.handle())
    }

    /// Fills a request with everything that its send may need later.
    fn describe(&self, req: &Request, out: &Outgoing<'_>, args: &SendArgs, threaded: bool) {
        req.buf.set(args.buf.cast_mut());
        req.total.set(out.total);
        req.mode.set(args.mode);
        // SAFETY: alive for the call.
        req.keep_type(unsafe { &*args.dtype }, args.count, threaded);
        req.comm.set(out.comm);
        req.route.set(out.route);
        req.tag.set(args.tag);
        req.proc.set(out.peer.proc);
    }

    /// Chooses the FIFO of a new request and starts its send; recycles the request if that fails outright.
    fn offer_new(
        &self,
        req: &'static Request,
        out: &Outgoing<'_>,
        thread: *mut ThreadCtx,
        number: u64,
        threaded: bool,
    ) -> Result<(), Status> {
        let about = Sending { tag: req.tag.get(), thread, number };
        let status = match self.enter(req, (out.comm, out.route, out.peer), about, threaded) {
            Ok((held, peer)) => {
                if threaded {
                    // Room for it, or its answer, comes there.
                    self.expect_on(thread, held.ctx);
                }
                self.offer(&held, peer, req)
            }
            Err(status) => status,
        };
        if status.is_err() {
            self.recycle(req, thread, threaded);
            return Err(status);
        }
        Ok(())
    }

    /// Chooses the FIFO of a send that is described, notes it in the request, and takes the lock of its CRI.
    fn enter<'a>(
        &'a self,
        req: &Request,
        (comm, route, base): (&Comm, &Route, &'a Peer),
        about: Sending,
        threaded: bool,
    ) -> Result<(Held<'a>, &'a Peer), Status> {
        let (held, peer, order) = match threaded {
            true => self.enter_flow(comm, route, base, about)?,
            false => (self.hold(FIFO, None, false), base, 0),
        };
        req.peer.set(peer);
        req.order.set(order);
        Ok((held, peer))
    }

    /// Starts a send that has a FIFO: issues it at once, or queues it behind the sends that wait for room.
    fn offer(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Status {
        req.id.set(0);
        req.done.set(0);
        req.asked_back.set(false);
        if peer.failed.get() || peer.base.lost.load(Ordering::Relaxed) {
            return Status::PEER_FAILED;
        }
        let status = if peer.queued.get() == 0 { self.issue(held, peer, req) } else { Status::NO_RESOURCE };
        match status {
            Status::NO_RESOURCE => {
                req.state.set(State::Queued);
                peer.queue.with(held, |q| q.push_back(req));
                peer.queued.set(peer.queued.get() + 1);
                peer.queue_changed(held);
                self.remember(held, peer);
                Status::OK
            }
            status if status.is_err() => {
                self.peer_failed(held, peer, status);
                Status::PEER_FAILED
            }
            status => status,
        }
    }

    /// Chooses the protocol of a send and transmits its first message. NO_RESOURCE: there was no room, and nothing
    /// happened. Other errors are the transport's; the request is the caller's then.
    pub fn issue(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Status {
        // SAFETY: communicators and routes stay while requests are queued on them (`comm.rs`).
        let (comm, route) = unsafe { (&*req.comm.get(), &*req.route.get()) };
        let order = req.order.get();
        if order != 0 {
            match self.open_switches(held, peer, comm, route) {
                Status::OK => {}
                status => return status,
            }
        }
        let (ordered, order) = Ob1::order_words(peer, order);
        let head = route.head.load(Ordering::Relaxed);
        let total = req.total.get();
        let sync = req.mode.get() == mode::SYNCHRONOUS;
        let prefixed = wire::flags_of(head) & flag::CID != 0;
        let matching = wire::MATCH_BYTES + if prefixed { PREFIX_BYTES } else { 0 };
        let start = |kind: u8, flags: u8| {
            let head = head & !0xff | kind as u64 | ((flags | ordered) as u64) << 8;
            let mut h = Header::new(&[head, wire::source_tag(comm.my_rank, req.tag.get()), order]);
            if prefixed {
                h.push_prefix(&comm.prefix());
            }
            h
        };
        if req.mode.get() == FAILURE {
            let mut h = start(kind::FAILURE, 0);
            h.push(req.wanted.get());
            return self.issued_eager(held, peer, req, peer.transmit(held, &header_only(&h)), false);
        }
        let eager_header = matching as u64 + if sync { 8 } else { 0 };
        let contiguous = req.dtype().is_none();
        let readable = contiguous && !peer.no_rget.get() && worth_reading(peer, req);
        let is_eager = total + eager_header <= peer.eager_limit();
        let measured = readable && !is_eager && total + eager_header <= peer.copied_limit();
        let transfer =
            if measured { peer.choice.next(total, || self.born.elapsed().as_nanos() as u32) } else { None };
        let copied = transfer.map_or(is_eager, |transfer| transfer == Transfer::Copy);
        if copied && peer.take_credit(held, total) {
            let mut h = start(kind::MATCH, if sync { flag::SYNC } else { 0 });
            if sync {
                h.push(self.id_of(held, req));
            }
            let status = self.transmit_part(held, peer, req, &h, 0, total);
            return self.issued_eager(held, peer, req, status, sync);
        }
        if readable && let Some(status) = self.offer_reading(held, peer, req, || start(kind::RGET, 0)) {
            return self.issued_long(held, req, status, State::WaitFin);
        }
        // Where it was offered before and found no room, and reading has been refused since.
        self.release_memory(req);
        if contiguous && worth_writing(peer, req) {
            let mut h = start(kind::RPUT, 0);
            h.push(total);
            h.push(self.id_of(held, req));
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
        h.push(self.id_of(held, req));
        let status = self.transmit_part(held, peer, req, &h, 0, first);
        if status.is_ok() {
            req.done.set(first);
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
        let (limits, total) = (&self.config.pieces, req.total.get());
        let pays = limits.permit(total) && !peer.no_rget.get() && total >= peer.btl.attrs().min_get_size;
        if !pays || !can_get_vector(peer.btl) {
            return None;
        }
        let list = RunList::of(req.dtype()?, req.count.get(), req.buf.get() as u64, total, limits.remote)?;
        let bytes = list.bytes();
        let mut h = start();
        h.push(total);
        h.push(self.id_of(held, req));
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
            peer.give_credit(held, req.total.get());
        } else if sync {
            req.done.set(req.total.get());
            req.state.set(State::WaitAck);
        } else {
            // It may have been announced before, which found no room: nobody is to answer it.
            if req.id.get() != 0 {
                self.drop_id(held, req);
            }
            self.complete(req, held.threaded);
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Ends the issue of a long message's first header by the transport's status: the request goes to the state `next`
    /// if it was sent.
    fn issued_long(&self, held: &Held<'_>, req: &'static Request, status: Status, next: State) -> Status {
        if status.is_ok() {
            req.state.set(next);
        }
        self.drop_id_on_error(held, req, status);
        status
    }

    /// Takes the id and the registered memory from a send that failed for good, so that closing its peer does not find
    /// it. NO_RESOURCE is no such failure.
    fn drop_id_on_error(&self, held: &Held<'_>, req: &'static Request, status: Status) {
        if status.is_err() && status != Status::NO_RESOURCE {
            self.drop_id(held, req);
            self.release_memory(req);
        }
    }

    /// Sends packed bytes `[from, from + len)` of a request behind a header, on the peer's own transport.
    pub fn transmit_part(
        &self,
        held: &Held<'_>,
        peer: &Peer,
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
    ) -> Status {
        Self::with_part(req, header, from, len, |desc| peer.transmit(held, desc))
    }

    /// Calls `send` with a descriptor of packed bytes `[from, from + len)` of a request behind a header; data that is
    /// not contiguous is packed by the transport's callback.
    pub fn with_part(
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
        send: impl FnOnce(&SendDesc) -> Status,
    ) -> Status {
        let mut desc = header_only(header);
        desc.len = len;
        let base = req.buf.get().cast_const();
        match req.dtype() {
            None => {
                desc.payload = base.wrapping_add(from as usize);
                send(&desc)
            }
            Some(dtype) => {
                let mut packer = Packer { dtype, count: req.count.get(), base, from };
                desc.pack = Some(pack_part);
                desc.pack_ctx = (&raw mut packer).cast();
                send(&desc)
            }
        }
    }

    /// The id by which peers quote a request, in the table of the held CRI; made when first needed and kept while the
    /// request waits for room.
    pub fn id_of(&self, held: &Held<'_>, req: &'static Request) -> u64 {
        if req.id.get() == 0 {
            req.id.set(self.cri(held.ctx).ids.with(held, |t| t.insert(req)));
        }
        req.id.get()
    }
    /// Takes a request's id out of the table of the held CRI, and forgets its fragments that came ahead of their turn.
    pub fn drop_id(&self, held: &Held<'_>, req: &'static Request) {
        let id = req.id.replace(0);
        self.cri(held.ctx).ids.with(held, |t| t.remove(id));
        self.cri(held.ctx).ahead.with(held, |ahead| {
            if !ahead.is_empty() {
                ahead.forget(id);
            }
        });
    }

    /// Takes a send that waits for room out of its peer's queue. `false`: it is not queued any more.
    pub fn unqueue(&self, held: &Held<'_>, req: &'static Request) -> bool {
        // SAFETY: peers stay until `finalize`.
        let Some(peer) = (unsafe { req.peer.get().as_ref() }).filter(|_| req.state.get() == State::Queued)
        else {
            return false;
        };
        let found = peer.queue.with(held, |q| {
            let at = q.iter().position(|r| core::ptr::eq(*r, req));
            at.and_then(|at| q.remove(at)).is_some()
        });
        if found {
            peer.queued.set(peer.queued.get() - 1);
            peer.queue_changed(held);
            self.drop_id(held, req);
            self.release_memory(req);
            // SAFETY: communicators and routes stay while requests are queued on them (`comm.rs`).
            let (comm, route) = unsafe { (&*req.comm.get(), &*req.route.get()) };
            self.give_up_number(held, peer, comm, route, req.tag.get(), req.order.get());
        }
        found
    }

    /// Starts an inactive persistent send or receive.
    pub fn start(&self, req: &'static Request) -> Status {
        let threaded = self.threaded();
        req.restart();
        if req.kind() == RequestHeader::SEND {
            // SAFETY: communicators outlive the persistent requests on them (the host's promise).
            let (comm, route) = unsafe { (&*req.comm.get(), &*req.route.get()) };
            let Some(base) = route.peer() else {
                // The communicator was revoked.
                req.set_error(Status::PEER_FAILED);
                self.complete(req, threaded);
                return Status::PEER_FAILED;
            };
            let about = Sending { tag: req.tag.get(), thread: null_mut(), number: 0 };
            match self.enter(req, (comm, route, base), about, threaded) {
                Err(status) => status,
                Ok((held, peer)) => {
                    self.cri(held.ctx).shared.set();
                    let status = self.offer(&held, peer, req);
                    if status.is_err() {
                        self.fail(&held, req, status);
                    }
                    status
                }
            }
        } else {
            self.post_again(req, threaded)
        }
    }
}
