//! A list of pieces tells which memory of this rank others may reach: the window's one piece, or those that are attached to a dynamic window.

use oxmpi_datatype::Run;
use oxmpi_mca::Status;
use oxmpi_osc::Memory;
use std::collections::BTreeMap;

/// This memory of the process is exposed. Displacements of runs count from its base: the piece's, or address 0.
pub struct Exposed {
    dynamic: bool,
    base: u64,
    /// Each piece's address leads to its bytes; pieces do not overlap.
    pieces: BTreeMap<u64, u64>,
}

impl Exposed {
    /// Exposes one piece.
    pub fn whole(memory: Memory) -> Exposed {
        let base = memory.base as u64;
        Exposed { dynamic: false, base, pieces: BTreeMap::from([(base, memory.bytes)]) }
    }

    /// Exposes nothing until a piece is attached.
    pub fn dynamic() -> Exposed {
        Exposed { dynamic: true, base: 0, pieces: BTreeMap::new() }
    }

    /// Exposes one more piece of a dynamic window; the answer is RMA_ATTACH if others have some of it.
    pub fn attach(&mut self, memory: Memory) -> Status {
        let Memory { base, bytes } = memory;
        let base = base as u64;
        let Some(end) = base.checked_add(bytes).filter(|_| self.dynamic) else { return Status::RMA_ATTACH };
        let before = self.pieces.range(..=base).next_back();
        let behind = self.pieces.range(base..).next();
        let meets_before = before.is_some_and(|(&at, &len)| at == base || at + len > base);
        if meets_before || behind.is_some_and(|(&at, _)| at < end) {
            return Status::RMA_ATTACH;
        }
        self.pieces.insert(base, bytes);
        Status::OK
    }

    /// Exposes the piece that begins at `base` no more; the answer is RMA_ATTACH if none does.
    pub fn detach(&mut self, base: usize) -> Status {
        let known = self.dynamic && self.pieces.remove(&(base as u64)).is_some();
        if known { Status::OK } else { Status::RMA_ATTACH }
    }

    /// Finds the base of the blocks, if all of them are exposed.
    pub fn find(&self, runs: &[Run]) -> Option<*mut u8> {
        let all = runs.iter().all(|run| self.has_run(run));
        all.then(|| core::ptr::with_exposed_provenance_mut(self.base as usize))
    }

    fn has_run(&self, run: &Run) -> bool {
        let (first, steps, len) = (i128::from(run.disp), i128::from(run.count) - 1, i128::from(run.len));
        let last = first + steps * i128::from(run.stride);
        let (low, high) = (first.min(last), first.max(last) + len);
        // The stretch from the first to the last block is in most cases exposed as a whole.
        if self.has(low, high) {
            return true;
        }
        self.dynamic
            && (0..run.count).all(|i| {
                let at = first + i128::from(i) * i128::from(run.stride);
                self.has(at, at + len)
            })
    }

    /// Tells whether displacements from `low` up to `high` are exposed: in one piece, or in several without gaps.
    fn has(&self, low: i128, high: i128) -> bool {
        // Addresses are numbers without a sign; as displacements the upper half of them is below 0.
        let bias = if self.dynamic && low < 0 { 1i128 << 64 } else { i128::from(self.base) };
        let (Ok(mut at), Ok(end)) = (u64::try_from(low + bias), u64::try_from(high + bias)) else {
            return false;
        };
        if !self.dynamic && low < 0 {
            return false;
        }
        while at < end {
            match self.pieces.range(..=at).next_back() {
                Some((&piece, &len)) if at - piece < len => at = piece + len,
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> [Run; 1] {
        [Run { disp, len, count, stride }]
    }

    fn memory(base: usize, bytes: u64) -> Memory {
        Memory { base, bytes }
    }

    #[test]
    fn a_piece_has_two_ends() {
        let exposed = Exposed::whole(memory(4096, 100));
        assert!(exposed.find(&run(0, 10, 10, 10)).is_some());
        assert!(exposed.find(&run(90, 10, 2, -90)).is_some());
        for bad in [
            run(0, 10, 10, 11),
            run(-1, 1, 1, 0),
            run(5, 1, 2, -6),
            run(i64::MAX, 1, 1, 0),
            run(0, 101, 1, 0),
            run(0, 1, u64::MAX, i64::MAX),
            run(0, u64::MAX, 1, 0),
        ] {
            assert!(exposed.find(&bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn attached_pieces_do_not_overlap() {
        let mut exposed = Exposed::dynamic();
        assert_eq!(exposed.attach(memory(1000, 100)), Status::OK);
        assert_eq!(exposed.attach(memory(1100, 50)), Status::OK);
        for (base, bytes) in [(1050, 10), (950, 51), (1000, 0), (usize::MAX, 2), (900, 1000)] {
            assert_eq!(exposed.attach(memory(base, bytes)), Status::RMA_ATTACH, "{base}");
        }
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_some());
        assert!(exposed.find(&run(1090, 20, 1, 0)).is_some(), "two pieces without a gap");
        assert!(exposed.find(&run(990, 20, 1, 0)).is_none());
        assert_eq!(exposed.detach(1100), Status::OK);
        assert_eq!(exposed.detach(1100), Status::RMA_ATTACH);
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_none());
        assert!(exposed.find(&run(-8, 4, 1, 0)).is_none());
        assert_eq!(exposed.attach(memory(2000, 10)), Status::OK);
        assert!(exposed.find(&run(1090, 10, 2, 910)).is_some(), "blocks in pieces with a gap");
        assert!(exposed.find(&run(1090, 10, 3, 455)).is_none());
    }

    #[test]
    fn what_is_one_piece_takes_no_others() {
        let mut exposed = Exposed::whole(memory(4096, 10));
        assert_eq!(exposed.attach(memory(8192, 10)), Status::RMA_ATTACH);
        assert_eq!(exposed.detach(4096), Status::RMA_ATTACH);
    }
}
