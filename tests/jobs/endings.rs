//! How jobs end: exit statuses, one clear report, and nothing left behind whoever is killed.

use oxmpi_tests::{Ended, Job, Process, Running, leave_out, mpi};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[test]
fn exit_statuses() {
    Job::new(3).program("leave").args(["abort", "7"]).run().ended_with(7);
    Job::new(3).program("leave").args(["exit", "5"]).run().ended_with(5);
    // The default error handler ends the job.
    Job::new(3).program("leave").arg("error").run().failed();
    if mpi().is_ours() {
        for (number, name) in [(11, "SIGSEGV"), (9, "SIGKILL")] {
            let ended = Job::new(3).program("leave").args(["signal", &number.to_string()]).run();
            let ended = ended.ended_with(128 + number);
            assert!(ended.err.contains(&number.to_string()) || ended.err.contains(name), "{}", ended.err);
        }
    }
}

/// One report, whatever the number of ranks, and it names the rank.
#[test]
fn a_rank_that_dies_is_reported_once() {
    if !mpi().is_ours() {
        return leave_out("the report of a dead rank", "its words are ours");
    }
    let ended = Job::new(4).program("leave").args(["signal", "11"]).run().failed();
    assert_eq!(ended.err.to_lowercase().matches("rank 1 ").count(), 1, "named once:\n{}", ended.err);
    let ended = Job::new(4).program("leave").arg("error").run().failed();
    assert!(ended.err.contains("MPI ended the job after an error in MPI_Send"), "{}", ended.err);
    assert!(!ended.err.contains("MPI_Abort"), "the program has not called it:\n{}", ended.err);
}

/// Both of two ranks that make the same mistake report it, also where another would wait for them for ever.
#[test]
fn reports_of_sanitizers_are_whole() {
    if !mpi().is_ours() {
        return leave_out("reports of sanitizers", "other launchers end the second rank");
    }
    let Some(program) = sanitized("overflows") else { return };
    for ranks in [2, 3] {
        let ended = Job::new(ranks).arg(&program).run().failed();
        for what in ["ERROR: AddressSanitizer: heap-buffer-overflow", "Shadow bytes around", "==ABORTING"] {
            assert_eq!(ended.err.matches(what).count(), 2, "{what}: {}", ended.err);
        }
        assert_eq!(ended.err.matches("mpirun has").count(), 1, "one report: {}", ended.err);
    }
}

/// A test program with AddressSanitizer. `None`: the compiler has none.
fn sanitized(name: &str) -> Option<PathBuf> {
    let mut probe = Command::new("cc");
    probe
        .args(["-fsanitize=address", "-shared", "-o", "/dev/null", "-x", "c", "/dev/null"])
        .stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        leave_out("reports of sanitizers", "the compiler has no AddressSanitizer");
        return None;
    }
    Some(mpi().build(
        name,
        &[format!("tests/programs/{name}.c")],
        &["-fsanitize=address", "-fno-omit-frame-pointer"],
    ))
}

#[test]
fn programs_that_are_not_mpi_programs_run() {
    let ended = Job::new(3).arg("echo").arg("hello").run().passed();
    assert_eq!(ended.out, "hello\n".repeat(3));
    Job::new(2).arg("sh").args(["-c", "exit 3"]).run().ended_with(3);
    Job::new(2).arg("./no/such/program").run().failed();
}

#[test]
fn output_comes_in_whole_lines() {
    if !mpi().is_ours() {
        return leave_out("whole lines", "not every launcher promises them");
    }
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do printf 'abc%s' $i; printf 'def\\n'; done; printf 'end without newline'";
    let ended = Job::new(4).arg("sh").args(["-c", script]).run().passed();
    for i in 1..=10 {
        // The last words of another rank, which ended without a newline, may stand in front.
        let line = format!("abc{i}def\n");
        assert_eq!(ended.out.matches(&line).count(), 4, "{line:?} in\n{}", ended.out);
    }
    assert_eq!(ended.out.matches("end without newline").count(), 4, "{}", ended.out);
}

