//! Jobs over btl-verbs, on the device in software. All ranks are on this node, and btl-shm is left out, so every message between two of
//! them goes over it.

use oxmpi_tests::{Job, leave_out, mpi, verbs_device};

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
    }
    mpi().is_ours()
}

/// `mpirun` over the transport, with parameters of it.
fn over(ranks: usize, params: &[(&str, &str)]) -> Job {
    let job = Job::new(ranks).args(["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library"]);
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
