//! The sender's end.

use super::consumer::Location;
use super::memory::{RingMem, window};
use crate::wire::{
    ASSIST, CELL, Flag, GRANULE, LONG, LONG_PIECES, MAX_LINES, PIECES, SHORT, lap, lines_of, pieces_of, slot,
    with_pieces,
};
use oxmpi_mca::sync::{AtomicU64, Ordering};

/// Whether a ring has room for a message, after a look at the receiver's heads.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Room {
    Free,
    /// Not now.
    Full,
    /// One of the receiver's heads is impossible.
    Garbage(u64),
}

/// The sender's end of a ring; the head of `ring/mod.rs` explains it.
pub struct Producer<M> {
    mem: M,
    /// The line of the next message.
    tail: u64,
    /// Lines before this one are known to be free.
    limit: u64,
    bulk_tail: u64,
    bulk_limit: u64,
    /// How much of the bulk may be written, from its beginning on.
    usable: u64,
}

impl<M: RingMem> Producer<M> {
    /// An end without room, so that every message meets the slow path, which connects it to a ring.
    pub const fn detached(mem: M) -> Producer<M> {
        Producer { mem, tail: 0, limit: 0, bulk_tail: 0, bulk_limit: 0, usable: u64::MAX }
    }

    /// Makes the sender's end of a ring that is new, or that this rank has written to before it opened the component anew:
    /// walks over the messages that the receiver has not read yet to find the line for the next one. `None`: the ring
    /// holds something that no sender or receiver writes.
    pub fn adopt(mem: M) -> Option<Producer<M>> {
        // SYNC POINT with the release store of `head` in `Consumer::publish_heads`: the bulk's head is at
        // least as new. Where it is newer, the messages it has passed are among those that follow.
        let head = mem.head().load(Ordering::Acquire);
        let mut bulk_tail = mem.bulk_head().load(Ordering::Relaxed);
        if head > u64::MAX / 2 || bulk_tail > u64::MAX / 2 || !bulk_tail.is_multiple_of(GRANULE) {
            return None;
        }
        let lines = 1 << mem.lines_log2();
        let mut tail = head;
        while tail - head < lines {
            let flag = Flag(mem.flag(tail).load(Ordering::Relaxed));
            if !flag.is_of(lap(tail, mem.lines_log2())) {
                break;
            }
            match flag.kind() {
                SHORT | ASSIST if lines_of(flag.len()) <= MAX_LINES => tail += lines_of(flag.len()),
                CELL => tail += 1,
                PIECES if pieces_of(flag.len()) <= lines => tail += pieces_of(flag.len()),
                kind @ (LONG | LONG_PIECES) => {
                    let end = mem.second(tail).load(Ordering::Relaxed).checked_add(flag.len() + GRANULE)?;
                    bulk_tail = bulk_tail.max(slot(end - GRANULE));
                    tail += if kind == LONG { 1 } else { pieces_of(flag.len()) };
                }
                _ => return None,
            }
        }
        let producer = Producer { mem, tail, limit: 0, bulk_tail, bulk_limit: 0, usable: u64::MAX };
        (tail - head <= lines && bulk_tail.is_multiple_of(GRANULE)).then_some(producer)
    }

    /// The memory of the ring.
    #[inline(always)]
    pub fn mem(&self) -> &M {
        &self.mem
    }

    /// Limits messages to the first `bytes` bytes of the bulk from now on; `u64::MAX`: all of it.
    pub fn use_bulk(&mut self, bytes: u64) {
        self.usable = bytes;
    }

    /// The line in which the next message starts.
    #[inline(always)]
    pub fn tail(&self) -> u64 {
        self.tail
    }

    /// Whether the next `lines` lines are known to be free, without a look at the receiver's head.
    #[inline(always)]
    pub fn has_lines(&self, lines: u64) -> bool {
        self.tail + lines <= self.limit
    }

    /// Whether the next line is known to be free, without a look at the receiver's head.
    #[inline(always)]
    pub fn has_line(&self) -> bool {
        self.tail < self.limit
    }

    /// A bulk position where `size` bytes are known to be free, if `lines` lines are, too; within the window if
    /// possible. `None`: there is none without a look at the receiver's heads.
    #[inline(always)]
    pub fn find_bulk(&self, size: u64, lines: u64) -> Option<u64> {
        let bulk = self.mem.bulk_size();
        let end = (self.bulk_tail & (bulk - 1)) + size;
        let next_lap = (self.bulk_tail | (bulk - 1)) + 1;
        let returns = end > window(bulk, size) && next_lap + size <= self.bulk_limit;
        let usable = bulk.min(self.usable);
        let stays = end <= usable && !returns;
        let at = if stays { self.bulk_tail } else { next_lap };
        (size <= usable && at + size <= self.bulk_limit && self.has_lines(lines)).then_some(at)
    }

    /// Reads the receiver's heads, and says whether `lines` lines and `bulk` bytes of bulk are free now.
    pub fn make_room(&mut self, lines: u64, bulk: u64) -> Room {
        // SYNC POINT with the release stores in `Consumer::publish_heads`: what was read before them may
        // be overwritten now.
        let head = self.mem.head().load(Ordering::Acquire);
        let bulk_head = self.mem.bulk_head().load(Ordering::Acquire);
        let count = 1 << self.mem.lines_log2();
        if head > self.tail || self.tail - head > count {
            return Room::Garbage(head);
        }
        if bulk_head > self.bulk_tail || !bulk_head.is_multiple_of(GRANULE) {
            return Room::Garbage(bulk_head);
        }
        self.limit = head + count;
        self.bulk_limit = bulk_head + self.mem.bulk_size();
        let free = self.has_lines(lines) && (bulk == 0 || self.find_bulk(bulk, lines).is_some());
        if free { Room::Free } else { Room::Full }
    }

