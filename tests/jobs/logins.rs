//! A fixed list of MPI programs over machines with networks, host names and memory of their own, which mpirun logs in to by ssh:
//! messages, collectives, threads and windows, over TCP alone and beside shared memory.

use crate::machines::Machines;
use oxmpi_tests::{Job, leave_out, mpi};

const HOSTS: &str = "m1:2,m2:1,m3:1";

/// Programs of four ranks.
const MESSAGES: &[&[&str]] = &[
    &["ring"],
    &["collectives"],
    &["topologies"],
    &["requests"],
    &["wildcards"],
    &["nodes", "m1,m1,m2,m3"],
    &["order", "3", "30"],
];

/// Programs of two ranks, on two machines.
const PAIRS: &[&[&str]] =
    &[&["protocols"], &["datatypes"], &["partitioned"], &["threads"], &["cancel"], &["pieces"]];

/// Programs of windows, of four ranks.
const WINDOWS: &[&[&str]] =
    &[&["rma"], &["rma_threads"], &["rma_reports"], &["rma_errors"], &["rma_random", "1", "12", "3", "2"]];

const TCP_ALONE: &[&str] = &["--mca", "btl", "tcp,self"];
const BESIDE_MEMORY: &[&str] = &["--mca", "btl", "tcp,shm,self"];

fn machines(test: &str) -> Option<Machines> {
    if !mpi().is_ours() {
        leave_out(test, "logins by our own mpirun");
        return None;
    }
    match Machines::up("lg", 50, 3) {
        Ok(machines) => Some(machines),
        Err(why) => {
            leave_out(test, &why);
            None
        }
    }
}

fn passes(job: Job, program: &[&str], ranks: usize) {
    job.limit(300).program(program[0]).args(&program[1..]).run().all_ok(ranks);
}

#[test]
fn programs_over_machines_by_real_logins() {
    let Some(machines) = machines("programs over machines by real logins") else { return };
    for program in PAIRS {
        passes(machines.job("m1,m2").args(TCP_ALONE), program, 2);
    }
    // Components of windows on one transport between all ranks, and the usual one beside shared memory.
    for (transports, components) in [(TCP_ALONE, &["rdma", "pt2pt"][..]), (BESIDE_MEMORY, &["rdma"])] {
        for program in MESSAGES {
            passes(machines.job(HOSTS).args(transports), program, 4);
        }
        for component in components {
            for program in WINDOWS {
                let job = machines.job(HOSTS).args(transports).args(["--mca", "osc", component]);
                passes(job, program, 4);
            }
        }
        let job = machines.job(HOSTS).args(transports).args(["--mca", "osc", "rdma"]);
        passes(job, &["rma_passive"], 4);
    }
}
