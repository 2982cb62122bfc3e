//! Reductions whose result all ranks get. All have the same bits, since each part of the sum is either made once, or made of the same operands
//! in the same order everywhere.

use crate::algorithms::bcast::{self, Bcast};
use crate::algorithms::halving::Halving;
use crate::algorithms::pair::exchange;
use crate::algorithms::reduce::{self, Reduce};
use crate::algorithms::ring::Ring;
use crate::fold::{Fold, Part};
use crate::script::{Area, Me, Piece, Script, given, result, share, temp};
use crate::tree::Shape;

/// An allreduce as a rank sees it.
#[derive(Clone, Copy)]
pub struct Allreduce {
    pub me: Me,
    /// Units of an operand.
    pub count: u64,
    pub commutes: bool,
    /// The operand lies where the result goes.
    pub in_place: bool,
}

impl Allreduce {
    fn reduce(&self) -> Reduce {
        let Allreduce { me, count, commutes, in_place } = *self;
        Reduce { me, root: 0, count, commutes, in_place, into: Area::Result }
    }

    fn bcast(&self) -> Bcast {
        Bcast { me: self.me, root: 0, total: self.count, staged: false }
    }
}

/// Rank 0 receives and combines all operands, and sends the result to each.
pub fn linear(s: &mut dyn Script, a: &Allreduce) {
    reduce::linear(s, &a.reduce());
    bcast::linear(s, &a.bcast());
}

/// Up a binomial tree and down again.
pub fn nonoverlapping(s: &mut dyn Script, a: &Allreduce) {
    reduce::tree(s, &a.reduce(), Shape::Knomial(2), 0);
    bcast::tree(s, &a.bcast(), Shape::Knomial(2), 0);
}

/// A sum that takes operands from both sides: in `sum`, with room for the next one in `spare`.
pub struct Sum {
    pub sum: Piece,
    pub spare: Piece,
}

impl Sum {
    /// Takes what lies in `spare`, of the ranks behind those of the sum or before them.
    pub fn take(&mut self, s: &mut dyn Script, is_behind: bool) {
        if is_behind {
            s.combine(self.sum, self.spare);
            core::mem::swap(&mut self.sum, &mut self.spare);
        } else {
            s.combine(self.spare, self.sum);
        }
    }
}

/// Pairs at distance 1, 2, 4, … exchange their sums. `sum` holds the operand. False: another rank stands for this one.
pub fn doubling(s: &mut dyn Script, fold: &Fold, sum: &mut Sum) -> bool {
    let (index, outsider) = match fold.part {
        Part::Outside { member } => {
            s.send(sum.sum, member);
            s.wait(0);
            return false;
        }
        Part::Member { index, outsider } => (index, outsider),
    };
    if let Some(outsider) = outsider {
        s.recv(sum.spare, outsider);
        s.wait(0);
        sum.take(s, true);
    }
    let mut distance = 1;
    while distance < fold.members {
        let partner = index ^ distance;
        let rank = fold.rank_of(partner);
        exchange(s, sum.sum, rank, sum.spare, rank);
        sum.take(s, partner > index);
        distance *= 2;
    }
    true
}

/// All operands are exchanged in pairs, as a whole.
pub fn recursive_doubling(s: &mut dyn Script, a: &Allreduce) {
    let fold = Fold::new(a.me);
    let whole = result(0, a.count);
    s.temp(0, a.count, 0);
    s.copy(given(0, a.count), whole);
    let mut sum = Sum { sum: whole, spare: temp(0, 0, a.count) };
    if doubling(s, &fold, &mut sum) {
        s.copy(sum.sum, whole);
    }
    hand_out(s, &fold, whole);
}

/// Members give the result to those for whom they stand.
fn hand_out(s: &mut dyn Script, fold: &Fold, whole: Piece) {
    match fold.part {
        Part::Outside { member } => s.recv(whole, member),
        Part::Member { outsider: Some(outsider), .. } => s.send(whole, outsider),
        Part::Member { outsider: None, .. } => {}
    }
    s.wait(0);
}

