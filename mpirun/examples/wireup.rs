//! Prints how many messages and bytes the wire-up of a job takes, per rank and per daemon, up to a million ranks
//! (`cargo run -p oxmpi-mpirun --example wireup`).

use oxmpi_mpirun::link::{Counts, Sum};
use oxmpi_mpirun::tally::{Daemon, Shape, count};
use std::process::ExitCode;

fn main() -> ExitCode {
    match table() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("wireup: {why}");
            ExitCode::FAILURE
        }
    }
}

fn table() -> Result<(), String> {
    println!(
        "| ranks | nodes | asked | mpirun: messages | bytes | daemon: messages | bytes | at most | bytes | rank: messages | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (nodes, each) in [(2, 2), (4, 2), (8, 2), (8, 64), (64, 64), (1024, 64), (15_625, 64), (1_000_000, 1)]
    {
        for asks in [0, 6] {
            let shape = Shape::usual(nodes, each, asks.min(u64::from(nodes) - 1))?;
            let tally = count(&shape).map_err(|why| why.to_string())?;
            let both = |counts: Counts| Sum {
                messages: counts.sent.messages + counts.received.messages,
                bytes: counts.sent.bytes + counts.received.bytes,
            };
            let of_daemon = |daemon: &Daemon| {
                let all = [daemon.up, daemon.below, daemon.direct].map(both);
                (all.iter().map(|sum| sum.messages).sum(), all.iter().map(|sum| sum.bytes).sum())
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
