//! Jobs over btl-verbs, on the device in software: on this node, and on nodes that are made up on this machine. btl-shm is left out, so every message
//! between two ranks goes over it.

use oxmpi_tests::{Job, leave_out, mpi, verbs_device};
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
    }
    mpi().is_ours()
}

/// `mpirun` over the transport, with parameters of it.
fn over(ranks: usize, params: &[(&str, &str)]) -> Job {
    with(Job::new(ranks), params)
}

/// The same between nodes.
fn over_nodes(hosts: &str, params: &[(&str, &str)]) -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    with(job.args(["--host", hosts, "--mca", "plm", "local"]), params)
}

fn with(job: Job, params: &[(&str, &str)]) -> Job {
    let job = job.args(["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library"]);
    let mut job = job.arg(verbs_device());
    for (name, value) in params {
        job = job.args(["--mca", &format!("btl_verbs_{name}"), value]);
    }
    job.limit(300)
}

#[test]
fn programs_over_verbs() {
    if !ours("programs over btl-verbs") {
        return;
    }
    for (program, ranks) in [
        ("ring", 2),
        ("ring", 4),
        ("requests", 2),
        ("datatypes", 4),
        ("wildcards", 3),
        ("protocols", 2),
        ("collectives", 4),
    ] {
        over(ranks, &[]).program(program).run().all_ok(ranks);
    }
}

/// Several threads, a context each, in every arrangement of endpoints and every assignment: the program's order is kept.
#[test]
fn order_with_several_contexts() {
    if !ours("order over btl-verbs") {
        return;
    }
    for category in ["mpi_everywhere", "2xdynamic", "shared_dynamic", "static", "mpi_threads"] {
        let options = ["--mca", "runtime_num_cris", "4"];
        over(2, &[("endpoint_category", category)])
            .args(options)
            .program("order")
            .args(["4", "60"])
            .run()
            .all_ok(2);
    }
    for assignment in ["dedicated", "round_robin"] {
        let options = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment", assignment];
        over(2, &[]).args(options).program("order").args(["4", "60"]).run().all_ok(2);
    }
}

/// Few credits, small pieces, no data inside requests, collected operations.
#[test]
fn rendezvous_in_every_shape() {
    if !ours("rendezvous over btl-verbs") {
        return;
    }
    let shapes: [&[(&str, &str)]; 4] = [
        &[("credits", "4"), ("send_buffers", "8"), ("queue_depth", "16")],
        &[("max_inline", "0"), ("signal_period", "1")],
        &[("postlist", "8"), ("min_rma_size", "1k")],
        &[("eager_limit", "512"), ("rndv_eager_limit", "512"), ("max_send_size", "1k")],
    ];
    for params in shapes {
        over(2, params).program("protocols").run().all_ok(2);
    }
}

#[test]
fn programs_over_verbs_between_nodes() {
    if !ours("programs over btl-verbs between nodes") {
        return;
    }
    for program in ["ring", "protocols", "datatypes", "threads", "collectives", "collectives_v", "later"] {
        over_nodes("a:2,b:2", &[]).program(program).run().all_ok(4);
    }
    over_nodes("a:3,b:2", &[]).program("intercomm").run().all_ok(5);
}

/// Threads of ranks on two nodes, in every arrangement of endpoints and every assignment.
#[test]
fn threads_over_verbs_between_nodes() {
    if !ours("threads over btl-verbs between nodes") {
        return;
    }
    let cris = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment"];
    for category in ["mpi_everywhere", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"] {
        for assignment in ["stream", "dedicated", "round_robin"] {
            let job = || {
                let job = over_nodes("a:1,b:1", &[("endpoint_category", category)]);
                job.args(cris).arg(assignment)
            };
            job().program("order").args(["4", "40"]).run().all_ok(2);
            job().program("threads").run().all_ok(2);
        }
    }
}

/// Windows of osc-rdma. Put, get and flush are the device's; its atomics are those of windows if it says that they are atomic to processors,
/// and where it leaves time between reading and writing, a window that used them all the same would lose updates.
#[test]
fn windows_over_verbs_between_nodes() {
    if !ours("windows over btl-verbs") {
        return;
    }
    for device in ["atomics=glob", "atomics=hca,tear=1", "atomics=none"] {
        for category in ["dynamic", "mpi_everywhere", "mpi_threads"] {
            for program in ["rma", "rma_passive", "rma_threads"] {
                let job = over_nodes("a:2,b:2", &[("endpoint_category", category)]);
                let job = job.args(["--mca", "osc", "rdma"]).env("OXMPI_FAKE_VERBS", device);
                job.program(program).run().all_ok(4);
            }
        }
    }
}

/// What the device refuses or loses ends the job with a sentence that names it, and nothing is left.
#[test]
fn failures_are_named() {
    if !ours("failures of btl-verbs") {
        return;
    }
    let soon: &[(&str, &str)] = &[("timeout", "8"), ("retry_count", "2"), ("connect_timeout", "2000")];
    for (device, params, says) in [
        ("max_qp=3", &[][..], "no queue pairs or memory left"),
        ("max_cq=2", &[], "cannot make a completion queue"),
        ("max_mr=2", &[], "cannot register"),
        ("rnr=2", &[("rnr_retry", "0")], "RNR retry counter exceeded"),
        ("error_at=40", &[], "general error"),
        ("cq_full_at=60", &[], "completion queue"),
        ("down_at=120", soon, "has ended"),
    ] {
        let job = over_nodes("a:2,b:2", params).env("OXMPI_FAKE_VERBS", device).program("collectives");
        let ended = job.start().wait_and_leave_nothing().failed();
        assert!(ended.err.contains(says), "{device}: no {says:?} in\n{}", ended.err);
    }
}

/// Lost packets, receivers without buffers, and few registrations are the device's and the transport's own business.
#[test]
fn what_can_be_mended_is_no_failure() {
    if !ours("a bad network under btl-verbs") {
        return;
    }
    for device in ["drop=997", "rnr=5", "delay_every=400,delay_us=2000", "max_mr=7"] {
        over_nodes("a:1,b:1", &[]).env("OXMPI_FAKE_VERBS", device).program("protocols").run().all_ok(2);
    }
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    if !ours("a killed rank under btl-verbs") {
        return;
    }
    let ended = over_nodes("a:2,b:1", &[]).program("sends").arg("2").start().wait_and_leave_nothing();
    let ended = ended.ended_with(137);
    assert!(ended.err.contains("Rank 2 on node b"), "{}", ended.err);
}

/// Without the device there is a sentence that says what is missing.
#[test]
fn a_library_that_is_missing_is_named() {
    if !ours("btl-verbs without a library") {
        return;
    }
    let named = ["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library", "/no/such/libibverbs.so"];
    let ended = Job::new(2).args(named).program("ring").run().failed();
    assert!(ended.err.contains("/no/such/libibverbs.so"), "{}", ended.err);
    // Nobody has asked for it: not a word.
    let ended = Job::new(2).program("ring").run();
    assert!(!ended.err.contains("verbs"), "{}", ended.err);
    ended.all_ok(2);
}
