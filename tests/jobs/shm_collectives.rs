//! Collectives of one node by coll-shm: all kinds and sizes, several communicators, threads, endpoints, ranks that share cores, a rank that is killed.

use oxmpi_tests::{Job, leave_out, mpi};

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "the component is ours");
    }
    mpi().is_ours()
}

/// A job whose collectives are served by coll-shm from the first one on, as far as it offers them, and by what is below it.
fn preferred(ranks: usize) -> Job {
    let job = Job::new(ranks).limit(300);
    let settings = ["--mca", "coll", "shm,basic", "--mca", "coll_base_prepare_after", "0"];
    if mpi().is_ours() { job.args(settings) } else { job }
}

/// The same, and it offers everything.
fn forced(ranks: usize) -> Job {
    let job = preferred(ranks);
    if mpi().is_ours() { job.args(["--mca", "coll_shm_operations", "all"]) } else { job }
}

#[test]
fn operations_that_are_faster() {
    for ranks in [2, 5] {
        preferred(ranks).program("coll_shm").args(["mixed", "16"]).run().all_ok(ranks);
    }
}

#[test]
fn all_kinds_on_several_communicators() {
    for ranks in [1, 2, 3, 5, 9] {
        forced(ranks).program("coll_shm").args(["mixed", "16"]).run().all_ok(ranks);
    }
}

/// Without reading peers' memory longer ones go by messages, with small cells more of them do.
#[test]
fn all_kinds_by_other_ways() {
    if !ours("parameters of coll-shm") {
        return;
    }
    for setting in
        [["coll_shm_single_copy", "false"], ["coll_shm_memory", "32k"], ["coll_shm_memory", "4096"]]
    {
        let job = forced(4).args(["--mca"]).args(setting);
        job.program("coll_shm").args(["mixed", "8"]).run().all_ok(4);
    }
}

#[test]
fn a_communicator_for_each_thread() {
    for ranks in [2, 4] {
        forced(ranks).program("coll_shm").args(["threads", "8"]).run().all_ok(ranks);
    }
}

#[test]
fn counts_of_zero_in_some_ranks() {
    for ranks in [2, 3, 8] {
        forced(ranks).program("coll_shm").arg("zero").run().all_ok(ranks);
    }
}

/// Many more ranks than cores.
#[test]
fn sixty_four_ranks() {
    forced(64).weighs(8).program("coll_shm").args(["mixed", "3"]).run().all_ok(64);
}

/// The lack of one rank alone moves all ranks to the component below.
#[test]
fn a_rank_cannot_map_the_memory() {
    if !ours("memory of coll-shm") {
        return;
    }
    for which in ["0", "1", "2"] {
        let job = preferred(3).args(["--mca", "coll_base_verbose", "debug"]);
        let ended = job.program("unmapped").arg(which).run().all_ok(3);
        assert!(ended.err.contains("without shm, refused by rank"), "{}", ended.err);
    }
}

#[test]
fn a_rank_is_killed_inside_of_a_collective() {
    if !ours("one report of a killed rank") {
        return;
    }
    for ranks in [2, 5, 9] {
        forced(ranks).program("coll_shm").arg("killed").start().wait_and_leave_nothing().ended_with(128 + 9);
    }
}
