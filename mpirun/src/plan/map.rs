//! Mapping and ranking: which process goes to which node and object, and which rank it is.
//!
//! Programs are mapped one after the other onto what the ones before have left. A process first
//! gets a node, because slots are counted there, then an object in it; what it is bound to follows
//! later (`bind`). Ranks of a program follow each other, and programs follow the command line.

use super::hosts::Grant;
use crate::cli::policy::{MapBy, Mapping, RankBy};
use crate::help::paragraph;
use oxmpi_wireup::topology::{Level, Object, Topology};

/// A process that has a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub app: usize,
    pub node: usize,
    /// The object it was mapped to, as a place in the topology's list of that level.
    pub object: Option<(Level, usize)>,
    /// Processors it may run on, once it has been bound; nothing is everything.
    pub processors: Vec<u32>,
}

impl Process {
    pub fn new(app: usize, node: usize, object: Option<(Level, usize)>) -> Process {
        Process { app, node, object, processors: Vec::new() }
    }
}

/// A node, and how many processes of the job are where on it.
#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    /// None: nobody has to know.
    pub topology: Option<Topology>,
    /// The node that counts what is mapped to objects: the first one of those that are one machine.
    counted_in: usize,
    /// Processes mapped to each object of the level that is mapped by.
    load: Vec<u32>,
    /// How many each of them can take.
    room: Vec<usize>,
}

impl Node {
    pub fn new(name: String, topology: Option<Topology>, counted_in: usize) -> Node {
        Node { name, topology, counted_in, load: Vec::new(), room: Vec::new() }
    }

    fn objects(&self, level: Level) -> usize {
        self.topology.as_ref().map_or(0, |t| t.objects(level).len())
    }

    /// How many processes each object of the level can take before it is full.
    fn rooms(&self, level: Level, mapping: &Mapping) -> Vec<usize> {
        let Some(topology) = &self.topology else { return Vec::new() };
        let units =
            |object: &Object| units_of(topology, &object.processors, mapping.threads == Some(true)).len();
        let pe = mapping.pe.unwrap_or(1).max(1) as usize;
        topology.objects(level).iter().map(|object| units(object) / pe).collect()
    }

    /// The next object in turn that has room; all full: the next in turn.
    fn next_object(&mut self, level: Level, mapping: &Mapping) -> usize {
        let count = self.objects(level).max(1);
        if self.load.len() != count {
            self.load.resize(count, 0);
            self.room = self.rooms(level, mapping);
        }
        let full =
            |object: usize| self.room.get(object).is_some_and(|&room| self.load[object] as usize >= room);
        let roomy = (0..count).filter(|&object| !full(object)).min_by_key(|&object| self.load[object]);
        let chosen = roomy.or_else(|| (0..count).min_by_key(|&object| self.load[object])).unwrap_or(0);
        self.load[chosen] += 1;
        chosen
    }
}

/// The next object of a node in turn.
fn next_object(nodes: &mut [Node], node: usize, level: Level, mapping: &Mapping) -> usize {
    let counted_in = nodes[node].counted_in;
    nodes[counted_in].next_object(level, mapping)
}

/// Cores (or threads) of which `processors` consist, each with its processors.
pub fn units_of(topology: &Topology, processors: &[u32], threads: bool) -> Vec<Vec<u32>> {
    let level = if threads { Level::Hwthread } else { Level::Core };
    let inside = |object: &Object| {
        object.processors.iter().copied().filter(|p| processors.contains(p)).collect::<Vec<u32>>()
    };
    topology.objects(level).iter().map(inside).filter(|unit| !unit.is_empty()).collect()
}

/// The processes to map.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub app: usize,
    pub name: &'a str,
    /// None: as many as there is room for.
    pub ranks: Option<u32>,
    pub mapping: &'a Mapping,
}

/// Maps one program. The result is in mapped order.
pub fn map(wanted: &Wanted<'_>, grants: &mut [Grant], nodes: &mut [Node]) -> Result<Vec<Process>, String> {
    match &wanted.mapping.by {
        Some(MapBy::PerResource(n, level)) => per_resource(wanted, *n, *level, grants, nodes),
        Some(MapBy::Object(level)) if wanted.mapping.span => span(wanted, *level, grants, nodes),
        by => {
            let count = wanted.ranks.unwrap_or_else(|| grants.iter().map(Grant::free).sum());
            check_slots(wanted, count, grants)?;
            let turns = matches!(by, Some(MapBy::Node));
            let mut processes = Vec::with_capacity(count as usize);
            for grant in shares(count, turns, grants)? {
                let node = grants[grant].node;
                let object = match by {
                    Some(MapBy::Object(level)) => {
                        Some((*level, next_object(nodes, node, *level, wanted.mapping)))
                    }
                    _ => None,
                };
                processes.push(Process::new(wanted.app, node, object));
            }
            Ok(processes)
        }
    }
}

/// The grant of each process: node after node, or one each in turn; what is beyond the slots is
/// dealt in turns.
fn shares(count: u32, turns: bool, grants: &mut [Grant]) -> Result<Vec<usize>, String> {
    let mut chosen = Vec::with_capacity(count as usize);
    if !turns {
        for (at, grant) in grants.iter_mut().enumerate() {
            let here = grant.free().min(count - chosen.len() as u32);
            grant.used += here;
            chosen.extend(std::iter::repeat_n(at, here as usize));
        }
    }
    for beyond in [false, true] {
        while (chosen.len() as u32) < count {
            let before = chosen.len();
            for (at, grant) in grants.iter_mut().enumerate() {
                let room = if beyond { grant.has_room() } else { grant.free() > 0 };
                if room && (chosen.len() as u32) < count {
                    grant.used += 1;
                    chosen.push(at);
                }
            }
            if chosen.len() == before {
                break;
            }
        }
    }
    match chosen.len() as u32 == count {
        true => Ok(chosen),
        // `check_slots` has counted before.
        false => Err(paragraph("max-slots", &[&count.to_string(), &chosen.len().to_string()])),
    }
}

