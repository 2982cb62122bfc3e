//! Service links: requests to the service context of a peer, and the serving of our own (`link.rs`, `inbox.rs`).
//!
//! **The requester** makes a link in the node's segment with its first request to a process from a context, and looks for replies in
//! every turn of that context while requests are without one. Its end belongs to the context.
//!
//! **The server** has one service context per process, with a lock of its own; it finds links in the inboxes' directories when bits
//! say so. A request is copied out of its slot, since its sender might change it, and handed up; the receiver answers into the slot.
//! A requester that sleeps is woken by its context's bell: it announces sleep, runs a barrier and looks at its slots;
//! the server publishes the reply, runs a full fence and looks at the bell.

pub mod ends;
pub mod inbox;
pub mod link;

use crate::context::{At, Context};
use crate::device::Shm;
use crate::segment::inbox::ServiceMem;
use crate::service::ends::{Link, Requester, Requests, Service, staged};
use crate::sys;
use link::{MOST, ROOM};
use oxmpi_btl::{Arrival, BtlService, BtlServiceSleep, Entered, Message, Peer, WaitSet, WaitWord};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::sync::{Ordering, fence};
use std::collections::hash_map::Entry;

/// Requests served in one call at most, so that others get the lock.
const BATCH: i32 = 32;

/// The number by which a request that is being served is answered: local rank and context of its requester.
fn name((source, ctx): Requester) -> u64 {
    u64::from(source) << 32 | u64::from(ctx)
}

impl Shm {
    /// Our end of the link from context `ctx` to a peer; makes the link at the first request.
    fn link_to<'a>(&self, requests: &'a mut Requests, peer: u32, ctx: u32) -> Result<&'a mut Link, Status> {
        let place = match requests.links.entry(peer) {
            Entry::Occupied(link) => return Ok(link.into_mut()),
            Entry::Vacant(place) => place,
        };
        let segment = self.segment();
        let (memory, word) = segment.new_link().map_err(|why| {
            self.report_shortage("ring-no-memory", link::LEN, &why.to_string());
            Status::OUT_OF_MEMORY
        })?;
        // A link of an earlier life of ours is forgotten by this.
        segment.publish_link(peer, ctx, self.local_rank(), word);
        Ok(place.insert(Link::new(memory, word, 0)))
    }

    /// Hands up the replies to a context's requests, and frees their slots. Returns how many.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_replies(&self, at: &mut At<'_>) -> i32 {
        let all: Vec<u32> = at.requests.links.keys().copied().collect();
        let mut events = 0;
        for peer in all {
            loop {
                // Looked up anew: the receiver of the reply before may have made requests.
                let requests = &mut at.requests;
                let Some(link) = requests.links.get_mut(&peer).filter(|link| link.has_reply()) else { break };
                let mut stage = staged(&mut requests.stage);
                let reply = link.read(link.next, &mut stage);
                link::free(link.state(link.next));
                link.next += 1;
                requests.waiting -= 1;
                match reply {
                    Some((len, tag)) => self.hand_up_service(at, peer, 0, &stage[..len], tag),
                    None => self.peer_broke(peer, "wrote a reply that is longer than its slot"),
                }
                at.requests.stage = Some(stage);
                events += 1;
            }
        }
        events
    }

    /// Calls the receiver of a tag with a request or reply; `link` is the number with which a request is answered.
    fn hand_up_service<C>(&self, at: &mut Entered<'_, C>, source: u32, link: u64, bytes: &[u8], tag: u8) {
        let proc = self.segment().identity(source).map_or(u32::MAX, |who| who.proc);
        at.deliver(self.host(), Arrival { proc, tag, bytes: bytes.into(), link });
    }

    /// The server's end of the link from a context of a peer, mapped on first use. `None`: there is none, or the peer
    /// wrote a place where none can be.
    fn link_from<'a>(&self, service: &'a mut Service, requester: Requester) -> Option<&'a mut Link> {
        let (source, ctx) = requester;
        let word = self.segment().link_word(self.local_rank(), ctx, source);
        match service.links.entry(requester) {
            Entry::Occupied(link) if link.get().word == word => Some(link.into_mut()),
            place => match self.segment().map_link(word) {
                Ok(memory) => {
                    let mut link = Link::new(memory?, word, 0);
                    // An earlier life of ours may have answered some.
                    link.next = link.answered().load(Ordering::Acquire);
                    Some(place.insert_entry(link).into_mut())
                }
                Err(why) => {
                    let what = format!("has a service link at {word:#x}, where none can be: {why}");
                    self.peer_broke(source, &what);
                    None
                }
            },
        }
    }

    /// Hands up the requests of a link in order, until none is left or a batch has been handled; `handled` counts
    /// them. False: some may be left.
    fn serve_link(&self, at: &mut Entered<'_, Service>, requester: Requester, handled: &mut i32) -> bool {
        let source = requester.0;
        loop {
            // Looked up anew: the receiver of the request before has answered it.
            let service: &mut Service = at;
            let Some(link) = service.links.get(&requester).filter(|link| link.has_request()) else {
                return true;
            };
            if *handled >= BATCH {
                return false;
            }
            *handled += 1;
            let mut stage = staged(&mut service.stage);
            let Some((len, tag)) = link.read(link.next, &mut stage) else {
                self.peer_broke(source, "wrote a request that is longer than its slot");
                return true;
            };
            service.current = Some(requester);
            self.hand_up_service(at, source, name(requester), &stage[..len], tag);
            at.stage = Some(stage);
            if at.current.take().is_some() {
                self.host().error(&format!("a request with tag {tag} was not answered by its receiver"));
                return true;
            }
        }
    }
}

