//! Which of our ports talks to which of a peer's.
//!
//! Both processes pair the ports of their two cards by the same rule and so agree without a word: each port once, of one kind of
//! network, those of one subnet first, then by number. Ports of different subnets talk only where no two of the processes share one: between
//! subnets there may be no router. How long the network part of an IPv4 address is a port does not say; two of which the first three
//! numbers differ are taken for strangers, and may be of one network all the same.

use crate::wire::{Card, Place};
use core::cmp::Reverse;

/// Bytes of a GID that name its subnet, or of the prefix that says that an IPv4 address follows.
const SUBNET: usize = 8;
const IPV4: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// How well two ports fit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Strangers,
    /// Of one network, perhaps.
    Unsure,
    OneSubnet,
}

/// `None`: their networks are of different kinds.
fn fit(a: &Place, b: &Place) -> Option<Fit> {
    let is_ipv4 = |p: &Place| p.ethernet && p.gid.starts_with(&IPV4);
    let same = |bytes: usize| a.gid[..bytes] == b.gid[..bytes];
    match (is_ipv4(a), is_ipv4(b)) {
        _ if a.ethernet != b.ethernet => None,
        (true, true) => Some(if same(IPV4.len() + 3) { Fit::OneSubnet } else { Fit::Unsure }),
        (false, false) if same(SUBNET) => Some(Fit::OneSubnet),
        _ => Some(Fit::Strangers),
    }
}

/// The port of `theirs` that port `number` of ours talks to. `first`: ours is the process with the lower name. `None`: it reaches none of
/// them.
pub fn partner(ours: &Card, number: usize, theirs: &Card, first: bool) -> Option<usize> {
    let mut all = Vec::new();
    for (i, a) in ours.places.iter().enumerate() {
        for (j, b) in theirs.places.iter().enumerate() {
            if let Some(fit) = fit(a, b) {
                let (low, high) = if first { (i, j) } else { (j, i) };
                all.push((Reverse(fit), low.abs_diff(high), low, high));
            }
        }
    }
    all.sort_unstable();
    let share = all.first().is_some_and(|(fit, ..)| fit.0 > Fit::Strangers);
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (fit, _, low, high) in all {
        let free = chosen.iter().all(|(l, h)| *l != low && *h != high);
        if free && (fit.0 > Fit::Strangers || !share) {
            chosen.push((low, high));
        }
    }
    let mine = |(low, high): (usize, usize)| if first { (low, high) } else { (high, low) };
    chosen.into_iter().map(mine).find(|(i, _)| *i == number).map(|(_, j)| j)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// InfiniBand of a subnet, Ethernet with IPv4 or with IPv6.
    fn card(ports: &[(u8, u8)]) -> Card {
        let place = |&(kind, net): &(u8, u8)| {
            let mut gid = [0; 16];
            match kind {
                1 => (gid[..12].copy_from_slice(&IPV4), gid[14] = net).1,
                _ => gid[7] = net,
            }
            gid[15] = 9;
            Place {
                ethernet: kind > 0,
                mtu: 3,
                rd_atomic: 1,
                lid: 1,
                gid,
                qp: 1,
                key: 1,
                lanes: 1,
                contexts: 1,
            }
        };
        Card { places: ports.iter().map(place).collect() }
    }

    fn agree(a: &Card, b: &Card) -> Vec<Option<usize>> {
        let ours: Vec<_> = (0..a.places.len()).map(|i| partner(a, i, b, true)).collect();
        for (j, back) in (0..b.places.len()).map(|j| (j, partner(b, j, a, false))) {
            assert_eq!(back, ours.iter().position(|found| *found == Some(j)));
        }
        ours
    }

    #[test]
    fn ports_of_one_subnet_talk() {
        let two = card(&[(0, 1), (0, 2)]);
        assert_eq!(agree(&two, &two), [Some(0), Some(1)]);
        assert_eq!(agree(&two, &card(&[(0, 2), (0, 1)])), [Some(1), Some(0)]);
        assert_eq!(agree(&two, &card(&[(0, 2)])), [None, Some(0)]);
        assert_eq!(agree(&two, &card(&[(0, 2), (0, 3)])), [None, Some(0)], "no router is known");
        assert_eq!(agree(&two, &card(&[(0, 3), (0, 4)])), [Some(0), Some(1)], "there may be one");
        // A port of Ethernet stands first at one of the two.
        assert_eq!(agree(&card(&[(1, 1), (0, 1)]), &card(&[(0, 1)])), [None, Some(0)]);
        assert_eq!(agree(&card(&[(1, 1)]), &card(&[(0, 1)])), [None]);
        // Of one large network of IPv4, and of one beside it.
        assert_eq!(agree(&card(&[(1, 1), (1, 2)]), &card(&[(1, 3), (1, 1)])), [Some(1), Some(0)]);
    }

    proptest! {
        #[test]
        fn any_two_cards_are_paired_alike(
            a in prop::collection::vec((0..3u8, 0..3u8), 1..6),
            b in prop::collection::vec((0..3u8, 0..3u8), 1..6),
        ) {
            let (a, b) = (card(&a), card(&b));
            let found = agree(&a, &b);
            let common = a.places.iter().any(|x| b.places.iter().any(|y| fit(x, y).is_some()));
            prop_assert_eq!(found.iter().any(Option::is_some), common);
        }
    }
}
