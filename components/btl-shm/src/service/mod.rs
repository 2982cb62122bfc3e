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
use crate::segment::joined::Joined;
use crate::service::ends::{Link, Requester, Requests, Service, staged};
use crate::sys;
use link::{MOST, ROOM};
use oxmpi_btl::{Arrival, BtlService, BtlServiceSleep, Entered, Message, Peer, WaitSet, WaitWord};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::sync::{Ordering, fence};
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Requests served in one call at most, so that others get the lock.
const BATCH: i32 = 32;

/// The number by which a request that is being served is answered: number and context of its requester.
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
        let Some(joined) = self.segment_of(peer) else { return Err(Status::UNREACHABLE) };
        let (memory, word) = joined.segment.new_link().map_err(|why| {
            self.report_shortage("ring-no-memory", link::LEN, &why.to_string());
            Status::OUT_OF_MEMORY
        })?;
        // A link of an earlier life of ours is forgotten by this.
        joined.segment.publish_link(joined.place(peer), ctx, joined.me, word);
        Ok(place.insert(Link::new(memory, word, 0)))
    }

    /// Hands up the replies to a context's requests, and frees their slots. Returns how many.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_replies(&self, at: &mut At<'_>) -> i32 {
        if !at.aside.is_waiting() {
            return 0;
        }
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
                at.aside.end_requests(1);
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
        let proc = self.segment_of(source).and_then(|joined| joined.proc(source)).unwrap_or(u32::MAX);
        at.deliver(self.host(), Arrival { proc, tag, bytes: bytes.into(), link });
    }

    /// The server's end of the link from a context of a peer, mapped on first use. `None`: there is none, or the peer
    /// wrote a place where none can be.
    fn link_from<'a>(&self, service: &'a mut Service, requester: Requester) -> Option<&'a mut Link> {
        let (source, ctx) = requester;
        let joined = self.segment_of(source)?;
        let word = joined.segment.link_word(joined.me, ctx, joined.place(source));
        match service.links.entry(requester) {
            Entry::Occupied(link) if link.get().word == word => Some(link.into_mut()),
            place => match joined.segment.map_link(word) {
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

impl Shm {
    /// Hands up the requests that wait in one segment, until none is left or a batch has been handled; `handled` counts them.
    fn serve_inbox(&self, at: &mut Entered<'_, Service>, joined: &Joined, handled: &mut i32) {
        let (inbox, fifos) = (joined.segment.service_inbox(joined.me), joined.segment.layout().fifos);
        if !inbox::any(&inbox) {
            return;
        }
        inbox::take(&inbox, inbox.words(), |place| {
            let source = joined.base() + place;
            // Of a process that nobody knows requests wait until somebody does, who then sets this bit.
            if place >= joined.ranks() || joined.proc(source).is_none() {
                return;
            }
            let mut all = true;
            for ctx in 0..fifos {
                if joined.segment.link_word(joined.me, ctx, place) != 0
                    && self.link_from(at, (source, ctx)).is_some()
                {
                    all &= self.serve_link(at, (source, ctx), handled);
                }
            }
            if !all {
                // For the next call. The bell is off, or the caller looks before it sleeps.
                let _ = inbox::mark(&inbox, place);
            }
        });
    }

    /// Takes part in the further segments that have come, and drops the links of those that are leaving.
    #[cold]
    #[inline(never)]
    fn follow_segments(&self, service: &mut Service) {
        let holds: Vec<u32> = service.further.iter().map(|joined| joined.base()).collect();
        let changes = self.further.changes(&holds, |_| true);
        for base in changes.gone {
            let Some(at) = service.further.iter().position(|joined| joined.base() == base) else { continue };
            let joined = service.further.swap_remove(at);
            service.links.retain(|(source, _), _| !joined.has(*source));
            self.further.let_go(base);
        }
        service.further.extend(changes.new);
        service.version = changes.version;
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
        if to.peer >= self.ranks() && !self.meet(at, ctx, to.peer) {
            return Status::NOT_SUPPORTED;
        }
        let Context { requests, aside, .. } = &mut **at;
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
        aside.begin_request();
        let Some(joined) = self.segment_of(to.peer) else { return Status::UNREACHABLE };
        let inbox = joined.segment.service_inbox(joined.place(to.peer));
        if inbox::mark(&inbox, joined.me) {
            sys::wake(inbox.bell());
        }
        Status::OK
    }

    fn serve(&self, at: &mut Entered<'_, Service>) -> i32 {
        let mut handled = 0;
        self.serve_inbox(at, &self.first, &mut handled);
        if self.further.version() != at.version {
            self.follow_segments(at);
        }
        for number in 0..at.further.len() {
            let joined = Arc::clone(&at.further[number]);
            self.serve_inbox(at, &joined, &mut handled);
        }
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
        let Some(joined) = self.segment_of(requester.0) else { return Status::OK };
        let bell = joined.segment.bell(joined.place(requester.0));
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
    fn arm_service(&self, at: &mut Entered<'_, Service>, set: &mut WaitSet) -> Status {
        if self.further.version() != at.version {
            return Status::PENDING;
        }
        let all = || core::iter::once(&self.first).chain(at.further.iter().map(|joined| &**joined));
        // Each is announced; what says that something is there decides.
        let quiet = all().filter(|joined| !inbox::arm(&joined.segment.service_inbox(joined.me))).count() == 0;
        if !quiet {
            return Status::PENDING;
        }
        for joined in all() {
            let addr = core::ptr::from_ref(joined.segment.service_inbox(joined.me).bell()).cast();
            let added = set.add_word(WaitWord { addr, expected: inbox::ASLEEP, reserved: 0 });
            if added.is_err() {
                return added;
            }
        }
        Status::OK
    }

    fn disarm_service(&self, at: &mut Entered<'_, Service>) {
        inbox::disarm(&self.first.segment.service_inbox(self.first.me));
        at.further.iter().for_each(|joined| inbox::disarm(&joined.segment.service_inbox(joined.me)));
    }
}