#[test]
fn much_output_is_all_there() {
    if !mpi().is_ours() {
        return leave_out("much output", "not every launcher keeps lines whole");
    }
    let ended = Job::new(2).arg("sh").args(["-c", "seq 1 200000"]).run().passed();
    assert_eq!(ended.out.lines().count(), 400_000);
    let sum: u64 = ended.out.lines().map(|l| l.parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 2 * (200_000 * 200_001 / 2));
}

#[test]
fn a_timeout_ends_the_job() {
    if !mpi().is_ours() {
        return leave_out("--timeout", "tested on ours");
    }
    let job = Job::new(2).args(["--timeout", "1"]).program("hang");
    let folder = job.folder();
    let ended = job.arg(folder).start().wait_and_leave_nothing().ended_with(110);
    assert!(!ended.err.trim().is_empty(), "it says so");
}

/// Four ranks that hang, all of them started and known.
fn hanging(how: &str, through_shell: bool) -> Running {
    let job = Job::new(4);
    let folder = job.folder();
    let program = mpi().program("hang");
    let job = if through_shell {
        let script = format!("'{}' '{}' {how}; true", program.display(), folder.display());
        job.arg("sh").args(["-c", &script])
    } else {
        job.arg(program).arg(&folder).arg(how)
    };
    let mut running = job.start();
    running.until_up(4);
    running
}

fn keeper(running: &Running) -> Process {
    let keeper = running.processes().into_iter().find(|p| p.name == "oxmpid");
    keeper.expect("the job has a keeper")
}

/// Entries of /dev/shm and /tmp that carry our name.
fn named_leftovers() -> Vec<std::path::PathBuf> {
    let entries =
        ["/dev/shm", "/tmp"].into_iter().filter_map(|d| std::fs::read_dir(d).ok()).flatten().flatten();
    entries.map(|e| e.path()).filter(|p| p.to_string_lossy().contains("oxmpi")).collect()
}

/// Hurts a hanging job and looks at what is left: nothing, and an exit status that is not 0.
fn killed(how: &str, through_shell: bool, hurt: impl Fn(&Running)) -> Ended {
    let before = named_leftovers();
    let running = hanging(how, through_shell);
    hurt(&running);
    let ended = running.wait_and_leave_nothing().failed();
    let new: Vec<_> = named_leftovers().into_iter().filter(|p| !before.contains(p)).collect();
    assert!(new.is_empty(), "left behind: {new:?}");
    ended
}

/// The cases below, for ranks in three states: waiting inside the library, outside of it, and deaf
/// to SIGTERM; started directly and by a shell.
fn in_every_state(hurt: impl Fn(&Running)) -> Vec<Ended> {
    if !mpi().is_ours() {
        leave_out("killed jobs", "tested on ours");
        return Vec::new();
    }
    let states = [("recv", false), ("spin", false), ("deaf", false), ("recv", true)];
    states.into_iter().map(|(how, through_shell)| killed(how, through_shell, &hurt)).collect()
}

#[test]
fn one_rank_is_killed() {
    for ended in in_every_state(|job| job.rank(2).signal(Signal::KILL)) {
        // A shell may turn the signal into a status of its own; either way it is 128 + 9 here.
        assert!(
            ended.status == 137 || ended.status == 1 || ended.shown.contains("\"sh\""),
            "{}",
            ended.status
        );
    }
}

#[test]
fn all_ranks_are_killed() {
    in_every_state(|job| (0..4).for_each(|r| job.rank(r).signal(Signal::KILL)));
}

#[test]
fn the_launcher_is_killed() {
    in_every_state(|job| job.launcher().signal(Signal::KILL));
}

#[test]
fn the_keeper_is_killed() {
    for ended in in_every_state(|job| keeper(job).signal(Signal::KILL)) {
        assert!(!ended.err.trim().is_empty(), "the launcher says why");
    }
}

#[test]
fn everything_is_killed_at_once() {
    in_every_state(|job| job.processes().iter().for_each(|p| p.signal(Signal::KILL)));
}

#[test]
fn the_launcher_is_told_to_end() {
    in_every_state(|job| job.launcher().signal(Signal::TERM));
}

#[test]
fn the_launcher_is_interrupted() {
    in_every_state(|job| job.launcher().signal(Signal::INT));
}

#[test]
fn many_jobs_leave_nothing() {
    for _ in 0..30 {
        Job::new(4).program("ring").start().wait_and_leave_nothing().all_ok(4);
    }
}
