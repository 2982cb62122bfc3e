//! Jobs that meet: by a port's name, by the name of a service, by a socket.

use crate::machines::Machines;
use oxmpi_tests::{Ended, Job, leave_out, mpi};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

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

/// Two jobs that go on meet again and again over a network; the program counts its descriptors.
#[test]
fn meetings_leave_no_connection_behind() {
    if !ours("descriptors of jobs that meet") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("port");
    let file = file.to_str().expect("text");
    let job = |kind| {
        let job = Job::new(1).args(["--mca", "btl", "tcp,self"]).program("ports").args([kind, file, "40"]);
        job.env("HOME", home.path()).weighs(2)
    };
    let accepts = job("accept").start();
    job("connect").run().all_ok(1);
    accepts.wait().all_ok(1);
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

/// Endpoints of two jobs, with a network between.
#[test]
fn endpoints_of_two_jobs_meet() {
    if !ours("endpoints of two mpiruns") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("port");
    let file = file.to_str().expect("text");
    let side = |ranks: usize, side: &str| job(ranks, home.path(), &["endpoints", file, side]).start();
    let (accepts, connects) = (side(2, "accept"), side(1, "connect"));
    connects.wait().all_ok(1);
    accepts.wait().all_ok(2);
}

/// A process of one of two connected jobs is killed: one report each, and nothing is left.
#[test]
fn one_of_two_connected_jobs_is_killed() {
    if !ours("two mpiruns") {
        return;
    }
    for part in ["rank", "daemon", "mpirun"] {
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("port");
        let file = file.to_str().expect("text");
        let side = |side: &str| job(1, home.path(), &["wait", file, side]).start();
        let (mut accepts, connects) = (side("accept"), side("connect"));
        accepts.until("both wait", || {
            ["accept", "connect"].iter().all(|side| Path::new(&format!("{file}.{side}")).exists())
        });
        let rank =
            connects.processes().into_iter().find(|process| process.name == "ports").expect("it waits");
        match part {
            "rank" => rank.signal(Signal::KILL),
            "daemon" => rank.parent().expect("its daemon").signal(Signal::KILL),
            _ => connects.launcher().signal(Signal::KILL),
        }
        let reports = |ended: &Ended| ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2;
        let (there, here) =
            (connects.wait_and_leave_nothing().failed(), accepts.wait_and_leave_nothing().failed());
        let own = usize::from(part != "mpirun");
        assert_eq!(reports(&there), own, "{part}: {}", there.err);
        assert_eq!(reports(&here), 1, "{part}: {}", here.err);
    }
}

/// Two mpiruns, each on a machine of its own.
#[test]
fn two_jobs_on_two_machines_meet() {
    if !ours("machines that are logged in to") {
        return;
    }
    let machines = match Machines::up("pt", 100, 2) {
        Ok(machines) => machines,
        Err(why) => return leave_out("machines whose jobs meet", &why),
    };
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("port");
    let file = file.to_str().expect("text");
    let side = |host: &str, ranks: &str, words: &[&str]| {
        let job = machines.job(host).args(["-n", ranks, "-x", "HOME"]).weighs(3).program("ports").args(words);
        job.env("HOME", home.path()).start()
    };
    let accepts = side("m1:2", "2", &["accept", file, "3"]);
    let connects = side("m2:2", "2", &["connect", file, "3"]);
    connects.wait().all_ok(2);
    accepts.wait().all_ok(2);
}

#[test]
fn nobody_accepts_within_the_limit() {
    if !ours("a parameter") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let job = Job::new(2).args(["--mca", "runtime_connect_timeout", "1"]).program("ports");
    job.args(["unanswered"]).env("HOME", home.path()).weighs(2).run().all_ok(2);
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
    // Strangers: one says nothing, one talks nonsense and is hung up on.
    let name = std::fs::read_to_string(file).expect("it is there");
    let port: u16 = name.split(':').nth(3).and_then(|word| word.parse().ok()).expect("a port's number");
    let call = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let (_silent, mut loud) = (call(), call());
    loud.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    loud.write_all(&[0xff; 4096]).expect("there is room");
    let mut answer = Vec::new();
    match loud.read_to_end(&mut answer) {
        Ok(_) => assert!(answer.is_empty(), "a stranger is told {answer:?}"),
        Err(why) => assert_eq!(why.kind(), std::io::ErrorKind::ConnectionReset, "{why}"),
    }
    let ended = job(1, other.path(), &["connect", file]).run().ended_with(43);
    assert!(ended.err.contains("key"), "{}", ended.err);
    job(1, home.path(), &["connect", file]).run().all_ok(1);
    accepts.wait().all_ok(1);
}

#[test]
fn a_wrong_secret_in_a_name_is_refused() {
    if !ours("secrets in names of ports") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let [file, wrong] = ["port", "wrong"].map(|name| home.path().join(name));
    let [file, wrong] = [&file, &wrong].map(|path| path.to_str().expect("text"));
    let mut accepts = job(1, home.path(), &["open", file]).start();
    accepts.until("the port is open", || Path::new(file).exists());
    let name = std::fs::read_to_string(file).expect("it is there");
    let secret = name.split(':').nth(2).and_then(|key| key.strip_prefix('s')).expect("the secret is in it");
    std::fs::write(wrong, name.replace(secret, &"7".repeat(secret.len()))).expect("written");
    let ended = job(1, home.path(), &["connect", wrong]).run().ended_with(43);
    assert!(ended.err.contains("key") && !ended.err.contains(secret), "{}", ended.err);
    job(1, home.path(), &["connect", file]).run().all_ok(1);
    accepts.wait().all_ok(1);
}
