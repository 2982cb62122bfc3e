//! Prefix reductions, in the order of ranks.

use crate::algorithms::pair::exchange;
use crate::script::{Me, Script, given, result, temp};

/// A scan as a rank sees it.
#[derive(Clone, Copy)]
pub struct Scan {
    pub me: Me,
    /// Units of an operand.
    pub count: u64,
    /// Without the rank's own operand; rank 0 has no result.
    pub exclusive: bool,
}

/// Each rank gets the sum of those before from the rank before it.
pub fn linear(s: &mut dyn Script, scan: &Scan) {
    let (Me { rank, n }, count) = (scan.me, scan.count);
    let (own, whole, spare) = (given(0, count), result(0, count), temp(0, 0, count));
    let last = rank + 1 == n;
    if rank == 0 {
        if !last {
            s.send(own, 1);
        }
        if !scan.exclusive {
            s.copy(own, whole);
        }
        return s.wait(0);
    }
    s.temp(0, count, 0);
    if scan.exclusive {
        if !last {
            s.copy(own, spare);
        }
        s.recv(whole, rank - 1);
        s.wait(0);
        if !last {
            s.combine(whole, spare);
            s.send(spare, rank + 1);
        }
    } else {
        s.recv(spare, rank - 1);
        s.copy(own, whole);
        s.wait(0);
        s.combine(spare, whole);
        if !last {
            s.send(whole, rank + 1);
        }
    }
    s.wait(0);
}

/// Pairs at distance 1, 2, 4, … exchange the sum of the ranks that they have spoken with; what comes from before goes into the result, too.
pub fn recursive_doubling(s: &mut dyn Script, scan: &Scan) {
    let (Me { rank, n }, count) = (scan.me, scan.count);
    let (own, whole) = (given(0, count), result(0, count));
    (0..2).for_each(|area| s.temp(area, count, 0));
    let (mut sum, mut spare) = (temp(0, 0, count), temp(1, 0, count));
    s.copy(own, sum);
    if !scan.exclusive {
        s.copy(own, whole);
    }
    // Whether the result has a part already.
    let mut begun = !scan.exclusive;
    let mut distance = 1;
    while distance < n {
        let partner = rank ^ distance;
        if partner < n {
            exchange(s, sum, partner, spare, partner);
            if partner > rank {
                s.combine(sum, spare);
                core::mem::swap(&mut sum, &mut spare);
            } else {
                if begun {
                    s.combine(spare, whole);
                } else {
                    s.copy(spare, whole);
                }
                begun = true;
                s.combine(spare, sum);
            }
        }
        distance *= 2;
    }
}
