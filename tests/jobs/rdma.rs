//! Windows that osc-rdma serves: on one node, on nodes that are made up on this machine, over a transport with native verbs that reorders, with
//! both schemes of locks.

use oxmpi_tests::{Job, btl_fabric, leave_out, mpi};

const TWO_LEVEL: &[&str] = &[];
const ON_DEMAND: &[&str] = &["--mca", "osc_rdma_locking_mode", "on_demand"];
/// Native verbs, carried out in any order, with completions that come late.
const REORDERED: &[&str] = &["--mca", "btl_fabric_seed", "7", "--mca", "btl_fabric_completion", "late"];
/// Little of everything, and puts that are done before they have arrived.
const SHORT_OF_ALL: &[&str] = &[
    "--mca",
    "btl_fabric_seed",
    "5",
    "--mca",
    "btl_fabric_outstanding",
    "2",
    "--mca",
    "btl_fabric_rma_limit",
    "64",
];

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "one-sided components are ours");
    }
    mpi().is_ours()
}

fn on_a_node(ranks: usize) -> Job {
    Job::new(ranks).args(["--mca", "osc", "rdma"]).limit(300)
}

/// Shared memory inside of a node, emulated verbs over btl-template between nodes.
fn over_nodes(hosts: &str) -> Job {
    let command = std::process::Command::new(mpi().bin("mpirun"));
    Job::of(command)
        .args(["--host", hosts, "--mca", "plm", "local", "--mca", "btl", "template,shm,self"])
        .args(["--mca", "osc", "rdma", "--mca", "mca_base_component_path"])
        .arg(mpi().component("btl-template"))
        .limit(300)
}

/// Native verbs of the transport to test with.
fn over_fabric(ranks: usize) -> Job {
    by_fabric(Job::new(ranks), "fabric,self")
}

/// The same between nodes.
fn over_nodes_by_fabric(hosts: &str, transports: &str) -> Job {
    let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
    by_fabric(job.args(["--host", hosts, "--mca", "plm", "local"]), transports)
}

fn by_fabric(job: Job, transports: &str) -> Job {
    job.args(["--mca", "btl", transports, "--mca", "osc", "rdma", "--mca", "mca_base_component_path"])
        .arg(btl_fabric().parent().expect("a folder"))
        .limit(300)
}

/// Runs a program on one node, over shared memory and over the transport to test with.
fn on_one_node(program: &str) {
    for mode in [TWO_LEVEL, ON_DEMAND] {
        for ranks in [1, 2, 4] {
            on_a_node(ranks).args(mode).program(program).run().all_ok(ranks);
        }
        over_fabric(2).args(mode).args(REORDERED).program(program).run().all_ok(2);
    }
    over_fabric(4).args(SHORT_OF_ALL).program(program).run().all_ok(4);
}

/// And over two nodes.
fn everywhere(program: &str) {
    on_one_node(program);
    for mode in [TWO_LEVEL, ON_DEMAND] {
        over_nodes("a:2,b:2").args(mode).program(program).run().all_ok(4);
    }
    over_nodes("a:1,b:1").program(program).run().all_ok(2);
}

#[test]
fn rdma_serves_every_call() {
    if ours("one-sided calls by osc-rdma") {
        // It has a window of memory that all ranks share.
        on_one_node("rma");
    }
}

#[test]
fn rdma_serves_threads() {
    if ours("threads on windows of osc-rdma") {
        everywhere("rma_threads");
    }
}

#[test]
fn rdma_needs_no_target() {
    if ours("targets that compute") {
        everywhere("rma_passive");
    }
}

/// By each transport alone, inside of a node and between nodes; what all ranks have mapped needs none.
#[test]
fn rdma_needs_no_target_by_any_transport() {
    if !ours("targets that compute, by transport") {
        return;
    }
    for mode in [TWO_LEVEL, ON_DEMAND] {
        let native = over_nodes_by_fabric("a:2,b:2", "fabric,shm,self");
        native.args(mode).args(REORDERED).program("rma_passive").run().all_ok(4);
        let short = over_nodes_by_fabric("a:1,b:1,c:1", "fabric,self");
        short.args(mode).args(SHORT_OF_ALL).program("rma_passive").run().all_ok(3);
    }
    let template = mpi().component("btl-template");
    for transports in ["shm,self", "tcp,self", "template,self", "tcp,shm,self"] {
        for hosts in ["a:3", "a:2,b:2"] {
            // Nobody's shared memory reaches another node.
            if hosts.contains('b') && transports == "shm,self" {
                continue;
            }
            let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
            let job = job.args(["--host", hosts, "--mca", "plm", "local", "--mca", "btl", transports]);
            let job = job.args(["--mca", "osc", "rdma", "--mca", "mca_base_component_path"]).arg(&template);
            let ranks = if hosts.contains('b') { 4 } else { 3 };
            job.limit(300).program("rma_passive").run().all_ok(ranks);
        }
    }
}

