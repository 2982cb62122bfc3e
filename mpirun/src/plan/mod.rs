//! From a command line to a job: how many processes of which program, where, bound to what, with
//! which environment.
//!
//! `hosts` says which nodes a program may use and how many slots they have; `map` deals processes
//! to nodes and objects and numbers them; `listed` reads places that a file names; `bind` says what
//! each may run on; `place` puts these together. `environment` and `programs` are what each program
//! starts with. `show` is `--display` and `--report-bindings`.
//!
//! **Costly facts are looked up when they are needed.** A job of which nothing is asked reads the few
//! files that say which processors are one core, and of `/sys` nothing more.

mod allocation;
mod bind;
mod collective_settings;
mod environment;
mod hints;
mod hosts;
mod listed;
mod map;
mod place;
mod programs;
mod show;
mod slurm;
pub mod spawned;

use crate::cli::CommandLine;
use crate::cli::output::{Stdin as StdinOption, Verbosity};
use crate::cli::policy::Display;
use crate::help::paragraph;
use crate::link::{Launch, Part, Place, Stdin};
use crate::plm::Plm;
use crate::remote::doors::Doors;
use crate::remote::facts::NodeFacts;
use crate::remote::options::Options;
use crate::remote::start::Request;
use allocation::Allocation;
pub use hosts::NamedNodes;
use oxmpi_wireup::{NodeMap, Secret, random_id, server};
use place::{DefaultNodes, Machines};
use std::collections::BTreeMap;
use std::time::Duration;

/// A job, and what the user should hear about it before it starts.
#[derive(Debug)]
pub struct Plan {
    /// The whole job, as if it were of one node; `split` makes each node's part of it.
    pub launch: Launch,
    /// This machine's name.
    pub hostname: String,
    /// Processes may each run alone: a parameter says so.
    pub permits_singletons: bool,
    pub warnings: Vec<String>,
    /// `--display`: for standard output.
    pub shown: String,
    /// `--report-bindings`: for standard error.
    pub reported: String,
    /// The number that each node of the job had while it was planned: that of its daemon.
    pub machines: Vec<u32>,
    /// Processors of each: its share of its machine's.
    processors: Vec<u32>,
    /// Every node that the options granted, by name: its slots where somebody has said how many there are.
    pub granted: Vec<(String, Option<u32>)>,
    /// The names of all nodes, for jobs that come later.
    pub names: NamedNodes,
    /// Machines that were planned for and have not said what they are made of: they were taken to be like this one.
    pub guessed: Vec<u32>,
}

impl Plan {
    /// Processes on each node, by its name.
    pub fn on_nodes(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for (node, name) in (0..self.launch.map.nodes()).zip(&self.launch.node_names) {
            *counts.entry(name.clone()).or_default() += self.launch.map.count(node);
        }
        counts
    }

    /// Each node's own part. The part that is the same for all is in `launch`.
    pub fn split(&self) -> Vec<Part> {
        let job = &self.launch;
        let part = |node: u32| {
            let place = |rank: &u32| job.places[*rank as usize].clone();
            Part {
                node,
                cores: self.processors.get(node as usize).copied().unwrap_or(job.cores),
                places: job.map.ranks_of(node).iter().map(place).collect(),
            }
        };
        (0..job.map.nodes()).map(part).collect()
    }
}

/// Facts that are needed before daemons on other machines are started, and whether any are.
#[derive(Debug)]
pub struct Survey {
    known: programs::SettingsCache,
    hostname: String,
    machines: Machines,
    options: Options,
    allocation: Option<Allocation>,
    /// None: all processes run on this machine.
    pub request: Option<Request>,
}

/// Are there nodes of a Slurm allocation that jobs use unless they name others?
pub fn has_nodes_of_slurm() -> bool {
    Allocation::of_this_process().is_some_and(|allocation| !allocation.named.is_empty())
}

/// Which machines a job is about.
pub fn survey(line: &CommandLine) -> Result<Survey, String> {
    survey_in(line, Allocation::of_this_process(), None)
}

/// The same for a job that comes later, when nodes have names and numbers.
pub fn survey_later(line: &CommandLine, names: NamedNodes) -> Result<Survey, String> {
    survey_in(line, Allocation::of_this_process(), Some(names))
}

