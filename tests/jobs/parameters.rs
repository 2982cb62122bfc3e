//! Parameters as users give them: all sources, and what they hear when one is wrong.

use oxmpi_tests::{Job, leave_out, mpi};

/// These are about our own parameters and words.
fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own parameters");
    }
    mpi().is_ours()
}

#[test]
fn a_wrong_value_stops_the_job_and_names_its_source() {
    if !ours("wrong values") {
        return;
    }
    let name = "btl_shm_eager_limit";
    let ended = Job::new(2).args(["--mca", name, "12x"]).program("ring").run().failed();
    for part in [name, "12x", "command line"] {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
    let ended = Job::new(2).env("OXMPI_MCA_btl_shm_eager_limit", "huge").program("ring").run().failed();
    for part in ["OXMPI_MCA_btl_shm_eager_limit", "huge"] {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
}

#[test]
fn an_unknown_name_is_warned_about_with_the_nearest() {
    if !ours("unknown names") {
        return;
    }
    let ended = Job::new(2).args(["--mca", "btl_shm_eager_limt", "4k"]).program("ring").run().all_ok(2);
    assert!(ended.err.contains("btl_shm_eager_limt"), "{}", ended.err);
    assert!(ended.err.contains("btl_shm_eager_limit"), "the nearest is named:\n{}", ended.err);
}

#[test]
fn a_component_that_is_not_there() {
    if !ours("missing components") {
        return;
    }
    let ended = Job::new(2).args(["--mca", "pml", "ucx"]).program("ring").run().failed();
    assert!(ended.err.contains("ucx"), "{}", ended.err);
    Job::new(2).env("OXMPI_MCA_btl", "nothing,self").program("ring").run().failed();
    // A variable that a site exports for Open MPI does not stop our job.
    let job = Job::new(2).env("OMPI_MCA_pml", "ucx").env("OMPI_MCA_btl", "^openib");
    let ended = job.program("ring").run().all_ok(2);
    assert!(ended.err.contains("ucx"), "warned about:\n{}", ended.err);
}

#[test]
fn components_are_chosen_by_name_and_by_old_name() {
    if !ours("selection") {
        return;
    }
    for selection in ["self,shm", "self,vader", "sm,self", "^tcp", "^openib,tcp"] {
        Job::new(2).args(["--mca", "btl", selection]).program("ring").run().all_ok(2);
    }
    let ended = Job::new(2).args(["--mca", "btl", "self"]).program("ring").run().failed();
    assert!(!ended.err.trim().is_empty(), "two ranks cannot reach each other through self");
    Job::new(2).args(["--mca", "btl", "self,^shm"]).program("ring").run().failed();
}

#[test]
fn the_same_option_twice_must_agree() {
    if !ours("repeated options") {
        return;
    }
    let twice =
        |a: &str, b: &str| Job::new(2).args(["--mca", "btl", a, "--mca", "btl", b]).program("ring").run();
    twice("self,shm", "self,shm").all_ok(2);
    twice("self,shm", "self").failed();
}
