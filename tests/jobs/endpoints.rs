//! Endpoints of the library's own (MPIX_Comm_create_endpoints): ranks that threads of one process drive, with the same and with different numbers in
//! each process, on one node, over TCP, and by a transport that reorders.

use oxmpi_tests::{Job, leave_out, mpi};
use std::process::Command;

/// Endpoints of the processes in turn: alike, more than cores, different, with processes that have none.
const COUNTS: [(usize, &str); 6] = [(1, "1"), (2, "1"), (1, "8"), (2, "3"), (3, "204"), (4, "12")];

fn ours(what: &str) -> bool {
    let ours = mpi().is_ours();
    if !ours {
        leave_out(what, "MPIX_Comm_create_endpoints is ours");
    }
    ours
}

fn over_tcp() -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    job.args(["--host", "a:1,b:1", "--mca", "plm", "local", "--mca", "btl", "self,tcp"])
}

fn everywhere(what: &str) {
    if !ours(what) {
        return;
    }
    for (ranks, counts) in COUNTS {
        Job::new(ranks).limit(240).program("endpoint_ranks").arg(what).arg(counts).run().all_ok(ranks);
    }
    over_tcp().limit(240).program("endpoint_ranks").arg(what).arg("23").run().all_ok(2);
}

#[test]
fn they_are_numbered_and_refused() {
    everywhere("made");
}

#[test]
fn messages() {
    everywhere("messages");
}

#[test]
fn collectives() {
    everywhere("collectives");
}

#[test]
fn communicators_of_endpoints() {
    everywhere("communicators");
}

#[test]
fn windows_of_endpoints() {
    everywhere("windows");
}
