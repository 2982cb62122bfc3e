//! How a job ends: the exit status and the one report.

use crate::support::mpirun;

#[test]
fn all_is_well() {
    let ended = mpirun("-n 3").script("exit 0").run();
    ended.expect(0, &[]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
}

#[test]
fn the_first_status_that_is_not_0_ends_the_job_and_is_its_status() {
    let ended = mpirun("-n 4").script("test $OMPI_COMM_WORLD_RANK = 2 && exit 42; sleep 1000").run();
    ended.expect(42, &["Rank 2", "exit status 42"]);
    assert_eq!(ended.err.matches("mpirun has").count(), 1, "one report: {ended:?}");
}

/// Sanitizers write in pieces. The third rank does not end by itself.
#[test]
fn ranks_that_are_ending_finish_their_reports() {
    let script = "r=$OMPI_COMM_WORLD_RANK; test $r = 2 && exec sleep 1000; test $r = 1 && sleep 0.2
        for piece in 1 2 3 4; do echo \"report $r.$piece\" >&2; sleep 0.1; done; echo \"end of $r\" >&2; exit 23";
    let ended = mpirun("-n 3").script(script).run();
    ended.expect(23, &["Rank 0", "exit status 23"]);
    for rank in 0..2 {
        for piece in 1..5 {
            assert!(ended.err.contains(&format!("report {rank}.{piece}\n")), "{ended:?}");
        }
        assert!(ended.err.contains(&format!("end of {rank}\n")), "{ended:?}");
    }
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// Six threads beside it have most of its core, so its report takes four seconds, in the first of which nothing is said.
#[test]
fn who_waits_for_a_core_finishes_its_report() {
    let ended = mpirun("-n 2").role("report").run();
    ended.expect(23, &["Rank 0", "exit status 23", "end of 1\n"]);
}

#[test]
fn death_by_signal_is_128_and_the_signal() {
    let ended = mpirun("-n 2").script("test $OMPI_COMM_WORLD_RANK = 1 && kill -SEGV $$; sleep 1000").run();
    ended.expect(128 + 11, &["Rank 1", "SIGSEGV"]);
}

#[test]
fn a_program_that_is_not_there() {
    mpirun("-n 2 no-such-program-anywhere")
        .run()
        .expect(127, &["no-such-program-anywhere", "options have to come before"]);
    mpirun("-n 2 /no/such/program").run().expect(127, &["/no/such/program"]);
}

#[test]
fn a_program_of_this_folder_is_pointed_out() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("here-it-is"), "").expect("a file");
    let mut job = mpirun("-n 1 here-it-is");
    job.command.current_dir(folder.path());
    job.run().expect(127, &["./here-it-is"]);
}

#[test]
fn a_program_that_cannot_be_executed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a-text");
    std::fs::write(&file, "").expect("a file");
    mpirun(&format!("-n 2 {}", file.display())).run().expect(126, &["a-text"]);
    mpirun("-n 1 /").run().expect(126, &[]);
}

#[test]
fn a_time_limit() {
    mpirun("-n 2 --timeout 1").script("sleep 1000").run().expect(110, &["limit of 1 seconds"]);
    let mut job = mpirun("-n 2").script("trap '' TERM; sleep 1000; sleep 1000");
    job.command.env("MPIEXEC_TIMEOUT", "1");
    job.run().expect(110, &["limit of 1 seconds"]);
    let mut job = mpirun("-n 2 --timeout 3").script("true");
    job.command.env("MPIEXEC_TIMEOUT", "4");
    job.run().expect(1, &["--timeout", "MPIEXEC_TIMEOUT"]);
}

#[test]
fn an_abort_has_its_code() {
    for (code, status) in [("7", 7), ("256", 1), ("-1", 255), ("0", 0)] {
        let ended = mpirun("-n 3").role(&format!("abort {code}")).run();
        ended.expect(status, &["Rank 1", &format!("code {code}"), "no more flour"]);
    }
}

#[test]
fn a_rank_that_crashes_inside_mpi() {
    mpirun("-n 3").role("crash").run().expect(128 + 6, &["Rank 1", "SIGABRT"]);
}

#[test]
fn a_rank_that_leaves_without_finalize() {
    mpirun("-n 2").role("leave").run().expect(1, &["without MPI_Finalize"]);
}

#[test]
fn a_rank_that_is_gone_while_its_shell_goes_on() {
    let ended = mpirun("-n 2").script_with_role("$RANK; sleep 1000", "leave").run();
    ended.expect(1, &["still running"]);
}

#[test]
fn the_daemon_is_missing() {
    let mut job = mpirun("-n 1 true");
    job.command.env("OXMPI_NODE_DAEMON", "/no/such/daemon");
    job.run().expect(1, &["node daemon cannot be started", "/no/such/daemon"]);
}

#[test]
fn the_daemon_is_something_else() {
    let mut job = mpirun("-n 1 true");
    job.command.env("OXMPI_NODE_DAEMON", "/bin/false");
    job.run().expect(1, &["node daemon", "status 1"]);
    let mut job = mpirun("-n 1 true");
    job.command.env("OXMPI_NODE_DAEMON", "/bin/pwd");
    job.run().expect(1, &["impossible frame"]);
}
