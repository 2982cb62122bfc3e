//! Counters of algorithms of collectives: each component counts what it takes, by the names of docs/collectives.md, and nothing else.

use oxmpi_tests::{Job, leave_out, mpi};
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "counters of algorithms are ours");
    }
    mpi().is_ours()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs so many calls of an operation, and so many nonblocking ones, which must all be counted under this name.
fn counted(job: Job, ranks: usize, what: [&str; 4], name: &str) {
    let job = job.args(["--mca", "coll_base_prepare_after", "0"]).limit(300);
    job.program("algorithms").args(what).arg(name).run().all_ok(ranks);
}

#[test]
fn of_basic_and_tuned() {
    if !ours("coll_basic and coll_tuned") {
        return;
    }
    let basic = || Job::new(3).args(["--mca", "coll", "basic"]);
    counted(basic(), 3, ["bcast", "10", "5", "1"], "coll_basic_bcast_binomial");
    counted(basic(), 3, ["allreduce", "1", "5", "2"], "coll_basic_allreduce_recursive_doubling");
    counted(basic(), 3, ["allreduce", "50000", "5", "0"], "coll_basic_allreduce_ring");
    let tuned = ["--mca", "coll", "tuned,basic", "--mca", "coll_tuned_bcast_algorithm", "pipeline"];
    counted(Job::new(2).args(tuned), 2, ["bcast", "10", "5", "1"], "coll_tuned_bcast_pipeline");
}

#[test]
fn of_shm() {
    if !ours("coll_shm") {
        return;
    }
    let shm =
        |ranks| Job::new(ranks).args(["--mca", "coll", "shm,basic", "--mca", "coll_shm_operations", "all"]);
    counted(shm(2), 2, ["bcast", "4", "5", "0"], "coll_shm_bcast_posts");
    let long = if cores() < 2 { "coll_shm_bcast_memory" } else { "coll_shm_bcast_pieces" };
    counted(shm(2), 2, ["bcast", "100000", "5", "0"], long);
    counted(shm(2), 2, ["gather", "4", "5", "0"], "coll_shm_gather_posts");
    let many = if cores() < 64 { "coll_shm_barrier_crowd" } else { "coll_shm_barrier_tree" };
    counted(shm(64).weighs(8), 64, ["barrier", "0", "5", "0"], many);
}

/// Of four ranks on two nodes; a switched-off operation is counted as left to others.
#[test]
fn of_han() {
    if !ours("coll_han") {
        return;
    }
    let han =
        || Job::new(4).args(["--mca", "plm", "local", "--host", "a:2,b:2", "--mca", "btl", "tcp,shm,self"]);
    counted(han(), 4, ["allreduce", "10", "5", "0"], "coll_han_allreduce_levels");
    let less = han().args(["--mca", "coll_han_disable_bcast", "true"]);
    counted(less, 4, ["bcast", "10", "5", "0"], "coll_han_bcast_below");
}

/// Neither plans, which are left to the component below, whatever is forced, and `mpi-info` says so.
#[test]
fn plans_are_made_by_tuned_where_shm_or_han_is_forced() {
    if !ours("plans of collectives") {
        return;
    }
    let over_tuned = ["--mca", "coll_tuned_operations", "all", "--mca", "coll_tuned_priority", "30"];
    let name = "coll_tuned_allreduce_recursive_doubling";
    let shm = ["--mca", "coll", "shm,tuned,basic", "--mca", "coll_shm_operations", "all"];
    let shm = || Job::new(2).args(shm).args(over_tuned).args(["--mca", "coll_shm_priority", "60"]);
    counted(shm(), 2, ["allreduce", "1", "0", "2"], name);
    counted(shm(), 2, ["allreduce", "1", "3", "0"], "coll_shm_allreduce_posts");
    let nodes = ["--mca", "plm", "local", "--host", "a:2,b:2", "--mca", "btl", "tcp,shm,self"];
    let han = || Job::new(4).args(nodes).args(over_tuned);
    counted(han(), 4, ["allreduce", "1", "0", "2"], name);
    counted(han(), 4, ["allreduce", "1", "3", "0"], "coll_han_allreduce_levels");
    for component in ["shm", "han"] {
        let mut info = Command::new(mpi().bin("mpi-info"));
        let said =
            info.args(["--explain", &format!("coll_{component}_priority")]).output().expect("mpi-info");
        let said = String::from_utf8_lossy(&said.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("plans of nonblocking and persistent ones are made by tuned or basic"),
            "{said}"
        );
    }
}

/// Without a tool, at the end of a job.
#[test]
fn printed_at_the_end() {
    if !ours("counters at the end") {
        return;
    }
    let run = |dump: &str| {
        let job = Job::new(2).args(["--mca", "coll", "basic", "--mca", "mpi_spc_dump_enabled", dump]);
        job.program("collectives").limit(300).run().all_ok(2)
    };
    let ended = run("1");
    assert!(ended.err.contains("coll_basic_bcast_binomial -> "), "{}", ended.err);
    let ended = run("0");
    assert!(!ended.err.contains("coll_basic_bcast"), "nobody asked: {}", ended.err);
}