/// The same inside an allocation.
fn survey_in(
    line: &CommandLine,
    allocation: Option<Allocation>,
    names: Option<NamedNodes>,
) -> Result<Survey, String> {
    let hostname = server::hostname();
    let mut known = programs::SettingsCache::default();
    let plm = known.plm(line)?;
    let options = known.options(line)?;
    let apart = plm == Some(Plm::Local);
    let allocated = allocation.as_ref().map_or(&[][..], |allocation| &allocation.named).to_vec();
    let usual = match &options.default_hostfile {
        _ if apart => DefaultNodes::Here,
        Some(file) => DefaultNodes::Hostfile(file.clone()),
        None if !allocated.is_empty() && matches!(plm, None | Some(Plm::Slurm)) => {
            DefaultNodes::Allocated(allocated.clone())
        }
        None => DefaultNodes::Here,
    };
    let mut machines = Machines::new(line, &hostname, apart, usual, &allocated)?;
    if let Some(names) = names {
        machines.here = names;
    }
    let mut request = None;
    if !apart {
        machines.meet(line)?;
        let mut nodes = machines.here.others();
        let given = |(_, name): &(u32, String)| {
            allocated.iter().any(|(known, _)| name.rsplit('@').next() == Some(known))
        };
        // Where Slurm has given nodes it starts the daemons, and has no others; ssh is then an explicit choice.
        let plm = plm.unwrap_or(match allocated.is_empty() {
            true => Plm::Ssh,
            false => Plm::Slurm,
        });
        if let Some((_, name)) = nodes.iter().find(|node| plm == Plm::Slurm && !given(node)) {
            return Err(paragraph("not-allocated", &[name]));
        }
        if plm == Plm::Slurm {
            nodes.iter_mut().try_for_each(|(_, name)| without_user(name))?;
        }
        let prefix = line.job.prefix.as_ref().map(|prefix| prefix.display().to_string());
        let (mut options, no_prefix) = (options.clone(), line.job.no_prefix);
        let limit = line.job.spawn_timeout.map(Duration::from_secs);
        options.timeout = options.timeout.into_iter().chain(limit).min();
        request = (!nodes.is_empty()).then_some(Request { nodes, plm, options, prefix, no_prefix });
    }
    Ok(Survey { known, hostname, machines, options, allocation, request })
}

/// Takes the user off a node's name: srun starts daemons as this user, whom USER or LOGNAME names.
fn without_user(node: &mut String) -> Result<(), String> {
    let Some((user, name)) = node.rsplit_once('@') else { return Ok(()) };
    let own = |variable: &&str| std::env::var(variable).is_ok_and(|own| own == user);
    if !["USER", "LOGNAME"].iter().any(own) {
        return Err(paragraph("slurm-user", &[user, name]));
    }
    *node = name.to_owned();
    Ok(())
}

