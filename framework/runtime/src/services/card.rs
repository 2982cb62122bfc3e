//! A process's card for others: number, hardware, resource instances, transports.
//!
//! A [`Card`] is published with the components' addresses. It is asked for at the first contact with a process
//! ([`Instance::card_of`](crate::Instance::card_of), which may wait), never at the start, and kept. Both processes of a pair have both cards, so what they
//! derive from them is alike on both sides ([`pair_with`]): the order of transports, hence the one that carries headers in both
//! directions, and how many contexts of each there are for the two.
//!
//! A process whose components published nothing has no card.

use crate::hardware;
use crate::locks::Mutex;
use oxmpi_btl::BtlHandle;
use oxmpi_mca::services::distance;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Key under which the card is published.
pub(crate) const KEY: &str = "host.process";
/// Raise it with every change of the layout.
pub(crate) const VERSION: u32 = 1;
/// Most bytes of a name, and most modules: more than any process has.
const MOST: usize = 256;

/// The description of a process for others: number, hardware that it is bound to, CRIs and transports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Card {
    pub pid: u32,
    /// Number of the pid namespace; 0: it cannot be seen, and is nobody's.
    pub namespace: u64,
    /// Package, NUMA node, third-level cache and core that the process is bound to, by their lowest processors.
    pub bound: [Option<u32>; 4],
    /// Communication resource instances.
    pub(crate) cris: u32,
    /// Best first.
    pub(crate) modules: Vec<Module>,
}

/// A transport module of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The component's.
    name: String,
    contexts: u32,
    exclusivity: u32,
    latency: u32,
}

/// Why a card cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Version(u32),
    Damaged,
}

/// The rest of a card's bytes, which numbers and names are read out of.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next `n` bytes.
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], Unreadable> {
        let (head, rest) = self.0.split_at_checked(n).ok_or(Unreadable::Damaged)?;
        self.0 = rest;
        Ok(head)
    }
    /// Takes the next number of 32 bits.
    fn u32(&mut self) -> Result<u32, Unreadable> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Unreadable::Damaged)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*head))
    }
    /// Takes the next number, which counts something and must not exceed [`MOST`].
    fn count(&mut self) -> Result<usize, Unreadable> {
        Some(self.u32()? as usize).filter(|n| *n <= MOST).ok_or(Unreadable::Damaged)
    }
}

impl Card {
    /// The bytes of the card, as they are published.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
        put(&VERSION.to_le_bytes());
        put(&self.pid.to_le_bytes());
        put(&self.namespace.to_le_bytes());
        self.bound.iter().for_each(|place| put(&place.unwrap_or(u32::MAX).to_le_bytes()));
        put(&self.cris.to_le_bytes());
        let modules = &self.modules[..self.modules.len().min(MOST)];
        put(&(modules.len() as u32).to_le_bytes());
        for m in modules {
            [m.contexts, m.exclusivity, m.latency, m.name.len() as u32]
                .iter()
                .for_each(|n| put(&n.to_le_bytes()));
            put(m.name.as_bytes());
        }
        out
    }

    /// Reads a card out of published bytes, none of which may be left over.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Card, Unreadable> {
        let mut r = Reader(bytes);
        match r.u32()? {
            VERSION => {}
            other => return Err(Unreadable::Version(other)),
        }
        let pid = r.u32()?;
        let namespace = u64::from(r.u32()?) | u64::from(r.u32()?) << 32;
        let mut bound = [None; 4];
        for place in &mut bound {
            *place = Some(r.u32()?).filter(|n| *n != u32::MAX);
        }
        let cris = r.u32()?;
        let modules = (0..r.count()?).map(|_| Module::decode(&mut r)).collect::<Result<_, _>>()?;
        match r.0.is_empty() && cris > 0 {
            true => Ok(Card { pid, namespace, bound, cris, modules }),
            false => Err(Unreadable::Damaged),
        }
    }
}

/// Hardware that processes of a node share, which are bound to `here` and `there`: bits of [`distance`].
pub(crate) fn shared(here: &[Option<u32>; 4], there: &[Option<u32>; 4]) -> u32 {
    let bits = [distance::SAME_SOCKET, distance::SAME_NUMA, distance::SAME_CACHE, distance::SAME_CORE];
    let both = here.iter().zip(there).zip(bits);
    both.filter(|((a, b), _)| a.is_some() && a == b).fold(0, |all, (_, bit)| all | bit)
}

impl Module {
    /// Describes an open transport for the card: name, number of contexts, exclusivity and latency. The card has no
    /// addresses: components publish theirs beside it.
    pub(crate) fn of(btl: &BtlHandle) -> Module {
        let a = btl.attrs();
        Module {
            name: btl.name().to_owned(),
            contexts: a.contexts,
            exclusivity: a.exclusivity,
            latency: a.latency,
        }
    }

    /// Reads the description of a transport out of a card.
    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<Module, Unreadable> {
        let (contexts, exclusivity, latency) = (r.u32()?, r.u32()?, r.u32()?);
        let len = r.count()?;
        let name = std::str::from_utf8(r.bytes(len)?).map_err(|_| Unreadable::Damaged)?.to_owned();
        Ok(Module { name, contexts, exclusivity, latency })
    }

    /// The index of module `at` of `all` among those of the same name.
    pub(crate) fn nth(all: &[Module], at: usize) -> usize {
        all[..at].iter().filter(|m| m.name == all[at].name).count()
    }
}

