//! `--display` and `--report-bindings`.

use super::place::Placed;
use crate::cli::CommandLine;
use crate::cli::policy::Display;
use oxmpi_wireup::topology::{Level, write_list};
use std::fmt::Write;

/// One line per rank, as Open MPI 5 writes it.
pub fn bindings(placed: &Placed) -> String {
    let own = std::process::id();
    let mut text = String::new();
    for (rank, process) in placed.processes.iter().enumerate() {
        let host = &placed.nodes[process.node].name;
        let line = match described(placed, rank) {
            Some(binding) => format!("[{host}:{own}] Rank {rank} bound to {binding}"),
            None => {
                format!("[{host}:{own}] Rank {rank} is not bound (or bound to all available processors)")
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The objects that a rank is bound to; None: none.
fn described(placed: &Placed, rank: usize) -> Option<String> {
    let process = &placed.processes[rank];
    let topology = placed.nodes[process.node].topology.as_ref()?;
    let bound = !process.processors.is_empty();
    bound.then(|| topology.describe(&process.processors, placed.policy.threads))
}

/// Everything that `--display` asks for.
pub fn display(what: &Display, placed: &Placed, line: &CommandLine) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = match what.parseable {
        true => parseable(&mut text, what, placed, line),
        false => readable(&mut text, what, placed, line),
    };
    text
}

fn title(text: &mut String, words: &str) -> std::fmt::Result {
    writeln!(text, "======================   {words}   ======================")
}

fn readable(text: &mut String, what: &Display, placed: &Placed, line: &CommandLine) -> std::fmt::Result {
    if what.allocation {
        title(text, "ALLOCATED NODES")?;
        for grant in &placed.grants {
            let given = if grant.given { "given" } else { "counted" };
            let name = &placed.nodes[grant.node].name;
            let max = grant.max_slots.unwrap_or(0);
            writeln!(text, "    {name}: slots={} ({given}) max_slots={max}", grant.slots)?;
        }
    }
    if what.map || what.map_devel {
        title(text, "JOB MAP")?;
        if what.map_devel {
            let rank_by = line.job.rank_by;
            writeln!(text, "    Mapped by: {}", placed.mapped_by)?;
            writeln!(text, "    Ranked by: {}", rank_by.map_or("as mapped".into(), |by| format!("{by:?}")))?;
            writeln!(text, "    Bound to: {}", placed.policy.to)?;
        }
        for (number, node) in placed.nodes.iter().enumerate() {
            let here = placed.processes.iter().filter(|p| p.node == number).count();
            writeln!(text, "Data for node: {}    Num procs: {here}", node.name)?;
            for (rank, process) in placed.processes.iter().enumerate().filter(|(_, p)| p.node == number) {
                let program = line.apps[process.app].program.to_string_lossy();
                let binding = described(placed, rank).unwrap_or_else(|| "N/A".into());
                write!(text, "    Rank {rank}    App: {} ({program})", process.app)?;
                if let (true, Some((level, object))) = (what.map_devel, process.object) {
                    write!(
                        text,
                        "    Mapped to: {}[{}]",
                        level.name(),
                        index(placed, process.node, level, object)
                    )?;
                }
                writeln!(text, "    Binding: {binding}")?;
            }
        }
    }
    if what.bindings {
        title(text, "BINDINGS")?;
        text.push_str(&bindings(placed));
    }
    for node in &placed.nodes {
        let Some(topology) = &node.topology else { continue };
        if what.topo {
            title(text, &format!("TOPOLOGY OF NODE {}", node.name))?;
            let all = Level::ALL.map(|level| format!("{}={}", level.name(), topology.objects(level).len()));
            writeln!(text, "    {}", all.join(" "))?;
            for level in [Level::Package, Level::Numa, Level::L3, Level::Core] {
                for object in topology.objects(level) {
                    let mut processors = object.processors.clone();
                    processors.sort_unstable();
                    let list = write_list(&processors);
                    writeln!(text, "    {}[{}]: processors {list}", level.name(), object.index)?;
                }
            }
        }
        if what.cpus {
            title(text, &format!("CPUS OF NODE {}", node.name))?;
            for package in topology.objects(Level::Package) {
                writeln!(text, "    {}", topology.describe(&package.processors, placed.policy.threads))?;
            }
        }
    }
    Ok(())
}

fn index(placed: &Placed, node: usize, level: Level, object: usize) -> u32 {
    let topology = placed.nodes[node].topology.as_ref();
    topology.and_then(|t| t.objects(level).get(object)).map_or(0, |o| o.index)
}

/// The same for programs: one thing per line, `kind:node:...`.
fn parseable(text: &mut String, what: &Display, placed: &Placed, line: &CommandLine) -> std::fmt::Result {
    for grant in placed.grants.iter().filter(|_| what.allocation) {
        let name = &placed.nodes[grant.node].name;
        let max = grant.max_slots.unwrap_or(0);
        writeln!(text, "allocation:{name}:slots={}:max_slots={max}:given={}", grant.slots, grant.given)?;
    }
    for (rank, process) in placed.processes.iter().enumerate() {
        let name = &placed.nodes[process.node].name;
        if what.map || what.map_devel {
            let program = line.apps[process.app].program.to_string_lossy();
            writeln!(text, "map:{name}:rank={rank}:app={}:program={program}", process.app)?;
        }
        if what.bindings || what.map_devel {
            let mut processors = process.processors.clone();
            processors.sort_unstable();
            writeln!(text, "bind:{name}:rank={rank}:processors={}", write_list(&processors))?;
        }
    }
    for node in &placed.nodes {
        let Some(topology) = &node.topology else { continue };
        let levels = Level::ALL.into_iter().filter(|level| what.topo || what.cpus && *level == Level::Core);
        for level in levels {
            for object in topology.objects(level) {
                let mut processors = object.processors.clone();
                processors.sort_unstable();
                let list = write_list(&processors);
                writeln!(text, "topo:{}:{}={}:processors={list}", node.name, level.name(), object.index)?;
            }
        }
    }
    Ok(())
}