    /// The line at `tail`, which must be free, for what takes this one line and is written now.
    #[inline(always)]
    pub fn next_line(&mut self) -> NextLine<'_, M> {
        debug_assert!(self.has_line());
        NextLine { mem: &self.mem, flag: self.mem.flag(self.tail), tail: &mut self.tail }
    }

    /// Publishes a message of several lines line by line: `fill` writes the bytes of one line, given the line and its
    /// index in the message. There must be room.
    #[inline(always)]
    pub fn publish_lines(&mut self, len: u64, tag: u8, mut fill: impl FnMut(&M, u64, u64)) {
        let lines = lines_of(len);
        debug_assert!(self.has_lines(lines) && lines <= MAX_LINES);
        for index in 0..lines {
            let line = self.tail + index;
            let lap = lap(line, self.mem.lines_log2());
            let flag = if index == 0 { Flag::new(SHORT, len, tag, lap) } else { Flag::more(lap) };
            fill(&self.mem, line, index);
            // SYNC POINT with the acquire loads in `Consumer::look` and `has_all`.
            self.mem.flag(line).store(flag.0, Ordering::Release);
        }
        self.tail += lines;
    }

    /// Publishes a message of `len` bytes in the bulk, written at position `at`: one that `find_bulk` gave, or less
    /// than a granule behind that.
    #[inline(always)]
    pub fn publish_long(&mut self, at: u64, len: u64, tag: u8) {
        self.publish_bulk(LONG, at, len, tag);
        self.tail += 1;
        self.bulk_tail = slot(at + len);
    }

    /// Publishes a message of `len` bytes that has been written into cell `which`, and with that gives the cell to the
    /// receiver.
    #[inline(always)]
    pub fn publish_cell(&mut self, which: u64, len: u64, tag: u8) {
        self.publish_elsewhere(CELL, which, len, tag);
        self.tail += 1;
    }

    /// Publishes a message piece by piece while it is written into a cell, or where `find_bulk` has room: `fill`
    /// writes the bytes from one offset of the message to another. There must be a line for each piece.
    pub fn publish_pieces(&mut self, location: Location, len: u64, tag: u8, mut fill: impl FnMut(u64, u64)) {
        let pieces = pieces_of(len);
        debug_assert!(self.has_lines(pieces));
        let (kind, place) = match location {
            Location::Cell(which) => (PIECES, which),
            Location::Bulk(at) => {
                debug_assert!(slot(at + len) <= self.bulk_limit);
                self.bulk_tail = slot(at + len);
                (LONG_PIECES, at)
            }
        };
        for piece in 0..pieces {
            fill(with_pieces(len, piece), with_pieces(len, piece + 1));
            if piece == 0 {
                self.publish_elsewhere(kind, place, len, tag);
            } else {
                let line = self.tail + piece;
                let flag = Flag::more(lap(line, self.mem.lines_log2()));
                // SYNC POINT with the acquire load in `Consumer::has_line`.
                self.mem.flag(line).store(flag.0, Ordering::Release);
            }
        }
        self.tail += pieces;
    }

    /// Writes the first line of a message in the bulk; the caller moves the tails on.
    #[inline(always)]
    fn publish_bulk(&mut self, kind: u64, at: u64, len: u64, tag: u8) {
        debug_assert!(slot(at + len) <= self.bulk_limit);
        self.publish_elsewhere(kind, at, len, tag);
    }

    /// Writes the line at `tail` for a message outside the lines: its second word says where (`at`: cell or bulk
    /// position), and the flag, with release, publishes both. The tail stays.
    #[inline(always)]
    fn publish_elsewhere(&mut self, kind: u64, at: u64, len: u64, tag: u8) {
        debug_assert!(self.has_lines(1));
        let flag = Flag::new(kind, len, tag, lap(self.tail, self.mem.lines_log2()));
        self.mem.second(self.tail).store(at, Ordering::Relaxed);
        // SYNC POINT with the acquire load in `Consumer::look`: the message, and where it is.
        self.mem.flag(self.tail).store(flag.0, Ordering::Release);
    }
}

/// The line at the tail of a ring, while what takes this one line is written.
pub struct NextLine<'a, M> {
    mem: &'a M,
    flag: &'a AtomicU64,
    tail: &'a mut u64,
}

impl<M: RingMem> NextLine<'_, M> {
    /// The memory of the ring.
    #[inline(always)]
    pub fn mem(&self) -> &M {
        self.mem
    }

    /// The line's position.
    #[inline(always)]
    pub fn line(&self) -> u64 {
        *self.tail
    }

    /// Publishes a message of `len` bytes, which are in the line.
    #[inline(always)]
    pub fn publish(self, len: u64, tag: u8) {
        self.publish_as(SHORT, len, tag);
    }

    /// Publishes a request for help with a read, whose `len` bytes are in the line.
    pub fn publish_assist(self, len: u64) {
        self.publish_as(ASSIST, len, 0);
    }

    /// Writes the line's flag, with release, and moves the tail on.
    #[inline(always)]
    fn publish_as(self, kind: u64, len: u64, tag: u8) {
        debug_assert!(lines_of(len) == 1);
        let flag = Flag::new(kind, len, tag, lap(*self.tail, self.mem.lines_log2()));
        // SYNC POINT with the acquire load in `Consumer::look`.
        self.flag.store(flag.0, Ordering::Release);
        *self.tail += 1;
    }
}
