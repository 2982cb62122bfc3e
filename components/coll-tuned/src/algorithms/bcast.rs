//! Broadcasts: a message or segments of it down a tree; or parts to all ranks, which exchange them.

use crate::algorithms::pair::exchange;
use crate::script::{Me, Piece, Script, Segments, result, temp};
use crate::tree::{Node, Shape, binomial_width, knomial};

/// A broadcast as a rank sees it.
#[derive(Clone, Copy)]
pub struct Bcast {
    pub me: Me,
    pub root: u32,
    /// Units of data.
    pub total: u64,
    /// Parts of the user's buffer cannot be sent as they lie there, so a packed copy is used.
    pub staged: bool,
}

impl Bcast {
    /// The place of this rank, from the root on.
    fn place(&self) -> u32 {
        (self.me.rank + self.me.n - self.root) % self.me.n
    }

    fn rank(&self, place: u32) -> u32 {
        ((u64::from(place) + u64::from(self.root)) % u64::from(self.me.n)) as u32
    }

    /// Units as they are sent and received.
    fn piece(&self, first: u64, len: u64) -> Piece {
        if self.staged { temp(0, first, len) } else { result(first, len) }
    }

    fn begin(&self, s: &mut dyn Script) {
        if self.staged {
            s.temp(0, self.total, 0);
        }
    }

    /// In the root, before units are sent.
    fn fetch(&self, s: &mut dyn Script, (first, len): (u64, u64)) {
        if self.staged {
            s.copy(result(first, len), temp(0, first, len));
        }
    }

    /// In the other ranks, when units have come.
    fn put(&self, s: &mut dyn Script, (first, len): (u64, u64)) {
        if self.staged {
            s.copy(temp(0, first, len), result(first, len));
        }
    }
}

/// The root sends to each.
pub fn linear(s: &mut dyn Script, b: &Bcast) {
    let (me, root) = (b.me, b.root);
    if me.rank == root {
        (0..me.n).filter(|rank| *rank != root).for_each(|rank| s.send(result(0, b.total), rank));
    } else {
        s.recv(result(0, b.total), root);
    }
    s.wait(0);
}

/// Segments of `each` units go down a tree, the next one received while one is sent on.
pub fn tree(s: &mut dyn Script, b: &Bcast, shape: Shape, each: u64) {
    b.begin(s);
    let node = shape.node(b.place(), b.me.n).map(|place| b.rank(place));
    down(s, b, &node, 0, Segments::new(b.total, each));
    s.wait(0);
}

/// Units from `base` on go down a tree in segments. Leaves messages under way.
fn down(s: &mut dyn Script, b: &Bcast, node: &Node, base: u64, segments: Segments) {
    let segment = |i: u64| {
        let (first, len) = segments.get(i);
        (base + first, len)
    };
    let below = node.children.len();
    if let Some(parent) = node.parent
        && segments.count > 0
    {
        let (first, len) = segment(0);
        s.recv(b.piece(first, len), parent);
    }
    for i in 0..segments.count {
        let (first, len) = segment(i);
        match node.parent {
            None => b.fetch(s, (first, len)),
            Some(parent) => {
                let more = i + 1 < segments.count;
                if more {
                    let (first, len) = segment(i + 1);
                    s.recv(b.piece(first, len), parent);
                }
                s.wait(usize::from(more) + if i > 0 { below } else { 0 });
            }
        }
        // The largest part of the tree first.
        node.children.iter().rev().for_each(|child| s.send(b.piece(first, len), *child));
        match node.parent {
            None => s.wait(2 * below),
            Some(_) => b.put(s, (first, len)),
        }
    }
}

