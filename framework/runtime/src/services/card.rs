//! A process's card for others: number, hardware, resource instances, transports.
//!
//! A [`Card`] is published with the components' addresses. It is asked for at the first contact with a process
//! ([`Instance::card_of`](crate::Instance::card_of), which may wait), never at the start, and kept. Both processes of a pair have both cards, so what they
//! derive from them is alike on both sides ([`choose`]): the order of transports, hence the one that carries headers in both
//! directions, and how many contexts of each there are for the two.
//!
//! A process whose components published nothing has no card.

use oxmpi_btl::BtlHandle;
use oxmpi_mca::services::distance;
use oxmpi_system::locks::Mutex;
use oxmpi_wireup::hardware;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Key under which the card is published.
pub(crate) const KEY: &str = "host.process";
/// Raise it with every change of the layout, and of what is derived from two cards ([`choose`]).
pub(crate) const VERSION: u32 = 2;
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

/// A transport of this process that may reach the other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Position among this process's modules.
    pub module: usize,
    /// The exclusivity that a pair of it can have at most.
    most: u32,
}

/// Outcome of asking the candidates for endpoints ([`choose`]).
pub(crate) struct Choice<E> {
    /// The transports that both have and that reach, best first.
    pub pairs: Vec<(Paired, E)>,
    /// Endpoints that are not needed.
    pub spare: Vec<E>,
}

/// This process's transports that may reach the other one, best first. `names_partner`: the module at that position tells itself
/// which of the other's it talks to, so it needs any of the name; others need the one of their number.
pub(crate) fn candidates(own: &Card, other: &Card, names_partner: impl Fn(usize) -> bool) -> Vec<Candidate> {
    let of = |(module, m): (usize, &Module)| {
        let mut theirs = other.modules.iter().filter(|t| t.name == m.name).map(|t| t.exclusivity);
        let most = match names_partner(module) {
            true => theirs.max(),
            false => theirs.nth(Module::nth(&own.modules, module)),
        };
        most.map(|most| Candidate { module, most: most.min(m.exclusivity) })
    };
    let mut all: Vec<_> = own.modules.iter().enumerate().filter_map(of).collect();
    all.sort_by_key(|c| Reverse(c.most));
    all
}