/// Ranks that take a lock over and over leave it to those whose turn it is, on both nodes: a turn took a second where they did not.
#[test]
fn rdma_leaves_locks_to_others() {
    if !ours("locks in turns") {
        return;
    }
    for mode in [TWO_LEVEL, ON_DEMAND] {
        let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
        let job = job.args(["--host", "a:2,b:2", "--map-by", "node", "--mca", "plm", "local"]);
        let job = job.args(["--mca", "btl", "tcp,self", "--mca", "osc", "rdma"]).args(mode);
        job.limit(120).program("lock_turns").arg("200").run().all_ok(4);
    }
}

/// Accumulates of the target itself, by mapped memory, by messages and by a transport's own verbs meet at the same elements.
#[test]
fn rdma_has_one_rule_for_each_element() {
    if !ours("accumulates by every way on one element") {
        return;
    }
    for transports in ["tcp,self", "tcp,shm,self", "template,shm,self"] {
        let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
        let job = job.args(["--host", "a:2,b:2", "--map-by", "node", "--mca", "plm", "local"]);
        let job = job.args([
            "--mca",
            "btl",
            transports,
            "--mca",
            "osc",
            "rdma",
            "--mca",
            "mca_base_component_path",
        ]);
        job.arg(mpi().component("btl-template")).limit(300).program("rma_one_element").run().all_ok(4);
    }
    on_a_node(3).program("rma_one_element").run().all_ok(3);
    let native = over_nodes_by_fabric("a:2,b:2", "fabric,shm,self");
    native.args(REORDERED).program("rma_one_element").arg("40").run().all_ok(4);
}

/// Accumulates of any type, operation and layout.
#[test]
fn rdma_sends_one_message_for_an_accumulate() {
    if !ours("messages of accumulates over tcp") {
        return;
    }
    let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
    let job = job.args(["--host", "a:1,b:1", "--map-by", "node", "--mca", "plm", "local"]);
    let job = job.args(["--mca", "btl", "tcp,self", "--mca", "osc", "rdma"]);
    job.limit(120).program("rma_counted").run().all_ok(2);
}

/// Few elements of memory that is not mapped: on a node nobody has to answer for them.
#[test]
fn rdma_needs_no_process_that_runs() {
    if !ours("operations on a process that is stopped") {
        return;
    }
    for mode in [TWO_LEVEL, ON_DEMAND] {
        let ended = on_a_node(2).args(mode).limit(100).program("rma_stopped").run().all_ok(2);
        if ended.out.contains("no copies") {
            return leave_out(
                "operations on a process that is stopped",
                "processes may not copy from each other here",
            );
        }
    }
}

/// Regions that are attached and detached while others operate, and small puts that go together or not.
#[test]
fn rdma_knows_what_is_attached() {
    if ours("attached memory on windows of osc-rdma") {
        everywhere("rma_attached");
    }
}

/// Puts that are gathered, by few and by many, and none at all; accumulates under the lock where there would be lists of atomics.
#[test]
fn rdma_gathers_puts_or_not() {
    if !ours("gathered puts on windows of osc-rdma") {
        return;
    }
    let settings: [&[&str]; 3] = [
        &["--mca", "osc_rdma_aggregation_limit", "0"],
        &["--mca", "osc_rdma_aggregation_limit", "64k"],
        &["--mca", "osc_rdma_accumulate_granularity", "4k"],
    ];
    // Each two of setting, program and place meet once.
    for (i, setting) in settings.into_iter().enumerate() {
        for (j, program) in ["rma_attached", "rma_model", "rma_random"].into_iter().enumerate() {
            let (ranks, job) = match (i + j) % 3 {
                0 => (2, on_a_node(2)),
                1 => (2, over_nodes("a:1,b:1")),
                _ => (4, over_nodes("a:2,b:2")),
            };
            let job = job.args(setting).program(program);
            let job = if program == "rma_random" { job.args(["300", "6", "3", "4"]) } else { job };
            job.run().all_ok(ranks);
        }
    }
}

