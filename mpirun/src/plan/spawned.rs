//! The plan of a job that a process of a running one asks for (MPI 5.0 §11.8): its hints become options, and the planner of `mpirun`'s
//! own command line does the rest.
//!
//! **Slots** are those that mpirun was given, less those in use. A program that names no nodes may use all that are left; with
//! `host` it chooses among them, with `add-host` and `add-hostfile` it names others. Where nobody has said how many slots
//! there are, cores are counted and more processes may be started than that, as on the command line.
//!
//! **Machines.** A job needs daemons of its own on the machines that it uses. Their make is known where an earlier job had a
//! daemon there; so a job is planned first, and daemons are started for the machines in the plan. Where a hint names a machine of which nothing
//! is known, the daemons of all machines that the job may use come first, and the plan follows when they have said what they are made of.
//!
//! **Inherited** are parameters, environment and all that is about output; mapping, ranking and binding are not, unless the hint
//! `oxmpi_inherit` says so, but for the permission to have more processes than slots. A new job is bound to nothing
//! unless a hint binds it: the cores are in use.

use super::hints::Hinted;
use super::hosts::NamedNodes;
use super::{Plan, make, survey_later};
use crate::cli::policy::BindTo;
use crate::cli::{App, CommandLine, Refusal};
use crate::help::paragraph;
use crate::remote::facts::NodeFacts;
use crate::remote::start::Request;
use oxmpi_wireup::Secret;
use oxmpi_wireup::jobs::{SpawnRequest, SpawnedProgram};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Attempts to plan with fewer processes where a program may have fewer.
const ATTEMPTS: usize = 256;

/// Facts about what runs, from which a later job is planned.
#[derive(Debug)]
pub struct Known<'a> {
    /// The command line of the first job.
    pub first: &'a CommandLine,
    /// Options of the program whose process asks.
    pub app: &'a App,
    pub names: &'a NamedNodes,
    /// Nodes that mpirun was given, and their slots where somebody said how many.
    pub granted: &'a [(String, Option<u32>)],
    /// Processes on each node.
    pub in_use: &'a BTreeMap<String, u32>,
    pub universe: u32,
    pub tree: u64,
    pub secret: &'a Secret,
    pub interactive: bool,
    /// Descriptions of other machines by their daemons, by node.
    pub facts: &'a BTreeMap<usize, NodeFacts>,
}

/// A job that can be planned, and what is to be done before it starts.
#[derive(Debug)]
pub struct Prepared {
    pub plan: Plan,
    /// How many processes of each program.
    pub counts: Vec<u32>,
    /// Daemons on other machines that are to be started.
    pub request: Option<Request>,
    /// The plan is a guess: it is to be made again when those daemons have said what their machines are made of.
    pub is_guess: bool,
}

impl Prepared {
    /// Nodes on which daemons are to be started.
    pub fn needs(&self) -> impl Iterator<Item = u32> {
        self.request.iter().flat_map(|request| &request.nodes).map(|(node, _)| *node)
    }
}

