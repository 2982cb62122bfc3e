//! Blocks of all ranks to all. The same functions serve blocks of one length and blocks that differ in length.

use crate::algorithms::pair::exchange;
use crate::script::{Me, Piece, Script, given, result, temp};

/// Block of a rank in the result.
fn block(rank: u32) -> Piece {
    result(rank.into(), 1)
}

/// This rank's block, to where the others are.
fn own(s: &mut dyn Script, me: Me) {
    s.copy(given(0, 1), block(me.rank));
}

/// All send to rank 0, which sends all blocks to each, packed.
pub fn linear(s: &mut dyn Script, me: Me) {
    let n = u64::from(me.n);
    s.temp(0, n, 0);
    if me.rank != 0 {
        s.send(given(0, 1), 0);
        s.recv(temp(0, 0, n), 0);
        s.wait(0);
        return s.copy(temp(0, 0, n), result(0, n));
    }
    own(s, me);
    (1..me.n).for_each(|rank| s.recv(block(rank), rank));
    s.wait(0);
    s.copy(result(0, n), temp(0, 0, n));
    (1..me.n).for_each(|rank| s.send(temp(0, 0, n), rank));
    s.wait(0);
}

/// Bruck's algorithm to the base `radix`: rank r has blocks r, r + 1, … in a packed buffer that grows by that factor in each step.
pub fn bruck(s: &mut dyn Script, me: Me, radix: u32) {
    let (n, radix) = (u64::from(me.n), u64::from(radix.max(2)));
    let turned = u64::from(me.rank);
    s.temp(0, n, turned);
    s.copy(given(0, 1), temp(0, 0, 1));
    let mut distance = 1;
    while distance < n {
        let steps = (1..radix).map(|j| j * distance).take_while(|first| *first < n);
        for first in steps {
            let len = distance.min(n - first);
            s.recv(temp(0, first, len), me.behind(first as u32));
            s.send(temp(0, 0, len), me.before(first as u32));
        }
        s.wait(0);
        distance *= radix;
    }
    s.copy(temp(0, 0, n - turned), result(turned, n - turned));
    s.copy(temp(0, n - turned, turned), result(0, turned));
}

/// Pairs at distance 1, 2, 4, … exchange what they have; for powers of two.
pub fn recursive_doubling(s: &mut dyn Script, me: Me) {
    own(s, me);
    let mut distance = 1;
    while distance < me.n {
        let partner = me.rank ^ distance;
        let group = |rank: u32| result((rank & !(distance - 1)).into(), distance.into());
        exchange(s, group(me.rank), partner, group(partner), partner);
        distance *= 2;
    }
}

/// In step t each sends on what it got last.
pub fn ring(s: &mut dyn Script, me: Me) {
    own(s, me);
    for step in 0..me.n - 1 {
        let (out, into) = (me.before(step), me.before(step + 1));
        exchange(s, block(out), me.behind(1), block(into), me.before(1));
    }
}

/// Pairs of neighbours exchange one block, then two each with the neighbour on the other side in turn; for even numbers of ranks.
pub fn neighbor(s: &mut dyn Script, me: Me) {
    own(s, me);
    let even = me.rank.is_multiple_of(2);
    let sides = if even { [me.behind(1), me.before(1)] } else { [me.before(1), me.behind(1)] };
    exchange(s, block(me.rank), sides[0], block(sides[0]), sides[0]);
    // The pair whose blocks came last, by its even rank; at first our own.
    let mut last = if even { me.rank } else { me.rank - 1 };
    let pair = |even: u32| result(even.into(), 2);
    for step in 1..me.n / 2 {
        let partner = sides[(step % 2) as usize];
        // Even ranks hear from below first, so what comes are pairs further below, then above, in turn; odd ones the other way round.
        let from_below = even == (step % 2 == 1);
        let own_pair = if even { me } else { Me { rank: me.rank - 1, ..me } };
        let distance = 2 * step.div_ceil(2);
        let comes = if from_below { own_pair.before(distance) } else { own_pair.behind(distance) };
        exchange(s, pair(last), partner, pair(comes), partner);
        last = comes;
    }
}

/// The two send their block to each other.
pub fn two_proc(s: &mut dyn Script, me: Me) {
    own(s, me);
    let other = 1 - me.rank;
    exchange(s, block(me.rank), other, block(other), other);
}

/// Steps of distance …, 4, 2, 1 in which each sends all it has to the one behind: at distance d a rank has every 2d-th block before its own, and has
/// every d-th afterwards. Blocks are never moved to other places.
pub fn sparbit(s: &mut dyn Script, me: Me) {
    own(s, me);
    let mut distance = me.n.next_power_of_two() / 2;
    while distance > 0 {
        let (before, behind) = (me.before(distance), Me { rank: me.behind(distance), n: me.n });
        let missing = me.n.div_ceil(distance) - me.n.div_ceil(2 * distance);
        for i in 0..missing {
            s.recv(block(me.before((2 * i + 1) * distance)), before);
            s.send(block(behind.before((2 * i + 1) * distance)), behind.rank);
        }
        s.wait(0);
        distance /= 2;
    }
}

/// All send to all at once.
pub fn direct(s: &mut dyn Script, me: Me) {
    own(s, me);
    for step in 1..me.n {
        s.recv(block(me.before(step)), me.before(step));
        s.send(block(me.rank), me.behind(step));
        s.wait(WINDOW);
    }
    s.wait(0);
}

/// Messages that are under way at once where any number could be.
const WINDOW: usize = 64;
