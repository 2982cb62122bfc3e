//! The receiver's end.

use super::memory::{RingMem, room_in_lap};
use crate::wire::{
    ASSIST, CELL, Flag, GRANULE, LONG, LONG_PIECES, MAX_LINES, MOST_CELLS, PIECES, SHORT, lap, lines_of,
    pieces_of, slot,
};
use core::cell::Cell;
use oxmpi_mca::sync::Ordering;

/// Looks at a line that its sender is just writing, one right after the other, before the receiver pauses
/// between them.
const EAGER_LOOKS: u32 = 100;

/// Where a message lies that is announced in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the cell that its sender calls by this number.
    Cell(u64),
    /// At a position of the bulk.
    Bulk(u64),
}

/// A message of one line: its line's position, its length in bytes with header, and its tag.
#[derive(Debug)]
pub struct LineMessage {
    pub at: u64,
    pub len: u64,
    pub tag: u8,
}

/// The message at the receiver's position, as far as its flag says at once.
#[derive(Debug)]
pub enum Front {
    Nothing,
    Line(LineMessage),
    /// Something else, which [`Consumer::explain`] tells.
    Other(Flag),
}

/// The message at the receiver's position.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    Nothing,
    /// A message that starts in line `at`. Of several lines, the others may still be missing.
    Short {
        at: u64,
        len: u64,
        tag: u8,
        lines: u64,
    },
    /// A message at bulk position `at`.
    Long {
        at: u64,
        len: u64,
        tag: u8,
    },
    /// A message in a cell: `which` is a number that a cell of one of the two rings may have. Whether there is such a cell, and
    /// room in it for that, is not looked at.
    Cell {
        which: u64,
        len: u64,
        tag: u8,
    },
    /// A message in pieces, announced in `line`, of several lines: the others may still be missing, and the pieces with them. Of a cell
    /// the same holds.
    Pieces {
        location: Location,
        len: u64,
        tag: u8,
        line: u64,
        lines: u64,
    },
    /// Line `at` asks for help with a read.
    Assist {
        at: u64,
        len: u64,
    },
    /// No word that a sender of this version writes.
    Garbage(u64),
}

/// Whether the later lines of a message have been written.
#[derive(Debug, PartialEq, Eq)]
pub enum Rest {
    Here,
    Missing,
    Garbage(u64),
}

/// The receiver's end of a ring; the head of `ring/mod.rs` explains it. It belongs to one thread at a time, which may look at it from several
/// places: hence cells.
pub struct Consumer<M> {
    mem: M,
    position: Cell<u64>,
    /// The position from which on the sender is told how far we have read, a quarter of the ring behind the last time.
    due: Cell<u64>,
    bulk: Cell<u64>,
    quarter: u64,
}

impl<M: RingMem> Consumer<M> {
    /// The receiver's end of a mapped ring. It starts at the heads in the ring's memory: at 0 in a fresh ring, else
    /// where an earlier life of this rank stopped.
    pub fn new(mem: M) -> Consumer<M> {
        // Our own words, written by nobody else.
        let head = mem.head().load(Ordering::Relaxed);
        let bulk = mem.bulk_head().load(Ordering::Relaxed) & !(GRANULE - 1);
        let quarter = 1 << mem.lines_log2() >> 2;
        Consumer {
            mem,
            position: Cell::new(head),
            due: Cell::new(head.wrapping_add(quarter)),
            bulk: Cell::new(bulk),
            quarter,
        }
    }

    /// The memory of the ring.
    #[inline(always)]
    pub fn mem(&self) -> &M {
        &self.mem
    }

