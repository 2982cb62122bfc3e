//! Prints how many messages and bytes the wire-up of a job takes, per rank and per daemon, up to a million ranks
//! (`cargo run -p oxmpi-mpirun --example wireup`).

use oxmpi_mpirun::link::{Counts, Launch, Message, Program, Stdin, Sum, ToNode};
use oxmpi_mpirun::remote::facts::NodeFacts;
use oxmpi_mpirun::tally::{Daemon, Shape, count};
use oxmpi_wireup::{AppFacts, NodeMap, Secret};
use std::process::ExitCode;

/// Daemons that each starts, as `rml_base_radix` has it where nobody sets it.
const WIDTH: usize = 32;

fn main() -> ExitCode {
    match table() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("wireup: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The part that is the same for all nodes.
fn launch(nodes: u32, each: u32, node_names: Vec<String>) -> Launch {
    let of_ranks: Vec<u32> = (0..nodes * each).map(|rank| rank / each).collect();
    let program = Program { program: "./program".into(), ..Program::default() };
    Launch {
        job_id: 1,
        secret: Secret::from_bytes([0; Secret::BYTES]),
        map: NodeMap::of(&of_ranks),
        node: 0,
        node_names,
        local_ranks: Vec::new(),
        cores: 0,
        oversubscribed: false,
        params: Vec::new(),
        programs: vec![program],
        places: Vec::new(),
        apps: vec![AppFacts { ranks: nodes * each, command: "./program".into(), ..AppFacts::default() }],
        universe: nodes * each,
        interactive: false,
        raw: false,
        stdin: Stdin::Rank(0),
        hold: false,
        tree: 1,
        sites: Vec::new(),
        parent: String::new(),
    }
}

fn table() -> Result<(), String> {
    println!(
        "| ranks | nodes | asked | mpirun: messages | bytes | daemon: messages | bytes | at most | bytes | rank: messages | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let facts = NodeFacts::own()?;
    for (nodes, each) in [(2, 2), (4, 2), (8, 2), (8, 64), (64, 64), (1024, 64), (15_625, 64), (1_000_000, 1)]
    {
        for asks in [0, 6] {
            // Names of eleven letters, a program with its arguments, and no environment beside.
            let names = (0..nodes).map(|node| format!("node{node:07}")).collect();
            let job = ToNode::Job(Box::new(launch(nodes, each, names))).encode();
            let shape = Shape {
                nodes,
                each,
                width: WIDTH,
                fences: 2,
                asks: asks.min(u64::from(nodes) - 1),
                key: "btl_tcp".into(),
                value: 64,
                job: job.map_err(|why| why.to_string())?.len(),
                facts: facts.clone(),
            };
            let tally = count(&shape).map_err(|why| why.to_string())?;
            let both = |counts: Counts| Sum {
                messages: counts.sent.messages + counts.received.messages,
                bytes: counts.sent.bytes + counts.received.bytes,
            };
            let of_daemon = |daemon: &Daemon| {
                let (up, below) = (both(daemon.up), both(daemon.below));
                (up.messages + below.messages, up.bytes + below.bytes)
            };
            let all: Vec<(u64, u64)> = tally.daemons.iter().map(of_daemon).collect();
            let mean = |part: fn(&(u64, u64)) -> u64| all.iter().map(part).sum::<u64>() / u64::from(nodes);
            let most = |part: fn(&(u64, u64)) -> u64| all.iter().map(part).max().unwrap_or(0);
            let (mpirun, rank) = (both(tally.mpirun), both(tally.rank));
            println!(
                "| {} | {nodes} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                u64::from(nodes) * u64::from(each),
                shape.asks,
                mpirun.messages,
                mpirun.bytes,
                mean(|(messages, _)| *messages),
                mean(|(_, bytes)| *bytes),
                most(|(messages, _)| *messages),
                most(|(_, bytes)| *bytes),
                rank.messages,
                rank.bytes
            );
        }
    }
    Ok(())
}
