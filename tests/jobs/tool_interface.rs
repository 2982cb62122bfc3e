//! MPI_T: variables, categories and events before, during and after MPI; counters at the end of a job.

use oxmpi_tests::{Job, leave_out, mpi};

#[test]
fn tool_variables() {
    let ours = if mpi().is_ours() { "ours" } else { "theirs" };
    for ranks in [1, 3] {
        Job::new(ranks).program("tool_variables").arg(ours).limit(300).run().all_ok(ranks);
    }
}

#[test]
fn tool_variables_without_a_launcher() {
    let ours = if mpi().is_ours() { "ours" } else { "theirs" };
    let mut program = std::process::Command::new(mpi().program("tool_variables"));
    program.arg(ours);
    Job::of(program).run().all_ok(1);
}

/// Every function with something wrong, and at its limits.
#[test]
fn what_tools_are_answered() {
    if !mpi().is_ours() {
        return leave_out("answers to wrong questions of tools", "the standard leaves some of them open");
    }
    Job::new(1).program("tool_edges").run().all_ok(1);
}

/// Ours are all there; another library counts what it has under these names.
#[test]
fn each_call_is_counted_once() {
    let all: &[&str] = if mpi().is_ours() { &["all"] } else { &[] };
    Job::new(2).program("counters").args(all).limit(300).run().all_ok(2);
}

#[test]
fn counters_are_printed_at_the_end() {
    if !mpi().is_ours() {
        return leave_out("counters at the end", "their form is ours");
    }
    let dump = ["--mca", "mpi_spc_dump_enabled", "1"];
    let ended = Job::new(2).args(dump).program("wildcards").limit(300).run();
    for part in ["rank 0: software performance counters", "rank 1: software", "OMPI_SPC_SEND -> "] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
    assert!(ended.err.contains("OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE -> "), "{}", ended.err);
    ended.all_ok(2);
    let ended = Job::new(2).program("wildcards").limit(300).run();
    assert!(!ended.err.contains("OMPI_SPC"), "nobody asked: {}", ended.err);
}
