//! A block from each rank to each. The data is in `from`: what the rank gives, or a copy of it where it is in place.

use crate::algorithms::pair::exchange;
use crate::script::{Area, Me, Script, result, temp};

/// Everything at once, as far as at most `most` messages are under way; 0: any number.
pub fn linear(s: &mut dyn Script, me: Me, from: Area, most: usize) {
    s.copy(from.piece(me.rank.into(), 1), result(me.rank.into(), 1));
    for step in 1..me.n {
        let (before, behind) = (me.before(step), me.behind(step));
        s.recv(result(before.into(), 1), before);
        s.send(from.piece(behind.into(), 1), behind);
        if most > 0 {
            s.wait(most);
        }
    }
    s.wait(0);
}

/// In step t with the ranks t before and behind.
pub fn pairwise(s: &mut dyn Script, me: Me, from: Area) {
    s.copy(from.piece(me.rank.into(), 1), result(me.rank.into(), 1));
    for step in 1..me.n {
        let (before, behind) = (me.before(step), me.behind(step));
        exchange(s, from.piece(behind.into(), 1), behind, result(before.into(), 1), before);
    }
}

/// The two exchange their blocks.
pub fn two_proc(s: &mut dyn Script, me: Me, from: Area) {
    let other = 1 - me.rank;
    exchange(s, from.piece(other.into(), 1), other, result(other.into(), 1), other);
    s.copy(from.piece(me.rank.into(), 1), result(me.rank.into(), 1));
}

/// Bruck's algorithm to the base `radix`: a block that has i ranks to go takes one step for each digit of i that is not 0, packed with all others
/// that take it.
pub fn bruck(s: &mut dyn Script, me: Me, from: Area, radix: u32) {
    let (n, radix, rank) = (u64::from(me.n), u64::from(radix.max(2)), u64::from(me.rank));
    // Unit i of area 0 has i ranks to go; 1 and 2 have what goes out and comes in.
    (0..3).for_each(|area| s.temp(area, n, 0));
    s.copy(from.piece(rank, n - rank), temp(0, 0, n - rank));
    s.copy(from.piece(0, rank), temp(0, n - rank, rank));
    let mut distance = 1;
    while distance < n {
        let digits = (1..radix).take_while(|digit| digit * distance < n);
        // Stretches of blocks with this digit.
        let stretches = |digit: u64| {
            let starts = (0..).map(move |i| (i * radix + digit) * distance).take_while(move |at| *at < n);
            starts.map(move |at| (at, distance.min(n - at)))
        };
        let mut packed = 0;
        for digit in digits.clone() {
            let begin = packed;
            for (at, len) in stretches(digit) {
                s.copy(temp(0, at, len), temp(1, packed, len));
                packed += len;
            }
            let step = (digit * distance) as u32;
            s.recv(temp(2, begin, packed - begin), me.before(step));
            s.send(temp(1, begin, packed - begin), me.behind(step));
        }
        s.wait(0);
        let mut unpacked = 0;
        for (at, len) in digits.flat_map(stretches) {
            s.copy(temp(2, unpacked, len), temp(0, at, len));
            unpacked += len;
        }
        distance *= radix;
    }
    for i in 0..n {
        s.copy(temp(0, i, 1), result((rank + n - i) % n, 1));
    }
}
