//! Placement of ranks: the options and the machine put together.

use super::bind::{self, Policy};
use super::hosts::{Grant, NamedNodes, NodeOptions, from_files, sequence};
use super::listed::{self, Listed, Slots};
use super::map::{self, Node, Process, Wanted, usual_ranking};
use crate::cli::output::Verbosity;
use crate::cli::policy::{BindTo, MapBy};
use crate::cli::{App, CommandLine, JobOptions};
use crate::cores;
use crate::help::paragraph;
use crate::remote::facts::{self, NodeFacts};
use oxmpi_wireup::topology::{Level, SYSTEM, Topology, numa_nodes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All processes in the order of their ranks, and where they are.
#[derive(Debug)]
pub struct Placed {
    pub processes: Vec<Process>,
    pub nodes: Vec<Node>,
    /// All grants, those of programs with their own among them.
    pub grants: Vec<Grant>,
    /// Slots of the job.
    pub slots: u32,
    pub policy: Policy,
    /// The objects that were mapped by, for display.
    pub mapped_by: String,
}

/// Facts about the machines before processes are mapped.
#[derive(Debug)]
pub struct Machines {
    pub here: NamedNodes,
    /// Processors of this one, and those that may be used.
    pub processors: u32,
    pub allowed: Vec<u32>,
    /// Where nobody names a node: what an allocation or a parameter says.
    pub usual: DefaultNodes,
    /// Reports of daemons on other machines, by node.
    pub others: BTreeMap<usize, NodeFacts>,
}

/// The nodes of programs that name none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultNodes {
    /// This one.
    Here,
    /// Of an allocation: names and slots.
    Allocated(Vec<(String, u32)>),
    Hostfile(PathBuf),
}

impl Machines {
    pub fn new(
        line: &CommandLine,
        hostname: &str,
        apart: bool,
        usual: DefaultNodes,
        allocated: &[(String, u32)],
    ) -> Result<Machines, String> {
        let (processors, allowed) = (cores::available(), cores::allowed()?);
        let threads = line.job.mapping.threads == Some(true);
        let cores = cores::count(Path::new(SYSTEM), &allowed).min(processors);
        let here = NamedNodes::new(hostname, if threads { processors } else { cores }, apart)
            .in_allocation(allocated);
        Ok(Machines { here, processors, allowed, usual, others: BTreeMap::new() })
    }

