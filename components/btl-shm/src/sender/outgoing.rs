//! Outgoing end of a ring, one for each peer and context.
//!
//! It is unconnected at first: its ring has no room, so the first message meets the slow
//! path, which makes the ring (or finds one from an earlier life of this rank) and tells the peer where
//! it lies. The peer need not exist yet: directory and ready bits wait for it.

use crate::ring::{Mapped, Producer, Room};
use crate::segment::cells::{CellMem, CellPool, place_of};
use crate::segment::inbox::Inbox;
use crate::sys::Mapping;
use crate::wire::{PER_LINE, Place, slot};

/// The sender's end of a ring. The fields that a message needs are in the first two lines.
#[repr(C, align(64))]
pub struct Outgoing {
    pub(super) producer: Producer<Mapped>,
    /// The notification word that says the receiver needs nothing more; no such word before there
    /// is a ring.
    pub(super) quiet: u32,
    /// The turn of our own progress in which the last message of more than [`SHORT_IN_A_ROW`] was sent.
    pub(super) turn: u64,
    // --- what follows is for the slow path ---
    pub(super) peer: u32,
    /// Our own place in the peer's segment.
    pub(super) me: u32,
    pub(super) inbox: Inbox,
    pub(super) ring: Option<Mapping>,
    /// The cells of this pair that are ours.
    pub(super) cells: CellPool,
    /// The peer's ring, behind which some cells lie; it stays mapped once a cell of it has come.
    pub(super) far: Mapped,
    /// A place in the segment that was given to us while there was no memory for a ring.
    pub(super) place: Option<Place>,
    /// The place of the ring in the segment.
    pub(super) at: Option<Place>,
    /// Whether a part of the ring's bulk has no memory yet.
    pub(super) partial: bool,
    /// Cells behind the ring that have no memory yet, by bit.
    pub(super) bare: u32,
}

/// A peer, as the layer above holds it.
pub struct Endpoint {
    /// Its number (`segment/joined.rs`).
    pub peer: u32,
    /// Places, in the peer's segment, of the stamps of the oldest messages that wait: to the peer, and from it.
    pub stamps: [u64; 2],
}

/// How many lines ahead of the one that is written a line is asked for: far enough for it to come in time while
/// messages go out in a row, and behind the one that a receiver without work looks at.
pub(super) const LINES_AHEAD: u64 = 4;

/// Longest message in lines where messages are sent in a row; of those that come one by one
/// [`MAX_SHORT`](crate::wire::MAX_SHORT) is: their receiver can use the time in which a line follows the other.
pub(super) const SHORT_IN_A_ROW: u64 = 5 * PER_LINE;

impl Outgoing {
    /// An outgoing end without a ring, to the peer with that number, whose inbox is given, from us at place `me` of its segment.
    pub fn new(peer: u32, me: u32, inbox: Inbox) -> Outgoing {
        Outgoing {
            producer: Producer::detached(Mapped::NONE),
            quiet: u32::MAX,
            turn: u64::MAX,
            peer,
            me,
            inbox,
            ring: None,
            cells: CellPool::default(),
            far: Mapped::NONE,
            place: None,
            at: None,
            partial: false,
            bare: 0,
        }
    }

    /// The line of the ring in which the next message starts; grows with every message.
    #[inline(always)]
    pub fn tail(&self) -> u64 {
        self.producer.tail()
    }

    /// Prefetches for writing the line of the ring in which the next message will lie, after a message of one line from the peer. That may
    /// wait for one in return and polls the line where it will start, so that it has this line in its cache: it comes back
    /// while the peer's message is dealt with.
    #[inline(always)]
    pub fn claim_line(&self) {
        self.producer.mem().fetch_to_write(self.producer.tail());
    }

    /// The same for the `lines` lines of a longer one, after a message of as many lines.
    #[inline(always)]
    pub fn claim_lines(&self, lines: u64) {
        let tail = self.producer.tail();
        for line in tail..tail + lines {
            self.producer.mem().fetch_to_write(line);
        }
    }

    /// The memory of the cell with number `which`, seen from here: behind our ring, or behind the peer's. `None`:
    /// there is none.
    pub(super) fn cell(&self, which: u64) -> Option<CellMem> {
        let (near, index) = place_of(which);
        let ring = if near { self.producer.mem() } else { &self.far };
        ring.cell(index)
    }

    /// Chooses a cell of ours for a message of `len` bytes: its number and memory. `None`: we hold none with room, or
    /// the ring lacks `lines` free lines to announce it.
    pub(super) fn cell_for(&mut self, len: u64, lines: u64) -> Option<(u64, CellMem)> {
        let which = self.cells.best_for(slot(len))?;
        let cell = self.cell(which).filter(|cell| len <= cell.size)?;
        // A look at how far the receiver is, for parts of messages that go another way now and then would end up in cells in any order.
        let producer = &mut self.producer;
        let free =
            producer.has_lines(lines) || self.ring.is_some() && producer.make_room(lines, 0) == Room::Free;
        free.then_some((which, cell))
    }

    /// Takes over a cell whose message has been dealt with. `end`: bytes from the cell's beginning to the message's
    /// end; `far`: the peer's ring, behind which the cell may lie.
    pub fn keep_cell(&mut self, which: u64, end: u64, far: &Mapped) {
        self.far = *far;
        self.cells.take(which, slot(end));
    }
}

/// Panics, as a context has an outgoing end for each process of its segments: nobody asks for another one.
#[cold]
#[inline(never)]
pub fn unknown_peer() -> ! {
    unreachable!("a peer that is not a process of a segment of ours")
}
