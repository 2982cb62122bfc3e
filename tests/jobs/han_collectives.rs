//! Collectives of several nodes by coll-han: all kinds and sizes, ranks on nodes in several ways, segments, threads, counts of zero, a rank that is killed.

use oxmpi_tests::{Job, leave_out, mpi, verbs_device};

/// Nodes and how ranks are put on them: side by side, dealt, of different sizes, four of them.
const PLACES: [(usize, &[&str]); 4] = [
    (4, &["--host", "a:2,b:2"]),
    (5, &["--host", "a:3,b:3", "--map-by", "node"]),
    (6, &["--host", "a:1,b:2,c:3"]),
    (8, &["--host", "a:2,b:2,c:2,d:2"]),
];

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "nodes that are made up are ours");
    }
    mpi().is_ours()
}

/// A job on nodes that are made up, over TCP between them, whose collectives are served by coll-han from the first one on, as far as it offers them.
fn over_nodes((ranks, places): (usize, &[&str])) -> Job {
    let job = Job::new(ranks).limit(300).args(["--mca", "plm", "local"]).args(places.iter().copied());
    job.args(["--mca", "btl", "tcp,shm,self", "--mca", "coll_base_prepare_after", "0"])
}

#[test]
fn all_kinds_on_several_communicators() {
    if !ours("collectives of several nodes") {
        return;
    }
    for (ranks, places) in PLACES {
        over_nodes((ranks, places)).program("coll_shm").args(["mixed", "8"]).run().all_ok(ranks);
    }
}

#[test]
fn short_segments_and_every_order_of_operands() {
    if !ours("segments of coll-han") {
        return;
    }
    for (ranks, places) in [PLACES[1], PLACES[3]] {
        let mut job = over_nodes((ranks, places));
        for operation in ["bcast", "reduce", "allreduce"] {
            job = job.args(["--mca", &format!("coll_han_{operation}_segsize"), "100"]);
        }
        job.program("collectives").run().all_ok(ranks);
    }
}

/// Over coll-shm within nodes and coll-tuned between them, with everything that those have.
#[test]
fn on_all_that_the_others_have() {
    if !ours("parameters of coll-shm and coll-tuned") {
        return;
    }
    for (ranks, places) in [PLACES[1], PLACES[2]] {
        let job = over_nodes((ranks, places));
        let job = job.args(["--mca", "coll_shm_operations", "all", "--mca", "coll_tuned_operations", "all"]);
        job.program("coll_shm").args(["mixed", "8"]).run().all_ok(ranks);
    }
}

#[test]
fn it_serves_what_it_offers_and_leaves_what_is_disabled() {
    if !ours("words of coll-han") {
        return;
    }
    let heard = |more: &[&str]| {
        let job =
            over_nodes(PLACES[0]).args(["--mca", "coll_base_verbose", "debug"]).args(more.iter().copied());
        let ended = job.program("coll_shm").args(["mixed", "1"]).run();
        ended.err.contains("han after preparation: Ready")
    };
    assert!(heard(&[]), "nobody has prepared it");
    assert!(!heard(&["--mca", "coll", "^han"]), "it was left out");
}

#[test]
fn a_communicator_for_each_thread() {
    if !ours("collectives of several nodes") {
        return;
    }
    over_nodes(PLACES[0]).program("coll_shm").args(["threads", "6"]).run().all_ok(4);
}

#[test]
fn counts_of_zero_in_some_ranks() {
    if !ours("collectives of several nodes") {
        return;
    }
    for (ranks, places) in PLACES {
        over_nodes((ranks, places)).program("coll_shm").arg("zero").run().all_ok(ranks);
    }
}

/// Over RDMA between the nodes, on a device in software: two nodes and four.
#[test]
fn over_verbs() {
    if !ours("collectives of several nodes over btl-verbs") {
        return;
    }
    let over_verbs = |(ranks, places): (usize, &[&str])| {
        let job = Job::new(ranks).limit(300).args(["--mca", "plm", "local"]).args(places.iter().copied());
        let job =
            job.args(["--mca", "btl", "verbs,shm,self", "--mca", "btl_verbs_library"]).arg(verbs_device());
        job.args(["--mca", "coll_base_prepare_after", "0"]).program("coll_shm")
    };
    for place in [PLACES[0], PLACES[3]] {
        over_verbs(place).args(["mixed", "8"]).run().all_ok(place.0);
        over_verbs(place).arg("zero").run().all_ok(place.0);
    }
    over_verbs(PLACES[0]).arg("killed").start().wait_and_leave_nothing().ended_with(128 + 9);
}

/// Endpoints are ranks of their process's node: communicators of them are served like others.
#[test]
fn endpoints_of_processes_on_two_nodes() {
    if !ours("endpoints") {
        return;
    }
    for (ranks, hosts, counts) in [(2, "a:1,b:1", "23"), (3, "a:2,b:1", "204")] {
        let job = |verbose: &str| {
            let job = Job::new(ranks).limit(300).args(["--mca", "plm", "local", "--host", hosts]);
            let job = job.args(["--mca", "btl", "tcp,shm,self", "--mca", "coll_base_prepare_after", "0"]);
            job.args(["--mca", "coll_base_verbose", verbose])
        };
        let ended = job("debug").program("endpoint_ranks").args(["collectives", counts]).run();
        assert!(ended.err.contains("han after preparation: Ready"), "nobody has prepared it");
        ended.all_ok(ranks);
        job("warn").program("endpoint_random").args([counts, "7", "3"]).run().all_ok(ranks);
    }
}

#[test]
fn a_rank_is_killed_inside_of_a_collective() {
    if !ours("one report of a killed rank") {
        return;
    }
    for (ranks, places) in PLACES {
        over_nodes((ranks, places))
            .program("coll_shm")
            .arg("killed")
            .start()
            .wait_and_leave_nothing()
            .ended_with(128 + 9);
    }
}
