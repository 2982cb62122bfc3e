//! Files whose accesses are refused, slow, reordered or fail (`fbtl-faults`), and jobs that are killed while they write.

use crate::files::jobs;
use oxmpi_tests::{Job, fbtl_faults, leave_out, mpi};
use std::path::Path;
use std::process::Command;

/// A job whose files that component serves.
fn faulty(job: Job, folder: &Path, kind: &str, every: &str) -> Job {
    let job = job.args(["--mca", "mca_base_component_path"]).arg(folder).args(["--mca", "fbtl", "faults"]);
    job.args(["--mca", "fbtl_faults_kind", kind, "--mca", "fbtl_faults_every", every])
}

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own component interface");
    }
    mpi().is_ours()
}

/// A full queue, slow and reordered transfers change nothing but the time: the random operations are as the model says.
#[test]
fn random_operations_on_slow_and_full_queues() {
    if !ours("files with faults") {
        return;
    }
    let component = fbtl_faults();
    for (kind, seed) in [("full", "101"), ("slow", "201"), ("reordered", "301")] {
        for job in jobs(4) {
            let folder = tempfile::tempdir().expect("a folder");
            let job = faulty(job, component.path(), kind, "3").program("files_random");
            job.arg(folder.path()).args([seed, "10", "3"]).run().all_ok(4);
        }
    }
}

/// Failures of the system have their class, are everybody's in collective calls, and damage nothing.
#[test]
fn failures_have_their_class_and_damage_nothing() {
    if !ours("files that fail") {
        return;
    }
    let component = fbtl_faults();
    for (kind, class, mode) in [
        ("eio", "io", "nonatomic"),
        ("enospc", "space", "nonatomic"),
        ("edquot", "quota", "atomic"),
        ("eio", "io", "atomic"),
    ] {
        for job in jobs(4) {
            let folder = tempfile::tempdir().expect("a folder");
            let job = faulty(job, component.path(), kind, "6").program("files_faults");
            job.arg(folder.path()).args([class, mode]).run().all_ok(4);
        }
    }
}

/// A rank with wrong arguments in a collective access gets its error and takes part without data: the others' accesses end and are right.
#[test]
fn a_rank_with_wrong_arguments_holds_nobody_up() {
    if !ours("wrong arguments in collective accesses") {
        return;
    }
    for ranks in [1, 2, 4] {
        for mode in ["nonatomic", "atomic"] {
            for job in jobs(ranks) {
                let folder = tempfile::tempdir().expect("a folder");
                job.program("files_wrong").arg(folder.path()).arg(mode).run().all_ok(ranks);
            }
        }
    }
}

/// The report of a failure has the path and the system's words.
#[test]
fn a_failure_names_the_path() {
    if !ours("the report of a file that fails") {
        return;
    }
    let component = fbtl_faults();
    for how in ["blocking", "later", "all"] {
        let folder = tempfile::tempdir().expect("a folder");
        let job = faulty(Job::new(2), component.path(), "edquot", "1").program("files_fatal");
        let ended = job.arg(folder.path()).arg(how).run().failed();
        let path = folder.path().join("a file that fails");
        assert!(ended.err.contains(&path.display().to_string()), "{how}: {}", ended.err);
        assert!(ended.err.contains("quota exceeded"), "{how}: {}", ended.err);
        assert!(ended.err.contains("MPI_ERR_QUOTA"), "{how}: {}", ended.err);
    }
}

/// A rank, or the daemon of a node, is killed while all write: one report, no byte outside of what is written is touched, and nothing is left beside the file.
#[test]
fn jobs_that_are_killed_while_they_write() {
    if !ours("jobs that are killed while they write") {
        return;
    }
    const GUARD: usize = 1 << 18;
    let two_nodes = || {
        let job = Job::of(Command::new(mpi().bin("mpirun")));
        job.args(["--host", "a:2,b:2", "--mca", "plm", "local"])
    };
    for (job, victim, what) in [
        (Job::new(4), "1", "rank"),
        (Job::new(4), "0", "rank"),
        (two_nodes(), "3", "rank"),
        (two_nodes(), "3", "node"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let job = job.limit(120).program("files_killed").arg(folder.path()).args([victim, what]);
        let ended = job.run().failed();
        assert_eq!(ended.err.matches("mpirun has").count(), 1, "one report: {}", ended.err);
        let names: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").flatten().collect();
        assert_eq!(names.len(), 1, "beside the file: {names:?}");
        let bytes = std::fs::read(folder.path().join("killed")).expect("the file");
        let (middle, end) = (&bytes[GUARD..bytes.len() - GUARD], bytes.len() - GUARD);
        let touched = bytes[..GUARD].iter().chain(&bytes[end..]).filter(|byte| **byte != 0xa5).count();
        assert_eq!(touched, 0, "bytes outside were touched");
        let block = |at: usize| 1 + (at / 4096 % 4) as u8;
        let wrong = middle.iter().enumerate().position(|(at, byte)| *byte != block(at));
        assert_eq!(wrong, None, "a byte of the middle is no rank's own");
    }
}

/// Atomic mode where locks do not exclude all ranks is refused, and the text names the cause.
#[test]
fn atomic_mode_without_locks_names_the_cause() {
    if !ours("atomic mode without locks") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let job = Job::new(2).args(["--mca", "fs_ufs_lock_algorithm", "1"]).program("files_lockless");
    let ended = job.arg(folder.path()).run().failed();
    assert!(ended.err.contains("fs_ufs_lock_algorithm"), "{}", ended.err);
    assert!(ended.err.contains("MPI_ERR_UNSUPPORTED_OPERATION"), "{}", ended.err);
}
