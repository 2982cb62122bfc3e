//! Binding: which processors each process may run on.
//!
//! A process is bound to one object of the level that is asked for, inside of what it was mapped
//! to; of several the one with the fewest processes, so that they spread. With `pe=N` it is the
//! next N cores there. A binding that was asked for and does not fit is an error; a usual binding that
//! does not fit is left out.

use super::map::{Node, Process, units_of};
use crate::cli::policy::{BindTo, Binding, MapBy, Mapping};
use crate::help::paragraph;
use oxmpi_wireup::topology::{Level, Topology};
use std::collections::BTreeMap;

/// The objects to bind to, and how.
#[derive(Clone, Debug)]
pub struct Policy {
    pub to: BindTo,
    /// Somebody asked for it: what does not fit is an error.
    pub asked: bool,
    pub overload: bool,
    pub pe: Option<u32>,
    pub threads: bool,
}

impl Policy {
    /// From the options, and from how many processes there are where nothing is said.
    /// `crowded`: some node has more processes than slots or processors. `oversubscribing`: more processes than slots
    /// are allowed, and so more processes than cores on what they are bound to.
    pub fn choose(
        mapping: &Mapping,
        binding: &Binding,
        size: usize,
        crowded: bool,
        oversubscribing: bool,
    ) -> Result<Policy, String> {
        let threads = mapping.threads == Some(true);
        let unit = BindTo::Object(if threads { Level::Hwthread } else { Level::Core });
        let asked_for = binding.to.map(|to| if to == BindTo::Slot { unit } else { to });
        let (to, asked) = match (asked_for, &mapping.by, mapping.pe) {
            (Some(to), by, pe) => {
                check(to, by.as_ref(), pe, unit, binding.if_supported)?;
                (to, !binding.if_supported)
            }
            (None, _, Some(_)) => (unit, true),
            (None, Some(MapBy::Rankfile | MapBy::PeList(_)), _) => (unit, true),
            _ if crowded => (BindTo::None, false),
            (None, Some(MapBy::Object(level) | MapBy::PerResource(_, Some(level))), _) => {
                (BindTo::Object(*level), false)
            }
            (None, None, _) if size <= 2 => (unit, false),
            (None, ..) => (BindTo::Object(Level::Numa), false),
        };
        Ok(Policy {
            to,
            asked,
            overload: binding.overload.unwrap_or(oversubscribing),
            pe: mapping.pe,
            threads,
        })
    }
}

/// Binding above what is mapped to, and `pe` with something that is no core.
fn check(to: BindTo, by: Option<&MapBy>, pe: Option<u32>, unit: BindTo, lenient: bool) -> Result<(), String> {
    let listed = matches!(by, Some(MapBy::Rankfile | MapBy::PeList(_)));
    if (pe.is_some() || listed) && to != unit && to != BindTo::None && to != BindTo::Object(Level::Hwthread) {
        let cause = if listed { "a list of cores" } else { "pe=N" };
        return Err(crate::cli::policy::conflict(&format!("--bind-to {to}"), cause));
    }
    let mapped = match by {
        Some(MapBy::Object(level) | MapBy::PerResource(_, Some(level))) => *level,
        _ => return Ok(()),
    };
    match to {
        BindTo::Object(level) if level >= mapped => Ok(()),
        BindTo::None => Ok(()),
        _ if lenient => Ok(()),
        _ => Err(paragraph("bind-above", &[&to.to_string(), mapped.name()])),
    }
}

/// Binds processes, in the order in which they were mapped. `hardware`: the machine of each node; no core of one is given
/// twice, whichever of its nodes the processes are on.
pub fn bind(
    processes: &mut [Process],
    nodes: &[Node],
    policy: &Policy,
    hardware: &[usize],
) -> Result<(), String> {
    let mut used = Used::new();
    let mut all = Vec::with_capacity(processes.len());
    for process in processes.iter() {
        match processors(process, nodes, policy, hardware[process.node], &mut used) {
            Ok(processors) => all.push(processors),
            Err(why) if policy.asked => return Err(why),
            // It was nobody's wish.
            Err(_) => return Ok(()),
        }
    }
    for (process, processors) in processes.iter_mut().zip(all) {
        process.processors = processors;
    }
    Ok(())
}