#[test]
fn rdma_tells_mistakes() {
    if ours("mistakes on windows of osc-rdma") {
        for ranks in [1, 2, 4] {
            on_a_node(ranks).program("rma_errors").run().all_ok(ranks);
        }
        over_nodes("a:2,b:2").program("rma_errors").run().all_ok(4);
    }
}

#[test]
fn rdma_does_as_the_model_does() {
    if ours("random operations on windows of osc-rdma") {
        everywhere("rma_model");
    }
}

/// Threads, and operations beside the model, by native verbs between nodes: accumulates of few elements share the target's lock, long ones have it alone.
#[test]
fn rdma_shares_the_lock_between_nodes() {
    if !ours("threads over native verbs between nodes") {
        return;
    }
    for mode in [TWO_LEVEL, ON_DEMAND] {
        for program in ["rma_threads", "rma_model"] {
            let job = over_nodes_by_fabric("a:2,b:2", "fabric,shm,self");
            job.args(mode).args(REORDERED).program(program).run().all_ok(4);
        }
    }
    let short = over_nodes_by_fabric("a:1,b:1,c:1", "fabric,self");
    short.args(SHORT_OF_ALL).program("rma_threads").run().all_ok(3);
}

/// Some seeds over native verbs that reorder, on a node and between nodes, with one thread and with four: each two of the settings meet.
#[test]
fn rdma_does_at_random_as_the_model_does() {
    if !ours("random operations over native verbs") {
        return;
    }
    let between = || over_nodes_by_fabric("a:2,b:2", "fabric,shm,self");
    for (mode, threads, job, ranks) in [
        (TWO_LEVEL, "1", over_fabric(2), 2),
        (ON_DEMAND, "4", over_fabric(2), 2),
        (TWO_LEVEL, "4", between(), 4),
        (ON_DEMAND, "1", between(), 4),
    ] {
        let job = job.args(mode).args(REORDERED).program("rma_random");
        job.args(["500", "4", "3", threads]).run().all_ok(ranks);
    }
}

#[test]
fn rdma_windows_as_objects() {
    if ours("windows of osc-rdma as objects") {
        for ranks in [2, 4] {
            on_a_node(ranks).program("windows").arg("served").run().all_ok(ranks);
        }
    }
}

/// Operations that overlap take effect in the order of their calls where they are completed locally in between: rows of three, and random ones by threads
/// that take turns, on windows of every flavor.
#[test]
fn rdma_keeps_the_order_of_unlike_operations() {
    if !ours("order of unlike operations by osc-rdma") {
        return;
    }
    let run = |job: Job, ranks, threads| {
        job.program("rma_order").args(["1", "60", threads]).run().all_ok(ranks);
    };
    for threads in ["1", "3"] {
        run(on_a_node(4), 4, threads);
        run(on_a_node(4).args(["--mca", "osc_rdma_accumulate_granularity", "4k"]), 4, threads);
    }
    run(over_nodes("a:1,b:1"), 2, "3");
    let reordered = over_nodes_by_fabric("a:1,b:1", "fabric,self").args(REORDERED);
    reordered.program("rma_order").args(["1", "60", "3", "200"]).run().all_ok(2);
    over_fabric(2).args(SHORT_OF_ALL).program("rma_order").args(["1", "60", "1", "200"]).run().all_ok(2);
}

/// Patches of global arrays over transports that reorder and complete early, on one node and on two.
#[test]
fn rdma_finds_patches_as_they_were_written() {
    if ours("patches by osc-rdma") {
        over_nodes_by_fabric("a:2,b:2", "fabric,shm,self")
            .args(REORDERED)
            .program("rma_patches")
            .arg("5")
            .run()
            .all_ok(4);
        over_fabric(2).args(SHORT_OF_ALL).program("rma_patches").arg("5").run().all_ok(2);
    }
}
