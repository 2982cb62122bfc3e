//! Blocks at a target in the order of their addresses, and those that touch each other as one run: a type that transposes names
//! every element of a matrix apart, and the matrix is one piece of memory.

use crate::layout::Block;
use crate::spot::RemoteTarget;
use oxmpi_mca::Status;
use oxmpi_osc_support::RemoteRegistration;

/// Memory of the target that is read or written in one piece.
pub struct Run<'p> {
    pub at: u64,
    pub len: u64,
    pub registration: &'p RemoteRegistration,
}

/// See the file's head. The bytes of all runs stand behind each other, and so do those of all blocks, in another order.
pub struct Runs<'p> {
    /// By address: where the bytes of a block are among those of all blocks, and how many.
    order: Vec<(usize, usize)>,
    runs: Vec<Run<'p>>,
}

impl<'p> Runs<'p> {
    /// RMA_RANGE if some of it is not in the window.
    pub fn of(there: &'p RemoteTarget<'_>, blocks: &[&Block]) -> Result<Runs<'p>, Status> {
        Runs::new(blocks, |block| there.registration(block))
    }

    fn new(
        blocks: &[&Block],
        registration: impl Fn(&Block) -> Result<&'p RemoteRegistration, Status>,
    ) -> Result<Runs<'p>, Status> {
        let mut behind = 0;
        let mut places: Vec<(&Block, usize)> = Vec::with_capacity(blocks.len());
        for block in blocks {
            places.push((block, behind));
            behind += block.len as usize;
        }
        places.sort_by_key(|(block, _)| block.at);
        let mut runs: Vec<Run<'p>> = Vec::new();
        for (block, _) in &places {
            let (at, len, registration) = (block.at, block.len, registration(block)?);
            match runs.last_mut() {
                Some(run) if core::ptr::eq(run.registration, registration) && run.at + run.len == at => {
                    run.len += len;
                }
                _ => runs.push(Run { at, len, registration }),
            }
        }
        let order = places.into_iter().map(|(block, from)| (from, block.len as usize)).collect();
        Ok(Runs { order, runs })
    }

    /// Every run, by address.
    pub fn all(&self) -> &[Run<'p>] {
        &self.runs
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

    fn block(at: u64, len: u64) -> Block {
        Block { at, len, packed: 0 }
    }

    /// Two registrations: what lies below 1000, and the rest.
    fn runs(blocks: &[Block]) -> Runs<'static> {
        let both: &[RemoteRegistration; 2] = Box::leak(Box::new([RemoteRegistration::NONE; 2]));
        let registration = |block: &Block| Ok(&both[usize::from(block.at >= 1000)]);
        Runs::new(&blocks.iter().collect::<Vec<_>>(), registration).expect("all is in the window")
    }

    fn pieces(runs: &Runs<'_>) -> Vec<(u64, u64)> {
        runs.all().iter().map(|run| (run.at, run.len)).collect()
    }

    #[test]
    fn a_transposed_matrix_is_one_run() {
        let (rows, columns) = (3, 4);
        let at = |column: u64, row: u64| block(100 + 2 * (row * columns + column), 2);
        let blocks: Vec<Block> = (0..columns).flat_map(|c| (0..rows).map(move |r| at(c, r))).collect();
        let runs = runs(&blocks);
        assert_eq!(pieces(&runs), [(100, 24)]);
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
        assert_eq!(pieces(&runs), [(10, 6), (18, 2), (998, 2), (1000, 4)]);
    }

    #[test]
    fn what_is_not_in_the_window_is_told() {
        let nowhere = |_: &Block| Err(Status::RMA_RANGE);
        assert!(Runs::new(&[&block(1, 1)], nowhere).is_err_and(|status| status == Status::RMA_RANGE));
    }
}
