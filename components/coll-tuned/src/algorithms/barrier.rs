//! Barriers: nobody is let out before all are in.

use crate::script::{Me, Script};
use crate::tree::knomial;

/// All tell rank 0, which tells all.
pub fn linear(s: &mut dyn Script, me: Me) {
    if me.rank != 0 {
        s.signal(0);
        s.await_signal(0);
        return s.wait(0);
    }
    (1..me.n).for_each(|rank| s.await_signal(rank));
    s.wait(0);
    (1..me.n).for_each(|rank| s.signal(rank));
    s.wait(0);
}

/// A word goes round twice: once that all are in, once that all may go.
pub fn double_ring(s: &mut dyn Script, me: Me) {
    let (before, behind) = (me.before(1), me.behind(1));
    for _ in 0..2 {
        if me.rank > 0 {
            s.await_signal(before);
            s.wait(0);
        }
        s.signal(behind);
        if me.rank == 0 {
            s.await_signal(before);
        }
        s.wait(0);
    }
}

/// Pairs at distance 1, 2, 4, …; ranks beyond the largest power of two tell one inside first, and are told at the end.
pub fn recursive_doubling(s: &mut dyn Script, me: Me) {
    let members = 1 << me.n.ilog2();
    if me.rank >= members {
        s.await_signal(me.rank - members);
        s.signal(me.rank - members);
        return s.wait(0);
    }
    let outside = me.rank + members;
    if outside < me.n {
        s.await_signal(outside);
        s.wait(0);
    }
    let mut distance = 1;
    while distance < members {
        let partner = me.rank ^ distance;
        s.await_signal(partner);
        s.signal(partner);
        s.wait(0);
        distance *= 2;
    }
    if outside < me.n {
        s.signal(outside);
        s.wait(0);
    }
}

/// In step k everyone tells the one 2^k behind.
pub fn bruck(s: &mut dyn Script, me: Me) {
    let mut distance = 1;
    while distance < me.n {
        s.await_signal(me.before(distance));
        s.signal(me.behind(distance));
        s.wait(0);
        distance *= 2;
    }
}

/// The two tell each other.
pub fn two_proc(s: &mut dyn Script, me: Me) {
    let other = 1 - me.rank;
    s.await_signal(other);
    s.signal(other);
    s.wait(0);
}

/// Up a binomial tree to rank 0 and down again.
pub fn tree(s: &mut dyn Script, me: Me) {
    let node = knomial(me.rank, me.n, 2);
    node.children.iter().for_each(|child| s.await_signal(*child));
    s.wait(0);
    if let Some(parent) = node.parent {
        s.await_signal(parent);
        s.signal(parent);
        s.wait(0);
    }
    node.children.iter().rev().for_each(|child| s.signal(*child));
    s.wait(0);
}
