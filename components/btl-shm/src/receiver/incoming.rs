//! The receiving end of a context, and of each ring that comes to it.

use crate::params::MAX_WATCHED;
use crate::receiver::pace::Pace;
use crate::ring::{Consumer, Location, Mapped};
use crate::segment::doorbell;
use crate::segment::inbox::Inbox;
use crate::sys::Mapping;
use crate::wire::MAX_SHORT;

/// The receiver's end of a ring. The fields that a message needs are in the first line.
#[repr(C, align(64))]
pub struct Incoming {
    pub ring: Consumer<Mapped>,
    /// Index of the sender's process, and its number as a peer (`segment/joined.rs`).
    pub(super) proc: u32,
    pub(super) source: u32,
    /// Whether the sender wrote garbage, so that the ring is not looked at any more.
    pub(super) closed: bool,
    /// Turn in which the ring last had a message.
    pub(super) last: u64,
    /// How much of the message in pieces at our position has been handed up already (`pieces.rs`).
    pub handed_up: u64,
    /// The message in pieces at our position, of which `handed_up` bytes have been handed up.
    pub begun: Option<InPieces>,
    /// When to look for the sender's answer to our messages.
    pub(super) pace: Pace,
    /// Times its ready bit was found since turn `since`.
    pub(super) found: u32,
    pub(super) since: u64,
    pub(super) _mapping: Mapping,
}

impl Incoming {
    /// The receiver's end of a ring, which `mapping` is the mapping of, from process `proc`, the peer with number `source`.
    pub(super) fn new(ring: Mapped, proc: u32, source: u32, mapping: Mapping) -> Incoming {
        Incoming {
            ring: Consumer::new(ring),
            proc,
            source,
            closed: false,
            last: 0,
            handed_up: 0,
            begun: None,
            pace: Pace::new(),
            found: 0,
            since: 0,
            _mapping: mapping,
        }
    }

    /// Tells the sender how far this rank has read, and that nobody watches the ring.
    pub(super) fn leave(&self) {
        self.ring.publish_heads();
        doorbell::abandon(&self.ring);
    }
}

/// The receiving end of one context in the first segment.
///
/// A ring that is watched is at one of the places for that, every other one in the list by source. It is out of its
/// place while its messages are handed up.
#[repr(C)]
pub struct Receiver {
    pub(super) turn: u64,
    /// The rings that every turn polls, at the first places.
    pub(super) watched: [Option<Box<Incoming>>; MAX_WATCHED],
    pub(super) inbox: Inbox,
    /// The most steps before a look for an answer.
    pub(super) longest_pause: u32,
    pub(super) armed: bool,
    /// At most this many are watched.
    pub(super) places: usize,
    /// Where messages of several lines are put together; taken out while one is handed up.
    pub(super) stage: Option<Box<[u8; MAX_SHORT as usize]>>,
    pub(super) displaced: u64,
    /// The rings that are not watched, by source.
    pub(super) rings: Box<[Option<Box<Incoming>>]>,
}

impl Receiver {
    /// The receiving end of a context without rings, for `ranks` processes on the node. At most `places` rings are
    /// watched; `longest_pause` is in steps of about a nanosecond.
    pub fn new(ranks: u32, inbox: Inbox, places: usize, longest_pause: u32) -> Receiver {
        Receiver {
            turn: 0,
            watched: [const { None }; MAX_WATCHED],
            inbox,
            longest_pause,
            armed: false,
            places,
            stage: None,
            displaced: 0,
            rings: (0..ranks).map(|_| None).collect(),
        }
    }

    /// The rings that every turn polls.
    pub(super) fn watched(&self) -> impl Iterator<Item = &Incoming> + Clone {
        self.watched.iter().flatten().map(|incoming| &**incoming)
    }

    /// The receiver's ends of the rings that every turn polls.
    pub(super) fn watched_rings(&self) -> impl Iterator<Item = &Consumer<Mapped>> + Clone {
        self.watched().map(|incoming| &incoming.ring)
    }

    /// Number of turns of progress that the context has had.
    #[inline(always)]
    pub fn turns(&self) -> u64 {
        self.turn
    }

    /// Puts a ring where it belongs: to the watched ones at `place`, or to the others.
    #[inline(always)]
    pub(super) fn put_back(&mut self, incoming: Box<Incoming>, place: Option<usize>) {
        let at = match place {
            Some(place) => &mut self.watched[place],
            None => &mut self.rings[incoming.source as usize],
        };
        let empty = at.replace(incoming);
        debug_assert!(empty.is_none(), "a ring has one place, and no other is there");
        // Nobody has to look whether there is something to be dropped.
        core::mem::forget(empty);
    }

    /// Puts a ring that is closed to those that are not watched. If it was watched at `place`, the last one that is comes there.
    pub(super) fn shut(&mut self, incoming: Box<Incoming>, place: Option<usize>) {
        self.put_back(incoming, None);
        if let Some(place) = place
            && let Some(last) = self.watched.iter().rposition(Option::is_some)
            && place < last
        {
            self.watched.swap(place, last);
        }
    }

    /// Tells the senders of all rings how far this rank has read, and that it polls no more.
    pub fn close(&self) {
        for incoming in self.watched.iter().chain(&self.rings).flatten() {
            incoming.leave();
        }
    }
}

/// A message that is announced in pieces ([`Look::Pieces`](crate::ring::Look)).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InPieces {
    pub location: Location,
    pub len: u64,
    pub tag: u8,
    pub line: u64,
    pub lines: u64,
}