/// Blocks are combined round a ring, in segments of `each` units, and go round it once more.
pub fn ring(s: &mut dyn Script, a: &Allreduce, each: u64) {
    let (n, me) = (a.me.n, a.me);
    let block = |block: u32| share(a.count, u64::from(block), u64::from(n));
    let (at, _) = block(me.behind(1));
    Ring { me, block: &block, each, end: 1 }.scatter(s, Area::Result, at);
    for step in 0..n - 1 {
        let piece = |block_: u32| {
            let (first, len) = block(block_);
            result(first, len)
        };
        let (out, into) = (me.behind(1 + n - step), me.behind(n - step));
        exchange(s, piece(out), me.behind(1), piece(into), me.before(1));
    }
}

/// Rabenseifner's algorithm: the operands are halved and combined, and the parts of the sum are put together again.
pub fn rabenseifner(s: &mut dyn Script, a: &Allreduce) {
    let halving = Halving::new(a.me, [Area::Temp(0), Area::Result], true);
    let members = u64::from(halving.fold.members);
    let units = |from: u32, to: u32| {
        let first = share(a.count, u64::from(from), members).0;
        (first, share(a.count, u64::from(to), members).0 - first)
    };
    s.temp(0, a.count, 0);
    if let Some(held) = halving.scatter(s, a.count, units)
        && let Part::Member { index, .. } = halving.fold.part
    {
        let piece = |area: Area, (from, to): (u32, u32)| {
            let (first, len) = units(from, to);
            area.piece(first, len)
        };
        let mut mine = held.parts;
        s.copy(piece(held.area, mine), piece(Area::Result, mine));
        for (distance, both) in held.steps.into_iter().rev() {
            let partner = halving.fold.rank_of(index ^ distance);
            let theirs = if mine.0 == both.0 { (mine.1, both.1) } else { (both.0, mine.0) };
            exchange(s, piece(Area::Result, mine), partner, piece(Area::Result, theirs), partner);
            mine = both;
        }
    }
    hand_out(s, &halving.fold, result(0, a.count));
}

/// All get all operands, and combine them.
pub fn allgather_reduce(s: &mut dyn Script, a: &Allreduce) {
    let (n, me, count) = (a.me.n, a.me, a.count);
    let operand = |rank: u32| temp(0, u64::from(rank) * count, count);
    s.temp(0, u64::from(n) * count, 0);
    for step in 1..n {
        s.recv(operand(me.before(step)), me.before(step));
        s.send(given(0, count), me.behind(step));
        s.wait(WINDOW);
    }
    s.wait(0);
    s.copy(given(0, count), operand(me.rank));
    (0..n - 1).rev().for_each(|rank| s.combine(operand(rank), operand(n - 1)));
    s.copy(operand(n - 1), result(0, count));
}

/// Messages that are under way at once where any number could be.
const WINDOW: usize = 32;

/// Rabenseifner's reduction to a root: as the allreduce, but the parts are put together at the root alone.
pub fn rabenseifner_reduce(s: &mut dyn Script, r: &Reduce) {
    let is_root = r.me.rank == r.root;
    let other = if is_root { r.into } else { Area::Temp(1) };
    let halving = Halving::new(r.me, [Area::Temp(0), other], true);
    let (fold, members) = (halving.fold, u64::from(halving.fold.members));
    let units = |from: u32, to: u32| {
        let first = share(r.count, u64::from(from), members).0;
        (first, share(r.count, u64::from(to), members).0 - first)
    };
    s.temp(0, r.count, 0);
    if !is_root {
        s.temp(1, r.count, 0);
    }
    let whole = |area: Area| area.piece(0, r.count);
    let Some(held) = halving.scatter(s, r.count, units) else {
        if is_root {
            s.recv(whole(r.into), fold.rank_of(fold.member_for(r.root)));
            s.wait(0);
        }
        return;
    };
    let index = fold.member_for(r.me.rank);
    let end = fold.member_for(r.root);
    let mut mine = held.parts;
    let piece = |(from, to): (u32, u32)| {
        let (first, len) = units(from, to);
        held.area.piece(first, len)
    };
    for (distance, both) in held.steps.iter().copied().rev() {
        let partner = fold.rank_of(index ^ distance);
        if index & distance != end & distance {
            s.send(piece(mine), partner);
            return s.wait(0);
        }
        let theirs = if mine.0 == both.0 { (mine.1, both.1) } else { (both.0, mine.0) };
        s.recv(piece(theirs), partner);
        s.wait(0);
        mine = both;
    }
    if is_root {
        s.copy(whole(held.area), whole(r.into));
    } else if index == end {
        s.send(whole(held.area), r.root);
        s.wait(0);
    }
}