/// Plans the job; an error is a paragraph for the user.
pub fn plan(known: &Known<'_>, request: &SpawnRequest) -> Result<Prepared, String> {
    let folder = PathBuf::from(OsString::from_vec(request.folder.clone()));
    let mut choices = Vec::with_capacity(request.programs.len());
    let mut line: Option<CommandLine> = None;
    let mut free = known.free();
    for program in &request.programs {
        let hinted = Hinted::read(program, &folder)?;
        if !hinted.added.is_empty() || !hinted.hostfiles.is_empty() {
            free = None;
        }
        choices.push(hinted.choices(program, free)?);
        let read = known.line(program, hinted, &folder)?;
        match &mut line {
            None => line = Some(read),
            Some(line) => line.apps.extend(read.apps),
        }
    }
    let mut line = line.ok_or_else(|| paragraph("no-program", &[]))?;
    let mut chosen = vec![0_usize; choices.len()];
    let mut first_why = None;
    for _ in 0..ATTEMPTS {
        let counts: Vec<u32> = choices.iter().zip(&chosen).map(|(all, at)| all[*at]).collect();
        line.apps.iter_mut().zip(&counts).for_each(|(app, count)| app.ranks = Some(*count));
        // Each program has the nodes for itself in the plan, and all have them together.
        let wanted: u32 = counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
        let fits = match free.filter(|free| wanted > *free && *free > 0) {
            Some(free) => {
                let name = String::from_utf8_lossy(&request.programs[0].command);
                Err(paragraph("not-enough-slots", &[&wanted.to_string(), &name, &free.to_string()]))
            }
            None => known.try_plan(&line, request),
        };
        match fits {
            Ok((plan, daemons)) => {
                let is_guess = !plan.guessed.is_empty();
                return Ok(Prepared { plan, counts, request: daemons, is_guess });
            }
            Err(why) => drop(first_why.get_or_insert(why)),
        }
        // The program with most processes among those that may have fewer.
        let smaller = (0..choices.len()).filter(|&at| chosen[at] + 1 < choices[at].len());
        let Some(at) = smaller.max_by_key(|&at| counts[at]) else { break };
        chosen[at] += 1;
    }
    Err(first_why.unwrap_or_default())
}

