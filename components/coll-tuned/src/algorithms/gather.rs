//! Blocks of all ranks to one, and of one to all.

use crate::script::{Me, Piece, Script, given, result, temp};
use crate::tree::{binomial_width, knomial};

/// Messages that are under way at once where any number could be.
const WINDOW: usize = 64;

/// Blocks of places `place..place + width`, from the root on, in the order of ranks: one piece, or two where they go over the end.
fn blocks(me: Me, root: u32, place: u32, width: u32) -> [(u64, u64, u64); 2] {
    let n = u64::from(me.n);
    let (place, width) = (u64::from(place), u64::from(width));
    let first = (place + u64::from(root)) % n;
    let until_end = width.min(n - first);
    [(place, first, until_end), (place + until_end, 0, width - until_end)]
}

/// The binomial tree of a rank, and its place in there.
fn place(me: Me, root: u32) -> (u32, impl Fn(u32) -> u32) {
    let rank_of = move |place: u32| ((u64::from(place) + u64::from(root)) % u64::from(me.n)) as u32;
    ((me.rank + me.n - root) % me.n, rank_of)
}

/// All send to the root.
pub fn gather_linear(s: &mut dyn Script, me: Me, root: u32) {
    if me.rank != root {
        s.send(given(0, 1), root);
        return s.wait(0);
    }
    s.copy(given(0, 1), result(root.into(), 1));
    for rank in (0..me.n).filter(|rank| *rank != root) {
        s.recv(result(rank.into(), 1), rank);
        s.wait(WINDOW);
    }
    s.wait(0);
}

/// The root asks for each block, so few come that nobody waits for; two are under way.
pub fn gather_linear_sync(s: &mut dyn Script, me: Me, root: u32) {
    if me.rank != root {
        s.await_signal(root);
        s.wait(0);
        s.send(given(0, 1), root);
        return s.wait(0);
    }
    s.copy(given(0, 1), result(root.into(), 1));
    for rank in (0..me.n).filter(|rank| *rank != root) {
        s.recv(result(rank.into(), 1), rank);
        s.signal(rank);
        s.wait(2);
    }
    s.wait(0);
}

/// Packed blocks go up a binomial tree.
pub fn gather_binomial(s: &mut dyn Script, me: Me, root: u32) {
    let (place, rank_of) = place(me, root);
    let node = knomial(place, me.n, 2);
    let width = binomial_width(place, me.n);
    let Some(parent) = node.parent else {
        return gather_at_root(s, me, &node.children);
    };
    if width == 1 {
        s.send(given(0, 1), rank_of(parent));
        return s.wait(0);
    }
    s.temp(0, width.into(), 0);
    s.copy(given(0, 1), temp(0, 0, 1));
    for child in node.children {
        let blocks = temp(0, (child - place).into(), binomial_width(child, me.n).into());
        s.recv(blocks, rank_of(child));
    }
    s.wait(0);
    s.send(temp(0, 0, width.into()), rank_of(parent));
    s.wait(0);
}

/// Blocks come to their places, but those that go over the end, which are packed.
fn gather_at_root(s: &mut dyn Script, me: Me, children: &[u32]) {
    let root = me.rank;
    let parts = |child: u32| blocks(me, root, child, binomial_width(child, me.n));
    if children.iter().any(|child| parts(*child)[1].2 > 0) {
        s.temp(0, me.n.into(), 0);
    }
    for child in children {
        let [(_, first, len), (.., over)] = parts(*child);
        let place: Piece = match over {
            0 => result(first, len),
            _ => temp(0, u64::from(*child), len + over),
        };
        s.recv(place, me.behind(*child));
    }
    s.copy(given(0, 1), result(root.into(), 1));
    s.wait(0);
    for child in children.iter().filter(|child| parts(**child)[1].2 > 0) {
        for (from, first, len) in parts(*child) {
            s.copy(temp(0, from, len), result(first, len));
        }
    }
}

/// The root sends to each; at most `most` messages are under way, any number if it is 0.
pub fn scatter_linear(s: &mut dyn Script, me: Me, root: u32, most: usize) {
    if me.rank != root {
        s.recv(result(0, 1), root);
        return s.wait(0);
    }
    for rank in (0..me.n).filter(|rank| *rank != root) {
        s.send(given(rank.into(), 1), rank);
        if most > 0 {
            s.wait(most - 1);
        }
    }
    s.copy(given(root.into(), 1), result(0, 1));
    s.wait(0);
}

/// Packed blocks go down a binomial tree.
pub fn scatter_binomial(s: &mut dyn Script, me: Me, root: u32) {
    let (place, rank_of) = place(me, root);
    let node = knomial(place, me.n, 2);
    let width = binomial_width(place, me.n);
    let Some(parent) = node.parent else {
        return scatter_at_root(s, me, &node.children);
    };
    if width == 1 {
        s.recv(result(0, 1), rank_of(parent));
        return s.wait(0);
    }
    s.temp(0, width.into(), 0);
    s.recv(temp(0, 0, width.into()), rank_of(parent));
    s.wait(0);
    for child in node.children.into_iter().rev() {
        let blocks = temp(0, (child - place).into(), binomial_width(child, me.n).into());
        s.send(blocks, rank_of(child));
    }
    s.copy(temp(0, 0, 1), result(0, 1));
    s.wait(0);
}

/// Blocks go from their places, but those that go over the end, which are packed.
fn scatter_at_root(s: &mut dyn Script, me: Me, children: &[u32]) {
    let root = me.rank;
    let parts = |child: u32| blocks(me, root, child, binomial_width(child, me.n));
    if children.iter().any(|child| parts(*child)[1].2 > 0) {
        s.temp(0, me.n.into(), 0);
    }
    for child in children.iter().rev() {
        let [(_, first, len), (.., over)] = parts(*child);
        if over == 0 {
            s.send(given(first, len), me.behind(*child));
            continue;
        }
        for (from, first, len) in parts(*child) {
            s.copy(given(first, len), temp(0, from, len));
        }
        s.send(temp(0, u64::from(*child), len + over), me.behind(*child));
    }
    s.copy(given(root.into(), 1), result(0, 1));
    s.wait(0);
}
