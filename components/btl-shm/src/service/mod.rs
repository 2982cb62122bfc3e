//! Service links: requests to the service context of a peer, and the serving of our own (`link.rs`, `inbox.rs`).
//!
//! **The requester** makes a link in the node's segment with its first request to a process from a context, and looks for replies in
//! every turn of that context while requests are without one. Its end is touched in verbs of the context alone.
//!
//! **The server** has one service context per process, whose lock the caller holds; it finds links in the inboxes' directories when bits
//! say so. A request is copied out of its slot, since its sender might change it, and handed up; the receiver answers into the slot.
//! A requester that sleeps is woken by its context's bell: it announces sleep, runs a barrier and looks at its slots;
//! the server publishes the reply, runs a full fence and looks at the bell.

pub mod ends;
pub mod inbox;
pub mod link;

use crate::device::Shm;
use crate::segment::inbox::InboxMem;
use crate::segment::inbox::ServiceMem;
use crate::sender::outgoing::Endpoint;
use crate::service::ends::{Current, Link, Requests, staged};
use crate::sys::{self};
use core::ffi::c_void;
use link::{MOST, ROOM};
use oxmpi_btl::{BtlService, BtlServiceSleep, Message, SERVICE_CTX, WaitSet, WaitWord};
use oxmpi_mca::sync::{Ordering, fence};
use oxmpi_mca::{RecvDesc, Status};
use std::rc::Rc;

/// Requests served in one call at most, so that others get the lock.
const BATCH: i32 = 32;

/// The number by which a request that is being served is answered: local rank and context of its requester.
fn name(source: u32, ctx: u32) -> u64 {
    u64::from(source) << 32 | u64::from(ctx)
}

impl Shm {
    /// Our end of the link from context `ctx` to a peer; makes the link at the first request.
    fn link_to(&self, requests: &Requests, peer: u32, ctx: u32) -> Result<Rc<Link>, Status> {
        if let Some(link) = requests.links.borrow().get(&peer) {
            return Ok(Rc::clone(link));
        }
        let segment = self.segment();
        let (memory, word) = segment.new_link().map_err(|why| {
            self.report_shortage("ring-no-memory", link::LEN, &why.to_string());
            Status::OUT_OF_MEMORY
        })?;
        // A link of an earlier life of ours is forgotten by this.
        segment.publish_link(peer, ctx, self.local_rank(), word);
        let link = Rc::new(Link::new(memory, word, 0));
        requests.links.borrow_mut().insert(peer, Rc::clone(&link));
        Ok(link)
    }

    /// Hands up the replies to a context's requests, and frees their slots. Returns how many.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_replies(&self, ctx: u32) -> i32 {
        let Some(receiver) = self.receiver(ctx) else { return 0 };
        let requests = receiver.requests();
        let all: Vec<_> = requests.links.borrow().iter().map(|(peer, l)| (*peer, Rc::clone(l))).collect();
        let mut events = 0;
        for (peer, link) in all {
            while link.has_reply() {
                let at = link.next.get();
                let mut stage = staged(&requests.stage);
                let reply = link.read(at, &mut stage);
                link::free(link.state(at));
                link.next.set(at + 1);
                requests.waiting.set(requests.waiting.get() - 1);
                match reply {
                    Some((len, tag)) => self.hand_up_service(peer, ctx, 0, &stage[..len], tag),
                    None => self.peer_broke(peer, "wrote a reply that is longer than its slot"),
                }
                requests.stage.set(Some(stage));
                events += 1;
            }
        }
        events
    }

    /// Calls the receiver of a tag with a request or reply; `link` is the number with which a request is answered.
    fn hand_up_service(&self, source: u32, ctx: u32, link: u64, bytes: &[u8], tag: u8) {
        let proc = self.segment().identity(source).map_or(u32::MAX, |who| who.proc);
        let row = self.host().am(tag);
        let module = core::ptr::from_ref(self).cast_mut().cast::<c_void>();
        let (data, len) = (bytes.as_ptr(), bytes.len() as u64);
        (row.receive)(row.ctx, &RecvDesc { data, len, proc, ctx, module, link });
    }

    /// The server's end of the link from a context of a peer, mapped on first use. `None`: there is none, or the peer
    /// wrote a place where none can be.
    fn link_from(&self, source: u32, ctx: u32) -> Option<Rc<Link>> {
        let server = self.server();
        let word = self.segment().link_word(self.local_rank(), ctx, source);
        let mut links = server.links.borrow_mut();
        if let Some(link) = links.get(&(source, ctx)).filter(|link| link.word == word) {
            return Some(Rc::clone(link));
        }
        match self.segment().map_link(word) {
            Ok(memory) => {
                let link = Rc::new(Link::new(memory?, word, 0));
                // An earlier life of ours may have answered some.
                link.next.set(link.answered().load(Ordering::Acquire));
                links.insert((source, ctx), Rc::clone(&link));
                Some(link)
            }
            Err(why) => {
                drop(links);
                self.peer_broke(
                    source,
                    &format!("has a service link at {word:#x}, where none can be: {why}"),
                );
                None
            }
        }
    }

    /// Hands up the requests of a link in order, until none is left or a batch has been handled; `handled` counts
    /// them. False: some may be left.
    fn serve_link(&self, source: u32, ctx: u32, link: &Rc<Link>, handled: &mut i32) -> bool {
        let server = self.server();
        while link::is_asked(link.state(link.next.get())) {
            if *handled >= BATCH {
                return false;
            }
            *handled += 1;
            let mut stage = staged(&server.stage);
            let Some((len, tag)) = link.read(link.next.get(), &mut stage) else {
                self.peer_broke(source, "wrote a request that is longer than its slot");
                return true;
            };
            *server.current.borrow_mut() = Some(Current { link: Rc::clone(link), source, ctx });
            self.hand_up_service(source, SERVICE_CTX, name(source, ctx), &stage[..len], tag);
            server.stage.set(Some(stage));
            if server.current.borrow_mut().take().is_some() {
                self.host().error(&format!("a request with tag {tag} was not answered by its receiver"));
                return true;
            }
        }
        true
    }
}

