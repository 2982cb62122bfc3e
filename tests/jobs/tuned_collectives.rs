//! Collectives by coll-tuned: all operations that it has, by defaults and by rules; and what is refused.

use oxmpi_tests::{Job, leave_out, mpi};
use tempfile::TempDir;

/// These are about our own parameters.
fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own parameters");
    }
    mpi().is_ours()
}

/// Algorithms that no default takes for the short data of these programs.
const RULES: &str = "rule = [\
    {operation = 'bcast', algorithm = 'split_binary_tree', segment = 16}, {operation = 'reduce', algorithm = 'chain', segment = 16, fanout = 2},\
    {operation = 'allreduce', algorithm = 'rabenseifner'}, {operation = 'allgather', algorithm = 'sparbit'},\
    {operation = 'alltoall', algorithm = 'modified_bruck', fanout = 3}, {operation = 'gather', algorithm = 'linear_sync'},\
    {operation = 'reduce_scatter', algorithm = 'butterfly'}, {operation = 'scan', algorithm = 'linear'}]";

fn tuned(ranks: usize) -> Job {
    Job::new(ranks).args(["--mca", "coll_tuned_operations", "all"])
}

fn by_rules(ranks: usize) -> Job {
    tuned(ranks).args([
        "--mca",
        "coll_tuned_use_dynamic_rules",
        "1",
        "--mca",
        "coll_tuned_dynamic_rules",
        RULES,
    ])
}

#[test]
fn programs_run_on_all_of_its_operations() {
    if !ours("coll-tuned") {
        return;
    }
    for program in ["collectives", "collectives_v", "later"] {
        tuned(2).program(program).limit(300).run().all_ok(2);
        by_rules(5).program(program).limit(300).run().all_ok(5);
    }
}

#[test]
fn mistakes_in_rules_end_the_start() {
    if !ours("rules of coll-tuned") {
        return;
    }
    let with = |name: &str, value: &str| {
        let rules = ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", name, value];
        Job::new(2).args(rules).program("ring").run().failed()
    };
    let ended = with("coll_tuned_dynamic_rules", "1 7 1 2 1 0 77 0 0");
    assert!(ended.err.contains("line 1: bcast has no algorithm 77"), "{}", ended.err);
    let ended = with("coll_tuned_dynamic_rules_filename", "/no/such/rules.conf");
    assert!(ended.err.contains("coll_tuned_dynamic_rules_filename"), "{}", ended.err);
    assert!(ended.err.contains("cannot be read: No such file"), "{}", ended.err);
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("rules.conf");
    std::fs::write(&file, "1 7 1 2 1 0 77 0 0").expect("a file");
    let ended = with("coll_tuned_dynamic_rules_filename", file.to_str().expect("text"));
    assert!(ended.err.contains("line 1: bcast has no algorithm 77"), "{}", ended.err);
    assert!(ended.err.contains("rules.conf"), "{}", ended.err);
}

/// Ranks of two programs that choose differently would wait for each other.
#[test]
fn programs_with_different_settings_are_refused() {
    if !ours("settings of programs") {
        return;
    }
    let with = |first: &[&str], second: &[&str]| {
        let job = Job::new(1).args(first).arg("true").args([":", "-n", "1"]).args(second).arg("true");
        job.run()
    };
    let algorithm = ["--mca", "coll_tuned_bcast_algorithm", "3"];
    let ended = with(&algorithm, &[]).failed();
    assert!(ended.err.contains("coll_tuned_bcast_algorithm is \"3\""), "{}", ended.err);
    let ended = with(&[], &["-x", "OMPI_MCA_coll=basic"]).failed();
    assert!(ended.err.contains("coll is not set for"), "{}", ended.err);
    with(&algorithm, &algorithm).passed();
}

/// mpirun reads a file of rules, and the ranks, on whatever node, get its text.
#[test]
fn rules_come_from_a_file() {
    if !ours("rules of coll-tuned") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, RULES).expect("a file");
    let file = file.to_str().expect("text");
    let with =
        ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", file];
    tuned(5).args(with).program("collectives").limit(300).run().all_ok(5);
    // By the environment, under Open MPI's names.
    let named = tuned(2).env("OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
    named
        .env("OMPI_MCA_coll_tuned_dynamic_rules_filename", file)
        .program("collectives")
        .limit(300)
        .run()
        .all_ok(2);
}

/// coll-tuned alone, with what it lacks from coll-basic.
fn alone(ranks: usize) -> Job {
    let job = Job::new(ranks).limit(300);
    if mpi().is_ours() {
        job.args(["--mca", "coll", "tuned,basic", "--mca", "coll_tuned_operations", "all"])
    } else {
        job
    }
}

fn basic(ranks: usize) -> Job {
    let job = Job::new(ranks).limit(300);
    if mpi().is_ours() { job.args(["--mca", "coll", "basic"]) } else { job }
}

#[test]
fn counts_of_zero_in_some_ranks() {
    for ranks in [2, 3, 8] {
        alone(ranks).program("coll_shm").arg("zero").run().all_ok(ranks);
        basic(ranks).program("coll_shm").arg("zero").run().all_ok(ranks);
    }
}

/// Many more ranks than cores: as it is by default, and by this component.
#[test]
fn sixty_four_ranks() {
    Job::new(64).limit(300).weighs(8).program("coll_shm").args(["mixed", "1"]).run().all_ok(64);
    alone(64).weighs(8).program("coll_shm").args(["mixed", "1"]).run().all_ok(64);
}

#[test]
fn a_rank_is_killed_inside_of_a_collective() {
    if !ours("one report of a killed rank") {
        return;
    }
    for ranks in [2, 5, 9] {
        for job in [alone(ranks), basic(ranks)] {
            job.program("coll_shm").arg("killed").start().wait_and_leave_nothing().ended_with(128 + 9);
        }
    }
}

/// The same ranks, sizes and settings give the same bits, by every component, and all ranks of an allreduce have the same.
#[test]
fn the_same_settings_give_the_same_bits() {
    if !ours("settings of collectives") {
        return;
    }
    let of_nodes = ["--mca", "plm", "local", "--host", "a:3,b:2", "--mca", "btl", "tcp,shm,self"];
    let settings: [&[&str]; 4] = [
        &["--mca", "coll", "basic"],
        &["--mca", "coll", "shm,basic", "--mca", "coll_shm_operations", "all"],
        &["--mca", "coll", "tuned,basic", "--mca", "coll_tuned_operations", "all"],
        &of_nodes,
    ];
    for setting in settings {
        let bits = || {
            let job = Job::new(5).args(setting).args(["--mca", "coll_base_prepare_after", "0"]);
            let ended = job.program("same_bits").limit(300).run().all_ok(5);
            let mut lines: Vec<String> =
                ended.out.lines().filter(|l| l.starts_with("bits")).map(str::to_owned).collect();
            lines.sort();
            assert_eq!(lines.len(), 5, "{}", ended.out);
            lines
        };
        let first = bits();
        for _ in 0..2 {
            assert_eq!(bits(), first, "{setting:?}");
        }
    }
}
