//! Jobs that processes ask for: started, talked to, refused, ended together and apart.

use crate::machines::Machines;
use oxmpi_tests::{Job, leave_out, mpi};
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own launcher");
    }
    mpi().is_ours()
}

/// A job of the test program that does this.
fn spawn(ranks: usize, words: &[&str]) -> Job {
    Job::new(ranks).program("spawn").args(words).weighs(4)
}

#[test]
fn processes_are_started_and_talked_to() {
    for (ranks, children) in [(1, 1), (1, 3), (3, 2)] {
        spawn(ranks, &["talk", &children.to_string()]).run().all_ok(ranks + 2 * children);
    }
}

#[test]
fn processes_are_talked_to_over_a_network() {
    if !ours("a network between jobs") {
        return;
    }
    let job = Job::new(2).args(["--mca", "btl", "tcp,self"]).program("spawn").args(["talk", "2"]).weighs(4);
    job.run().all_ok(6);
}

#[test]
fn processes_are_started_on_nodes_and_from_them() {
    if !ours("nodes on one machine") {
        return;
    }
    // The program starts processes twice, and slots of the first are free when mpirun has heard of their end.
    let mut job = Job::of(Command::new(mpi().bin("mpirun"))).weighs(4);
    job = job.args(["--host", "a:5,b:5", "--map-by", "node", "-n", "2", "--mca", "plm", "local"]);
    job.program("spawn").args(["talk", "4"]).run().all_ok(10);
    let machines = match Machines::up("sp", 150, 1) {
        Ok(machines) => machines,
        Err(why) => return leave_out("machines that ask for processes", &why),
    };
    // The machine has slots left, and no use of them is made.
    let job = machines.job("localhost:5,m1:9").args(["--map-by", "node", "-n", "2"]).weighs(4);
    job.program("spawn").args(["talk", "2"]).run().all_ok(6);
}

#[test]
fn several_programs_hints_and_slots() {
    spawn(2, &["multiple"]).run().all_ok(6);
    let job = spawn(2, &["hints"]);
    let folder = job.folder().canonicalize().expect("it is there");
    job.arg(&folder).run().all_ok(4);
    if !ours("slots that are left") {
        return;
    }
    // Without the option of the other tests that allows more processes than slots.
    let mut command = Command::new(mpi().bin("mpirun"));
    command.args(["--host", "localhost:4", "-n", "1"]).arg(mpi().program("spawn")).args(["slots", "3"]);
    Job::of(command).weighs(4).run().all_ok(4);
}

#[test]
fn started_processes_start_others() {
    spawn(1, &["nested", "3"]).run().all_ok(5);
    spawn(1, &["threads", "2"]).run().all_ok(1 + 4 * 2 * 2);
}

#[test]
fn what_cannot_be_started_is_refused_and_costs_nothing() {
    if !ours("refusals") {
        return;
    }
    spawn(2, &["refused"]).run().all_ok(4);
}

#[test]
fn what_is_connected_ends_together() {
    if !ours("ends of several jobs") {
        return;
    }
    let ended = spawn(2, &["abort"]).run().ended_with(5);
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
    let ended = spawn(2, &["exit"]).run().ended_with(9);
    assert_eq!(ended.err.matches("status 9").count(), 1, "one report: {}", ended.err);
}

#[test]
fn what_is_disconnected_does_not() {
    if !ours("ends of several jobs") {
        return;
    }
    let ended = spawn(2, &["apart"]).run().ended_with(6);
    assert_eq!(ended.out.matches("ok\n").count(), 2, "the first job goes on: {}", ended.out);
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
}

#[test]
fn output_is_marked_with_the_job() {
    if !ours("marks") {
        return;
    }
    let job = Job::new(1).args(["--output", "tag"]).program("spawn").args(["print", "2"]).weighs(3);
    let ended = job.run().ended_with(0);
    for line in ["[2,0]<stdout>: child 0 of 2", "[2,1]<stdout>: child 1 of 2", "[1,0]<stdout>: ok"] {
        assert!(ended.out.contains(line), "{line:?} is not in\n{}", ended.out);
    }
}

#[test]
fn many_jobs_leave_nothing_behind() {
    if !ours("descriptors and memory") {
        return;
    }
    let ended = spawn(1, &["loop", "40"]).run().all_ok(41);
    let kept = ended.out.lines().find_map(|line| line.strip_prefix("kept ")?.parse::<i64>().ok());
    let kept = kept.expect("the program says so");
    assert!(kept < 2048, "{kept} KiB stay of 32 jobs");
}