impl BtlService for Shm {
    /// The inbox is in the segment from the start.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, endpoint: &Endpoint, ctx: u32, msg: &Message<'_>) -> Status {
        let Some(receiver) = self.receiver(ctx) else { return Status::BAD_PARAM };
        if msg.total_len() as u64 > MOST {
            return Status::BAD_PARAM;
        }
        let requests = receiver.requests();
        let link = match self.link_to(requests, endpoint.peer, ctx) {
            Ok(link) => link,
            Err(status) => return status,
        };
        let at = link.end.get();
        if at - link.next.get() == ROOM {
            return Status::NO_RESOURCE;
        }
        link.write(at, msg);
        link::ask(link.state(at));
        link.end.set(at + 1);
        requests.waiting.set(requests.waiting.get() + 1);
        let inbox = self.segment().service_inbox(endpoint.peer);
        if inbox::mark(&inbox, self.local_rank()) {
            sys::wake(core::ptr::from_ref(inbox.bell()).cast());
        }
        Status::OK
    }

    fn serve(&self) -> i32 {
        let server = self.server();
        if !inbox::any(&server.inbox) {
            return 0;
        }
        let (mut handled, layout) = (0, self.segment().layout());
        inbox::take(&server.inbox, server.inbox.words(), |source| {
            if source >= layout.ranks {
                return;
            }
            let mut all = true;
            for ctx in 0..layout.fifos {
                if self.segment().link_word(self.local_rank(), ctx, source) != 0
                    && let Some(link) = self.link_from(source, ctx)
                {
                    all &= self.serve_link(source, ctx, &link, &mut handled);
                }
            }
            if !all {
                // For the next call. The bell is off, or the caller looks before it sleeps.
                let _ = inbox::mark(&server.inbox, source);
            }
        });
        handled
    }

    fn reply(&self, link: u64, msg: &Message<'_>) -> Status {
        let mut current = self.server().current.borrow_mut();
        let fits = current.as_ref().is_some_and(|c| name(c.source, c.ctx) == link);
        if !fits || msg.total_len() as u64 > MOST {
            return Status::BAD_PARAM;
        }
        let Some(Current { link, source, ctx }) = current.take() else { return Status::BAD_PARAM };
        let at = link.next.get();
        link.write(at, msg);
        link::answer(link.state(at));
        link.next.set(at + 1);
        link.answered().store(at + 1, Ordering::Release);
        // SYNC POINT with the requester's `arm`.
        fence(Ordering::SeqCst);
        let bell = self.segment().inbox(source, ctx);
        if inbox::ring(bell.bell()) {
            sys::wake(core::ptr::from_ref(bell.bell()).cast());
        }
        Status::OK
    }

    fn pending(&self) -> *const u32 {
        core::ptr::from_ref(self.server().inbox.pending()).cast()
    }
}

impl BtlServiceSleep for Shm {
    fn arm_service(&self, set: &mut WaitSet) -> Status {
        let inbox = &self.server().inbox;
        if !inbox::arm(inbox) {
            return Status::PENDING;
        }
        let addr = core::ptr::from_ref(inbox.bell()).cast();
        set.add_word(WaitWord { addr, expected: inbox::ASLEEP, reserved: 0 })
    }

    fn disarm_service(&self) {
        inbox::disarm(&self.server().inbox)
    }
}
