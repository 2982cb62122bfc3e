//! Where ranks run and what they are told of it: hosts, hostfiles, several programs in one job.

use oxmpi_tests::{Ended, Job, leave_out, mpi};
use std::path::PathBuf;
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own launcher");
    }
    mpi().is_ours()
}

/// mpirun with these words, and with a hostfile of these lines in front if there are any.
fn start(hostfile: &str, words: &[&str]) -> Ended {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    let name: PathBuf = job.folder().join("hosts");
    std::fs::write(&name, hostfile).expect("a fresh folder can be written");
    let job = if hostfile.is_empty() { job } else { job.arg("--hostfile").arg(&name) };
    job.args(words).program("ring").run()
}

#[track_caller]
fn refused(ended: Ended, parts: &[&str]) {
    let ended = ended.ended_with(1);
    for part in parts {
        assert!(ended.err.contains(part), "{part:?} is not in\n{}", ended.err);
    }
    assert_eq!(ended.out, "", "nothing was started");
}

#[test]
fn hosts_and_hostfiles_say_how_many_ranks_there_are() {
    if !ours("hosts and hostfiles") {
        return;
    }
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    start("", &["--host", "localhost:3"]).all_ok(3);
    start("", &["--host", &format!("{own},{own}")]).all_ok(2);
    start("", &["--host", "127.0.0.1:2", "-n", "1"]).all_ok(1);
    start("# one node\nlocalhost slots=3 # of three\n", &[]).all_ok(3);
    start(&format!("{own} slots=1\nlocalhost slots=1\n"), &[]).all_ok(2);
    // MPICH's way to write it.
    start("localhost:2\n", &[]).all_ok(2);
    start("localhost slots=1\n", &["--map-by", ":oversubscribe", "-n", "3"]).all_ok(3);
}

#[test]
fn hosts_and_hostfiles_that_cannot_be() {
    if !ours("wrong hosts") {
        return;
    }
    refused(start("", &["--host", "no-such-host.invalid"]), &["no-such-host.invalid"]);
    refused(start("", &["--host", "localhost:2", "-n", "3"]), &["not enough slots", "--oversubscribe"]);
    refused(start("localhost slots=2\n", &["-n", "3"]), &["not enough slots"]);
    refused(
        start("localhost slots=1 max_slots=2\n", &["--map-by", ":oversubscribe", "-n", "3"]),
        &["max_slots"],
    );
    refused(start("localhost slots=many\n", &[]), &["slots=many"]);
    refused(start("", &["--hostfile", "/no/such/file"]), &["/no/such/file"]);
}

/// Ranks of two programs are one world, and each is told what was said of its own program.
#[test]
fn two_programs_are_told_apart() {
    if !ours("two programs") {
        return;
    }
    let job = Job::of(Command::new(mpi().bin("mpirun"))).args(["--host", "localhost:2"]);
    let folder = job.folder().canonicalize().expect("it is there");
    let job = job.args(["-n", "1"]).program("apps").args(["0", "5", "one"]);
    let job = job
        .args([":", "--host", "localhost:3", "-n", "2", "--wdir"])
        .arg(&folder)
        .program("apps")
        .args(["1", "5", "two", "2"]);
    let ended = job.run().all_ok(3);
    let program = mpi().program("apps");
    let told = [
        format!("0 command={}", program.display()),
        "0 argv=0 5 one".into(),
        "0 maxprocs=1".into(),
        "1 argv=1 5 two 2".into(),
        "1 maxprocs=2".into(),
        format!("1 wdir={}", folder.display()),
        "2 argv=1 5 two 2".into(),
        "2 thread_level=MPI_THREAD_SINGLE".into(),
    ];
    for line in &told {
        assert!(ended.out.lines().any(|l| l == line), "{line:?} is not in\n{}", ended.out);
    }
    let last = |rank: u32| ended.out.lines().filter(|l| l.starts_with(&format!("{rank} wdir="))).count();
    assert_eq!((0..3).map(last).collect::<Vec<_>>(), [1, 1, 1], "{}", ended.out);
}

#[test]
fn a_program_alone_knows_itself() {
    let mut command = Command::new(mpi().program("apps"));
    command.args(["0", "0", "word"]);
    let ended = Job::of(command).run().all_ok(1);
    if mpi().is_ours() {
        assert!(ended.out.lines().any(|l| l == "0 argv=0 0 word"), "{}", ended.out);
    }
}

/// In an allocation of several nodes mpirun says that it uses one.
#[test]
fn nodes_of_an_allocation_that_stay_unused() {
    if !mpi().is_ours() {
        return leave_out("an allocation of several nodes", "others use it");
    }
    let slurm = |nodes: &str| Job::new(2).env("SLURM_JOB_ID", "1").env("SLURM_JOB_NUM_NODES", nodes);
    let ended = slurm("3").arg("true").run().passed();
    assert!(ended.err.contains("This Slurm allocation has 3 nodes"), "{}", ended.err);
    assert_eq!(slurm("1").arg("true").run().passed().err, "");
    assert_eq!(slurm("3").arg("--quiet").arg("true").run().passed().err, "");
}