impl BtlService for Shm {
    type Service = Service;

    /// The inbox is in the segment from the start.
    fn open(&self) -> Status {
        Status::OK
    }

    fn request(&self, at: &mut At<'_>, to: &Peer<Shm>, msg: &Message<'_>) -> Status {
        if msg.total_len() as u64 > MOST {
            return Status::BAD_PARAM;
        }
        let ctx = at.number();
        let Context { requests, .. } = &mut **at;
        let link = match self.link_to(requests, to.peer, ctx) {
            Ok(link) => link,
            Err(status) => return status,
        };
        if link.end - link.next == ROOM {
            return Status::NO_RESOURCE;
        }
        link.write(link.end, msg);
        link::ask(link.state(link.end));
        link.end += 1;
        requests.waiting += 1;
        let inbox = self.segment().service_inbox(to.peer);
        if inbox::mark(&inbox, self.local_rank()) {
            sys::wake(inbox.bell());
        }
        Status::OK
    }

    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        let inbox = self.segment().service_inbox(self.local_rank());
        if !inbox::any(&inbox) {
            return 0;
        }
        let (mut handled, layout) = (0, self.segment().layout());
        inbox::take(&inbox, inbox.words(), |source| {
            if source >= layout.ranks {
                return;
            }
            let mut all = true;
            for ctx in 0..layout.fifos {
                if self.segment().link_word(self.local_rank(), ctx, source) != 0
                    && self.link_from(at, (source, ctx)).is_some()
                {
                    all &= self.serve_link(at, (source, ctx), &mut handled);
                }
            }
            if !all {
                // For the next call. The bell is off, or the caller looks before it sleeps.
                let _ = inbox::mark(&inbox, source);
            }
        });
        handled
    }

    fn reply(&self, at: &mut Entered<'_, Service>, link: u64, msg: &Message<'_>) -> Status {
        let service: &mut Service = at;
        let Some(requester) = service.current.filter(|&who| name(who) == link) else {
            return Status::BAD_PARAM;
        };
        if msg.total_len() as u64 > MOST {
            return Status::BAD_PARAM;
        }
        let Some(link) = service.links.get_mut(&requester) else { return Status::BAD_PARAM };
        service.current = None;
        link.write(link.next, msg);
        link::answer(link.state(link.next));
        link.next += 1;
        link.answered().store(link.next, Ordering::Release);
        // SYNC POINT with the requester's `arm`.
        fence(Ordering::SeqCst);
        let bell = self.segment().bell(requester.0);
        if inbox::ring(bell) {
            sys::wake(bell);
        }
        Status::OK
    }

    fn pending(&self) -> Option<&AtomicU32> {
        Some(self.segment().service_pending(self.local_rank()))
    }
}

impl BtlServiceSleep for Shm {
    fn arm_service(&self, _at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        let inbox = self.segment().service_inbox(self.local_rank());
        if !inbox::arm(&inbox) {
            return Status::PENDING;
        }
        let addr = core::ptr::from_ref(inbox.bell()).cast();
        set.add_word(WaitWord { addr, expected: inbox::ASLEEP, reserved: 0 })
    }

    fn disarm_service(&self, _at: &mut Entered<'_, Service>) {
        inbox::disarm(&self.segment().service_inbox(self.local_rank()))
    }
}
