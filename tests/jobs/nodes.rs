//! MPI programs over several nodes that are made up on this machine (`--mca plm local`): btl-shm inside of a node,
//! btl-template between nodes.

use oxmpi_tests::{Ended, Job, Process, Running, leave_out, mpi};
use rustix::process::Signal;
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "nodes on one machine are ours");
    }
    mpi().is_ours()
}

/// `mpirun` over these nodes.
fn over(hosts: &str) -> Job {
    let components = mpi().component("btl-template");
    Job::of(Command::new(mpi().bin("mpirun")))
        .args(["--host", hosts, "--mca", "plm", "local", "--mca", "btl", "template,shm,self"])
        .args(["--mca", "mca_base_component_path"])
        .arg(components)
}

/// How often mpirun reported something.
fn reports(ended: &Ended) -> usize {
    ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2
}

#[test]
fn messages_cross_nodes_and_memory_does_not() {
    if !ours("messages between nodes") {
        return;
    }
    over("a:2,b:2").program("nodes").arg("a,a,b,b").run().all_ok(4);
    over("a:2,b:2").args(["--map-by", "node"]).program("nodes").arg("a,b,a,b").run().all_ok(4);
    over("a,b,c,d").program("nodes").arg("a,b,c,d").run().all_ok(4);
    over("a:3,b:1,c:2").program("nodes").arg("a,a,a,b,c,c").run().all_ok(6);
    // One name is one node; a job of one process needs nobody.
    over("a:3").program("nodes").arg("a,a,a").run().all_ok(3);
    over("a:1").program("nodes").arg("a").run().all_ok(1);
}

#[test]
fn programs_do_not_notice_nodes() {
    if !ours("programs over nodes") {
        return;
    }
    for (program, hosts, ranks) in [
        ("ring", "a:2,b:2", 4),
        ("collectives", "a:2,b:2", 4),
        ("intercomm", "a:3,b:2", 5),
        ("topologies", "a:2,b:2", 4),
        ("protocols", "a:1,b:1", 2),
        ("datatypes", "a:1,b:1", 2),
        ("partitioned", "a:1,b:1", 2),
    ] {
        over(hosts).program(program).run().all_ok(ranks);
    }
}

/// Without a transport between nodes it is said which processes cannot talk.
#[test]
fn nodes_without_a_transport_are_told() {
    if !ours("nodes without a transport") {
        return;
    }
    let job = Job::of(Command::new(mpi().bin("mpirun")))
        .args(["--host", "a:2,b", "--mca", "plm", "local"])
        .args(["--mca", "btl", "shm,self"]);
    let ended = job.program("ring").start().wait_and_leave_nothing().failed();
    assert!(ended.err.contains("no transport reaches it") && ended.err.contains("shm"), "{}", ended.err);
}

#[test]
fn who_aborts_on_one_node_ends_all() {
    if !ours("aborts over nodes") {
        return;
    }
    for (arguments, status) in
        [(&["abort", "42"][..], 42), (&["exit", "3"], 3), (&["signal", "9"], 137), (&["signal", "11"], 139)]
    {
        let ended = over("a,b,c,d").program("leave").args(arguments).start().wait_and_leave_nothing();
        let ended = ended.ended_with(status);
        assert!(ended.err.contains("Rank 1 on node b"), "{arguments:?}: {}", ended.err);
        assert_eq!(reports(&ended), 1, "{arguments:?}: {}", ended.err);
    }
}

/// The stack is read on the node where the rank crashed, and shown for one.
#[test]
fn a_crash_on_a_node_has_its_stack() {
    if !ours("crashes over nodes") {
        return;
    }
    for (hosts, how, node) in [("a:2,b:2", "segv", "node b"), ("a,b,c", "all", "node ")] {
        let ended = over(hosts).program("crash").arg(how).start().wait_and_leave_nothing().ended_with(139);
        for part in [node, "SIGSEGV", "store_through_null", "crash.c:"] {
            assert!(ended.err.contains(part), "{how}: {part:?} is not in\n{}", ended.err);
        }
        assert_eq!((reports(&ended), ended.err.matches("#0 ").count()), (1, 1), "{how}: {}", ended.err);
    }
}

/// Four ranks on four nodes that hang.
fn hanging(how: &str) -> Running {
    let job = over("a,b,c,d");
    let folder = job.folder();
    let mut running = job.program("hang").arg(&folder).arg(how).start();
    running.until_up(4);
    running
}

fn daemons(running: &Running) -> Vec<Process> {
    let found: Vec<_> = running.processes().into_iter().filter(|p| p.name == "oxmpid").collect();
    assert_eq!(found.len(), 4, "a daemon for each node");
    found
}

/// Hurts a hanging job: one report, and nothing is left.
fn hurt(hurt: impl Fn(&Running)) -> Vec<Ended> {
    if !ours("killed nodes") {
        return Vec::new();
    }
    let all = ["recv", "spin", "deaf"].map(|how| {
        let running = hanging(how);
        hurt(&running);
        running.wait_and_leave_nothing().failed()
    });
    all.into()
}

#[test]
fn a_rank_of_four_nodes_is_killed() {
    for ended in hurt(|job| job.rank(2).signal(Signal::KILL)) {
        assert!(ended.status == 137 && ended.err.contains("Rank 2 on node c"), "{}", ended.err);
        assert_eq!(reports(&ended), 1, "{}", ended.err);
    }
}

#[test]
fn a_daemon_of_four_nodes_is_killed() {
    for which in [0, 2] {
        for ended in hurt(|job| daemons(job)[which].signal(Signal::KILL)) {
            assert!(ended.status == 1 && ended.err.contains("node daemon on"), "{}", ended.err);
            assert_eq!(reports(&ended), 1, "{}", ended.err);
        }
    }
}

#[test]
fn the_launcher_of_four_nodes_is_killed() {
    hurt(|job| job.launcher().signal(Signal::KILL));
}

/// Ranks of other nodes notice the end of one by their sends before its daemon has said how it ended.
#[test]
fn a_rank_that_others_send_to_is_killed() {
    if !ours("a rank that others send to") {
        return;
    }
    for _ in 0..5 {
        let ended = over("a,b,c").program("sends").arg("1").start().wait_and_leave_nothing().ended_with(137);
        assert!(ended.err.contains("Rank 1 on node b"), "{}", ended.err);
        assert_eq!(reports(&ended), 1, "{}", ended.err);
    }
}
