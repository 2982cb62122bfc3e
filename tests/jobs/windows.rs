//! Windows and what is exchanged through them, by the one-sided component of the tests, which is loaded from a folder like a
//! third party's.

use oxmpi_tests::{Job, leave_out, mpi, osc_am};
use std::process::Command;

/// A job whose windows the component serves.
fn served(ranks: usize) -> Job {
    let job = Job::new(ranks);
    if !mpi().is_ours() {
        return job;
    }
    job.args(["--mca", "mca_base_component_path"]).arg(osc_am()).args(["--mca", "osc", "am"])
}

#[test]
fn windows_are_used() {
    for ranks in [1, 2, 4] {
        served(ranks).program("rma").limit(300).run().all_ok(ranks);
    }
    if mpi().is_ours() {
        // Every operation in pieces.
        served(2).args(["--mca", "osc_am_max_message", "2k"]).program("rma").limit(300).run().all_ok(2);
    }
}

#[test]
fn mistakes_are_told_to_the_window() {
    if !mpi().is_ours() {
        return leave_out("mistakes in one-sided calls", "not every library finds all of them");
    }
    for ranks in [1, 2, 4] {
        served(ranks).program("rma_errors").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn threads_share_windows() {
    for ranks in [1, 2, 4] {
        served(ranks).program("rma_threads").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn windows_as_objects_with_a_osc_am() {
    if !mpi().is_ours() {
        return leave_out("windows as objects with a component", "which component serves is ours to say");
    }
    for ranks in [2, 4] {
        served(ranks).program("windows").arg("served").limit(300).run().all_ok(ranks);
    }
}

/// `mpi-info` lists the component and its parameters; `--mca osc` with a name that nobody has stops the job, and one that
/// excludes the component leaves windows without operations.
#[test]
fn the_component_is_chosen_by_parameter() {
    if !mpi().is_ours() {
        return leave_out("the choice of a one-sided component", "parameters are ours");
    }
    let mut command = Command::new(mpi().bin("mpi-info"));
    command.args(["--param", "osc", "am", "--level", "9"]).env("OXMPI_MCA_mca_base_component_path", osc_am());
    let listed = command.output().expect("mpi-info runs");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(text.contains("MCA osc: am (MCA v") && text.contains("osc_am_max_message"), "{text}");

    let missing = Job::new(1).args(["--mca", "osc", "nowhere"]).program("start_stop").run().failed();
    assert!(
        missing.err.contains("nowhere (osc from") && missing.err.contains("does not exist"),
        "{}",
        missing.err
    );

    let without =
        Job::new(2).args(["--mca", "mca_base_component_path"]).arg(osc_am()).args(["--mca", "osc", "^am,rdma"]);
    without.program("windows").arg("strict").limit(300).run().all_ok(2);
}
