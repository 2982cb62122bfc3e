//! A rank's output: it appears line by line while the rank runs, and nothing of it is lost at a bad end.

use oxmpi_tests::{Ended, Job, Running, leave_out, mpi};
use rustix::process::Signal;
use std::path::PathBuf;

fn c() -> PathBuf {
    mpi().build("prints", &["tests/programs/prints.c".into()], &["-O2", "-Wno-array-bounds"])
}

fn cpp() -> PathBuf {
    let source = mpi().programs().join("prints.cpp");
    let text =
        std::fs::read_to_string(oxmpi_tests::root().join("tests/programs/prints.c")).expect("a program");
    std::fs::write(&source, text).expect("target can be written");
    let mut compile = std::process::Command::new(mpi().bin("mpicxx"));
    let out = mpi().programs().join("prints_cpp");
    compile.args(["-O2", "-Wno-array-bounds", "-o"]).arg(&out).arg(&source);
    let done = compile.output().expect("mpicxx runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}

const PYTHON: &str = "import os, sys, time
print('a line', end='\\n')
print('the beginning of one', end='')
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
print(' and its end')";

/// The text that has been written to the job's standard output so far.
fn so_far(running: &Running) -> String {
    let bytes = std::fs::read(running.folder().join("out")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lines are there while the program, which never flushes, still runs.
fn is_live(job: Job, ranks: usize) {
    let go = job.folder().join("go");
    let mut running = job.arg(&go).start();
    let folder = running.folder();
    let out = folder.join("out");
    running.until("the line is there", || {
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        text.lines().filter(|line| *line == "a line").count() == ranks
    });
    assert!(!so_far(&running).contains("end"), "the program has not been told to go on");
    std::fs::write(&go, "").expect("our folder");
    let ended = running.wait().passed();
    assert_eq!(ended.out.matches("the beginning of one and its end\n").count(), ranks, "{}", ended.out);
}

#[test]
fn lines_appear_as_they_are_written() {
    if !mpi().is_ours() {
        return leave_out("live output", "not every launcher has it");
    }
    is_live(Job::new(2).arg(c()).arg("wait"), 2);
    is_live(Job::new(2).arg(cpp()).arg("wait"), 2);
    // The words behind -c are sys.argv.
    is_live(Job::new(2).arg("python3").args(["-c", PYTHON, "wait"]), 2);
    // A shell between mpirun and the program changes nothing.
    is_live(Job::new(2).arg("sh").args(["-c", "exec \"$0\" \"$@\""]).arg(c()).arg("wait"), 2);
}

/// Ends mpirun when both ranks have written their lines, the second of which has no end.
fn ended_by_the_user(job: Job) -> Ended {
    let mut running = job.start();
    let out = running.folder().join("out");
    running.until("both lines are there", || {
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        text.lines().filter(|line| *line == "a line").count() == 2
    });
    running.launcher().signal(Signal::TERM);
    running.wait().ended_with(128 + 15)
}

fn all_said(ended: &Ended, ranks: usize) {
    for part in ["before MPI_Init\n", "a line\n", "the beginning of one"] {
        assert_eq!(ended.out.matches(part).count(), ranks, "{part:?} in {}\n{}", ended.out, ended.err);
    }
    assert!(!ended.out.contains("its end"), "{}", ended.out);
}

/// Rank 0 ends badly with half a line in its buffer; the other one, which is ended by mpirun, has half a line, too.
#[test]
fn nothing_is_lost_at_a_bad_end() {
    if !mpi().is_ours() {
        return leave_out("output at a bad end", "not every launcher keeps it");
    }
    for program in [c(), cpp()] {
        let job = |how: &str| Job::new(2).arg(&program).arg(how);
        // The other one may not have come to its line: it is looked for where both surely have.
        let one = |ended: Ended| {
            assert!(ended.out.contains("a line\n"), "{}\n{}", ended.out, ended.err);
            assert!(ended.out.contains("the beginning of one"), "{}\n{}", ended.out, ended.err);
        };
        one(job("abort").run().ended_with(7));
        one(job("crash").run().ended_with(139));
        one(job("error").run().failed());
        all_said(&ended_by_the_user(job("hang")), 2);
    }
    // A rank with a handler of its own writes its buffer, and nobody else does.
    all_said(&ended_by_the_user(Job::new(2).arg(c()).arg("own")), 2);
    let ended = Job::new(1).arg(c()).arg("early").run().ended_with(3);
    assert_eq!(ended.out, "before MPI_Init\n", "what a program leaves in its buffers with _exit is its own");
}

#[test]
fn buffers_are_set_as_asked() {
    if !mpi().is_ours() {
        return leave_out("--stream-buffering", "tested on ours");
    }
    let hang = |n: &str| {
        let job = Job::new(1).args(["--timeout", "3", "--stream-buffering", n]).env("PYTHONUNBUFFERED", "");
        job.arg("python3").args(["-c", "import time; print('said'); time.sleep(100)"]).run().ended_with(110)
    };
    // The user's own setting stands: Python keeps its buffer, and loses it.
    assert_eq!(hang("1").out, "");
    let early =
        |n: &str| Job::new(1).args(["--stream-buffering", n]).arg(c()).arg("early").run().ended_with(3).out;
    assert_eq!(early("0"), "before MPI_Init\nrest");
    assert_eq!(early("1"), "before MPI_Init\n");
    assert_eq!(early("2"), "");
    let ended = Job::new(1).args(["--stream-buffering", "3"]).arg("true").run().failed();
    assert!(ended.err.contains("--stream-buffering"), "{}", ended.err);
}

#[test]
fn much_output_of_an_mpi_program_is_all_there() {
    let ended = Job::new(2).arg(c()).args(["many", "200000"]).run().passed();
    assert_eq!(ended.out.lines().filter(|line| line.ends_with(" of many")).count(), 400_000);
    let ended = Job::new(2).arg(c()).args(["blocks", "1000"]).run().passed();
    assert_eq!(ended.out.lines().filter(|line| line.len() == (1 << 16) - 1).count(), 2000);
}
