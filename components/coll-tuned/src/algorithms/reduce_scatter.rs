//! Reductions of which each rank gets one block of the result.

use crate::algorithms::allreduce::{Sum, doubling};
use crate::algorithms::halving::Halving;
use crate::algorithms::reduce::{self, Reduce};
use crate::algorithms::ring::Ring;
use crate::fold::{Fold, Part};
use crate::script::{Area, Me, Script, given, result, temp};
use crate::tree::Shape;

/// A reduce_scatter as a rank sees it.
#[derive(Clone, Copy)]
pub struct ReduceScatter<'a> {
    pub me: Me,
    /// Where each rank's block begins in an operand, and behind them where the last one ends.
    pub starts: &'a [u64],
    pub commutes: bool,
}

impl ReduceScatter<'_> {
    /// First unit and length of the blocks of ranks from..to.
    fn blocks(&self, from: u32, to: u32) -> (u64, u64) {
        let first = self.starts[from as usize];
        (first, self.starts[to as usize] - first)
    }

    fn block(&self, rank: u32) -> (u64, u64) {
        self.blocks(rank, rank + 1)
    }

    fn own(&self) -> u64 {
        self.block(self.me.rank).1
    }

    fn total(&self) -> u64 {
        self.blocks(0, self.me.n).1
    }
}

/// Reduces to rank 0, by a tree or, if `linear`, directly; then that sends each its block.
pub fn nonoverlapping(s: &mut dyn Script, r: &ReduceScatter<'_>, linear: bool) {
    let (me, sum) = (r.me, Area::Temp(7));
    let whole = Reduce { me, root: 0, count: r.total(), commutes: r.commutes, in_place: false, into: sum };
    if me.rank == 0 {
        s.temp(7, whole.count, 0);
    }
    if linear {
        reduce::linear(s, &whole);
    } else {
        reduce::tree(s, &whole, Shape::Knomial(2), 0);
    }
    if me.rank == 0 {
        for rank in 1..me.n {
            let (first, len) = r.block(rank);
            s.send(sum.piece(first, len), rank);
        }
        s.copy(sum.piece(0, r.own()), result(0, r.own()));
    } else {
        s.recv(result(0, r.own()), 0);
    }
    s.wait(0);
}

/// By halving: with halves at distance n/2, n/4, …, or in the order of ranks, and then each rank gets its block from the one that has it.
pub fn halving(s: &mut dyn Script, r: &ReduceScatter<'_>, ordered: bool) {
    let halving = Halving::new(r.me, [Area::Temp(0), Area::Temp(1)], ordered);
    let fold = halving.fold;
    let first_rank = |part: u32| if part == fold.members { r.me.n } else { fold.rank_of(part) };
    (0..2).for_each(|area| s.temp(area, r.total(), 0));
    let held = halving.scatter(s, r.total(), |from, to| r.blocks(first_rank(from), first_rank(to)));
    let own_from = fold.rank_of(halving.end(fold.member_for(r.me.rank)));
    if own_from != r.me.rank {
        s.recv(result(0, r.own()), own_from);
    }
    if let (Some(held), Part::Member { index, .. }) = (held, fold.part) {
        let part = halving.end(index);
        for rank in first_rank(part)..first_rank(part + 1) {
            let (first, len) = r.block(rank);
            let block = held.area.piece(first, len);
            if rank == r.me.rank {
                s.copy(block, result(0, len));
            } else {
                s.send(block, rank);
            }
        }
    }
    s.wait(0);
}

/// Round a ring, for operations that commute.
pub fn ring(s: &mut dyn Script, r: &ReduceScatter<'_>) {
    let block = |rank: u32| r.block(rank);
    Ring { me: r.me, block: &block, each: 0, end: 0 }.scatter(s, Area::Result, 0);
}

/// The whole sum is made in all ranks, which keep their block.
pub fn recursive_doubling(s: &mut dyn Script, r: &ReduceScatter<'_>) {
    let fold = Fold::new(r.me);
    let total = r.total();
    (0..2).for_each(|area| s.temp(area, total, 0));
    let mut sum = Sum { sum: temp(0, 0, total), spare: temp(1, 0, total) };
    s.copy(given(0, total), sum.sum);
    doubling(s, &fold, &mut sum);
    let (first, len) = r.block(r.me.rank);
    match fold.part {
        Part::Outside { member } => s.recv(result(0, len), member),
        Part::Member { outsider, .. } => {
            if let Some(outsider) = outsider {
                let (first, len) = r.block(outsider);
                s.send(sum.sum.area.piece(first, len), outsider);
            }
            s.copy(sum.sum.area.piece(first, len), result(0, len));
        }
    }
    s.wait(0);
}
