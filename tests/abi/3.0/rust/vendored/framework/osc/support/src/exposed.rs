//! A list of pieces tells which memory of this rank others may reach: the window's one piece, or those that are attached to a dynamic window.
//!
//! Memory is vouched for by those who expose it. So blocks that were found exposed ([`Blocks`]) can be read and changed without more ado.

use crate::reduction::combine;
use crate::runs::{bytes, each, gather, scatter};
use core::marker::PhantomData;
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, Run};
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
    ///
    /// # Safety
    /// The memory can be read and written as long as the result lives; what the program does with it meanwhile keeps to MPI's rules.
    pub unsafe fn whole(memory: Memory) -> Exposed {
        let base = memory.base as u64;
        Exposed { dynamic: false, base, pieces: BTreeMap::from([(base, memory.bytes)]) }
    }

    /// Exposes nothing until a piece is attached.
    pub fn dynamic() -> Exposed {
        Exposed { dynamic: true, base: 0, pieces: BTreeMap::new() }
    }

    /// Exposes one more piece of a dynamic window; the answer is RMA_ATTACH if others have some of it.
    ///
    /// # Safety
    /// The memory can be read and written until it is detached, or this goes; what the program does with it meanwhile keeps to MPI's rules.
    pub unsafe fn attach(&mut self, memory: Memory) -> Status {
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

    /// Finds blocks, if all of them are exposed.
    pub fn find<'a>(&'a self, runs: &'a [Run]) -> Option<Blocks<'a>> {
        let all = runs.iter().all(|run| self.has_run(run));
        let base = core::ptr::with_exposed_provenance_mut(self.base as usize);
        all.then_some(Blocks { base, runs, exposed: PhantomData })
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

/// Blocks of memory that is exposed.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    base: *mut u8,
    runs: &'a [Run],
    exposed: PhantomData<&'a Exposed>,
}

impl Blocks<'_> {
    /// Tells from where displacements count.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Copies them into `out`, which is as long.
    pub fn read(&self, out: &mut [u8]) {
        // SAFETY: `find` has seen that all of them are exposed.
        unsafe { gather(self.base, self.runs, out) }
    }

    /// Copies `data`, which is as long, to them.
    pub fn write(&self, data: &[u8]) {
        // SAFETY: `find` has seen that all of them are exposed.
        unsafe { scatter(self.base, self.runs, data) }
    }

    /// Combines packed elements of a basic type with those in them. The answer is BAD_PARAM where there is no such operation, or where they are no such elements,
    /// as many as `data` has.
    pub fn combine(&self, code: u32, base: Base, data: &[u8]) -> Status {
        if bytes(self.runs) != Some(data.len() as u64) {
            return Status::BAD_PARAM;
        }
        if code == op::REPLACE {
            self.write(data);
            return Status::OK;
        }
        let Some(width) = base.layout().map(|basic| basic.packed).filter(|_| code != op::USER) else {
            return Status::BAD_PARAM;
        };
        if !(data.len() as u64).is_multiple_of(width) {
            return Status::BAD_PARAM;
        }
        let elements = |input: &[u8], inout: *mut u8| {
            // SAFETY: both have so many packed elements: one is a message's, the other that message's counterpart in exposed memory, or a copy of that.
            unsafe { combine(code, base, width, input.as_ptr(), inout, input.len() as u64 / width) }
        };
        if self.runs.iter().any(|run| !run.len.is_multiple_of(width)) {
            let mut all = vec![0; data.len()];
            self.read(&mut all);
            let status = elements(data, all.as_mut_ptr());
            if !status.is_err() {
                self.write(&all);
            }
            return status;
        }
        let (mut at, mut status) = (0, Status::OK);
        each(self.runs, |disp, len| {
            let part = &data[at..at + len as usize];
            at += part.len();
            if !status.is_err() {
                status = elements(part, self.base.wrapping_offset(disp as isize));
            }
        });
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> [Run; 1] {
        [Run { disp, len, count, stride }]
    }

    fn whole(base: usize, bytes: u64) -> Exposed {
        // SAFETY: nothing of it is read or written here.
        unsafe { Exposed::whole(Memory { base, bytes }) }
    }

    fn attach(exposed: &mut Exposed, base: usize, bytes: u64) -> Status {
        // SAFETY: nothing of it is read or written here.
        unsafe { exposed.attach(Memory { base, bytes }) }
    }

    #[test]
    fn a_piece_has_two_ends() {
        let exposed = whole(4096, 100);
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
        assert_eq!(attach(&mut exposed, 1000, 100), Status::OK);
        assert_eq!(attach(&mut exposed, 1100, 50), Status::OK);
        for (base, bytes) in [(1050, 10), (950, 51), (1000, 0), (usize::MAX, 2), (900, 1000)] {
            assert_eq!(attach(&mut exposed, base, bytes), Status::RMA_ATTACH, "{base}");
        }
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_some());
        assert!(exposed.find(&run(1090, 20, 1, 0)).is_some(), "two pieces without a gap");
        assert!(exposed.find(&run(990, 20, 1, 0)).is_none());
        assert_eq!(exposed.detach(1100), Status::OK);
        assert_eq!(exposed.detach(1100), Status::RMA_ATTACH);
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_none());
        assert!(exposed.find(&run(-8, 4, 1, 0)).is_none());
        assert_eq!(attach(&mut exposed, 2000, 10), Status::OK);
        assert!(exposed.find(&run(1090, 10, 2, 910)).is_some(), "blocks in pieces with a gap");
        assert!(exposed.find(&run(1090, 10, 3, 455)).is_none());
    }

    #[test]
    fn what_is_one_piece_takes_no_others() {
        let mut exposed = whole(4096, 10);
        assert_eq!(attach(&mut exposed, 8192, 10), Status::RMA_ATTACH);
        assert_eq!(exposed.detach(4096), Status::RMA_ATTACH);
    }

    #[test]
    fn blocks_are_read_changed_and_combined_where_they_lie() {
        let mut words = [1u32, 2, 3, 4];
        let base = words.as_mut_ptr().expose_provenance();
        // SAFETY: an array of the test's, which outlives it.
        let exposed = unsafe { Exposed::whole(Memory { base, bytes: 16 }) };
        let ends = run(0, 4, 2, 12);
        let blocks = exposed.find(&ends).expect("exposed");
        let mut old = [0; 8];
        blocks.read(&mut old);
        let packed = |a: u32, b: u32| [a.to_ne_bytes(), b.to_ne_bytes()].concat();
        assert_eq!(old[..], packed(1, 4));
        assert_eq!(blocks.combine(op::SUM, Base::U32, &packed(10, 20)), Status::OK);
        assert_eq!(words, [11, 2, 3, 24]);
        // Halves of an element each.
        let halves = run(4, 2, 4, 2);
        let blocks = exposed.find(&halves).expect("exposed");
        assert_eq!(blocks.combine(op::MAX, Base::U32, &packed(1, 7)), Status::OK);
        assert_eq!(words, [11, 2, 7, 24]);
        assert_eq!(blocks.combine(op::REPLACE, Base::U32, &packed(8, 9)), Status::OK);
        for (code, base, data) in [(op::USER, Base::U32, 8), (op::SUM, Base::U32, 4), (op::SUM, Base::C64, 8)]
        {
            assert_eq!(blocks.combine(code, base, &vec![1; data]), Status::BAD_PARAM);
        }
        assert_eq!(words, [11, 8, 9, 24]);
    }
}