/// Makes the plan of a job. `others`: what the daemons say that were asked for; where none were started, other machines are
/// taken to be like this one.
pub fn make(
    line: &CommandLine,
    interactive: bool,
    survey: Survey,
    others: BTreeMap<usize, NodeFacts>,
) -> Result<Plan, String> {
    let Survey { mut known, hostname, mut machines, options, allocation, request } = survey;
    machines.learn(line, others);
    let processors = machines.processors;
    let placed = place::place(line, &mut machines)?;
    let size = u32::try_from(placed.processes.len()).ok().filter(|&n| i32::try_from(n).is_ok());
    let size = size.ok_or("there are more processes than MPI can number")?;
    let counts: Vec<u32> = (0..line.apps.len())
        .map(|app| placed.processes.iter().filter(|p| p.app == app).count() as u32)
        .collect();
    let universe = line.job.universe.unwrap_or(placed.slots).max(size);
    let is_elsewhere = |process: &map::Process| !machines.here.is_here(process.node);
    let elsewhere = request.is_some() && placed.processes.iter().any(is_elsewhere);
    let elsewhere = elsewhere.then_some(&options);
    let programs = programs::programs(line, &counts, universe, &mut known, elsewhere)?;
    let places = placed.processes.iter().map(|p| Place {
        program: u32::try_from(p.app).unwrap_or(u32::MAX),
        processors: p.processors.clone(),
    });
    let (map, node_names, in_use) = nodes_in_use(&placed);
    // Nodes of one machine share its processors.
    let hardware = machines.hardware(placed.nodes.len());
    let room = machines.shared(&hardware);
    let mut counts = vec![0_u32; hardware.len()];
    placed.processes.iter().for_each(|process| counts[hardware[process.node]] += 1);
    let crowded = counts.iter().zip(&room).any(|(count, room)| count > room);
    let part = |(local, node): (u32, &u32)| {
        let (all, room) = (counts[hardware[*node as usize]].max(1), room[*node as usize]);
        let share = u64::from(room) * u64::from(map.count(local)) / u64::from(all);
        u32::try_from(share).unwrap_or(room).max(1)
    };
    let each: Vec<u32> = (0..).zip(&in_use).map(part).collect();
    let launch = Launch {
        job_id: new_job_id().map_err(|why| why.to_string())?,
        secret: Secret::random().map_err(|why| why.to_string())?,
        map,
        node: 0,
        node_names,
        local_ranks: (0..size).collect(),
        cores: processors,
        oversubscribed: crowded,
        places: places.collect(),
        params: programs.params,
        programs: programs.programs,
        apps: programs.facts,
        universe,
        interactive,
        raw: line.job.output.raw,
        stdin: stdin(&line.job.stdin, size)?,
        hold: crate::launcher::mpir::being_debugged(),
        tree: random_id().map_err(|why| why.to_string())?,
        sites: if in_use.iter().copied().eq(0..in_use.len() as u32) { Vec::new() } else { in_use.clone() },
        parent: String::new(),
        doors: Doors::default(),
    };
    let shown = show::display(&line.job.display, &placed, line);
    let report = line.job.binding.report;
    let mut reported = if report { show::bindings(&placed) } else { String::new() };
    if line.job.verbosity == Verbosity::Verbose {
        let map = Display { map: true, ..Display::default() };
        reported.insert_str(0, &show::display(&map, &placed, line));
    }
    let permits_singletons = programs.permits_singletons;
    let mut warnings = programs.warnings;
    // A user who names other machines knows of them.
    warnings.extend(allocation.filter(|_| request.is_none()).and_then(|found| found.warning()));
    let granted = granted(&placed);
    let asked = request.iter().flat_map(|request| &request.nodes).map(|(node, _)| *node);
    let is_granted = |node: &u32| placed.grants.iter().any(|grant| grant.node == *node as usize);
    let is_unknown = |node: &u32| !machines.others.contains_key(&(*node as usize));
    let guessed = asked.filter(|node| is_granted(node) && is_unknown(node)).collect();
    let names = machines.here;
    let (machines, processors) = (in_use, each);
    Ok(Plan {
        launch,
        hostname,
        permits_singletons,
        warnings,
        shown,
        reported,
        machines,
        processors,
        granted,
        names,
        guessed,
    })
}

/// The node of each rank, the names of the nodes, and their numbers until now; those without ranks have no part in the job.
fn nodes_in_use(placed: &place::Placed) -> (NodeMap, Vec<String>, Vec<u32>) {
    let mut numbers: Vec<Option<u32>> = vec![None; placed.nodes.len()];
    let (mut names, mut in_use) = (Vec::new(), Vec::new());
    for process in &placed.processes {
        numbers[process.node] = Some(0);
    }
    let known = numbers.iter_mut().zip(&placed.nodes).enumerate();
    for (before, (number, node)) in known.filter(|(_, (number, _))| number.is_some()) {
        *number = Some(names.len() as u32);
        names.push(node.name.clone());
        in_use.push(before as u32);
    }
    let nodes: Vec<u32> = placed.processes.iter().map(|p| numbers[p.node].unwrap_or(0)).collect();
    (NodeMap::of(&nodes), names, in_use)
}

/// Every node of the grants once, by name, with its slots where they were given.
fn granted(placed: &place::Placed) -> Vec<(String, Option<u32>)> {
    let mut all: Vec<(String, Option<u32>)> = Vec::new();
    for grant in &placed.grants {
        let Some(node) = placed.nodes.get(grant.node) else { continue };
        let slots = grant.given.then_some(grant.slots);
        match all.iter_mut().find(|(name, _)| *name == node.name) {
            Some((_, known)) => *known = (*known).max(slots),
            None => all.push((node.name.clone(), slots)),
        }
    }
    all
}

/// Readers of standard input: one rank the descriptor itself, several a copy each.
fn stdin(asked: &StdinOption, size: u32) -> Result<Stdin, String> {
    Ok(match asked {
        StdinOption::None => Stdin::Nobody,
        StdinOption::All => Stdin::Copies((0..size).collect()),
        StdinOption::Ranks(ranks) => match (ranks.as_slice(), ranks.iter().find(|&&rank| rank >= size)) {
            (_, Some(rank)) => {
                return Err(format!("--stdin {rank}: there is no such rank in a job of {size}"));
            }
            (&[rank], None) => Stdin::Rank(rank),
            _ => Stdin::Copies(ranks.clone()),
        },
    })
}

