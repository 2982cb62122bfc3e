//! Blocks of lanes, and the search through a chain of them (`lanes.rs` keeps the chain).

use super::entry::Node;
use super::instructions::{Isa, Search};
use super::line::Line;
use core::ptr::{NonNull, null_mut};

/// One block: up to `LANES` nodes in the order in which they came, their keys in `LINES` lines, and their masks in
/// `MASKS` lines, which is `LINES` or 0.
#[repr(C, align(64))]
pub(super) struct Block<N, const LINES: usize, const MASKS: usize, const LANES: usize> {
    pub(super) wants: [Line; LINES],
    pub(super) masks: [Line; MASKS],
    pub(super) next: *mut Self,
    /// Bit i: lane i holds a node.
    pub(super) live: u64,
    /// Lanes used so far.
    pub(super) end: usize,
    pub(super) nodes: [*mut N; LANES],
}

/// A node's block, the block before it (or null), and its lane.
pub(super) struct LanePosition<B> {
    pub(super) before: *mut B,
    pub(super) block: NonNull<B>,
    pub(super) lane: usize,
}

/// The pattern that a search compares with.
pub(super) struct SearchPattern<const LINES: usize> {
    pub(super) wants: [Line; LINES],
    pub(super) masks: [Line; LINES],
}

/// A search through the chain, from the first block on, for the first lane that compares equal and whose node fits.
pub(super) struct Walk<
    'a,
    N: Node,
    const W: usize,
    const LINES: usize,
    const MASKS: usize,
    const LANES: usize,
> {
    pub(super) head: *mut Block<N, LINES, MASKS, LANES>,
    pub(super) pattern: &'a SearchPattern<LINES>,
    pub(super) ask: N::Ask,
}

impl<N: Node, const W: usize, const LINES: usize, const MASKS: usize, const LANES: usize> Search
    for Walk<'_, N, W, LINES, MASKS, LANES>
{
    type Found = Option<LanePosition<Block<N, LINES, MASKS, LANES>>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Found {
        let (mut before, mut at) = (null_mut(), self.head);
        while let Some(block) = NonNull::new(at) {
            // SAFETY: blocks in the chain are valid, and nobody writes to them during a search.
            let this = unsafe { block.as_ref() };
            let mut hits = this.live;
            for line in 0..LINES {
                let mask =
                    if MASKS == 0 { &self.pattern.masks[line] } else { &this.masks[line % MASKS.max(1)] };
                // SAFETY: `run` runs at the level of `I`.
                hits &= unsafe { I::zeros::<W>(&this.wants[line], &self.pattern.wants[line], mask) };
            }
            while hits != 0 {
                let lane = hits.trailing_zeros() as usize;
                // SAFETY: a live lane holds a node, which is valid (promise of `push`).
                if unsafe { (*this.nodes[lane]).fits(self.ask) } {
                    return Some(LanePosition { before, block, lane });
                }
                hits &= hits - 1;
            }
            before = at;
            at = this.next;
        }
        None
    }
}

/// The paper's layouts: a block is as large as a node of its engines, 64-byte alignment included.
const _: () = {
    use super::entry::{Posted, Unexpected};
    assert!(size_of::<Block<Posted, 2, 2, 16>>() == 448 && size_of::<Block<Unexpected, 2, 0, 16>>() == 320);
    assert!(size_of::<Block<Posted, 1, 1, 16>>() == 320 && size_of::<Block<Unexpected, 1, 0, 16>>() == 256);
    assert!(size_of::<Block<Posted, 1, 1, 32>>() == 448 && size_of::<Block<Unexpected, 1, 0, 32>>() == 384);
    assert!(size_of::<Block<Posted, 1, 1, 64>>() == 704 && size_of::<Block<Unexpected, 1, 0, 64>>() == 640);
};
