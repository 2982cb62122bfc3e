//! Service links: requests that a peer's service context answers, and the serving of our own.
//!
//! **A link** goes from one of our contexts to the service context of a process. Its requests go out of the context's
//! socket into the service socket of the peer; the reply goes back to the socket that the request came from. On a link no more than
//! [`ROOM`] requests are without a reply. A request that finds the peer's socket full waits in the context and goes
//! out in a later turn of it, so the bound on the link is the only reason to answer NO_RESOURCE, and progress ends it.
//!
//! **Replies always have room:** one that finds the requester's socket full waits here, [`ROOM`] for a link at most, which
//! is as many as it may have asked for; who asks for more breaks the protocol. Requests are served and replies go out in
//! the order of arrival, so the replies of a link come in the order of its requests, and the requester checks that.
//!
//! **Callers.** Requests belong to their context and are serialised with it. All else belongs to the service context,
//! whose lock the caller holds: a waiter in MPI, or the host's helper thread.

use crate::device::TemplateModule;
use crate::endpoint::TemplateEndpoint;
use crate::links::{ROOM, Unsent};

use crate::sys::{PeerName, READABLE, Sent};
use crate::wire::{FRAME, Frame, Kind};
use core::ffi::c_void;
use oxmpi_btl::{BtlService, BtlServiceSleep, Message, SERVICE_CTX, WaitFd, WaitSet};
use oxmpi_mca::{RecvDesc, Status};

/// Requests served in one call at most, so that others get the lock.
const BATCH: i32 = 32;

impl TemplateModule {
    fn serve_one(&self, datagram: &[u8], from: PeerName) {
        let job = self.host.job();
        let Some(frame) = Frame::decode(datagram).filter(|f| f.job_id == job.job_id) else { return };
        let bytes = &datagram[FRAME..];
        let link = (frame.proc, frame.ctx);
        let sane = frame.kind == Kind::Request
            && frame.proc < job.job_size
            && bytes.len() <= self.settings.max_send_size
            && self.service.owed(link) < ROOM as usize;
        if !sane {
            return self.refuse(&frame, bytes.len());
        }
        self.service.current.set(Some((frame, from)));
        let row = self.host.am(frame.tag);
        let desc = RecvDesc {
            data: bytes.as_ptr(),
            len: bytes.len() as u64,
            proc: frame.proc,
            ctx: SERVICE_CTX,
            module: core::ptr::from_ref(self).cast_mut().cast::<c_void>(),
            link: u64::from(frame.proc) << 16 | u64::from(frame.ctx),
        };
        (row.receive)(row.ctx, &desc);
        if self.service.current.take().is_some() {
            self.host.error(&format!("a request with tag {} was not answered by its receiver", frame.tag));
        }
    }
}

impl BtlService for TemplateModule {
    /// The socket has been there from the start, since its name had to be published.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, endpoint: &TemplateEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let context = &self.contexts[ctx as usize];
        let mut requests = context.requests.borrow_mut();
        let waits = !requests.unsent.is_empty();
        let link = requests.links.entry(endpoint.proc).or_default();
        if link.asked.wrapping_sub(link.answered) >= ROOM {
            return Status::NO_RESOURCE;
        }
        let frame = Frame { kind: Kind::Request, ctx: ctx as u16, sequence: link.asked, ..self.frame(msg) };
        let mut out = context.out.borrow_mut();
        let bytes = self.write(&mut out, frame, msg);
        // In order behind those that wait.
        let sent = if waits { Ok(Sent::NoRoom) } else { context.socket.send(&endpoint.service, bytes) };
        match sent {
            Ok(Sent::Yes) => {}
            Ok(Sent::NoRoom) => {
                let kept = (endpoint.service.clone(), bytes.into());
                link.asked = link.asked.wrapping_add(1);
                requests.unsent.push_back(kept);
                return Status::OK;
            }
            Ok(Sent::Gone) => return Status::PEER_FAILED,
            Err(e) => {
                self.host.error(&format!("cannot send a request of {} bytes: {e}", bytes.len()));
                return Status::INTERNAL;
            }
        }
        link.asked = link.asked.wrapping_add(1);
        Status::OK
    }

    fn serve(&self) -> i32 {
        let mut handled = self.service.send_unsent();
        // Taken while a request's receiver runs: a call from inside it is against the contract.
        let Ok(mut inbound) = self.service.inbound.try_borrow_mut() else { return 0 };
        while handled < BATCH {
            match self.service.socket.receive_from(&mut inbound) {
                Ok(Some((len, from))) => self.serve_one(&inbound[..len], from),
                Ok(None) => break,
                Err(e) => {
                    self.host.error(&format!("cannot receive on the service context: {e}"));
                    break;
                }
            }
            handled += 1;
        }
        handled
    }

    fn reply(&self, link: u64, msg: &Message<'_>) -> Status {
        let Some((request, to)) = self.service.current.take() else { return Status::BAD_PARAM };
        let asked = u64::from(request.proc) << 16 | u64::from(request.ctx);
        if asked != link || msg.total_len() > self.settings.max_send_size {
            self.service.current.set(Some((request, to)));
            return Status::BAD_PARAM;
        }
        let Frame { ctx, sequence, .. } = request;
        let frame = Frame { kind: Kind::Reply, ctx, sequence, ..self.frame(msg) };
        let mut out = self.service.out.borrow_mut();
        let bytes = self.write(&mut out, frame, msg);
        let mut unsent = self.service.unsent.borrow_mut();
        if !unsent.is_empty() || matches!(self.service.socket.send(&to, bytes), Ok(Sent::NoRoom)) {
            unsent.push_back(Unsent { link: (request.proc, ctx), to, bytes: bytes.into() });
        }
        // A requester that is gone waits for nothing.
        Status::OK
    }
}

impl BtlServiceSleep for TemplateModule {
    fn arm_service(&self, set: &mut WaitSet) -> Status {
        // No descriptor says when there is room for a reply.
        if !self.service.unsent.borrow().is_empty() || self.service.socket.is_readable() {
            return Status::PENDING;
        }
        set.add_fd(WaitFd { fd: self.service.socket.fd(), events: READABLE })
    }

    fn disarm_service(&self) {}
}
