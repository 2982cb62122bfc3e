//! Jobs that meet: by a port's name, by the name of a service, by a socket.

use oxmpi_tests::{Job, leave_out, mpi};
use std::path::Path;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about jobs that meet without a server");
    }
    mpi().is_ours()
}

/// A job whose files of the user are in a folder of their own.
fn job(ranks: usize, home: &Path, words: &[&str]) -> Job {
    Job::new(ranks).program("ports").args(words).env("HOME", home).weighs(2)
}

#[test]
fn two_jobs_meet_by_a_port() {
    if !ours("two mpiruns") {
        return;
    }
    for (kind, here, there) in [("accept", 2, 1), ("open", 1, 3)] {
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("port");
        let file = file.to_str().expect("text");
        let accepts = job(here, home.path(), &[kind, file, "3"]).start();
        let connects = job(there, home.path(), &["connect", file, "3"]).start();
        connects.wait().all_ok(there);
        let ended = accepts.wait().all_ok(here);
        assert!(!ended.err.contains("oxmpi1:"), "nothing prints the name: {}", ended.err);
    }
}

#[test]
fn two_jobs_meet_by_a_service() {
    if !ours("names of services between mpiruns") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let publishes = job(1, home.path(), &["publish", "a service"]).start();
    let looks = job(2, home.path(), &["lookup", "a service"]).start();
    looks.wait().all_ok(2);
    publishes.wait().all_ok(1);
    let names = std::fs::read_dir(home.path().join(".oxmpi/names")).expect("it was made");
    assert_eq!(names.count(), 0, "no name is left");
}

#[test]
fn halves_of_a_job_and_ends_of_a_socket() {
    let home = tempfile::tempdir().expect("a folder");
    for ranks in [2, 3] {
        job(ranks, home.path(), &["halves"]).run().all_ok(ranks);
    }
    let file = home.path().join("s");
    job(2, home.path(), &["join", file.to_str().expect("text")]).run().all_ok(2);
}

#[test]
fn what_is_no_port_is_refused_by_name() {
    if !ours("refusals of ports") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    job(2, home.path(), &["refused"]).run().all_ok(2);
}

#[test]
fn another_user_s_key_is_not_enough() {
    if !ours("keys of ports") {
        return;
    }
    let (home, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let file = home.path().join("port");
    let file = file.to_str().expect("text");
    let mut accepts = job(1, home.path(), &["accept", file]).start();
    accepts.until("the port is open", || Path::new(file).exists());
    let ended = job(1, other.path(), &["connect", file]).run().ended_with(43);
    assert!(ended.err.contains("key"), "{}", ended.err);
    job(1, home.path(), &["connect", file]).run().all_ok(1);
    accepts.wait().all_ok(1);
}
