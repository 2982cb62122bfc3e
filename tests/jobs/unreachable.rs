//! Calls that need a process which no transport reaches: they end the job with one paragraph, or return.

use oxmpi_tests::{Ended, Job, leave_out, mpi};
use std::process::Command;

/// Every kind of call that sends and receives at once, by its name in `unreachable.c`.
const CALLS: [&str; 35] = [
    "barrier",
    "allreduce",
    "bcast",
    "reduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "scan",
    "sendrecv",
    "half",
    "isendrecv",
    "split",
    "win_allocate",
    "win_create",
    "win_dynamic",
    "neighbor",
    "ibarrier",
    "iallreduce",
    "persistent",
    "dup",
    "create_group",
    "handler",
    "ibcast",
    "iscan",
    "ialltoall",
    "started",
    "intercomm",
    "create",
    "session",
    "merge",
    "inter_split",
    "inter_allgather",
    "inter_barrier",
];

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "lists of transports are ours");
    }
    mpi().is_ours()
}

/// Ranks on one node that do not reach each other.
fn one_node(ranks: &str) -> Job {
    Job::of(Command::new(mpi().bin("mpirun"))).args(["-n", ranks, "--mca", "btl", "self"])
}

/// Two nodes of one rank, with parameters that leave transports which reach nobody on another node.
fn two_nodes(parameters: &[&str]) -> Job {
    Job::of(Command::new(mpi().bin("mpirun")))
        .args(["--host", "a,b", "--mca", "plm", "local", "--mca"])
        .args(parameters)
}

/// How many paragraphs say that no transport reaches a process.
fn told(ended: &Ended) -> usize {
    ended.err.matches("no transport reaches it").count()
}

#[test]
fn a_missing_route_ends_the_job_and_is_told_once() {
    if !ours("missing routes") {
        return;
    }
    for call in [
        "barrier",
        "allreduce",
        "sendrecv",
        "split",
        "win_allocate",
        "iallreduce",
        "intercomm",
        "session",
        "merge",
    ] {
        let ended = one_node("2").program("unreachable").args([call, "fatal"]).limit(60).run().failed();
        assert_eq!(told(&ended), 1, "{call}: {}", ended.err);
    }
    let absent = ["btl_tcp_if_include", "203.0.113.0/24"];
    for job in [two_nodes(&["btl", "shm,self"]), two_nodes(&absent)] {
        let ended = job.program("unreachable").args(["barrier", "fatal"]).limit(60).run().failed();
        assert_eq!(told(&ended), 1, "{}", ended.err);
    }
}

#[test]
fn errors_that_are_returned_come_from_each_call() {
    if !ours("missing routes") {
        return;
    }
    let all = |job: Job, ranks| {
        job.program("unreachable").args(CALLS).arg("return").limit(60).run().all_ok(ranks);
    };
    all(one_node("2"), 2);
    all(one_node("2").args(["--mca", "osc", "pt2pt"]), 2);
    all(two_nodes(&["btl", "shm,self"]), 2);
    all(two_nodes(&["btl_tcp_if_include", "203.0.113.0/24"]), 2);
    // Four ranks, none of which reaches another; the leaders of inter-communicators are two.
    let calls = CALLS.iter().filter(|call| **call != "intercomm");
    let more = one_node("4").arg("--oversubscribe").program("unreachable").args(calls).arg("return");
    more.limit(60).run().all_ok(4);
}

/// Two nodes with two ranks each: every rank reaches another, which waits for what its neighbor will never have.
#[test]
fn ranks_that_are_reached_hear_of_what_is_missing() {
    if !ours("missing routes") {
        return;
    }
    let job = || {
        let nodes = ["--host", "a:2,b:2", "--mca", "plm", "local", "--mca", "btl", "shm,self", "-n", "4"];
        Job::of(Command::new(mpi().bin("mpirun"))).args(nodes).program("unreachable")
    };
    // "half" receives from anyone, and somebody could send; "intercomm" is of two ranks.
    let calls = CALLS.iter().filter(|call| !["half", "intercomm"].contains(call));
    job().args(calls).args(["leaders", "nodes"]).limit(60).run().all_ok(4);
    for call in ["barrier", "bcast", "ibarrier", "split"] {
        let ended = job().args([call, "fatal"]).limit(60).run().failed();
        assert_eq!(told(&ended), 1, "{call}: {}", ended.err);
    }
}