/// Asks candidates for endpoints until those of the highest exclusivity that reach the other process are found, and puts these in an
/// order that is the same on both sides: by the lower exclusivity of the two modules, the higher latency, the places in both lists, the
/// name, the place in the list of the process with the lower rank. `first`: that is this process. `ask` answers an endpoint and the
/// number of the other's module that it leads to (`None`: the number of the own one), or nothing where it does not reach it.
pub(crate) fn choose<E>(
    (own, other): (&Card, &Card),
    first: bool,
    candidates: &[Candidate],
    mut ask: impl FnMut(usize) -> Option<(E, Option<usize>)>,
) -> Choice<E> {
    let (mut found, mut spare, mut best) = (Vec::new(), Vec::new(), 0);
    for candidate in candidates {
        if !found.is_empty() && best > candidate.most {
            break;
        }
        let at = candidate.module;
        let Some((endpoint, partner)) = ask(at) else { continue };
        let m = &own.modules[at];
        let partner = partner.unwrap_or_else(|| Module::nth(&own.modules, at));
        let theirs = other.modules.iter().enumerate().filter(|(_, t)| t.name == m.name).nth(partner);
        let Some((position, t)) = theirs else {
            spare.push(endpoint);
            continue;
        };
        let exclusivity = m.exclusivity.min(t.exclusivity);
        let width = own.cris.min(other.cris).min(m.contexts).min(t.contexts).max(1);
        let low = if first { at } else { position };
        let key = (Reverse(exclusivity), m.latency.max(t.latency), at + position, &m.name, low);
        best = best.max(exclusivity);
        found.push((key, Paired { module: at, width, exclusivity }, endpoint));
    }
    found.sort_by_key(|(key, ..)| *key);
    let mut pairs = Vec::new();
    for (_, paired, endpoint) in found {
        match paired.exclusivity == best {
            true => pairs.push((paired, endpoint)),
            false => spare.push(endpoint),
        }
    }
    Choice { pairs, spare }
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
    use proptest::prelude::*;

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

    /// Names, widths and exclusivities of the transports that both have, if each reaches the one of its number.
    fn names(from: &Card, to: &Card, first: bool) -> Vec<(String, u32, u32)> {
        let candidates = candidates(from, to, |_| false);
        let name = |p: Paired| (from.modules[p.module].name.clone(), p.width, p.exclusivity);
        let choice = choose((from, to), first, &candidates, |_| Some(((), None)));
        choice.pairs.into_iter().map(|(p, ())| name(p)).collect()
    }

    #[test]
    fn both_sides_of_a_pair_choose_alike() {
        let here = card(8, &[module("shm", 8, 1024, 1), module("tcp", 2, 900, 9), module("tcp", 4, 900, 9)]);
        // It prefers tcp, has fewer of everything, and something that we lack.
        let there = card(
            5,
            &[
                module("own", 9, 4000, 0),
                module("tcp", 3, 2000, 1),
                module("tcp", 3, 1900, 1),
                module("shm", 1, 900, 5),
            ],
        );
        let due = [("shm".into(), 1, 900), ("tcp".into(), 2, 900), ("tcp".into(), 3, 900)];
        assert_eq!(names(&here, &there, true), due);
        assert_eq!(names(&there, &here, false), due);
        assert!(names(&here, &card(5, &[module("own", 9, 4000, 0)]), true).is_empty());
        // Among equals the order of the lists counts, and then the name.
        let (a, b) = (module("a", 1, 7, 7), module("b", 1, 7, 7));
        let [ab, ba] = [card(1, &[a.clone(), b.clone()]), card(1, &[b, a])];
        let first = |from: &Card, to: &Card, low: bool| names(from, to, low)[0].0.clone();
        assert_eq!((first(&ba, &ba, true), first(&ab, &ab, true)), ("b".into(), "a".into()));
        assert_eq!((first(&ab, &ba, true), first(&ba, &ab, false)), ("a".into(), "a".into()));
    }

    #[test]
    fn a_lower_exclusivity_is_not_asked_once_a_higher_one_reaches() {
        let own = card(1, &[module("shm", 1, 9, 1), module("tcp", 1, 5, 1)]);
        for (shm_reaches, due) in [(true, vec![0]), (false, vec![0, 1])] {
            let mut asked = Vec::new();
            let choice = choose((&own, &own), true, &candidates(&own, &own, |_| true), |at| {
                asked.push(at);
                (at == 1 || shm_reaches).then_some((at, Some(0)))
            });
            assert_eq!(asked, due);
            assert_eq!(choice.pairs.len() + choice.spare.len(), 1);
        }
        // One that leads to a module of little exclusivity gives way to what is found later.
        let many = card(1, &[module("net", 1, 9, 1), module("net", 1, 2, 1), module("tcp", 1, 5, 1)]);
        let choice = choose((&many, &many), true, &candidates(&many, &many, |_| true), |at| {
            Some((at, (at == 0).then_some(1).or((at == 2).then_some(0))))
        });
        assert_eq!((choice.pairs.len(), choice.pairs[0].1, choice.spare), (1, 2, vec![0]));
        // A module that names a partner which is not there reaches nothing.
        let choice = choose((&own, &own), true, &candidates(&own, &own, |_| true), |at| Some((at, Some(7))));
        assert_eq!((choice.pairs.len(), choice.spare), (0, vec![0, 1]));
    }

    proptest! {
        /// Any modules of two processes, in any order, and any that talk to each other within a component: both find the same
        /// pairs, in one order, with one width; and somebody is found wherever any two modules reach each other.
        #[test]
        fn any_two_sets_of_modules_are_paired_alike(
            a in prop::collection::vec((0..3usize, 1..4u32, 0..3u32, 0..3u32), 0..6),
            b in prop::collection::vec((0..3usize, 1..4u32, 0..3u32, 0..3u32), 0..6),
            links in prop::collection::vec((0..3usize, 0..6usize, 0..6usize), 0..12),
            cris in (1..5u32, 1..5u32),
        ) {
            const NAMES: [&str; 3] = ["x", "y", "z"];
            let make = |cris, set: &[(usize, u32, u32, u32)]| {
                card(cris, &set.iter().map(|(n, c, e, l)| module(NAMES[*n], *c, *e, *l)).collect::<Vec<_>>())
            };
            let (a, b) = (make(cris.0, &a), make(cris.1, &b));
            let count = |c: &Card, name: &str| c.modules.iter().filter(|m| m.name == name).count();
            // Which number of one leads to which of the other, each once.
            let mut lead: Vec<(&str, usize, usize)> = Vec::new();
            for (n, i, j) in links {
                let name = NAMES[n];
                let free = lead.iter().all(|l| l.0 != name || (l.1 != i && l.2 != j));
                if free && i < count(&a, name) && j < count(&b, name) {
                    lead.push((name, i, j));
                }
            }
            let found = |own: &Card, other: &Card, first: bool| -> Vec<(String, usize, usize, u32, u32)> {
                let partner = |at: usize| {
                    let (name, nth) = (&own.modules[at].name, Module::nth(&own.modules, at));
                    let lead = lead.iter().filter(|l| l.0 == name);
                    lead.map(|l| if first { (l.1, l.2) } else { (l.2, l.1) }).find(|l| l.0 == nth)
                };
                let candidates = candidates(own, other, |_| true);
                let choice = choose((own, other), first, &candidates, |at| partner(at).map(|p| (p, Some(p.1))));
                let told = |(p, (mine, theirs)): (Paired, (usize, usize))| {
                    let (low, high) = if first { (mine, theirs) } else { (theirs, mine) };
                    (own.modules[p.module].name.clone(), low, high, p.width, p.exclusivity)
                };
                choice.pairs.into_iter().map(told).collect()
            };
            let (ours, theirs) = (found(&a, &b, true), found(&b, &a, false));
            prop_assert_eq!(&ours, &theirs);
            prop_assert_eq!(ours.is_empty(), lead.is_empty());
        }
    }

    #[test]
    fn what_two_processes_are_bound_to_is_shared() {
        let here = [Some(0), Some(0), None, Some(2)];
        let there = [Some(0), Some(8), None, Some(2)];
        assert_eq!(shared(&here, &there), distance::SAME_SOCKET | distance::SAME_CORE);
        assert_eq!(shared(&here, &[None; 4]), 0, "not known");
    }
}
