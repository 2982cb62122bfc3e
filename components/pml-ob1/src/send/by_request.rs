//! Sends by a request: what could not go at once, persistent sends, and failures that are sent in place of a message.
//!
//! Life of an eager message: `send_blocking` → `eager` (`eager.rs`): one call of the transport with a 24-byte
//! header on the stack and the user's buffer (or a packer), no request, done. A message that cannot go that
//! way gets a request and is **issued**: `issue` (`issue.rs`) decides by size, mode, credit and transport, and runs again
//! from progress when the transport had no room. **Order**: while a peer's queue holds anything, everything
//! later to that peer goes behind it.

use crate::communicators::comm::Comm;
use crate::order::switch::Sending;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::requests::request::Request;
use crate::send::issue::FAILURE;
use crate::send::outgoing::Outgoing;
use crate::send::sender::Sender;
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use core::ptr::{null, null_mut};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use oxmpi_pml::SendArgs;

impl Sender {
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
        let req =
            match self.requests().take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm) {
                Ok(req) => req,
                Err(status) => {
                    let held = self.instance().hold(FIFO, None, threaded);
                    self.order().give_up_number(&held, out.peer, out.comm, out.route, args.tag, number);
                    return Err(status);
                }
            };
        self.describe(req, &out, args, threaded);
        self.offer_new(req, &out, args.thread, number, threaded)?;
        // Anybody may complete it, but only we may recycle it: nobody else has its handle.
        if req.is_complete() && req.status().error == Status::OK {
            self.requests().recycle(req, args.thread, threaded);
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
        let threaded = self.instance().threaded();
        let out = self.outgoing(args, threaded)?;
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
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
        let threaded = self.instance().threaded();
        // Contiguous, so no request keeps it.
        let nothing = TypeDesc::basic(Base::BYTE).ok_or(Status::INTERNAL)?;
        let args = SendArgs { buf: null(), count: 0, dtype: &nothing, mode: FAILURE, ..*args };
        let out = self.outgoing(&args, threaded)?;
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
        self.describe(req, &out, &args, threaded);
        req.carry(error);
        self.offer_new(req, &out, args.thread, 0, threaded)?;
        Ok(req.handle())
    }

    /// Fills a request with everything that its send may need later.
    fn describe(&self, req: &Request, out: &Outgoing<'_>, args: &SendArgs, threaded: bool) {
        req.describe_send((args.buf.cast_mut(), out.total), (args.mode, args.tag), out.peer.proc());
        // SAFETY: alive for the call.
        req.keep_type(unsafe { &*args.dtype }, args.count, threaded);
        req.set_comm(out.comm.handle());
        req.set_route(out.route.handle());
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
        let about = Sending { tag: req.tag(), thread, number };
        let status = match self.enter(req, (out.comm, out.route, out.peer), about, threaded) {
            Ok((held, peer)) => {
                if threaded {
                    // Room for it, or its answer, comes there.
                    self.instance().expect_on(thread, held.ctx);
                }
                self.offer(&held, peer, req)
            }
            Err(status) => status,
        };
        if status.is_err() {
            self.requests().recycle(req, thread, threaded);
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
            true => self.order().enter_flow(comm, route, base, about)?,
            false => (self.instance().hold(FIFO, None, false), base, 0),
        };
        peer.note_in(req);
        req.take_order(order);
        Ok((held, peer))
    }

    /// Starts an inactive persistent send.
    pub fn send_again(&self, req: &'static Request, threaded: bool) -> Status {
        // SAFETY: communicators outlive the persistent requests on them (the host's promise).
        let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
        let Some(base) = route.peer() else {
            // The communicator was revoked.
            req.set_error(Status::PEER_FAILED);
            self.requests().complete(req, threaded);
            return Status::PEER_FAILED;
        };
        let about = Sending { tag: req.tag(), thread: null_mut(), number: 0 };
        match self.enter(req, (comm, route, base), about, threaded) {
            Err(status) => status,
            Ok((held, peer)) => {
                self.instance().share(held.ctx);
                let status = self.offer(&held, peer, req);
                if status.is_err() {
                    self.peers().fail(&held, req, status);
                }
                status
            }
        }
    }
}