    /// Learns the names of all nodes that the options name, in the order in which placing meets them.
    pub fn meet(&mut self, line: &CommandLine) -> Result<(), String> {
        for app in &line.apps {
            if (NodeOptions { hosts: &app.hosts, hostfiles: &app.hostfiles })
                .grants(&mut self.here)?
                .is_none()
            {
                self.usual_grants(&line.job)?;
            }
            match line.job.mapping.by {
                Some(MapBy::Rankfile) => {
                    listed::rankfile(
                        line.job.mapping.file.as_deref().unwrap_or(Path::new("")),
                        &mut self.here,
                    )?;
                }
                Some(MapBy::Seq) => _ = sequence(&sequence_files(&line.job, app), &mut self.here)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Reports of the daemons of other machines.
    pub fn learn(&mut self, line: &CommandLine, others: BTreeMap<usize, NodeFacts>) {
        let threads = line.job.mapping.threads == Some(true);
        for (node, facts) in &others {
            self.here.count(*node, if threads { facts.processors } else { facts.cores });
        }
        self.others = others;
    }

    /// Processors of a node.
    pub fn processors(&self, node: usize) -> u32 {
        self.others.get(&node).map_or(self.processors, |facts| facts.processors)
    }

    /// The first node of each node's machine: nodes that are one machine share its cores.
    pub fn hardware(&self, nodes: usize) -> Vec<usize> {
        hardware(&self.others, nodes)
    }

    /// Processors that each node's machine has for all its nodes: those of its nodes may be different ones, by the masks
    /// of their daemons.
    pub fn shared(&self, hardware: &[usize]) -> Vec<u32> {
        let mut sets: BTreeMap<usize, BTreeMap<Vec<u32>, u32>> = BTreeMap::new();
        for (node, &first) in hardware.iter().enumerate() {
            let mut set =
                self.others.get(&node).map_or_else(|| self.allowed.clone(), |f| f.topology.processors());
            set.sort_unstable();
            let most = sets.entry(first).or_default().entry(set).or_default();
            *most = (*most).max(self.processors(node));
        }
        let count = |first: &usize| {
            let own = &sets[first];
            let all: BTreeSet<u32> = own.keys().flatten().copied().collect();
            let sum = own.values().fold(0_u32, |sum, n| sum.saturating_add(*n));
            if own.len() == 1 { sum } else { sum.min(all.len() as u32) }
        };
        hardware.iter().map(count).collect()
    }

    /// The nodes that programs share that name no hosts.
    fn usual_grants(&mut self, job: &JobOptions) -> Result<Vec<Grant>, String> {
        match (&job.default_hostfile, &self.usual) {
            (Some(file), _) if file.as_os_str() == "none" => Ok(vec![self.here.usual()?]),
            (Some(file), _) => from_files(std::slice::from_ref(file), &mut self.here),
            (None, DefaultNodes::Hostfile(file)) => {
                from_files(std::slice::from_ref(&file.clone()), &mut self.here)
            }
            (None, DefaultNodes::Here) => Ok(vec![self.here.usual()?]),
            (None, DefaultNodes::Allocated(all)) => {
                let grant = |(name, slots): &(String, u32)| {
                    let node = self.here.node_of(name)?;
                    Ok(Grant { node, slots: *slots, max_slots: None, given: true, used: 0 })
                };
                all.clone().iter().map(grant).collect()
            }
        }
    }
}

/// Places the processes of a job.
pub fn place(line: &CommandLine, machines: &mut Machines) -> Result<Placed, String> {
    let job = &line.job;
    if job.mapping.nolocal {
        return Err(paragraph("nolocal", &[]));
    }
    let several = !machines.others.is_empty();
    let topology = (must_know(job) || several).then(|| Topology::read(Path::new(SYSTEM), &machines.allowed));
    let mut nodes = Vec::new();
    let (mut processes, grants) = map_all(line, machines, &mut nodes, topology.as_ref())?;
    let crowded = grants.iter().any(|g| g.used > g.slots) || crowded(machines, &processes);
    let oversubscribing = map::oversubscribing(&job.mapping, &grants);
    let mut policy = Policy::choose(&job.mapping, &job.binding, processes.len(), crowded, oversubscribing)?;
    bind_all(job, &mut processes, &mut nodes, &mut policy, machines)?;
    let by = job.rank_by.unwrap_or_else(|| usual_ranking(&job.mapping));
    let mut ranked = Vec::with_capacity(processes.len());
    let mut rest = processes;
    for app in 0..line.apps.len() {
        let (mut own, others) = rest.into_iter().partition(|p: &Process| p.app == app);
        // A rankfile has said which rank is where.
        if !matches!(job.mapping.by, Some(MapBy::Rankfile | MapBy::Seq)) {
            map::rank(&mut own, by);
        }
        ranked.append(&mut own);
        rest = others;
    }
    let slots = total_slots(&grants);
    let mapped_by = job.mapping.by.as_ref().map_or_else(|| "the usual".to_owned(), ToString::to_string);
    Ok(Placed { processes: ranked, nodes, grants, slots, policy, mapped_by })
}

/// The first node of each node's machine, where `others` are the nodes with a daemon of their own.
fn hardware(others: &BTreeMap<usize, NodeFacts>, nodes: usize) -> Vec<usize> {
    let own = if others.is_empty() { String::new() } else { facts::machine() };
    let mark = |node: usize| others.get(&node).map_or(&own, |facts| &facts.machine);
    let here = |node: usize| !others.contains_key(&node);
    let same = |a: usize, b: usize| here(a) && here(b) || !mark(a).is_empty() && mark(a) == mark(b);
    (0..nodes).map(|node| (0..node).find(|&before| same(before, node)).unwrap_or(node)).collect()
}

/// Has some machine more processes than processors?
fn crowded(machines: &Machines, processes: &[Process]) -> bool {
    let nodes = processes.iter().map(|process| process.node + 1).max().unwrap_or(0);
    let hardware = machines.hardware(nodes);
    let room = machines.shared(&hardware);
    let mut counts = vec![0_u32; nodes];
    processes.iter().for_each(|process| counts[hardware[process.node]] += 1);
    counts.iter().zip(room).any(|(count, room)| *count > room)
}

/// Slots of the job: what was said of a node, or where nobody said anything what was counted there.
fn total_slots(grants: &[Grant]) -> u32 {
    let said = |node: usize| grants.iter().any(|g| g.node == node && g.given);
    let counts = |g: &&Grant| g.given || !said(g.node);
    grants.iter().filter(counts).map(|g| g.slots).fold(0, u32::saturating_add)
}

/// Must be known what the node is made of, before anybody is mapped?
fn must_know(job: &JobOptions) -> bool {
    let by_object = matches!(
        job.mapping.by,
        Some(MapBy::Object(_) | MapBy::PerResource(_, Some(_)) | MapBy::Rankfile | MapBy::PeList(_))
    );
    let bound = job.binding.to.is_some_and(|to| to != BindTo::None) || job.mapping.pe.is_some();
    let shown = job.display.any() || job.binding.report || job.verbosity >= Verbosity::Verbose;
    by_object || bound || shown
}

/// Maps all programs, each onto what the ones before left.
fn map_all(
    line: &CommandLine,
    machines: &mut Machines,
    nodes: &mut Vec<Node>,
    topology: Option<&Topology>,
) -> Result<(Vec<Process>, Vec<Grant>), String> {
    let job = &line.job;
    let mut shared: Option<Vec<Grant>> = None;
    let mut finished: Vec<Grant> = Vec::new();
    let mut processes = Vec::new();
    for (number, app) in line.apps.iter().enumerate() {
        let name = app.program.to_string_lossy();
        if line.apps.len() > 1
            && app.ranks.is_none()
            && !matches!(job.mapping.by, Some(MapBy::PerResource(..)))
        {
            return Err(paragraph("count-needed", &[&name]));
        }
        let own = NodeOptions { hosts: &app.hosts, hostfiles: &app.hostfiles }.grants(&mut machines.here)?;
        let has_own = own.is_some();
        let mut grants = match own {
            Some(own) => own,
            None => match shared.take() {
                Some(shared) => shared,
                None => machines.usual_grants(job)?,
            },
        };
        let wanted = Wanted { app: number, name: &name, ranks: app.ranks, mapping: &job.mapping };
        let others = &machines.others;
        let meet = |nodes: &mut Vec<Node>, here: &NamedNodes| {
            let machine = hardware(others, here.names().len());
            for (at, name) in here.names().iter().enumerate().skip(nodes.len()) {
                let own = others.get(&at).map(|facts| &facts.topology).or(topology);
                // Objects have the same numbers in both where the masks of both daemons are the same.
                let first = nodes.get(machine[at]).filter(|first| first.topology.as_ref() == own);
                let counted_in = first.map_or(at, |_| machine[at]);
                nodes.push(Node::new(name.clone(), own.cloned(), counted_in));
            }
        };
        let here = &mut machines.here;
        meet(nodes, here);
        let mapped = match job.mapping.by {
            Some(MapBy::Rankfile) => {
                let file = job.mapping.file.as_deref().unwrap_or(Path::new(""));
                let listed = listed::rankfile(file, here)?;
                meet(nodes, here);
                by_rankfile(line, &wanted, &listed, nodes, &mut grants, processes.len())?
            }
            Some(MapBy::Seq) => by_sequence(job, app, &wanted, here, &mut grants)?,
            _ => map::map(&wanted, &mut grants, nodes)?,
        };
        meet(nodes, here);
        processes.extend(mapped);
        match has_own {
            true => finished.append(&mut grants),
            false => shared = Some(grants),
        }
    }
    finished.extend(shared.into_iter().flatten());
    Ok((processes, finished))
}

/// A rankfile names the places of all ranks of the job; a program takes those of its ranks.
fn by_rankfile(
    line: &CommandLine,
    wanted: &Wanted<'_>,
    all: &[Listed],
    nodes: &[Node],
    grants: &mut [Grant],
    before: usize,
) -> Result<Vec<Process>, String> {
    let file = line.job.mapping.file.as_deref().unwrap_or(Path::new(""));
    let count = wanted.ranks.map_or(all.len().saturating_sub(before), |n| n as usize);
    let Some(own) = all.get(before..before + count).filter(|own| !own.is_empty()) else {
        let asked = (before + count).to_string();
        return Err(paragraph("few-places", &[&file.display().to_string(), &all.len().to_string(), &asked]));
    };
    map::check_slots(wanted, count as u32, grants)?;
    let mut processes = Vec::with_capacity(count);
    for place in own {
        let mut process = Process::new(wanted.app, place.node, None);
        let topology = nodes[place.node].topology.as_ref().ok_or("the node's topology is not known")?;
        let threads = line.job.mapping.threads == Some(true);
        process.processors = place
            .slots
            .processors(topology, threads)
            .map_err(|what| paragraph("no-such-core", &[&file.display().to_string(), &what]))?;
        use_slot(grants, place.node, nodes)?;
        processes.push(process);
    }
    Ok(processes)
}

/// A process that a file places on a node, which must be one of the program's.
fn use_slot(grants: &mut [Grant], node: usize, nodes: &[Node]) -> Result<(), String> {
    match grants.iter_mut().find(|grant| grant.node == node) {
        Some(grant) => {
            grant.used += 1;
            Ok(())
        }
        None => Err(paragraph("node-without-slots", &[nodes.get(node).map_or("", |node| &node.name)])),
    }
}

/// Where the lines of `seq` come from.
fn sequence_files(job: &JobOptions, app: &App) -> Vec<PathBuf> {
    let file = job.mapping.file.clone().or_else(|| job.default_hostfile.clone());
    if app.hostfiles.is_empty() { file.into_iter().collect() } else { app.hostfiles.clone() }
}

/// One process for each line of the hostfile (or the file that the mapping names).
fn by_sequence(
    job: &JobOptions,
    app: &App,
    wanted: &Wanted<'_>,
    here: &mut NamedNodes,
    grants: &mut Vec<Grant>,
) -> Result<Vec<Process>, String> {
    let files = sequence_files(job, app);
    let lines = sequence(&files, here)?;
    let count = wanted.ranks.map_or(lines.len(), |n| n as usize);
    if count > lines.len() || count == 0 {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let named = if names.is_empty() { "No hostfile".to_owned() } else { names.join(", ") };
        return Err(paragraph("few-places", &[&named, &lines.len().to_string(), &count.to_string()]));
    }
    let mut process = |&node: &usize| {
        match grants.iter_mut().find(|g| g.node == node) {
            Some(grant) => grant.used += 1,
            // The file is all that says of this node.
            None => grants.push(Grant { node, slots: 1, max_slots: None, given: true, used: 1 }),
        }
        Process::new(wanted.app, node, None)
    };
    Ok(lines[..count].iter().map(&mut process).collect())
}

fn bind_all(
    job: &JobOptions,
    processes: &mut [Process],
    nodes: &mut [Node],
    policy: &mut Policy,
    machines: &Machines,
) -> Result<(), String> {
    let (root, allowed) = (Path::new(SYSTEM), &machines.allowed);
    let several = !machines.others.is_empty();
    match &job.mapping.by {
        Some(MapBy::Rankfile) => {
            if policy.to == BindTo::None {
                processes.iter_mut().for_each(|p| p.processors.clear());
            }
            return Ok(());
        }
        Some(MapBy::PeList(list)) => return bind_to_list(job, processes, nodes, policy, list),
        _ => {}
    }
    if !policy.asked && policy.to == BindTo::Object(Level::Numa) {
        let objects = |node: &Node| node.topology.as_ref().map_or(0, |t| t.objects(Level::Numa).len());
        let used = |at: usize| processes.iter().any(|process| process.node == at);
        let least = nodes.iter().enumerate().filter(|(at, _)| used(*at)).map(|(_, node)| objects(node)).min();
        let usable = numa_nodes(root).into_iter().filter(|n| n.iter().any(|cpu| allowed.contains(cpu)));
        if (if several { least.unwrap_or(0) } else { usable.count() }) < 2 {
            // The one node there is, is everything.
            policy.to = BindTo::None;
        }
    }
    if policy.to == BindTo::None {
        return Ok(());
    }
    if nodes.iter().any(|node| node.topology.is_none()) {
        if policy.to == BindTo::Object(Level::Core) {
            // The usual case: two processes, two cores, and nobody wants to see the rest.
            for (process, processors) in processes.iter_mut().zip(cores::bind(2)?) {
                process.processors = processors;
            }
            return Ok(());
        }
        let topology = Topology::read(root, allowed);
        nodes.iter_mut().for_each(|node| node.topology = Some(topology.clone()));
    }
    bind::bind(processes, nodes, policy, &machines.hardware(nodes.len()))
}

/// `pe-list`: all on all of these, or one on each.
fn bind_to_list(
    job: &JobOptions,
    processes: &mut [Process],
    nodes: &[Node],
    policy: &Policy,
    list: &[u32],
) -> Result<(), String> {
    let topology = nodes[0].topology.as_ref().ok_or("the node's topology is not known")?;
    let processors = |cores: &[u32]| {
        let found = Slots::Cores(cores.to_vec()).processors(topology, policy.threads);
        found.map_err(|what| paragraph("no-such-core", &["The pe-list", &what]))
    };
    let all = processors(list)?;
    if policy.to == BindTo::None {
        return Ok(());
    }
    if processes.len() > list.len() && !policy.overload {
        return Err(paragraph("overload", &["pe-list", &list.len().to_string()]));
    }
    for (at, process) in processes.iter_mut().enumerate() {
        process.processors = match job.mapping.ordered {
            true => processors(&[list[at % list.len()]])?,
            false => all.clone(),
        };
    }
    Ok(())
}
