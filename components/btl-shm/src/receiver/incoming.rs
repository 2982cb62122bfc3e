//! The receiving end of a context, and of each ring that comes to it. Touched only inside verbs of the context, which the caller serialises.

use crate::params::MAX_WATCHED;
use crate::receiver::pace::Pace;
use crate::ring::{Consumer, Location, Mapped};
use crate::segment::doorbell;
use crate::segment::inbox::Inbox;
use crate::sender::outgoing::OutgoingCell;
use crate::service::ends::Requests;
use crate::single_copy::reads::CooperativeReads;
use crate::single_copy::xpmem::Attachments;
use crate::sys::Mapping;
use crate::wire::MAX_SHORT;
use core::cell::{Cell, OnceCell, RefCell};

/// The receiver's end of a ring. The fields that a message needs are in the first line.
#[repr(C, align(64))]
pub struct Incoming {
    pub ring: Consumer<Mapped>,
    /// Job rank and local rank of the sender.
    pub(super) proc: u32,
    pub(super) source: u32,
    pub(super) watched: Cell<bool>,
    /// Whether the sender wrote garbage, so that the ring is not looked at any more.
    pub(super) closed: Cell<bool>,
    /// Turn in which the ring last had a message.
    pub(super) last: Cell<u64>,
    /// How much of the message in pieces at our position has been handed up already (`pieces.rs`).
    pub handed_up: Cell<u64>,
    /// The message in pieces at our position, of which `handed_up` bytes have been handed up.
    pub begun: Cell<Option<InPieces>>,
    /// Our end of the ring back to the sender; alive as long as the module.
    pub back: *const OutgoingCell,
    /// When to look for the sender's answer to our messages.
    pub(super) pace: Pace,
    /// Times its ready bit was found since turn `since`.
    pub(super) found: Cell<u32>,
    pub(super) since: Cell<u64>,
    pub(super) _mapping: Mapping,
}

/// The receiving end of one context. The fields that an idle turn needs are in the first line.
#[repr(C, align(64))]
pub struct Receiver {
    pub(super) count: Cell<u32>,
    pub ctx: u32,
    pub(super) turn: Cell<u64>,
    pub(super) watched: [Cell<*const Incoming>; MAX_WATCHED],
    pub(super) inbox: Inbox,
    /// At most this many are watched.
    pub(super) places: usize,
    /// The most steps before a look for an answer.
    pub(super) longest_pause: u32,
    pub(super) armed: Cell<bool>,
    /// Where messages of several lines are put together; taken out while one is handed up.
    pub(super) stage: Cell<Option<Box<[u8; MAX_SHORT as usize]>>>,
    pub(super) displaced: Cell<u64>,
    pub cooperative_reads: CooperativeReads,
    pub(super) requests: Requests,
    pub attached: RefCell<Attachments>,
    /// By source; boxed, since `watched` points at them, and never taken out.
    pub(super) rings: Box<[OnceCell<Box<Incoming>>]>,
}

// SAFETY: touched only inside verbs of its context, which the caller serialises.
unsafe impl Sync for Receiver {}

// SAFETY: its pointers are to its own boxes and to shared memory.
unsafe impl Send for Receiver {}

impl Receiver {
    /// The receiving end of context `ctx` without rings, for `ranks` processes on the node. At most `places` rings are
    /// watched; `longest_pause` is in steps of about a nanosecond.
    pub fn new(ctx: u32, ranks: u32, inbox: Inbox, places: usize, longest_pause: u32) -> Receiver {
        Receiver {
            count: Cell::new(0),
            watched: core::array::from_fn(|_| Cell::new(core::ptr::null())),
            inbox,
            turn: Cell::new(0),
            ctx,
            places,
            longest_pause,
            armed: Cell::new(false),
            stage: Cell::new(None),
            displaced: Cell::new(0),
            cooperative_reads: CooperativeReads::new(),
            requests: Requests::default(),
            attached: RefCell::default(),
            rings: (0..ranks).map(|_| OnceCell::new()).collect(),
        }
    }

    /// The rings that every turn polls.
    #[inline(always)]
    pub(super) fn watched(&self) -> impl Iterator<Item = &Incoming> + Clone {
        // SAFETY: the first `count` pointers are to boxes in `rings`, which stay.
        self.watched.iter().take(self.count.get() as usize).map(|p| unsafe { &*p.get() })
    }

    /// The receiver's ends of the rings that every turn polls.
    pub(super) fn watched_rings(&self) -> impl Iterator<Item = &Consumer<Mapped>> + Clone {
        self.watched().map(|incoming| &incoming.ring)
    }

    /// The service requests of this context that wait for replies.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Number of turns of progress that the context has had.
    #[inline(always)]
    pub fn turns(&self) -> u64 {
        self.turn.get()
    }

    /// Stops watching a ring, messages in it notwithstanding. (A turn that is going over the watched rings may then
    /// look at one of them twice.)
    pub(super) fn forget(&self, incoming: &Incoming) {
        if let Some(place) = self.watched().position(|i| core::ptr::eq(i, incoming)) {
            let last = self.count.get() - 1;
            self.watched[place].set(self.watched[last as usize].get());
            self.count.set(last);
            incoming.watched.set(false);
        }
    }

    /// Tells the senders of all rings how far this rank has read, and that it polls no more.
    pub fn close(&self) {
        for incoming in self.rings.iter().filter_map(OnceCell::get) {
            incoming.ring.publish_heads();
            doorbell::abandon(&incoming.ring);
        }
    }
}

impl Incoming {
    /// Prefetches the `lines` lines of our ring back to the sender, after a message of as many lines. The sender may
    /// wait for one in return and polls the line where that will start, so that it has this line in its cache: the
    /// lines come back while its message is dealt with.
    #[inline(always)]
    pub(super) fn expect_answer(&self, lines: u64) {
        // SAFETY: the outgoing end to the sender, touched in a verb of its context and not beyond this call.
        unsafe { (*self.back).get() }.claim_lines(lines);
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
