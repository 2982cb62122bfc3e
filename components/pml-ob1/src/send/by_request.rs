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
use crate::requests::completer::Completer;
use crate::requests::request::Request;
use crate::send::destination::Destination;
use crate::send::issue::FAILURE;
use crate::send::sender::Sender;
use crate::state::fifos::FIFO;
use core::ptr::null;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::{CriGuard, Entry, Status};
use oxmpi_pml::{Outgoing as Args, SendArgs};

impl Sender {
    /// Sends a blocking message by a request, where it could not go at once. `None`: the request completed within the
    /// call and was recycled. `number`: the one that the message keeps, or 0.
    #[inline(never)]
    pub fn send_blocking_slowly(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
        number: u64,
    ) -> Result<Option<&'static Request>, Status> {
        let to = self.destination(entry, comm, args)?;
        let Some(completer) = self.requests().take_for_send(entry, args) else {
            self.give_number_up(entry, &to, args.tag, number);
            return Err(Status::OUT_OF_MEMORY);
        };
        let req = self.describe_and_offer(entry, completer, &to, args, number)?;
        // Anybody may complete it, but only we may recycle it: nobody else has its handle.
        if req.is_complete() && req.status().error == Status::OK {
            self.requests().recycle(req, entry);
            return Ok(None);
        }
        Ok(Some(req))
    }

    /// Tells the receiver that a number is not used, since there is no memory for the send that had it.
    #[cold]
    fn give_number_up(&self, entry: &mut Entry, to: &Destination<'_>, tag: i32, number: u64) {
        let mut held = self.instance().hold(entry, FIFO);
        self.order().give_up_number(&mut held, to.peer, to.comm, to.route, tag, number);
    }

    /// Takes a request for a send.
    #[inline(always)]
    pub fn request_for(&self, entry: &Entry, args: Args<'_>) -> Result<Completer, Status> {
        let completer = self.requests().take_for_send(entry, args);
        completer.ok_or(Status::OUT_OF_MEMORY)
    }

    /// Sends a message by the request that the caller took, where it could not go at once. `number`: the one that the
    /// message keeps, or 0.
    #[inline(never)]
    pub fn send_immediate_slowly(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        completer: Completer,
        args: Args<'_>,
        number: u64,
    ) -> Result<&'static Request, Status> {
        let to = self.destination(entry, comm, args)?;
        self.describe_and_offer(entry, completer, &to, args, number)
    }

    /// Makes the inactive persistent request of MPI_Send_init and its other modes; nothing is sent before it is started.
    /// `Err`: the destination cannot be sent to, or no request can be had.
    pub fn send_persistent(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
    ) -> Result<&'static Request, Status> {
        let to = self.destination(entry, comm, args)?;
        let completer = self.request_for(entry, args)?;
        describe(&completer, &to, args, entry);
        Ok(completer.into_persistent())
    }

    /// Sends a FAILURE in place of a message of `args`; returns its request. `Err`: the destination cannot be sent to, or no
    /// request can be had.
    pub fn send_failing(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
        error: Status,
    ) -> Result<&'static Request, Status> {
        if !error.is_err() {
            return Err(Status::BAD_PARAM);
        }
        // Contiguous, so no request keeps it.
        let nothing = TypeDesc::basic(Base::BYTE).ok_or(Status::INTERNAL)?;
        let args = SendArgs { buf: null(), count: 0, dtype: &nothing, mode: FAILURE, ..*args };
        // SAFETY: it has no bytes, its type lives for the call, and the rest is vouched for.
        let args = unsafe { Args::new(&args) };
        let to = self.destination(entry, comm, args)?;
        let completer = self.request_for(entry, args)?;
        completer.carry(error);
        self.describe_and_offer(entry, completer, &to, args, 0)
    }

    /// Describes a new request, chooses its FIFO and starts its send; recycles the request if that fails outright.
    fn describe_and_offer(
        &self,
        entry: &mut Entry,
        completer: Completer,
        to: &Destination<'_>,
        args: Args<'_>,
        number: u64,
    ) -> Result<&'static Request, Status> {
        describe(&completer, to, args, entry);
        let req = completer.request();
        let about = Sending { tag: req.tag(), number };
        let failed = match self.enter(entry, &completer, (to.comm, to.route, to.peer), about) {
            Ok((mut held, peer)) => {
                if held.is_among() {
                    // Room for it, or its answer, comes there.
                    self.instance().expect_on(held.entry(), held.ctx());
                }
                self.offer(&mut held, peer, completer)
            }
            Err(status) => Err((status, completer)),
        };
        match failed {
            Ok(()) => Ok(req),
            Err((status, completer)) => {
                self.requests().give_up(completer, entry);
                Err(status)
            }
        }
    }

    /// Chooses the FIFO of a send that is described, notes it in the request, and takes the lock of its CRI.
    fn enter<'a>(
        &'a self,
        entry: &'a mut Entry,
        req: &Request,
        to: (&Comm, &Route, &'a Peer),
        about: Sending,
    ) -> Result<(CriGuard<'a>, &'a Peer), Status> {
        let (held, peer, order) = match entry.is_among() {
            true => self.order().enter_flow(entry, to, about)?,
            false => (self.instance().hold(entry, FIFO), to.2, 0),
        };
        peer.note_in(req);
        req.take_order(order);
        Ok((held, peer))
    }

    /// Starts an inactive persistent send.
    pub fn send_again(&self, entry: &mut Entry, completer: Completer) -> Status {
        let req = completer.request();
        // SAFETY: communicators outlive the persistent requests on them (the host's promise), and their routes with them.
        let (comm, route) = unsafe { (Comm::of_request(req), Route::of_request(req)) };
        let Some(base) = route.peer() else {
            // The communicator was revoked.
            completer.set_error(Status::PEER_FAILED);
            self.requests().complete(completer, entry);
            return Status::PEER_FAILED;
        };
        let about = Sending { tag: req.tag(), number: 0 };
        let (mut held, peer) = match self.enter(entry, req, (comm, route, base), about) {
            Ok(entered) => entered,
            Err(status) => return status,
        };
        self.instance().share(held.ctx());
        match self.offer(&mut held, peer, completer) {
            Ok(()) => Status::OK,
            Err((status, completer)) => {
                self.peers().fail_taken(held.entry(), completer, status);
                status
            }
        }
    }
}

/// Fills a request with everything that its send may need later.
fn describe(req: &Request, to: &Destination<'_>, args: Args<'_>, entry: &Entry) {
    req.describe_send(args, to.total, to.peer.proc());
    req.keep_type(args.dtype(), args.count, entry);
    to.comm.note_in(req);
    to.route.note_in(req);
}