impl Known<'_> {
    /// Slots that are left on a node; None: nobody said how many it has.
    fn left_on(&self, name: &str) -> Option<u32> {
        let (name, slots) = self.granted.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some((*slots)?.saturating_sub(self.in_use.get(name).copied().unwrap_or(0)))
    }

    /// Slots that are left on all nodes; None: there is no limit.
    fn free(&self) -> Option<u32> {
        if self.first.job.mapping.oversubscribe == Some(true) {
            return None;
        }
        self.granted.iter().map(|(name, _)| self.left_on(name)).sum()
    }

    /// Whether a node, called as mpirun's list has it, is another machine.
    fn is_elsewhere(&self, name: &str) -> bool {
        let node = self.names.names().iter().position(|known| known == name);
        node.is_some_and(|node| !self.names.is_here(node))
    }

    /// The plan, and the daemons that it needs on other machines.
    fn try_plan(
        &self,
        line: &CommandLine,
        request: &SpawnRequest,
    ) -> Result<(Plan, Option<Request>), String> {
        let survey = survey_later(line, self.names.clone())?;
        let daemons = survey.request.clone();
        let mut plan = make(line, self.interactive, survey, self.facts.clone())?;
        plan.launch.secret = self.secret.clone();
        plan.launch.tree = self.tree;
        plan.launch.parent = request.port.clone();
        plan.launch.oversubscribed |= self.is_crowded(&plan);
        let granted = |name: &str| plan.granted.iter().any(|(granted, _)| granted == name);
        let is_needed = |node: u32| match plan.guessed.is_empty() {
            true => plan.machines.contains(&node),
            false => granted(&plan.names.names()[node as usize]),
        };
        let daemons = daemons.map(|mut daemons| {
            daemons.nodes.retain(|(node, _)| is_needed(*node));
            daemons
        });
        Ok((plan, daemons.filter(|daemons| !daemons.nodes.is_empty())))
    }

    /// Whether some machine of the plan has more processes than processors, with those that run there already.
    fn is_crowded(&self, plan: &Plan) -> bool {
        let mut machines: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (node, &number) in (0..).zip(&plan.machines) {
            let is_here = plan.names.is_here(number as usize);
            let facts = self.facts.get(&(number as usize)).filter(|_| !is_here);
            let room = facts.map_or_else(crate::cores::available, |facts| facts.processors);
            // Nodes here are one machine.
            let of_machine = |name: &str| match is_here {
                true => !self.is_elsewhere(name),
                false => plan.launch.node_names[node as usize] == name,
            };
            let running = self.in_use.iter().filter(|(name, _)| of_machine(name)).map(|(_, count)| *count);
            let machine = machines.entry(if is_here { 0 } else { number }).or_insert((running.sum(), room));
            machine.0 = machine.0.saturating_add(plan.launch.map.count(node));
        }
        machines.values().any(|(processes, room)| processes > room)
    }

    /// The options of one program, as if they had been given to mpirun.
    fn line(&self, program: &SpawnedProgram, hinted: Hinted, folder: &Path) -> Result<CommandLine, String> {
        let mut words = hinted.words.clone();
        let files =
            hinted.hostfiles.iter().flat_map(|file| ["--hostfile".into(), file.clone().into_os_string()]);
        words.extend(files);
        for host in self.hosts(program, &hinted)? {
            words.extend(["--host".into(), host.into()]);
        }
        words.push("program".into());
        let mut line = CommandLine::parse(words).map_err(|why| match why {
            Refusal::Clap(why) => why.to_string(),
            Refusal::Text(text) | Refusal::Say(text) => text,
        })?;
        let first = &self.first.job;
        let mut job = line.job;
        if hinted.inherit {
            (job.mapping, job.binding, job.rank_by) =
                (first.mapping.clone(), first.binding.clone(), first.rank_by);
        } else if job.binding.to.is_none() && !hinted.mapped {
            job.binding.to = Some(BindTo::None);
        }
        job.mapping.oversubscribe = job.mapping.oversubscribe.or(first.mapping.oversubscribe);
        job.parameters.clone_from(&first.parameters);
        job.tune.clone_from(&first.tune);
        job.prefix = job.prefix.or_else(|| first.prefix.clone());
        (job.no_prefix, job.forward_environment) = (first.no_prefix, first.forward_environment);
        job.environment = first.environment.clone();
        (job.output, job.buffering) = (first.output.clone(), first.buffering);
        (job.verbosity, job.at_time_limit) = (first.verbosity, first.at_time_limit);
        job.stdin = crate::cli::output::Stdin::None;
        (job.universe, job.spawn_timeout) = (Some(self.universe), first.spawn_timeout);
        line.job = job;
        let Some(app) = line.apps.first_mut() else { return Err(paragraph("no-program", &[])) };
        app.program = OsString::from_vec(program.command.clone());
        app.arguments = program.arguments.iter().map(|a| OsString::from_vec(a.clone())).collect();
        app.wdir = app.wdir.take().or_else(|| Some(folder.to_path_buf()));
        (app.soft, app.file) = (hinted.soft_text, hinted.file);
        app.environment = self.app.environment.clone();
        app.environment.changes.extend(hinted.environment);
        let said = |name: &str| hinted.parameters.iter().any(|(other, _)| other == name);
        let inherited = self.app.parameters.iter().filter(|(name, _)| !said(name));
        app.parameters = inherited.chain(&hinted.parameters).cloned().collect();
        Ok(line)
    }

    /// Nodes of a program as `--host` has them; empty: mpirun's own choice.
    fn hosts(&self, program: &SpawnedProgram, hinted: &Hinted) -> Result<Vec<String>, String> {
        let limited = self.granted.iter().any(|(name, slots)| slots.is_some() || self.is_elsewhere(name));
        let mut hosts = Vec::new();
        if !hinted.has_hosts && hinted.hostfiles.is_empty() && (limited || !hinted.added.is_empty()) {
            for (name, _) in self.granted {
                match self.left_on(name) {
                    None => hosts.push(format!("{}:*", bracketed(name))),
                    Some(0) => {}
                    Some(left) => hosts.push(format!("{}:{left}", bracketed(name))),
                }
            }
            if hosts.is_empty() && hinted.added.is_empty() {
                if self.first.job.mapping.oversubscribe == Some(true) {
                    hosts.extend(self.granted.iter().map(|(name, _)| format!("{}:1", bracketed(name))));
                }
                if !hosts.is_empty() {
                    return Ok(hosts);
                }
                let name = String::from_utf8_lossy(&program.command).into_owned();
                return Err(paragraph("spawn-no-slots", &[&program.most.to_string(), &name]));
            }
        }
        // A node that is added is named with its slots below.
        let bare = |host: &str| host.split(':').next().unwrap_or(host).to_ascii_lowercase();
        let is_added = |host: &str| hinted.added.iter().any(|added| bare(added) == bare(host));
        for host in &hinted.hosts {
            if self.granted.iter().any(|(name, _)| name.eq_ignore_ascii_case(host)) || !is_added(host) {
                hosts.push(self.chosen(host, "host")?);
            }
        }
        for host in &hinted.added {
            let known = self.granted.iter().any(|(name, _)| name.eq_ignore_ascii_case(host));
            hosts.extend(
                (!known).then(|| if host.contains(':') { host.clone() } else { format!("{host}:*") }),
            );
        }
        Ok(hosts)
    }

    /// A node that `host` names, with the slots that are left there.
    fn chosen(&self, host: &str, key: &str) -> Result<String, String> {
        let (name, count) = match host.rsplit_once(':') {
            Some((name, count)) if !name.contains(':') => (name, count.parse::<u32>().ok()),
            _ => (host, None),
        };
        let mut names = self.names.clone();
        let before = names.names().len();
        let node = names.node_of(name)?;
        let Some(name) = self.names.names().get(node).filter(|_| node < before) else {
            return Err(paragraph("spawn-host", &[name, key]));
        };
        let name_of_grant = |(granted, _): &&(String, Option<u32>)| granted == name;
        if !self.granted.iter().any(|grant| name_of_grant(&grant)) {
            return Err(paragraph("spawn-host", &[name, key]));
        }
        Ok(match (self.left_on(name), count) {
            (None, None) => format!("{}:*", bracketed(name)),
            (None, Some(count)) => format!("{}:{count}", bracketed(name)),
            (Some(left), count) => {
                let usable = left.min(count.unwrap_or(u32::MAX));
                if usable == 0 && self.first.job.mapping.oversubscribe != Some(true) {
                    return Err(paragraph("spawn-no-slots", &["", &format!("on node {name}")]));
                }
                format!("{}:{}", bracketed(name), usable.max(1))
            }
        })
    }
}