fn new_job_id() -> Result<u64, oxmpi_wireup::Error> {
    let secret = Secret::random()?;
    let id = secret.bytes().first_chunk::<8>().map_or(1, |bytes| u64::from_le_bytes(*bytes));
    Ok(id.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores;
    use crate::link::{Message, ToNode};
    use std::ffi::OsString;

    fn plan(line: &str) -> Result<Plan, String> {
        let line = CommandLine::parse(line.split_whitespace().map(OsString::from)).expect("sound");
        make(&line, false, survey(&line)?, BTreeMap::new())
    }

    #[test]
    fn more_ranks_than_cores_are_bound_to_nothing() {
        let plan = plan("-n 9999 true").expect("a plan");
        assert!(plan.launch.oversubscribed);
        assert_eq!(plan.launch.local_ranks.len(), 9999);
        assert!(plan.launch.places.iter().all(|place| place.processors.is_empty()));
    }

    #[test]
    fn programs_follow_each_other() {
        let plan = plan("--host localhost:9 -n 2 -x A=1 true a : -n 3 false : -n 1 true").expect("a plan");
        let apps: Vec<u32> = plan.launch.places.iter().map(|p| p.program).collect();
        assert_eq!(apps, [0, 0, 1, 1, 1, 2]);
        assert_eq!(plan.launch.apps.iter().map(|a| a.ranks).collect::<Vec<_>>(), [2, 3, 1]);
        assert_eq!(plan.launch.programs[0].arguments, ["a"]);
        let has = |n: usize| plan.launch.programs[n].environment.contains(&("A".into(), "1".into()));
        assert!(has(0) && !has(1));
        let first = |n: usize| {
            let wanted: OsString = "OMPI_FIRST_RANKS".into();
            plan.launch.programs[n].environment.iter().find(|(name, _)| *name == wanted).map(|v| v.1.clone())
        };
        assert_eq!(first(1), Some("0 2 5".into()));
        // The node has the slots that were given, not its cores besides.
        assert_eq!(plan.launch.universe, 9);
    }

    #[test]
    fn each_node_has_its_part() {
        let line = "--host a:1,unused:0x,b:2 --mca plm local true";
        assert!(plan(line).is_err(), "a bad number of slots");
        let plan = plan("--host a:1,b:2,unused:3 --mca plm local -n 3 --map-by slot true a").expect("a plan");
        let parts = plan.split();
        let summary: Vec<_> = parts.iter().map(|p| (p.node, p.places.len())).collect();
        assert_eq!(summary, [(0, 1), (1, 2)]);
        assert!(parts.iter().all(|p| p.cores > 0));
        let job = plan.launch.common();
        let whole: Vec<Launch> =
            parts.into_iter().map(|part| part.complete(job.clone()).expect("of this job")).collect();
        assert!(whole.iter().all(|p| p.node_names == ["a", "b"] && p.map == plan.launch.map));
        assert!(whole.iter().all(|p| p.programs[0].arguments == ["a"]));
        assert_eq!(whole[1].local_ranks, [1, 2]);
    }

    /// Parts of many nodes together are as large as their ranks are many, and say nothing of other nodes.
    #[test]
    fn parts_of_many_nodes_are_small() {
        let bytes = |nodes: usize| {
            let hosts: Vec<String> = (0..nodes).map(|node| format!("node{node:07}:1")).collect();
            let line = format!("--host {} --mca plm local --bind-to none true", hosts.join(","));
            let plan = plan(&line).expect("a plan");
            let parts = plan.split();
            assert_eq!((parts.len(), plan.launch.node_names.len()), (nodes, nodes));
            let sizes = parts.into_iter().map(|part| ToNode::Part(part).encode().expect("short").len());
            let common = ToNode::Job(Box::new(plan.launch.common())).encode().expect("short").len();
            (sizes.max().expect("a part"), common)
        };
        let ((few, _), (many, common)) = (bytes(2), bytes(2000));
        assert_eq!(few, many, "bytes of a node's part of 2 and of 2000 nodes");
        assert!(many < 64 && common > 2000 * 11, "{many} and {common} bytes");
    }

    /// Slurm's nodes are all there is inside its allocation, unless ssh is asked for.
    #[test]
    fn slurm_has_its_own_nodes_only() {
        let allocation = || {
            let named = vec![("n1".to_owned(), 2), ("n2".to_owned(), 2)];
            Some(Allocation { system: "Slurm", nodes: 2, named })
        };
        let survey = |words: &str, allocation| {
            let line = CommandLine::parse(words.split_whitespace().map(OsString::from)).expect("sound");
            survey_in(&line, allocation, None)
        };
        for outside in ["--host elsewhere", "--host n1,elsewhere", "--host n1,elsewhere --mca plm slurm"] {
            let why = survey(&format!("{outside} true"), allocation()).expect_err(outside);
            assert!(why.contains("elsewhere") && why.contains("not in this Slurm allocation"), "{why}");
            assert!(why.contains("--mca plm ssh"), "{why}");
        }
        let plm =
            |words, allocation| survey(words, allocation).expect(words).request.map(|request| request.plm);
        assert_eq!(plm("--host elsewhere --mca plm ssh true", allocation()), Some(Plm::Ssh));
        assert_eq!(plm("--host n2 true", allocation()), Some(Plm::Slurm));
        assert_eq!(plm("--host N2 true", allocation()), Some(Plm::Slurm), "case is no matter in names");
        assert_eq!(plm("--host elsewhere true", None), Some(Plm::Ssh));
        let unknown = Allocation { system: "Slurm", nodes: 2, named: Vec::new() };
        assert_eq!(plm("--host elsewhere true", Some(unknown)), Some(Plm::Ssh), "its names are not known");
    }

    /// Nodes of one machine do not get the same core.
    #[test]
    fn nodes_share_the_machine_s_cores() {
        let cores =
            cores::count(std::path::Path::new("/sys/devices/system"), &cores::allowed().expect("a mask"));
        if cores < 2 {
            return;
        }
        for options in ["", "--bind-to core", "--map-by node"] {
            let parts =
                plan(&format!("--host a:1,b:1 --mca plm local {options} true")).expect(options).split();
            let [a, b] = [0, 1].map(|n: usize| parts[n].places[0].processors.clone());
            assert!(a.iter().all(|processor| !b.contains(processor)), "{options}: {a:?} {b:?}");
        }
        let many = plan(&format!("--host a:{cores},b:1 --mca plm local --bind-to core true"));
        assert!(many.expect_err("more than cores").contains("core"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (line, part) in [
            ("--host localhost:2 -n 3 true", "not enough slots"),
            ("--host localhost -n 2 true", "not enough slots"),
            ("--hostfile /no/such/file true", "/no/such/file"),
            ("-n 99999 --nooversubscribe true", "not enough slots"),
            ("--nolocal true", "NOLOCAL"),
            ("-n 1 true : true", "needs -n"),
            ("--wdir /no/such/folder true", "/no/such/folder"),
            ("--path /no:/such no-such-program", "no-such-program"),
            ("--map-by rankfile:file=/no/such/file true", "/no/such/file"),
            ("--map-by pe-list=99999 true", "core 99999"),
            ("--mca a 1 --mca a 2 true", "a"),
            ("--mca a 1 --gmca a 2 true", "a"),
        ] {
            let why = plan(line).expect_err(line);
            assert!(why.contains(part), "{line}: {why}");
        }
    }

    #[test]
    fn displays_and_reports() {
        let all = plan("-n 2 --display map,map-devel,bind,topo,cpus,allocation --report-bindings true");
        let all = all.expect("a plan");
        for part in ["Rank 0", "Rank 1", "slots=", "package[0]"] {
            assert!(all.shown.contains(part), "{part}: {}", all.shown);
        }
        assert!(
            all.reported.contains("] Rank 1 bound to package[") || cores::available() < 2,
            "{}",
            all.reported
        );
        let none = plan("-n 2 --bind-to none --report-bindings true").expect("a plan");
        assert_eq!(none.reported.matches("is not bound (or bound to all available processors)").count(), 2);
        assert_eq!(none.shown, "");
        for options in ["--verbose", "--display map", "--mca plm local --host a:1,b:1 --verbose"] {
            let shown = plan(&format!("-n 2 {options} true")).expect("a plan");
            let bound = shown.launch.places.iter().filter(|place| !place.processors.is_empty()).count();
            let text = shown.shown + &shown.reported;
            assert_eq!(text.matches("Binding: package[").count(), bound, "{options}: {text}");
            assert_eq!(text.matches("Binding: N/A").count(), 2 - bound, "{options}: {text}");
        }
        let parseable = plan("-n 2 --display map,bind:parseable true").expect("a plan").shown;
        assert!(parseable.lines().all(|line| line.split(':').count() >= 3), "{parseable}");
    }
}
