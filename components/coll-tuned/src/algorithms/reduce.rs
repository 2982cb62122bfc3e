//! Reductions to one rank: segments of the operands up a tree, combined on the way.
//!
//! **Order.** Operations that do not commute are combined in the order of ranks. Places below one lie behind it without a gap, or
//! before it in an in-order tree; so such a tree begins at rank 0 (or n - 1), which hands the result on to the root. A binary tree
//! has gaps, and gives way to an in-order one.

use crate::script::{Area, Me, Piece, Script, Segments, given, temp};
use crate::tree::{Node, Shape};

/// A reduction as a rank sees it.
#[derive(Clone, Copy)]
pub struct Reduce {
    pub me: Me,
    pub root: u32,
    /// Units of an operand.
    pub count: u64,
    pub commutes: bool,
    /// This rank's operand lies in `into`.
    pub in_place: bool,
    /// The buffer in which the root gets the result.
    pub into: Area,
}

/// Parts of the pipeline that a segment's memory is kept for: those on their way in and out, and two on which work is done.
const SLOTS: u64 = 4;

impl Reduce {
    /// All units of an operand, or of the result.
    fn all(&self, area: Area) -> Piece {
        area.piece(0, self.count)
    }
}

/// All send to the root, which combines from the last rank to the first.
pub fn linear(s: &mut dyn Script, r: &Reduce) {
    let last = r.me.n - 1;
    if r.me.rank != r.root {
        s.send(r.all(Area::Given), r.root);
        return s.wait(0);
    }
    (0..2).for_each(|slot| s.temp(slot, r.count, 0));
    // In place, the operand must stay until its turn.
    let aside = r.in_place && r.root != last;
    if aside {
        s.temp(2, r.count, 0);
    }
    let sum = r.all(if aside { Area::Temp(2) } else { r.into });
    let slot = |rank: u32| r.all(Area::Temp((rank % 2) as u8));
    if r.root == last {
        s.copy(r.all(Area::Given), sum);
    } else {
        s.recv(sum, last);
    }
    // Those still to come, the next one first; the root's own turn has no message.
    let next = |rank: u32| (0..rank).rev().find(|rank| *rank != r.root);
    if let Some(first) = next(last) {
        s.recv(slot(first), first);
    }
    for rank in (0..last).rev() {
        if rank == r.root {
            s.wait(usize::from(next(rank).is_some()));
            s.combine(r.all(Area::Given), sum);
            continue;
        }
        s.wait(0);
        if let Some(next) = next(rank).filter(|next| slot(*next) != slot(rank)) {
            s.recv(slot(next), next);
            s.combine(slot(rank), sum);
        } else {
            s.combine(slot(rank), sum);
            next(rank).into_iter().for_each(|next| s.recv(slot(next), next));
        }
    }
    s.wait(0);
    if aside {
        s.copy(sum, r.all(r.into));
    }
}

/// Segments of `each` units go up a tree.
pub fn tree(s: &mut dyn Script, r: &Reduce, shape: Shape, each: u64) {
    let (me, n) = (r.me, r.me.n);
    let shape = if !r.commutes && shape == Shape::Binary { Shape::InOrder } else { shape };
    let top = shape.top(n);
    // Where operands may change places, the tree is turned so that its top is the root.
    let turn = if r.commutes { (r.root + n - top) % n } else { 0 };
    let rank_of = |place: u32| ((u64::from(place) + u64::from(turn)) % u64::from(n)) as u32;
    let node = shape.node((me.rank + n - turn) % n, n).map(rank_of);
    let top = rank_of(top);
    if me.rank == top && top != r.root {
        s.temp(2, r.count, 0);
    }
    let sum = if top == r.root { r.into } else { Area::Temp(2) };
    up(s, r, &node, shape, sum, Segments::new(r.count, each));
    s.wait(0);
    if top != r.root {
        if me.rank == top {
            s.send(r.all(sum), r.root);
        } else if me.rank == r.root {
            s.recv(r.all(r.into), top);
        }
        s.wait(0);
    }
}

/// Receives segments from below, combines them, and sends them on; the top puts them into `sum`. Leaves messages under way.
fn up(s: &mut dyn Script, r: &Reduce, node: &Node, shape: Shape, sum: Area, segments: Segments) {
    let below = node.children.len();
    let slots = segments.count.min(SLOTS);
    let ahead = shape == Shape::InOrder && !r.commutes;
    s.temp(0, slots * below as u64 * segments.each, 0);
    if ahead && below > 0 && node.parent.is_some() {
        s.temp(1, slots * segments.each, 0);
    }
    let slot = |child: usize, i: u64| {
        let first = ((i % slots) * below as u64 + child as u64) * segments.each;
        temp(0, first, segments.get(i).1)
    };
    let post = |s: &mut dyn Script, i: u64| {
        (0..below).for_each(|child| s.recv(slot(child, i), node.children[child]));
    };
    if segments.count > 0 {
        post(s, 0);
    }
    for i in 0..segments.count {
        let more = i + 1 < segments.count;
        if more {
            post(s, i + 1);
        }
        let sent = usize::from(i > 0 && node.parent.is_some());
        s.wait(sent + if more { below } else { 0 });
        let (first, len) = segments.get(i);
        let own = given(first, len);
        let place = match node.parent {
            None => sum.piece(first, len),
            Some(_) => temp(1, (i % slots) * segments.each, len),
        };
        let done = if below == 0 && node.parent.is_some() {
            own
        } else if ahead || (r.commutes && node.parent.is_none()) {
            // Operands that come are combined into a copy of ours.
            s.copy(own, place);
            (0..below).rev().for_each(|child| s.combine(slot(child, i), place));
            place
        } else {
            // Ours is combined into what comes.
            let mut done = own;
            for child in 0..below {
                s.combine(done, slot(child, i));
                done = slot(child, i);
            }
            if node.parent.is_none() {
                s.copy(done, place);
            }
            done
        };
        if let Some(parent) = node.parent {
            s.send(done, parent);
        }
    }
}
