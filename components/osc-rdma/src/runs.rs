//! Blocks at a target in the order of their addresses, and those that touch each other as one run: a type that transposes names
//! every element of a matrix apart, and the matrix is one piece of memory.

use crate::layout::Block;
use crate::spot::RemoteTarget;
use oxmpi_btl::RegHandle;
use oxmpi_mca::Status;

/// Memory of the target that is read or written in one piece.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub at: u64,
    pub len: u64,
    pub handle: *const RegHandle,
}

/// See the file's head. The bytes of all runs stand behind each other, and so do those of all blocks, in another order.
pub struct Runs {
    /// By address: where the bytes of a block are among those of all blocks, and how many.
    order: Vec<(usize, usize)>,
    runs: Vec<Run>,
}

impl Runs {
    /// RMA_RANGE if some of it is not in the window.
    pub fn of(there: &RemoteTarget<'_>, blocks: &[&Block]) -> Result<Runs, Status> {
        Runs::new(blocks, |block| there.handle(block.at, block.len).ok_or(Status::RMA_RANGE))
    }

    fn new(
        blocks: &[&Block],
        handle: impl Fn(&Block) -> Result<*const RegHandle, Status>,
    ) -> Result<Runs, Status> {
        let mut behind = 0;
        let mut places: Vec<(&Block, usize)> = Vec::with_capacity(blocks.len());
        for block in blocks {
            places.push((block, behind));
            behind += block.len as usize;
        }
        places.sort_by_key(|(block, _)| block.at);
        let mut runs: Vec<Run> = Vec::new();
        for (block, _) in &places {
            let (at, len, handle) = (block.at, block.len, handle(block)?);
            match runs.last_mut() {
                Some(run) if run.handle == handle && run.at + run.len == at => run.len += len,
                _ => runs.push(Run { at, len, handle }),
            }
        }
        let order = places.into_iter().map(|(block, from)| (from, block.len as usize)).collect();
        Ok(Runs { order, runs })
    }

    /// Calls `each` with every run and where its bytes are among those of all runs, until it says false.
    pub fn each(&self, mut each: impl FnMut(u64, &Run) -> bool) {
        let mut behind = 0;
        for run in &self.runs {
            if !each(behind, run) {
                return;
            }
            behind += run.len;
        }
    }

    /// From the bytes of all blocks to those of all runs.
    pub fn gather(&self, blocks: &[u8], runs: &mut [u8]) {
        let mut to = 0;
        for &(from, len) in &self.order {
            runs[to..to + len].copy_from_slice(&blocks[from..from + len]);
            to += len;
        }
    }

    /// And back.
    pub fn scatter(&self, runs: &[u8], blocks: &mut [u8]) {
        let mut from = 0;
        for &(to, len) in &self.order {
            blocks[to..to + len].copy_from_slice(&runs[from..from + len]);
            from += len;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use core::ptr::without_provenance;

    fn block(at: u64, len: u64) -> Block {
        Block { at, len, packed: 0 }
    }

    /// Two registrations: what lies below 1000, and the rest.
    fn runs(blocks: &[Block]) -> Runs {
        let handle = |block: &Block| Ok(without_provenance(if block.at < 1000 { 1 } else { 2 }));
        Runs::new(&blocks.iter().collect::<Vec<_>>(), handle).expect("all is in the window")
    }

    fn pieces(runs: &Runs) -> Vec<(u64, u64, u64)> {
        let mut all = Vec::new();
        runs.each(|behind, run| {
            all.push((behind, run.at, run.len));
            true
        });
        all
    }

    #[test]
    fn a_transposed_matrix_is_one_run() {
        let (rows, columns) = (3, 4);
        let at = |column: u64, row: u64| block(100 + 2 * (row * columns + column), 2);
        let blocks: Vec<Block> = (0..columns).flat_map(|c| (0..rows).map(move |r| at(c, r))).collect();
        let runs = runs(&blocks);
        assert_eq!(pieces(&runs), [(0, 100, 24)]);
        let bytes: Vec<u8> = (0..24).collect();
        let (mut there, mut back) = ([0; 24], [0; 24]);
        runs.gather(&bytes, &mut there);
        for (i, block) in blocks.iter().enumerate() {
            let at = (block.at - 100) as usize;
            assert_eq!(there[at..at + 2], bytes[2 * i..2 * i + 2], "element {i}");
        }
        runs.scatter(&there, &mut back);
        assert_eq!(back[..], bytes[..]);
    }

    #[test]
    fn gaps_and_registrations_end_a_run() {
        let runs = runs(&[block(998, 2), block(10, 5), block(1000, 4), block(15, 1), block(18, 2)]);
        assert_eq!(pieces(&runs), [(0, 10, 6), (6, 18, 2), (8, 998, 2), (10, 1000, 4)]);
    }

    #[test]
    fn what_is_not_in_the_window_is_told() {
        let nowhere = |_: &Block| Err(Status::RMA_RANGE);
        assert!(Runs::new(&[&block(1, 1)], nowhere).is_err_and(|status| status == Status::RMA_RANGE));
    }
}