/// Whether there may be more processes than slots: as it was said; without that where nobody has given slots, so that
/// they are counted cores.
pub fn oversubscribing(mapping: &Mapping, grants: &[Grant]) -> bool {
    mapping.oversubscribe.unwrap_or_else(|| grants.iter().all(|g| !g.given))
}

/// Are there slots for so many, or is more than that allowed?
pub fn check_slots(wanted: &Wanted<'_>, count: u32, grants: &[Grant]) -> Result<(), String> {
    let free: u64 = grants.iter().map(|g| u64::from(g.free())).sum();
    if count == 0 {
        return Err(paragraph("no-slots-left", &[wanted.name]));
    }
    if u64::from(count) <= free {
        return Ok(());
    }
    let allowed = oversubscribing(wanted.mapping, grants);
    if !allowed {
        return Err(paragraph("not-enough-slots", &[&count.to_string(), wanted.name, &free.to_string()]));
    }
    let most = grants.iter().map(|g| g.max_slots.map_or(u64::MAX, |max| max.saturating_sub(g.used).into()));
    let most = most.fold(0_u64, u64::saturating_add);
    match u64::from(count) > most {
        true => Err(paragraph("max-slots", &[&count.to_string(), &most.to_string()])),
        false => Ok(()),
    }
}

/// So many on each object, or on each node.
fn per_resource(
    wanted: &Wanted<'_>,
    n: u32,
    level: Option<Level>,
    grants: &mut [Grant],
    nodes: &mut [Node],
) -> Result<Vec<Process>, String> {
    let mut places = Vec::new();
    for (at, grant) in grants.iter().enumerate() {
        let objects = level.map_or(1, |level| nodes[grant.node].objects(level));
        for object in 0..objects {
            places.extend(std::iter::repeat_n((at, level.map(|level| (level, object))), n as usize));
        }
    }
    let most = u32::try_from(places.len()).unwrap_or(u32::MAX);
    let count = wanted.ranks.unwrap_or(most);
    if count > most {
        let policy = format!("ppr:{n}:{}", level.map_or("node", Level::name));
        return Err(paragraph("ppr", &[&count.to_string(), wanted.name, &policy, &most.to_string()]));
    }
    check_slots(wanted, count, grants)?;
    places.truncate(count as usize);
    let taken = places.into_iter().map(|(at, object)| {
        grants[at].used += 1;
        Process::new(wanted.app, grants[at].node, object)
    });
    Ok(taken.collect())
}

/// Over the objects of all nodes as if they were one node's.
fn span(
    wanted: &Wanted<'_>,
    level: Level,
    grants: &mut [Grant],
    nodes: &mut [Node],
) -> Result<Vec<Process>, String> {
    let count = wanted.ranks.unwrap_or_else(|| grants.iter().map(Grant::free).sum());
    check_slots(wanted, count, grants)?;
    let mut processes = Vec::with_capacity(count as usize);
    for beyond in [false, true] {
        loop {
            let before = processes.len();
            for grant in grants.iter_mut() {
                for _ in 0..nodes[grant.node].objects(level).max(1) {
                    let room = if beyond { grant.has_room() } else { grant.free() > 0 };
                    if room && (processes.len() as u32) < count {
                        grant.used += 1;
                        let object = next_object(nodes, grant.node, level, wanted.mapping);
                        processes.push(Process::new(wanted.app, grant.node, Some((level, object))));
                    }
                }
            }
            if processes.len() == before {
                break;
            }
        }
    }
    Ok(processes)
}

/// How the processes of a program are numbered when nobody says.
pub fn usual_ranking(mapping: &Mapping) -> RankBy {
    match &mapping.by {
        Some(MapBy::Node) => RankBy::Node,
        Some(MapBy::Object(_)) if mapping.span => RankBy::Span,
        Some(MapBy::Object(_)) => RankBy::Fill,
        _ => RankBy::Slot,
    }
}

/// Puts the processes of one program into the order of their ranks.
pub fn rank(processes: &mut Vec<Process>, by: RankBy) {
    // How many came before on the same node, on the same object.
    let before = |at: usize, same: &dyn Fn(&Process, &Process) -> bool| {
        processes[..at].iter().filter(|p| same(p, &processes[at])).count()
    };
    let on_node = |a: &Process, b: &Process| a.node == b.node;
    let on_object = |a: &Process, b: &Process| a.node == b.node && a.object == b.object;
    let key = |at: usize| {
        let p = &processes[at];
        let object = p.object.map_or(0, |(_, object)| object);
        match by {
            RankBy::Slot => (p.node, 0, 0),
            RankBy::Node => (before(at, &on_node), p.node, 0),
            RankBy::Fill => (p.node, object, 0),
            RankBy::Span => (before(at, &on_object), p.node, object),
        }
    };
    // Ranks of one object and of nothing are in order already; so are those of one node by slot.
    let keys: Vec<_> = match processes.iter().all(|p| p.node == 0 && p.object.is_none()) {
        true => return,
        false => (0..processes.len()).map(key).collect(),
    };
    let mut order: Vec<usize> = (0..processes.len()).collect();
    order.sort_by_key(|&at| keys[at]);
    *processes = order.into_iter().map(|at| processes[at].clone()).collect();
}

#[cfg(test)]
#[path = "map_tests.rs"]
mod tests;