    /// Whether there is no whole message at our position. One that is still being written does not count:
    /// its sender tells when it is done, and may be dead.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        match self.look() {
            Look::Nothing => true,
            Look::Short { at, lines, .. } | Look::Pieces { line: at, lines, .. } => {
                self.has_all(at, lines, 1) == Rest::Missing
            }
            _ => false,
        }
    }

    /// The message at our position, of any kind; reads the flag of one line and moves nothing on.
    #[inline(always)]
    pub fn look(&self) -> Look {
        match self.front() {
            Front::Nothing => Look::Nothing,
            Front::Line(LineMessage { at, len, tag }) => Look::Short { at, len, tag, lines: 1 },
            Front::Other(flag) => self.explain(flag),
        }
    }

    /// The message at our position, as far as its flag says at once: one of a single line, as nearly all are, or none. Moves nothing on.
    #[inline(always)]
    pub fn front(&self) -> Front {
        let at = self.position.get();
        let flag = self.flag(at);
        match flag.of_one(lap(at, self.mem.lines_log2())) {
            Ok((len, tag)) => Front::Line(LineMessage { at, len, tag }),
            Err(false) => Front::Nothing,
            Err(true) => Front::Other(flag),
        }
    }

    /// Reads the flag word of line `at` once, with acquire: the bytes of the line are visible behind a flag of this
    /// lap.
    #[inline(always)]
    fn flag(&self, at: u64) -> Flag {
        // SYNC POINT with the release stores in `Producer`.
        Flag(self.mem.flag(at).load(Ordering::Acquire))
    }

    /// Explains a flag that [`Consumer::front`] has found at our position.
    #[inline]
    pub fn explain(&self, flag: Flag) -> Look {
        let (at, len, tag) = (self.position.get(), flag.len(), flag.tag());
        if flag.kind() == SHORT && lines_of(len) <= MAX_LINES {
            return Look::Short { at, len, tag, lines: lines_of(len) };
        }
        self.look_long(at, flag)
    }

    /// Explains a flag that does not start a short message: requests for help, and messages in the bulk or a cell,
    /// whose place the line's second word says. A place where no message can lie is garbage.
    #[inline(never)]
    fn look_long(&self, line: u64, flag: Flag) -> Look {
        if flag.kind() == ASSIST && lines_of(flag.len()) == 1 {
            return Look::Assist { at: line, len: flag.len() };
        }
        let at = self.mem.second(line).load(Ordering::Relaxed);
        if flag.kind() == CELL && at < 2 * MOST_CELLS {
            return Look::Cell { which: at, len: flag.len(), tag: flag.tag() };
        }
        let (len, lines) = (flag.len(), pieces_of(flag.len()));
        if flag.kind() == PIECES && at < 2 * MOST_CELLS && lines <= 1 << self.mem.lines_log2() {
            return Look::Pieces { location: Location::Cell(at), len, tag: flag.tag(), line, lines };
        }
        let known = flag.kind() == LONG || flag.kind() == LONG_PIECES && lines <= 1 << self.mem.lines_log2();
        if !known {
            return Look::Garbage(flag.0);
        }
        let (ahead, size) = (at.wrapping_sub(self.bulk.get()), slot(len));
        let within = at.is_multiple_of(GRANULE)
            && ahead <= self.mem.bulk_size()
            && size <= self.mem.bulk_size() - ahead
            && size <= room_in_lap(&self.mem, at);
        let tag = flag.tag();
        match flag.kind() {
            _ if !within => Look::Garbage(at),
            LONG_PIECES => Look::Pieces { location: Location::Bulk(at), len, tag, line, lines },
            _ => Look::Long { at, len, tag },
        }
    }

    /// Whether all `lines` lines of the message that starts in `first` are written; looks at the next missing one up
    /// to `patience` times.
    #[inline(always)]
    pub fn has_all(&self, first: u64, lines: u64, patience: u32) -> Rest {
        for line in first + 1..first + lines {
            match self.has_line(line, patience) {
                Rest::Here => {}
                other => return other,
            }
        }
        Rest::Here
    }

    /// Whether `line`, a later line of a message, is written; looks at it up to `patience` times.
    #[inline(always)]
    pub fn has_line(&self, line: u64, patience: u32) -> Rest {
        let lap = lap(line, self.mem.lines_log2());
        let mut looks = 0;
        loop {
            // SYNC POINT with the release stores in `Producer::publish_lines` and `publish_pieces`.
            let flag = Flag(self.mem.flag(line).load(Ordering::Acquire));
            if flag == Flag::more(lap) {
                return Rest::Here;
            }
            if flag.is_of(lap) {
                return Rest::Garbage(flag.0);
            }
            looks += 1;
            if looks >= patience {
                return Rest::Missing;
            }
            // The sender is just writing; a pause can last longer than what is still to come.
            if looks > EAGER_LOOKS {
                oxmpi_mca::sync::spin_hint();
            }
        }
    }

    /// Moves our position behind a message of `lines` lines, which has been dealt with. The sender is told after a
    /// quarter of the ring.
    #[inline(always)]
    pub fn advance(&self, lines: u64) {
        let position = self.position.get() + lines;
        self.position.set(position);
        if position >= self.due.get() {
            self.publish_heads();
        }
    }

    /// Moves our position behind a message of `lines` lines and `len` bytes at bulk position `at`, and tells the
    /// sender at once.
    pub fn advance_long(&self, at: u64, len: u64, lines: u64) {
        self.position.set(self.position.get() + lines);
        self.bulk.set(slot(at + len));
        self.publish_heads();
    }

    /// Writes our position and bulk position into the ring's memory, so that the sender may overwrite what lies before
    /// them.
    pub fn publish_heads(&self) {
        self.due.set(self.position.get().wrapping_add(self.quarter));
        // SYNC POINT with the acquire loads in `Producer::make_room` and `adopt`.
        self.mem.bulk_head().store(self.bulk.get(), Ordering::Release);
        self.mem.head().store(self.position.get(), Ordering::Release);
    }
}
