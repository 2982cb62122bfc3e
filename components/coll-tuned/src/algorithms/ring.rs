//! Blocks of operands that go round a ring and are combined on the way, for operations that commute: in step t every rank sends the block
//! that it has combined last, and combines the next one with its own.
//!
//! Blocks are cut into k segments, as many in each, some of them empty. The messages of all steps are numbered on; message t + k carries what
//! came in message t, so k of them are under way, and a segment's memory is free when the message that carries it has gone: 2k + 1 pieces
//! of memory are enough.

use crate::script::{Area, Me, Piece, Script, Segments, given, temp};

/// The end of the ring: block `rank + end` modulo n is left at a rank.
pub struct Ring<'a> {
    pub me: Me,
    /// First unit and length of a block.
    pub block: &'a dyn Fn(u32) -> (u64, u64),
    /// Units of a segment, at most; 0: blocks are not cut.
    pub each: u64,
    pub end: u32,
}

impl Ring<'_> {
    /// Combines all operands; this rank's block of the sum is put to `into`, from unit `at` on.
    pub fn scatter(&self, s: &mut dyn Script, into: Area, at: u64) {
        let (n, me) = (self.me.n, self.me);
        let longest = (0..n).map(|block| (self.block)(block).1).max().unwrap_or(0);
        let longest = Segments::new(longest, self.each);
        let k = longest.count;
        if k == 0 || n == 1 {
            let (first, len) = (self.block)(0);
            return s.copy(given(first, len), into.piece(at, len));
        }
        let slots = 2 * k + 1;
        s.temp(0, slots * longest.each, 0);
        // The block that is received in a step; that of the step before is sent.
        let comes = |step: u64| {
            let turned = u64::from(self.me.rank + self.end) + 2 * u64::from(n) - 2 - step;
            (turned % u64::from(n)) as u32
        };
        let first_out = me.behind(self.end + n - 1);
        let segment = |block: u32, i: u64| {
            let (first, len) = (self.block)(block);
            let start = (i * longest.each).min(len);
            (first + start, longest.each.min(len - start))
        };
        let own = |t: u64| -> Piece {
            let (first, len) = segment(comes(t / k), t % k);
            given(first, len)
        };
        let slot = |t: u64| temp(0, (t % slots) * longest.each, own(t).len);
        let (before, behind) = (me.before(1), me.behind(1));
        let total = u64::from(n - 1) * k;
        for t in 0..total {
            s.recv(slot(t), before);
            if t < k {
                let (first, len) = segment(first_out, t);
                s.send(given(first, len), behind);
            } else {
                s.send(slot(t - k), behind);
            }
            if t + 1 >= k {
                let came = t + 1 - k;
                s.wait(1 + 2 * (k as usize - 1));
                s.combine(own(came), slot(came));
            }
        }
        s.wait(0);
        let last = total - k;
        for t in last..total {
            if t > last {
                s.combine(own(t), slot(t));
            }
            let piece = own(t);
            let offset = piece.first - (self.block)(comes(t / k)).0;
            s.copy(slot(t), into.piece(at + offset, piece.len));
        }
    }
}
