//! The address that a process publishes, and which of its interfaces talks to which of a peer's.
//!
//! Each module (an interface, and one of its links) is a *rail* in the card. Both processes pair the rails of their two cards by
//! the same rule, so that they agree without a word: pairs on one network, and only where there is none pairs that share a family
//! (networks between which there is a router, perhaps); each rail once. A rail that has no partner does not reach the process.
//! An address that both processes have is no way between them unless they are in one place: each machine has the same one at a bridge of its own.
//! That two addresses look as if they were of one network does not prove that they are.
//! A rail's connections go between its pair's addresses, and where that cannot be had between those of the other pairs, and of any two
//! rails that share a family ([`peer_addresses`]).

use crate::hello::VERSION;
use crate::interfaces::same_network;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const MAGIC: u32 = u32::from_le_bytes(*b"oxtc");
/// More addresses of one rail are of no use.
const MOST: usize = 64;
/// More ways to a process are not tried.
const MOST_WAYS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rail {
    /// Where it listens, each with the length of its network's prefix.
    pub addresses: Vec<(SocketAddr, u8)>,
    pub loopback: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Equal in processes for which loopback addresses mean the same.
    pub place: Vec<u8>,
    pub contexts: u16,
    pub rails: Vec<Rail>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCard {
    Version(u16),
    Damaged,
}

impl Card {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_le_bytes().to_vec();
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.contexts.to_le_bytes());
        out.push(self.place.len() as u8);
        out.extend_from_slice(&self.place);
        out.push(self.rails.len() as u8);
        for rail in &self.rails {
            out.push(rail.loopback.into());
            out.push(rail.addresses.len() as u8);
            for (address, prefix) in &rail.addresses {
                let (family, ip) = match address.ip() {
                    IpAddr::V4(ip) => (4, ip.to_ipv6_mapped()),
                    IpAddr::V6(ip) => (6, ip),
                };
                out.extend_from_slice(&[family, *prefix]);
                out.extend_from_slice(&address.port().to_le_bytes());
                out.extend_from_slice(&ip.octets());
            }
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Card, BadCard> {
        let mut rest = bytes;
        let card = Card::read(&mut rest)?;
        if rest.is_empty() { Ok(card) } else { Err(BadCard::Damaged) }
    }

    fn read(rest: &mut &[u8]) -> Result<Card, BadCard> {
        if u32::from_le_bytes(take(rest)?) != MAGIC {
            return Err(BadCard::Damaged);
        }
        let version = u16::from_le_bytes(take(rest)?);
        if version != VERSION {
            return Err(BadCard::Version(version));
        }
        let contexts = u16::from_le_bytes(take(rest)?);
        let [place] = take(rest)?;
        let (place, behind) = rest.split_at_checked(place.into()).ok_or(BadCard::Damaged)?;
        *rest = behind;
        let [count] = take(rest)?;
        let rails = (0..count).map(|_| Rail::read(rest)).collect::<Result<Vec<_>, _>>()?;
        let sane = contexts > 0 && !rails.is_empty();
        if sane { Ok(Card { place: place.to_vec(), contexts, rails }) } else { Err(BadCard::Damaged) }
    }
}

impl Rail {
    fn read(rest: &mut &[u8]) -> Result<Rail, BadCard> {
        let [loopback, count] = take(rest)?;
        let mut addresses = Vec::new();
        for _ in 0..count {
            let [family, prefix] = take(rest)?;
            let port = u16::from_le_bytes(take(rest)?);
            let ip = Ipv6Addr::from(take::<16>(rest)?);
            let ip = match family {
                4 => IpAddr::V4(ip.to_ipv4_mapped().ok_or(BadCard::Damaged)?),
                6 => IpAddr::V6(ip),
                _ => return Err(BadCard::Damaged),
            };
            addresses.push((SocketAddr::new(ip, port), prefix));
        }
        let sane = loopback < 2 && !addresses.is_empty() && addresses.len() <= MOST;
        if sane { Ok(Rail { addresses, loopback: loopback == 1 }) } else { Err(BadCard::Damaged) }
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], BadCard> {
    let (first, rest) = bytes.split_first_chunk::<N>().ok_or(BadCard::Damaged)?;
    *bytes = rest;
    Ok(*first)
}

/// Whether one of two processes may call an address of the other's: it is none of its own, or both are in one place.
fn is_way(ours: &Card, theirs: &Card, x: IpAddr, y: IpAddr) -> bool {
    let has = |card: &Card, ip| card.rails.iter().any(|r| r.addresses.iter().any(|(a, _)| a.ip() == ip));
    x.is_ipv4() == y.is_ipv4() && (ours.place == theirs.place || !has(ours, y) && !has(theirs, x))
}

/// How well rail `i` of ours fits rail `j` of theirs: 0 not at all, 1 they share a family, 2 they are on one network.
fn fit(ours: &Card, i: usize, theirs: &Card, j: usize) -> u8 {
    let (a, b) = (&ours.rails[i], &theirs.rails[j]);
    if a.loopback != b.loopback || (a.loopback && ours.place != theirs.place) {
        return 0;
    }
    let pairs = a.addresses.iter().flat_map(|x| b.addresses.iter().map(move |y| (x, y)));
    let ways = pairs.filter(|((x, _), (y, _))| is_way(ours, theirs, x.ip(), y.ip()));
    let near =
        |((x, p), (y, q)): (&(SocketAddr, u8), &(SocketAddr, u8))| same_network(x.ip(), y.ip(), *p.max(q));
    ways.map(|way| 1 + u8::from(near(way))).max().unwrap_or(0)
}

/// From an address of which of our rails an address is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress {
    pub from: u16,
    pub to: SocketAddr,
}

/// The rail of `theirs` that our rail talks to, and the addresses to call there: its own, best first, then those of the other
/// pairs, then those of all others that share a family. `first`: ours is the process with the lower name. `None`: it reaches none of them.
pub fn peer_addresses(
    ours: &Card,
    rail: usize,
    theirs: &Card,
    first: bool,
) -> Option<(u16, Vec<PeerAddress>)> {
    let (mut pairs, others) = pairs(ours, theirs, first);
    let own = pairs.iter().position(|(i, _)| *i == rail)?;
    pairs[..=own].rotate_right(1);
    let partner = pairs[0].1 as u16;
    let of = |(i, j): (usize, usize)| {
        let from = i as u16;
        order(ours, i, theirs, j).into_iter().map(move |to| PeerAddress { from, to })
    };
    Some((partner, pairs.into_iter().chain(others).flat_map(of).take(MOST_WAYS).collect()))
}

/// Two rails, ours and theirs.
type Pair = (usize, usize);

/// Pairs of rails that talk to each other, best first; and all others that may lead to the process.
fn pairs(ours: &Card, theirs: &Card, first: bool) -> (Vec<Pair>, Vec<Pair>) {
    let mut all = Vec::new();
    for i in 0..ours.rails.len() {
        for j in 0..theirs.rails.len() {
            let fit = fit(ours, i, theirs, j);
            if fit > 0 {
                let (low, high) = if first { (i, j) } else { (j, i) };
                all.push((core::cmp::Reverse(fit), low.abs_diff(high), low, high));
            }
        }
    }
    all.sort_unstable();
    let best = all.first().map(|(fit, ..)| *fit);
    let mut chosen: Vec<Pair> = Vec::new();
    let mut others = Vec::new();
    for (fit, _, low, high) in all {
        let free = chosen.iter().all(|(l, h)| *l != low && *h != high);
        let list = if free && Some(fit) == best { &mut chosen } else { &mut others };
        list.push((low, high));
    }
    let ordered = |list: Vec<Pair>| -> Vec<Pair> {
        list.into_iter().map(|(low, high)| if first { (low, high) } else { (high, low) }).collect()
    };
    (ordered(chosen), ordered(others))
}

/// Addresses of rail `j` of theirs that rail `i` of ours can call: those of its own networks first.
fn order(ours: &Card, i: usize, theirs: &Card, j: usize) -> Vec<SocketAddr> {
    let from = &ours.rails[i].addresses;
    let near =
        |(b, p): &(SocketAddr, u8)| from.iter().any(|(a, q)| same_network(a.ip(), b.ip(), (*p).max(*q)));
    let callable = |b: &SocketAddr| from.iter().any(|(a, _)| is_way(ours, theirs, a.ip(), b.ip()));
    let mut all: Vec<_> = theirs.rails[j].addresses.iter().filter(|(b, _)| callable(b)).collect();
    all.sort_by_key(|b| !near(b));
    all.into_iter().map(|(b, _)| *b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rail(addresses: &[&str]) -> Rail {
        let of = |s: &&str| {
            (s.parse::<SocketAddr>().expect("an address"), if s.starts_with('[') { 64 } else { 24 })
        };
        let addresses: Vec<_> = addresses.iter().map(of).collect();
        let loopback = addresses[0].0.ip().is_loopback();
        Rail { addresses, loopback }
    }

    fn card(place: u8, rails: &[&[&str]]) -> Card {
        Card { place: vec![place; 5], contexts: 3, rails: rails.iter().map(|r| rail(r)).collect() }
    }

    #[test]
    fn cards_survive_the_way() {
        let c = card(1, &[&["10.0.0.1:5", "[fd00::1]:7"], &["127.0.0.1:65535"]]);
        let bytes = c.encode();
        assert_eq!(Card::decode(&bytes), Ok(c));
        for len in 0..bytes.len() {
            assert_eq!(Card::decode(&bytes[..len]), Err(BadCard::Damaged));
        }
        let mut other = bytes;
        other[4] = 77;
        assert_eq!(Card::decode(&other), Err(BadCard::Version(77)));
    }

    proptest! {
        #[test]
        fn any_card_has_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200), whole in any::<bool>()) {
            let mut bytes = bytes;
            if whole && bytes.len() > 6 {
                bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
                bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
            }
            if let Ok(card) = Card::decode(&bytes) {
                prop_assert_eq!(Card::decode(&card.encode()), Ok(card));
            }
        }
    }

    /// The process that we call partner calls us partner.
    fn agree(a: &Card, b: &Card) -> Vec<Option<u16>> {
        let ours: Vec<_> = (0..a.rails.len()).map(|i| peer_addresses(a, i, b, true).map(|p| p.0)).collect();
        for (i, j) in ours.iter().enumerate() {
            if let Some(j) = j {
                assert_eq!(peer_addresses(b, *j as usize, a, false).map(|p| p.0), Some(i as u16));
            }
        }
        let back = (0..b.rails.len()).filter(|&j| peer_addresses(b, j, a, false).is_some()).count();
        assert_eq!(ours.iter().flatten().count(), back);
        ours
    }

    #[test]
    fn rails_of_one_network_talk() {
        let a = card(1, &[&["10.0.1.1:1"], &["10.0.2.1:1"]]);
        let b = card(2, &[&["10.0.2.2:1"], &["10.0.1.2:1"], &["10.0.3.2:1"]]);
        assert_eq!(agree(&a, &b), [Some(1), Some(0)]);
        let far = card(2, &[&["192.168.0.1:1"]]);
        assert_eq!(agree(&a, &far), [Some(0), None]);
        assert_eq!(agree(&a, &card(2, &[&["[fd00::1]:1"]])), [None, None]);
        let links = card(1, &[&["10.0.1.1:1"], &["10.0.1.1:2"]]);
        assert_eq!(agree(&links, &card(2, &[&["10.0.1.7:1"], &["10.0.1.7:2"]])), [Some(0), Some(1)]);
    }

    #[test]
    fn loopback_reaches_its_own_place_only() {
        let a = card(1, &[&["127.0.0.1:1"]]);
        assert_eq!(agree(&a, &card(1, &[&["127.0.0.1:2"]])), [Some(0)]);
        assert_eq!(agree(&a, &card(2, &[&["127.0.0.1:2"]])), [None]);
        assert_eq!(agree(&a, &card(1, &[&["10.0.0.1:2"]])), [None]);
    }

    #[test]
    fn near_addresses_are_called_first() {
        let a = card(1, &[&["[fd00::1]:1", "10.0.1.1:1"]]);
        let b = card(2, &[&["10.9.0.1:1", "[fd01::1]:1", "10.0.1.2:1"]]);
        let (_, at) = peer_addresses(&a, 0, &b, true).expect("reached");
        assert_eq!(at[0].to.to_string(), "10.0.1.2:1");
        assert_eq!(at.len(), 3);
    }

    #[test]
    fn other_pairs_are_ways_too_behind_the_own_one() {
        let a = card(1, &[&["10.0.1.1:1"], &["10.0.2.1:1"], &["10.0.3.1:1"]]);
        let b = card(2, &[&["10.0.3.2:3"], &["10.0.2.2:2"], &["10.0.1.2:1"]]);
        let (partner, at) = peer_addresses(&a, 1, &b, true).expect("reached");
        let told: Vec<_> = at.iter().map(|w| (w.from, w.to.to_string())).collect();
        assert_eq!(partner, 1);
        assert_eq!(told[0], (1, "10.0.2.2:2".to_owned()));
        let mut pairs = told[1..3].to_vec();
        pairs.sort();
        assert_eq!(pairs, [(0, "10.0.1.2:1".to_owned()), (2, "10.0.3.2:3".to_owned())]);
        // A router may know a way between any two.
        assert_eq!(told.len(), 9);
    }

    #[test]
    fn numbers_of_interfaces_may_differ() {
        // A head with one more network, which stands first.
        let head = card(1, &[&["192.0.2.1:1"], &["10.0.1.1:1"], &["10.0.2.1:1"]]);
        assert_eq!(agree(&head, &card(2, &[&["10.0.1.2:1"]])), [None, Some(0), None]);
        assert_eq!(agree(&head, &card(2, &[&["10.0.2.2:1"], &["10.0.1.2:1"]])), [None, Some(1), Some(0)]);
        // Links of an interface, more here than there.
        let links = card(1, &[&["10.0.1.1:1"], &["10.0.1.1:2"], &["10.0.1.1:3"]]);
        assert_eq!(agree(&links, &card(2, &[&["10.0.1.7:1"]])), [Some(0), None, None]);
        // An alias in a network that the other side has, beside a main address that it has not.
        let alias = card(1, &[&["192.0.2.1:1", "10.0.1.1:1"]]);
        assert_eq!(agree(&alias, &card(2, &[&["198.51.100.1:1"], &["10.0.1.2:1"]])), [Some(1)]);
        // One family alone against both.
        let both = card(1, &[&["192.0.2.1:1"], &["10.0.1.1:1", "[fd00::1]:1"]]);
        assert_eq!(agree(&both, &card(2, &[&["[fd00::2]:1"]])), [None, Some(0)]);
    }

    #[test]
    fn an_address_that_both_have_is_no_way() {
        let a = card(1, &[&["172.17.0.1:1"], &["10.0.1.1:1"]]);
        let b = card(2, &[&["172.17.0.1:2"], &["10.0.1.2:1"]]);
        assert_eq!(agree(&a, &b), [None, Some(1)]);
        let (_, at) = peer_addresses(&a, 1, &b, true).expect("reached");
        assert_eq!(at.iter().map(|w| w.to.to_string()).collect::<Vec<_>>(), ["10.0.1.2:1"]);
        assert_eq!(agree(&a, &card(2, &[&["172.17.0.1:2"]])), [None, None]);
        // Processes of one place share all addresses.
        assert_eq!(agree(&a, &a), [Some(0), Some(1)]);
        // It may be a bridge here and a network with others there: that one is another.
        let c = card(3, &[&["172.17.0.2:2"], &["10.9.0.1:1"]]);
        let (partner, at) = peer_addresses(&a, 0, &c, true).expect("it looks as if");
        assert_eq!((partner, at[0].to.to_string()), (0, "172.17.0.2:2".to_owned()));
        assert!(at.contains(&PeerAddress { from: 1, to: "10.9.0.1:1".parse().expect("an address") }));
    }

    fn any_card() -> impl Strategy<Value = Card> {
        let address = (0..5u8, 1..4u8, any::<bool>()).prop_map(|(net, host, v6)| match (v6, net) {
            (true, _) => format!("[fd00:{net}::{host}]:7"),
            (_, 4) => "172.17.0.1:7".to_owned(),
            _ => format!("10.0.{net}.{host}:7"),
        });
        let rails = prop::collection::vec(prop::collection::vec(address, 1..4), 1..5);
        (1..3u8, rails).prop_map(|(place, rails)| {
            let rails: Vec<Vec<&str>> =
                rails.iter().map(|r| r.iter().map(String::as_str).collect()).collect();
            card(place, &rails.iter().map(Vec::as_slice).collect::<Vec<_>>())
        })
    }

    proptest! {
        /// Any two processes, with any networks in any order: both find the same pairs, in one order, somebody is paired where any two
        /// addresses may talk, over a common network where there is one, and every address that is called may be called.
        #[test]
        fn any_two_cards_are_paired_alike(a in any_card(), b in any_card()) {
            agree(&a, &b);
            let (ours, others) = pairs(&a, &b, true);
            let (theirs, _) = pairs(&b, &a, false);
            let turned: Vec<Pair> = theirs.into_iter().map(|(j, i)| (i, j)).collect();
            prop_assert_eq!(&ours, &turned);
            let all = (0..a.rails.len()).flat_map(|i| (0..b.rails.len()).map(move |j| (i, j)));
            let best = all.clone().map(|(i, j)| fit(&a, i, &b, j)).max().unwrap_or(0);
            prop_assert_eq!(ours.is_empty(), best == 0);
            prop_assert!(ours.iter().all(|(i, j)| fit(&a, *i, &b, *j) == best));
            prop_assert_eq!(ours.len() + others.len(), all.filter(|(i, j)| fit(&a, *i, &b, *j) > 0).count());
            for (i, _) in &ours {
                let (_, ways) = peer_addresses(&a, *i, &b, true).expect("paired");
                prop_assert!(!ways.is_empty() && ways[0].from as usize == *i);
                let own = |way: &PeerAddress| {
                    a.rails.iter().any(|r| r.addresses.iter().any(|x| x.0.ip() == way.to.ip()))
                };
                prop_assert!(a.place == b.place || !ways.iter().any(own));
            }
        }
    }
}