/// The first half of the data goes down one binary tree, of the ranks at odd places, the second down one of those at even places; then
/// pairs of the two exchange halves. A rank without a partner gets the second half from the root.
pub fn split_binary(s: &mut dyn Script, b: &Bcast, each: u64) {
    b.begin(s);
    let (n, place) = (b.me.n, b.place());
    let half = b.total.div_ceil(2);
    let halves = [(0, half), (half, b.total - half)];
    let alone = n.is_multiple_of(2).then(|| b.rank(n - 1));
    if place == 0 {
        let cut = halves.map(|(base, len)| (base, Segments::new(len, each)));
        for i in 0..cut[0].1.count {
            for (side, (base, segments)) in (1..n.min(3)).zip(cut) {
                let (first, len) = segments.get(i);
                b.fetch(s, (base + first, len));
                s.send(b.piece(base + first, len), b.rank(side));
            }
            s.wait(4);
        }
        if let Some(alone) = alone {
            b.fetch(s, halves[1]);
            s.send(b.piece(halves[1].0, halves[1].1), alone);
        }
        return s.wait(0);
    }
    // Trees of their own: place 2j + 1 is the j-th of one, 2j + 2 that of the other.
    let (side, j) = ((place - 1) % 2, (place - 1) / 2);
    let members = (n - 1 - side).div_ceil(2);
    let mut node = Shape::Binary.node(j, members).map(|j| b.rank(2 * j + 1 + side));
    node.parent = node.parent.or(Some(b.root));
    let (mine, other) = (halves[side as usize], halves[1 - side as usize]);
    down(s, b, &node, mine.0, Segments::new(mine.1, each));
    s.wait(0);
    let missing = b.piece(other.0, other.1);
    if alone == Some(b.me.rank) {
        s.recv(missing, b.root);
        s.wait(0);
    } else {
        let partner = b.rank(if side == 0 { place + 1 } else { place - 1 });
        exchange(s, b.piece(mine.0, mine.1), partner, missing, partner);
    }
    b.put(s, other);
}

/// Each place gets its part down a binomial tree; then all get all parts, by doubling where n is a power of two and `ring` is not set, else round
/// a ring. Parts that a place has of its tree are not sent to it again.
pub fn scatter_allgather(s: &mut dyn Script, b: &Bcast, ring: bool) {
    b.begin(s);
    let (n, place) = (b.me.n, b.place());
    let each = b.total.div_ceil(u64::from(n)).max(1);
    // Places from..to of the data.
    let part = |from: u32, to: u32| {
        let [first, end] = [from, to].map(|p| (u64::from(p) * each).min(b.total));
        b.piece(first, end - first)
    };
    let node = knomial(place, n, 2);
    match node.parent {
        None => b.fetch(s, (0, b.total)),
        Some(parent) => {
            s.recv(part(place, place + binomial_width(place, n)), b.rank(parent));
            s.wait(0);
        }
    }
    for child in node.children.iter().rev() {
        s.send(part(*child, child + binomial_width(*child, n)), b.rank(*child));
    }
    s.wait(0);
    if ring || !n.is_power_of_two() {
        let has = |place: u32, block: u32| block >= place && block - place < binomial_width(place, n);
        let (before, behind) = ((place + n - 1) % n, (place + 1) % n);
        for step in 0..n - 1 {
            let (out, into) = ((place + n - step) % n, (before + n - step) % n);
            if !has(place, into) {
                s.recv(part(into, into + 1), b.rank(before));
            }
            if !has(behind, out) {
                s.send(part(out, out + 1), b.rank(behind));
            }
            s.wait(0);
        }
    } else {
        let mut distance = 1;
        while distance < n {
            let partner = place ^ distance;
            let group = |place: u32| {
                let first = place & !(distance - 1);
                part(first, first + distance)
            };
            if distance >= binomial_width(place, n) {
                s.recv(group(partner), b.rank(partner));
            }
            if distance >= binomial_width(partner, n) {
                s.send(group(place), b.rank(partner));
            }
            s.wait(0);
            distance *= 2;
        }
    }
    if place != 0 {
        b.put(s, (0, b.total));
    }
}