/// A transport of this process as a pair of processes has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paired {
    /// Position among this process's modules.
    pub module: usize,
    /// Contexts of it that both have, and CRIs for them.
    pub width: u32,
    pub exclusivity: u32,
}

/// The transports that both processes have, best first, in an order that is the same on both sides: by the lower exclusivity of the
/// two, the higher latency, the places in both lists, the name.
pub(crate) fn pair_with(own: &Card, other: &Card) -> Vec<Paired> {
    let mut all = Vec::new();
    for (at, m) in own.modules.iter().enumerate() {
        let nth = Module::nth(&own.modules, at);
        let theirs = other.modules.iter().enumerate().filter(|(_, t)| t.name == m.name).nth(nth);
        let Some((position, t)) = theirs else { continue };
        let exclusivity = m.exclusivity.min(t.exclusivity);
        let width = own.cris.min(other.cris).min(m.contexts).min(t.contexts).max(1);
        let key = (Reverse(exclusivity), m.latency.max(t.latency), at + position, &m.name, nth);
        all.push((key, Paired { module: at, width, exclusivity }));
    }
    all.sort_by_key(|(key, _)| *key);
    all.into_iter().map(|(_, paired)| paired).collect()
}

/// The card of this process, and those of processes that it has had to do with.
#[derive(Default)]
pub(crate) struct Cards {
    pub(crate) own: OnceLock<Arc<Card>>,
    /// As in the card, which components that open cannot wait for.
    pub(crate) bound: OnceLock<[Option<u32>; 4]>,
    /// Hardware that all processes of this node share, wherever they are bound: bits of [`distance`].
    pub(crate) node: OnceLock<u32>,
    /// A leaf.
    pub(crate) known: Mutex<HashMap<u32, Arc<Card>>>,
}

impl Cards {
    /// The hardware that this process is bound to; found out at the first call.
    pub(crate) fn bound(&self) -> [Option<u32>; 4] {
        *self.bound.get_or_init(hardware::binding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, contexts: u32, exclusivity: u32, latency: u32) -> Module {
        Module { name: name.into(), contexts, exclusivity, latency }
    }

    fn card(cris: u32, modules: &[Module]) -> Card {
        Card { cris, modules: modules.to_vec(), pid: 7, namespace: 1 << 40, ..Card::default() }
    }

    #[test]
    fn cards_survive_the_way_and_damage_is_seen() {
        let mut own = card(3, &[module("shm", 4, 1024, 1), module("", 1, 0, u32::MAX)]);
        own.bound = [Some(0), None, Some(8), None];
        let bytes = own.encode();
        assert_eq!(Card::decode(&bytes), Ok(own));
        for len in 0..bytes.len() {
            assert_eq!(Card::decode(&bytes[..len]), Err(Unreadable::Damaged), "{len} bytes");
        }
        assert_eq!(Card::decode(&[&bytes[..], &[0]].concat()), Err(Unreadable::Damaged));
        let mut newer = bytes.clone();
        newer[0] += 1;
        assert_eq!(Card::decode(&newer), Err(Unreadable::Version(VERSION + 1)));
        let mut many = bytes;
        many[36..40].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Card::decode(&many), Err(Unreadable::Damaged));
    }

    #[test]
    fn both_sides_of_a_pair_choose_alike() {
        let here = card(8, &[module("shm", 8, 1024, 1), module("tcp", 2, 100, 9), module("tcp", 4, 100, 9)]);
        // It prefers tcp, has fewer of everything, and something that we lack.
        let there = card(
            5,
            &[
                module("own", 9, 4000, 0),
                module("tcp", 3, 2000, 1),
                module("tcp", 3, 100, 1),
                module("shm", 1, 900, 5),
            ],
        );
        let names = |from: &Card, to: &Card| -> Vec<(String, u32, u32)> {
            let name = |p: Paired| (from.modules[p.module].name.clone(), p.width, p.exclusivity);
            pair_with(from, to).into_iter().map(name).collect()
        };
        let due = [("shm".into(), 1, 900), ("tcp".into(), 2, 100), ("tcp".into(), 3, 100)];
        assert_eq!(names(&here, &there), due);
        assert_eq!(names(&there, &here), due);
        assert!(pair_with(&here, &card(5, &[module("own", 9, 4000, 0)])).is_empty());
        // Among equals the order of the lists counts, and then the name.
        let (a, b) = (module("a", 1, 7, 7), module("b", 1, 7, 7));
        let [ab, ba] = [card(1, &[a.clone(), b.clone()]), card(1, &[b, a])];
        let first = |from: &Card, to: &Card| names(from, to)[0].0.clone();
        assert_eq!((first(&ba, &ba), first(&ab, &ab)), ("b".into(), "a".into()));
        assert_eq!((first(&ab, &ba), first(&ba, &ab)), ("a".into(), "a".into()));
    }

    #[test]
    fn what_two_processes_are_bound_to_is_shared() {
        let here = [Some(0), Some(0), None, Some(2)];
        let there = [Some(0), Some(8), None, Some(2)];
        assert_eq!(shared(&here, &there), distance::SAME_SOCKET | distance::SAME_CORE);
        assert_eq!(shared(&here, &[None; 4]), 0, "not known");
    }
}