fn processors(
    process: &Process,
    nodes: &[Node],
    policy: &Policy,
    machine: usize,
    used: &mut Used,
) -> Result<Vec<u32>, String> {
    let Some(topology) = &nodes[process.node].topology else { return Ok(Vec::new()) };
    let scope = match process.object {
        Some((level, object)) => topology.objects(level)[object].processors.clone(),
        None => topology.processors(),
    };
    match policy.to {
        BindTo::None => Ok(Vec::new()),
        // `choose` has made a core or a hardware thread of it.
        BindTo::Slot => one(machine, topology, &scope, Level::Core, policy, used),
        BindTo::Node => Ok(topology.processors()),
        _ if policy.pe.is_some() => several(machine, topology, &scope, policy, used),
        BindTo::Object(level) => one(machine, topology, &scope, level, policy, used),
    }
}

/// How many processes are bound to a processor, by machine and number. Nodes of one machine may number its objects
/// differently, by their masks; processors have the kernel's numbers.
type Used = BTreeMap<(usize, u32), usize>;

/// How many processes share what is most used of these.
fn load(machine: usize, processors: &[u32], used: &Used) -> usize {
    processors.iter().filter_map(|p| used.get(&(machine, *p))).max().copied().unwrap_or(0)
}

fn note(machine: usize, processors: &[u32], used: &mut Used) {
    processors.iter().for_each(|p| *used.entry((machine, *p)).or_insert(0) += 1);
}

/// One object of the level inside of the scope.
fn one(
    machine: usize,
    topology: &Topology,
    scope: &[u32],
    level: Level,
    policy: &Policy,
    used: &mut Used,
) -> Result<Vec<u32>, String> {
    let objects = topology.objects(level).iter();
    let inside = objects.filter(|object| object.processors.iter().any(|p| scope.contains(p)));
    let chosen = inside.min_by_key(|object| load(machine, &object.processors, used));
    let Some(chosen) = chosen else { return Err(paragraph("bind-nothing", &[level.name()])) };
    note(machine, &chosen.processors, used);
    let count = load(machine, &chosen.processors, used);
    let room = units_of(topology, &chosen.processors, policy.threads).len();
    // A hardware thread that is no unit of its own still has room for one.
    if count > room.max(1) && !policy.overload {
        return Err(paragraph("overload", &[level.name(), &room.max(1).to_string()]));
    }
    Ok(chosen.processors.clone())
}

/// The next `pe` cores (or threads) inside of the scope that the fewest processes have.
fn several(
    machine: usize,
    topology: &Topology,
    scope: &[u32],
    policy: &Policy,
    used: &mut Used,
) -> Result<Vec<u32>, String> {
    let wanted = policy.pe.unwrap_or(1) as usize;
    let units = units_of(topology, scope, policy.threads);
    let unit = if policy.threads { "hwthread" } else { "core" };
    if units.len() < wanted {
        return Err(paragraph("pe-too-many", &[&wanted.to_string(), &units.len().to_string(), unit]));
    }
    let mut order: Vec<&Vec<u32>> = units.iter().collect();
    order.sort_by_key(|u| load(machine, u, used));
    let chosen: Vec<&Vec<u32>> = order.into_iter().take(wanted).collect();
    if !policy.overload && chosen.iter().any(|u| load(machine, u, used) > 0) {
        return Err(paragraph("overload", &[unit, "1"]));
    }
    for u in &chosen {
        note(machine, u, used);
    }
    let mut processors: Vec<u32> = chosen.into_iter().flatten().copied().collect();
    // `bind-to hwthread` with pe=1: the first thread of the core.
    if policy.to == BindTo::Object(Level::Hwthread) && !policy.threads {
        processors = units.iter().filter(|u| processors.contains(&u[0])).map(|u| u[0]).collect();
    }
    Ok(processors)
}
