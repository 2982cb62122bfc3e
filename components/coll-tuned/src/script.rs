//! The words in which an algorithm says what a rank does: messages, copies and combinations of pieces of buffers.
//!
//! An algorithm is a function of a rank, the number of ranks and lengths that says these words to a [`Script`]; it sees no buffer, and no word
//! has an answer. So the same function runs blocking, writes down a plan, and is played through for every rank by the tests
//! (`simulator.rs`). `run.rs` does what the words say, and knows of buffers, types and failures.
//!
//! **Units.** Pieces are counted in units: elements in a reduction, blocks where ranks exchange blocks, bytes in a broadcast. An empty piece
//! is not sent, nor received: its length is known at both ends.
//!
//! **Order.** Messages from one rank to another are received in the order in which they are sent. [`Script::wait`] waits for the oldest messages
//! first, so an algorithm that overlaps messages counts those that it has started since.

/// The buffer a piece lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Area {
    /// The data that this rank gives; only read. Where data is in place this is (a part of) `Result`.
    Given,
    /// The place for the data that this rank gets.
    Result,
    /// Temporary memory with a number, which [`Script::temp`] makes.
    Temp(u8),
}

/// Units of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    pub area: Area,
    pub first: u64,
    pub len: u64,
}

/// Units `first..first + len` of what this rank gives.
pub fn given(first: u64, len: u64) -> Piece {
    Area::Given.piece(first, len)
}

/// Units `first..first + len` of what this rank gets.
pub fn result(first: u64, len: u64) -> Piece {
    Area::Result.piece(first, len)
}

/// Units `first..first + len` of temporary memory.
pub fn temp(number: u8, first: u64, len: u64) -> Piece {
    Area::Temp(number).piece(first, len)
}

impl Area {
    /// Units `first..first + len` of it.
    pub fn piece(self, first: u64, len: u64) -> Piece {
        Piece { area: self, first, len }
    }
}

/// A rank among `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Me {
    pub rank: u32,
    pub n: u32,
}

impl Me {
    /// The rank `distance` behind this one, in a circle.
    pub fn behind(self, distance: u32) -> u32 {
        ((u64::from(self.rank) + u64::from(distance)) % u64::from(self.n)) as u32
    }

    /// The rank `distance` before this one, in a circle; at most n.
    pub fn before(self, distance: u32) -> u32 {
        self.behind(self.n - distance)
    }
}

/// Takes the words of an algorithm in the order in which they are to be done.
pub trait Script {
    /// Makes temporary memory of so many units. Where blocks differ in length, unit i of it is as long as block `turned + i` of the result,
    /// in a circle.
    fn temp(&mut self, number: u8, units: u64, turned: u64);
    /// Starts a message to a rank.
    fn send(&mut self, data: Piece, to: u32);
    /// Starts to receive the next message of a rank.
    fn recv(&mut self, place: Piece, from: u32);
    /// Starts a message without data.
    fn signal(&mut self, to: u32);
    /// Starts to receive a message without data.
    fn await_signal(&mut self, from: u32);
    /// Waits until at most the `left` messages that were started last are under way.
    fn wait(&mut self, left: usize);
    /// Copies as many units; nothing where both are the same.
    fn copy(&mut self, from: Piece, to: Piece);
    /// `right[i] = left[i] op right[i]`.
    fn combine(&mut self, left: Piece, right: Piece);
}

/// `total` units cut into segments of `each`; the last one may be shorter.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    total: u64,
    pub each: u64,
    pub count: u64,
}

impl Segments {
    /// `each` 0: one segment.
    pub fn new(total: u64, each: u64) -> Segments {
        let each = if each == 0 { total } else { each.min(total) };
        Segments { total, each, count: if total == 0 { 0 } else { total.div_ceil(each) } }
    }

    /// First unit and length of segment `index`; empty behind the last.
    pub fn get(&self, index: u64) -> (u64, u64) {
        let first = index.saturating_mul(self.each).min(self.total);
        (first, self.each.min(self.total - first))
    }
}

/// First unit and length of part `index` of `parts` that differ by one unit at most.
pub fn share(total: u64, index: u64, parts: u64) -> (u64, u64) {
    let (each, more) = (total / parts, total % parts);
    (index * each + index.min(more), each + u64::from(index < more))
}
