//! Files: what programs find in them after calls of every kind, on one node and on two made up on this machine.

use oxmpi_tests::{Job, leave_out, mpi};
use std::process::Command;

/// Jobs on one node, and, if there are several ranks, on two nodes.
fn jobs(ranks: usize) -> Vec<Job> {
    let mut jobs = vec![Job::new(ranks).limit(300)];
    if ranks > 1 && mpi().is_ours() {
        let hosts = format!("a:{},b:{}", ranks / 2, ranks - ranks / 2);
        let job = Job::of(Command::new(mpi().bin("mpirun")));
        jobs.push(job.args(["--host", &hosts, "--mca", "plm", "local"]).limit(300));
    }
    jobs
}

/// Programs that do what the standard says of files.
#[test]
fn files_of_installed_components() {
    if !mpi().is_ours() {
        return leave_out("files", "not every library passes");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files").arg(folder.path()).run().all_ok(ranks);
            let left = std::fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(left, 0, "files are left beside those of the program");
        }
    }
}

/// A nonblocking collective access returns though another rank has not called it.
#[test]
fn a_call_returns_before_another_rank_calls() {
    if !mpi().is_ours() {
        return leave_out("nonblocking collective access", "other libraries may wait in it");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_alone").arg(folder.path()).run().all_ok(ranks);
        }
    }
}

/// Random operations against a model, some seconds of seeds; by hand more of them, and others:
/// `mpirun -n 4 files_random FOLDER FIRST_SEED SEEDS SECONDS`.
#[test]
fn random_operations_are_as_the_model_says() {
    if !mpi().is_ours() {
        return leave_out("random operations on files", "not every library passes");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_random").arg(folder.path()).args(["1", "20", "3"]).run().all_ok(ranks);
        }
    }
}
