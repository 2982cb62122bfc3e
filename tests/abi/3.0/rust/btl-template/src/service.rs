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

use crate::device::{Context, TemplateModule, write};
use crate::links::{ROOM, Service, Unsent};
use crate::sys::{PeerName, READABLE, Sent};
use crate::wire::{FRAME, Frame, Kind};
use oxmpi_btl::{Arrival, BtlService, BtlServiceSleep, Entered, Message, Peer, WaitFd, WaitSet};
use oxmpi_mca::Status;

/// Requests served in one call at most, so that others get the lock.
const BATCH: i32 = 32;

impl TemplateModule {
    fn serve_one(&self, at: &mut Entered<'_, Service>, datagram: &[u8], from: PeerName) {
        let job = self.host.job();
        let Some(frame) = Frame::decode(datagram).filter(|f| f.job_id == job.job_id) else { return };
        let bytes = &datagram[FRAME..];
        let sane = frame.kind == Kind::Request
            && frame.proc < job.job_size
            && bytes.len() <= self.settings.max_send_size
            && at.owed((frame.proc, frame.ctx)) < ROOM as usize;
        if !sane {
            return self.refuse(&frame, bytes.len());
        }
        at.current = Some((frame, from));
        let link = u64::from(frame.proc) << 16 | u64::from(frame.ctx);
        at.deliver(&self.host, Arrival { proc: frame.proc, tag: frame.tag, bytes: bytes.into(), link });
        if at.current.take().is_some() {
            self.host.error(&format!("a request with tag {} was not answered by its receiver", frame.tag));
        }
    }
}

impl BtlService for TemplateModule {
    type Service = Service;

    /// The socket has been there from the start, since its name had to be published.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, at: &mut Entered<'_, Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        if msg.total_len() > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let ctx = at.number() as u16;
        let context: &mut Context = at;
        let requests = &mut context.requests;
        let waits = !requests.unsent.is_empty();
        let link = requests.links.entry(to.proc).or_default();
        if link.asked.wrapping_sub(link.answered) >= ROOM {
            return Status::NO_RESOURCE;
        }
        let frame = Frame { kind: Kind::Request, ctx, sequence: link.asked, ..self.frame(msg) };
        let bytes = write(&mut context.out, frame, msg);
        // In order behind those that wait.
        let sent = if waits { Ok(Sent::NoRoom) } else { context.socket.send(&to.service, bytes) };
        match sent {
            Ok(Sent::Yes) => {}
            Ok(Sent::NoRoom) => requests.unsent.push_back((to.service.clone(), bytes.into())),
            Ok(Sent::Gone) => return Status::PEER_FAILED,
            Err(e) => {
                self.host.error(&format!("cannot send a request of {} bytes: {e}", bytes.len()));
                return Status::INTERNAL;
            }
        }
        link.asked = link.asked.wrapping_add(1);
        Status::OK
    }

    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        let mut handled = at.send_unsent();
        // Taken while a request's receiver runs: a call from inside it is against the contract.
        if at.inbound.is_empty() {
            return 0;
        }
        while handled < BATCH {
            match at.receive() {
                Ok(Some((len, from))) => {
                    let inbound = core::mem::take(&mut at.inbound);
                    self.serve_one(at, &inbound[..len], from);
                    at.inbound = inbound;
                }
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

    fn reply(&self, at: &mut Entered<'_, Service>, link: u64, msg: &Message<'_>) -> Status {
        let service: &mut Service = at;
        let asked = |(request, _): &(Frame, PeerName)| u64::from(request.proc) << 16 | u64::from(request.ctx);
        if service.current.as_ref().map(asked) != Some(link) || msg.total_len() > self.settings.max_send_size
        {
            return Status::BAD_PARAM;
        }
        let Some((request, to)) = service.current.take() else { return Status::BAD_PARAM };
        let Frame { ctx, sequence, .. } = request;
        let frame = Frame { kind: Kind::Reply, ctx, sequence, ..self.frame(msg) };
        let bytes = write(&mut service.out, frame, msg);
        if !service.unsent.is_empty() || matches!(service.socket.send(&to, bytes), Ok(Sent::NoRoom)) {
            service.unsent.push_back(Unsent { link: (request.proc, ctx), to, bytes: bytes.into() });
        }
        // A requester that is gone waits for nothing.
        Status::OK
    }
}

impl BtlServiceSleep for TemplateModule {
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        // No descriptor says when there is room for a reply.
        if !at.unsent.is_empty() || at.is_readable() {
            return Status::PENDING;
        }
        set.add_fd(WaitFd { fd: at.socket.fd(), events: READABLE })
    }

    fn disarm_service(&self, _at: &mut Entered<'_, Service>) {}
}
