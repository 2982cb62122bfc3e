//! The report of `tests/soak/stress.py` on its results, and its verdict that a job hangs.

use oxmpi_tests::{Ended, Job, in_path, leave_out, root};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The combinations covered are counted as a part of all that there are, whatever a report is told of transports.
#[test]
fn a_report_counts_the_transports_that_took_part() {
    if !in_path("python3") {
        return leave_out("a_report_counts_the_transports_that_took_part", "python3 is missing");
    }
    let out = std::env::temp_dir().join(format!("oxmpi-report-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let results = r#"{"mode": "stream serial", "seeds": {}, "not_passed": [],
        "covered": {"list self 1 shards 2 threads": 1, "list shm 1 shards 2 threads": 2, "list template 4 shards 8 threads": 1}}"#;
    std::fs::write(out.join("stream-serial.json"), results).expect("results");
    let report = |more: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(root().join("tests/soak/stress.py")).args([
            "--report",
            "--modes",
            "stream serial",
            "--out",
        ]);
        let said = command.arg(&out).args(more).output().expect("python3");
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).expect("text")
    };
    let (plain, told) = (report(&[]), report(&["--components", "/nowhere"]));
    std::fs::remove_dir_all(&out).expect("remove");
    assert!(plain.contains(" 3 of 288 combinations of self, shm, template,"), "{plain}");
    assert_eq!(plain, told);
}

/// Stands for mpicc: leaves a file where the program would be.
const COMPILER: &str = "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n: > \"$2\"\n";

/// Stands for a job of two processes that look for each other for ever.
const LIVELOCK: &str = r#"#!/usr/bin/env python3
import os
os.fork()
while True:
    pass
"#;

/// Stands for a job whose one process wants a core and is not given one, while the other looks for what it does. The
/// job ends well when the verdict is there.
const STARVED: &str = r#"#!/usr/bin/env python3
import os, signal
child = os.fork()
while child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
turn = 0
while True:
    turn += 1
    if turn % 100000 == 0 and ": starved after" in open(os.environ["VERDICTS"]).read():
        break
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"#;

/// `stress.py` over jobs that all are `launcher`, with half a second of processor time for each, and what it wrote about one
/// mode.
fn stress(launcher: &str, look: impl FnOnce(&Path)) -> (Ended, String) {
    let job = Job::of(Command::new("python3"));
    let folder = job.folder();
    let bin = folder.join("bin");
    fs::create_dir(&bin).expect("a fresh folder can be written");
    for (name, text) in [("mpicc", COMPILER), ("mpirun", launcher)] {
        fs::write(bin.join(name), text).expect("a fresh folder can be written");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("our own file");
    }
    let results = folder.join("results");
    let job = job.arg(root().join("tests/soak/stress.py")).arg(&folder).arg("--out").arg(&results);
    // A card of one job or two, and no second one. Nothing here sleeps.
    let job = job.args(["--modes", "stream serial", "--minutes", "0.0001", "--seeds", "1", "--cpu", "0.5"]);
    let job = job.limit(1200).args(["--asleep", "1000000"]).env("VERDICTS", folder.join("out"));
    let mut wrote = String::new();
    let ended = job.start().wait_with(|| {
        wrote = fs::read_to_string(results.join("stream-serial.json")).expect("results");
        look(&results);
    });
    (ended, wrote)
}

#[test]
fn a_livelock_is_said_to_hang_and_its_threads_are_kept() {
    if !in_path("python3") {
        return leave_out("a_livelock_is_said_to_hang_and_its_threads_are_kept", "python3 is missing");
    }
    let mut kept = Vec::new();
    let (ended, wrote) = stress(LIVELOCK, |results| {
        let hangs = fs::read_dir(results.join("stream-serial-hangs")).expect("what was kept").flatten();
        let files = hangs.flat_map(|hang| fs::read_dir(hang.path()).expect("a folder").flatten());
        kept.extend(files.map(|file| fs::read_to_string(file.path()).expect("text")));
    });
    ended.ended_with(1);
    assert!(wrote.contains("\"outcome\": \"hung\""), "{wrote}");
    assert!(!wrote.contains("\"outcome\": \"failed\""), "{wrote}");
    assert!(kept.len() >= 2, "{kept:?}");
    for process in kept {
        let has = |file: &str| process.lines().any(|l| l.contains("/task/") && l.ends_with(file));
        assert!(has("/stat") && has("/schedstat") && has("/status"), "{process}");
    }
}

#[test]
fn a_job_with_a_starved_thread_goes_on() {
    if !in_path("python3") {
        return leave_out("a_job_with_a_starved_thread_goes_on", "python3 is missing");
    }
    let (ended, wrote) = stress(STARVED, |_| ());
    let said = ended.passed().out;
    let summary = said.lines().last().unwrap_or_default();
    assert!(summary.contains(" 0 failed, 0 hung, "), "{said}");
    assert!(!summary.ends_with(" 0 times starved") && summary.ends_with(" times starved"), "{said}");
    assert!(wrote.contains("\"starved\": [") && wrote.contains("\"slices\": 0"), "{wrote}");
}
