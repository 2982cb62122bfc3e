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