/// A node's name as a count may follow it.
fn bracketed(name: &str) -> String {
    if name.contains(':') { format!("[{name}]") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> CommandLine {
        CommandLine::parse(words.split_whitespace().map(OsString::from)).expect("sound")
    }

    fn try_spawn(first: &str, used: u32, most: u32, hints: &[(&str, &str)]) -> Result<Vec<u32>, String> {
        prepare(first, used, most, hints).map(|prepared| prepared.counts)
    }

    fn prepare(first: &str, used: u32, most: u32, hints: &[(&str, &str)]) -> Result<Prepared, String> {
        let first = line(first);
        let survey = super::super::survey(&first)?;
        let plan = make(&first, false, survey, BTreeMap::new())?;
        let in_use = BTreeMap::from([(plan.granted[0].0.clone(), used)]);
        let known = Known {
            first: &first,
            app: &first.apps[0],
            names: &plan.names,
            granted: &plan.granted,
            in_use: &in_use,
            universe: plan.launch.universe,
            tree: 9,
            secret: &plan.launch.secret,
            interactive: false,
            facts: &BTreeMap::new(),
        };
        let hints = hints.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let program =
            SpawnedProgram { command: b"true".to_vec(), arguments: vec![b":".to_vec()], most, hints };
        let request = SpawnRequest {
            programs: vec![program.clone(), program],
            folder: b"/".to_vec(),
            port: "p".into(),
        };
        let prepared = super::plan(&known, &request)?;
        let launch = &prepared.plan.launch;
        assert_eq!((launch.tree, launch.parent.as_str()), (9, "p"));
        assert_eq!(launch.programs[0].arguments, [":"]);
        assert_eq!(launch.map.size(), prepared.counts.iter().sum::<u32>());
        Ok(prepared)
    }

    #[test]
    fn slots_that_are_left() {
        assert_eq!(try_spawn("--host localhost:5 -n 1 true", 1, 2, &[]), Ok(vec![2, 2]));
        let why = try_spawn("--host localhost:5 -n 1 true", 2, 2, &[]).expect_err("three are left");
        assert!(why.contains("not enough slots"), "{why}");
        let why = try_spawn("--host localhost:1 -n 1 true", 1, 2, &[]).expect_err("none is left");
        assert!(why.contains("No slot is left"), "{why}");
        assert_eq!(try_spawn("--host localhost:1 --oversubscribe -n 1 true", 1, 2, &[]), Ok(vec![2, 2]));
        assert_eq!(try_spawn("-n 1 true", 1, 9, &[]), Ok(vec![9, 9]), "nobody has given slots");
    }

    #[test]
    fn fewer_where_that_may_be() {
        let soft = [("soft", "1:8")];
        assert_eq!(try_spawn("--host localhost:5 -n 1 true", 1, 8, &soft), Ok(vec![2, 2]));
        assert_eq!(try_spawn("--host localhost:9 -n 1 true", 1, 3, &[("soft", "2,8")]), Ok(vec![2, 2]));
        assert!(try_spawn("-n 1 true", 1, 3, &[("soft", "8")]).is_err_and(|why| why.contains("soft")));
        assert!(try_spawn("-n 1 true", 1, 3, &[("soft", "a")]).is_err_and(|why| why.contains("soft")));
    }

    #[test]
    fn machines_have_slots_and_need_daemons() {
        let first = "--host localhost:5,elsewhere:9 -n 2 true";
        let why = try_spawn(first, 1, 7, &[]).expect_err("13 are left");
        assert!(why.contains("Slots available: 13"), "{why}");
        let needed = |first: &str, most: u32, hints: &[(&str, &str)]| {
            let prepared = prepare(first, 1, most, hints).expect("there is room");
            let nodes = prepared.request.iter().flat_map(|request| &request.nodes);
            (nodes.map(|(_, name)| name.clone()).collect::<Vec<_>>(), prepared.is_guess)
        };
        let elsewhere = vec!["elsewhere".to_owned()];
        // Of a machine that has said nothing yet, its daemon is asked, whether or not the job fits without it.
        assert_eq!(needed(first, 5, &[]), (elsewhere.clone(), true));
        assert_eq!(needed(first, 1, &[("host", "elsewhere")]), (elsewhere.clone(), true));
        assert_eq!(needed(first, 1, &[("host", "localhost")]), (Vec::new(), false));
        assert_eq!(
            needed(first, 2, &[("host", "far"), ("add-host", "far:4")]),
            (vec!["far".to_owned()], true)
        );
        let (far, guess) = needed(first, 1, &[("host", "localhost"), ("add-host", "u@far")]);
        assert_eq!((far, guess), (vec!["u@far".to_owned()], true));
        assert_eq!(needed("--host elsewhere:9 -n 1 true", 2, &[]), (elsewhere, true));
    }

    #[test]
    fn nodes_by_name() {
        let first = "--mca plm local --host a:2,b:2 -n 1 true";
        assert_eq!(try_spawn(first, 1, 1, &[("host", "b,a")]), Ok(vec![1, 1]));
        let why = try_spawn(first, 1, 1, &[("host", "c")]).expect_err("no such node");
        assert!(why.contains("add-host"), "{why}");
        assert_eq!(try_spawn(first, 1, 4, &[("add-host", "c:8")]), Ok(vec![4, 4]));
        assert!(try_spawn(first, 1, 1, &[("arch", "vax")]).is_err_and(|why| why.contains("vax")));
        assert!(try_spawn(first, 1, 1, &[("map_by", "nonsense")]).is_err());
        assert!(try_spawn(first, 1, 1, &[("map_by", "node"), ("env", "A=1\nB=2")]).is_ok());
    }
}
