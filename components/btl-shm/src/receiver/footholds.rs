//! The further segments of a context: its inbox, its ends of rings and its outgoing ends in each.
//!
//! Rings of further segments are never watched: their senders set ready bits. So a turn that has no further segment does nothing for them, and
//! one that has looks at one summary word for each (`joining.rs`, `drain.rs`).

use crate::receiver::incoming::Incoming;
use crate::segment::inbox::{Inbox, InboxMem};
use crate::segment::joined::Joined;
use crate::segment::ready;
use crate::sender::outgoing::Outgoing;
use std::sync::Arc;

/// One further segment, as one context has it.
pub struct Foothold {
    pub(super) joined: Arc<Joined>,
    pub(super) inbox: Inbox,
    /// By place.
    pub(super) outgoing: Box<[Outgoing]>,
    /// By the sender's place; a ring is out of its place while its messages are handed up.
    pub(super) rings: Box<[Option<Box<Incoming>>]>,
    /// True: this context's sleep is announced at the bell there.
    pub(super) armed: bool,
}

impl Foothold {
    /// The foothold of context `ctx` in a segment that has words for it: without rings, and with an unconnected outgoing end for each peer.
    pub(super) fn new(joined: Arc<Joined>, ctx: u32) -> Foothold {
        let (base, me, ranks) = (joined.base(), joined.me, joined.ranks());
        let outgoing = |place| Outgoing::new(base + place, me, joined.segment.inbox(place, ctx));
        Foothold {
            outgoing: (0..ranks).map(outgoing).collect(),
            inbox: joined.segment.inbox(me, ctx),
            rings: (0..ranks).map(|_| None).collect(),
            armed: false,
            joined,
        }
    }
}

/// All of them.
#[derive(Default)]
pub struct Footholds {
    pub(super) all: Vec<Foothold>,
    /// The version of the module's list that they follow, with all rings that there are.
    pub(super) version: u64,
    /// The version by which the processes of rings are known.
    pub(super) followed: u64,
}

impl Footholds {
    /// The foothold in the segment of a peer.
    pub(super) fn of(&self, peer: u32) -> Option<&Foothold> {
        self.all.iter().find(|foothold| foothold.joined.has(peer))
    }

    /// The same, to be changed.
    pub(super) fn of_mut(&mut self, peer: u32) -> Option<&mut Foothold> {
        self.all.iter_mut().find(|foothold| foothold.joined.has(peer))
    }

    /// The outgoing end to a peer. `None`: the context has no foothold in its segment.
    #[cold]
    #[inline(never)]
    pub fn outgoing_mut(&mut self, peer: u32) -> Option<&mut Outgoing> {
        let foothold = self.of_mut(peer)?;
        foothold.outgoing.get_mut(foothold.joined.place(peer) as usize)
    }

    /// Puts a ring where it belongs. One whose segment is gone is dropped.
    pub(super) fn put_back(&mut self, incoming: Box<Incoming>) {
        if let Some(foothold) = self.of_mut(incoming.source) {
            let place = foothold.joined.place(incoming.source);
            foothold.rings[place as usize] = Some(incoming);
        }
    }

    /// Sets the ready bit of a ring in which something was left, or may have been.
    pub(super) fn mark_again(&self, source: u32) {
        if let Some(foothold) = self.of(source) {
            ready::mark_again(&foothold.inbox, foothold.joined.place(source));
        }
    }

    /// True: a ready bit is set in one of them.
    pub(super) fn is_any_ready(&self) -> bool {
        self.all.iter().any(|foothold| ready::any(&foothold.inbox))
    }

    /// The words on which a sleeper waits, beside that of the first segment.
    pub fn bells(&self) -> impl Iterator<Item = *const u32> {
        self.all.iter().map(|foothold| core::ptr::from_ref(foothold.inbox.bell()).cast())
    }

    /// Tells the senders of all rings how far this rank has read; nobody reads on.
    pub fn close(&self) {
        for incoming in self.all.iter().flat_map(|foothold| &foothold.rings).flatten() {
            incoming.leave();
        }
    }
}

/// Things that a turn has to do beside the rings of the first segment, in one word, so that an idle turn asks once. (There are fewer requests
/// than peers have slots, some 2^16 in a segment.)
#[derive(Clone, Copy, Default)]
pub struct Aside(u32);

impl Aside {
    /// There are further segments, or the list of them has changed.
    const FURTHER: u32 = 1 << 31;

    /// True: there is something.
    #[inline(always)]
    pub fn is_any(self) -> bool {
        self.0 != 0
    }
    /// True: some service request of the context is without a reply.
    #[inline(always)]
    pub fn is_waiting(self) -> bool {
        self.0 & !Self::FURTHER != 0
    }
    /// Counts a request that waits for its reply.
    pub fn begin_request(&mut self) {
        self.0 += 1;
    }
    /// Uncounts so many requests.
    pub fn end_requests(&mut self, count: u32) {
        debug_assert!(count <= self.0 & !Self::FURTHER, "no more than were begun");
        self.0 -= count;
    }
    /// True: further segments have to be looked at.
    pub(super) fn has_further(self) -> bool {
        self.0 & Self::FURTHER != 0
    }
    /// Says whether further segments have to be looked at.
    pub(super) fn set_further(&mut self, yes: bool) {
        self.0 = if yes { self.0 | Self::FURTHER } else { self.0 & !Self::FURTHER };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn requests_and_segments_do_not_mix() {
        let mut aside = Aside::default();
        assert!(!aside.is_any());
        aside.set_further(true);
        assert!(aside.is_any() && !aside.is_waiting() && aside.has_further());
        aside.begin_request();
        aside.begin_request();
        aside.set_further(false);
        assert!(aside.is_waiting() && !aside.has_further());
        aside.end_requests(2);
        assert!(!aside.is_any());
    }
}
