//! Jobs over TCP: alone on one node, and beside shared memory on nodes that are made up on this machine.

use oxmpi_tests::{Job, leave_out, mpi};

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
    }
    mpi().is_ours()
}

fn alone(ranks: usize) -> Job {
    Job::new(ranks).args(["--mca", "btl", "tcp,self"])
}

/// Shared memory inside of a node and TCP between nodes, without being asked for.
fn over(hosts: &str) -> Job {
    Job::of(std::process::Command::new(mpi().bin("mpirun"))).args(["--host", hosts, "--mca", "plm", "local"])
}

#[test]
fn programs_over_tcp_alone() {
    if !ours("programs over tcp") {
        return;
    }
    for (program, ranks) in [
        ("ring", 4),
        ("collectives", 4),
        ("protocols", 2),
        ("datatypes", 2),
        ("wildcards", 3),
        ("requests", 2),
        ("cancel", 2),
    ] {
        alone(ranks).program(program).limit(300).run().all_ok(ranks);
    }
}

#[test]
fn programs_over_tcp_and_memory() {
    if !ours("programs over two nodes") {
        return;
    }
    for program in ["ring", "collectives", "topologies", "intercomm"] {
        let ranks = if program == "intercomm" { 5 } else { 4 };
        let hosts = if ranks == 5 { "a:3,b:2" } else { "a:2,b:2" };
        over(hosts).program(program).limit(300).run().all_ok(ranks);
    }
    over("a:2,b:2").program("nodes").arg("a,a,b,b").run().all_ok(4);
}

/// Operations on an open window while long messages are under way, by both one-sided components.
#[test]
fn windows_and_long_messages_over_tcp() {
    if !ours("windows and long messages over tcp") {
        return;
    }
    for osc in ["rdma", "pt2pt"] {
        let job = over("a:2,b:1").args(["--map-by", "node", "--mca", "btl", "tcp,self", "--mca", "osc", osc]);
        job.limit(300).program("windows_and_messages").arg("0.3").run().all_ok(3);
    }
}

/// Several threads, a context each, in every assignment: the program's order is kept.
#[test]
fn order_with_several_contexts() {
    if !ours("order over tcp") {
        return;
    }
    for assignment in ["stream", "dedicated", "round_robin"] {
        let options = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment", assignment];
        alone(2).args(options).program("order").args(["4", "60"]).limit(300).run().all_ok(2);
        alone(2).args(options).program("threads").limit(300).run().all_ok(2);
        over("a:2,b:2").args(options).program("order").args(["3", "30"]).limit(300).run().all_ok(4);
    }
}

/// Messages that follow each other closely leave together.
#[test]
fn messages_leave_together() {
    if !ours("messages that leave together") {
        return;
    }
    alone(2).program("gathered").limit(300).run().all_ok(2);
}

/// Large messages, with checksums, small windows, and over several links.
#[test]
fn large_messages() {
    if !ours("large messages over tcp") {
        return;
    }
    for options in [
        &["--mca", "btl_tcp_checksum", "1"][..],
        &["--mca", "btl_tcp_window", "512k", "--mca", "btl_tcp_sndbuf", "32k"],
        &["--mca", "btl_tcp_links", "3"],
    ] {
        alone(2).args(options).program("protocols").limit(300).run().all_ok(2);
    }
}

/// In a job of one node shared memory reaches everybody: TCP is closed again unless it is named, or needed.
#[test]
fn a_job_of_one_node_needs_no_network() {
    if !ours("which transports stay open") {
        return;
    }
    const CLOSED: &str = "tcp is not needed in a job of one node";
    let verbose = || Job::new(2).args(["--mca", "btl_base_verbose", "info"]);
    let ended = verbose().program("ring").run();
    assert!(ended.status == 0 && ended.err.contains(CLOSED), "{}", ended.err);
    for list in ["tcp,shm,self", "^shm"] {
        let ended = verbose().args(["--mca", "btl", list]).program("ring").run();
        assert!(ended.status == 0 && !ended.err.contains(CLOSED), "{list}: {}", ended.err);
    }
}
