//! Sessions, windows as objects, and what becomes of objects at the end.

use oxmpi_tests::{Job, leave_out, mpi};

#[test]
fn sessions_come_and_go() {
    for ranks in [1, 2, 4] {
        Job::new(ranks).program("sessions").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn sessions_without_a_launcher() {
    let program = mpi().program("sessions");
    Job::of(std::process::Command::new(program)).run().all_ok(1);
}

/// A process that leaves with a session open has left MPI without a word, as one without MPI_Finalize.
#[test]
fn a_session_that_stays_open_is_noticed() {
    if !mpi().is_ours() {
        return leave_out("a session that stays open", "what the launcher makes of it is ours");
    }
    for (turns, good) in [("closed", true), ("open", false)] {
        let ended = Job::new(2).program("open_session").arg(turns).run();
        assert_eq!(ended.status == 0, good, "{turns}: {}\n{}", ended.status, ended.err);
    }
}

/// MPI_Error_string of a code that was returned names function and cause, a truncation with both sizes; and errors of
/// files ask the handler of files, which returns them unless the program says otherwise.
#[test]
fn errors_that_are_returned() {
    if !mpi().is_ours() {
        return leave_out("the words of errors", "they are ours");
    }
    Job::new(2).program("errors").run().all_ok(2);
    let ended = Job::new(2).program("errors").arg("files").run().failed();
    assert!(ended.err.contains("after an error in MPI_File_open"), "{}", ended.err);
}

/// MPI_Init and MPI_Finalize leave what is the program's: actions and masks of signals, floating point, umask, folder and more.
#[test]
fn what_is_the_programs_stays_as_it_was() {
    let sources = ["tests/programs/surroundings.c".to_owned()];
    let program = mpi().build("surroundings", &sources, &["-O2", "-pthread", "-lm"]);
    for how in ["plain", "own"] {
        Job::new(2).arg(&program).arg(how).run().all_ok(2);
    }
}

/// Functions that no other program calls by name.
#[test]
fn the_rest_of_the_functions() {
    for ranks in [1, 3] {
        Job::new(ranks).program("forms_left").run().all_ok(ranks);
    }
}

/// Reductions of MPI_CHAR and the functions of MPI-1 that MPICH has kept, and the compiler's word that they are removed.
#[test]
fn old_programs() {
    Job::new(3).program("removed").run().all_ok(3);
    if !mpi().is_ours() {
        return;
    }
    let source = mpi().programs().join("old.c");
    let text = "#include <mpi.h>\nint f(void *p, MPI_Aint *a) { return MPI_Address(p, a); }\n";
    std::fs::write(&source, text).expect("target can be written");
    let mut compile = std::process::Command::new(mpi().bin("mpicc"));
    let out = compile.arg("-c").arg(&source).arg("-o").arg(source.with_extension("o")).output();
    let out = out.expect("mpicc runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("removed in MPI 3.0; use MPI_Get_address"), "{said}");
}

/// Where threads, sessions and processes begin and end.
#[test]
fn corners() {
    let all = [
        "disconnect",
        "last-calls",
        "sessions",
        "tool",
        "children",
        "at-exit-before",
        "at-exit-behind",
        "attributes",
    ];
    for situation in all {
        Job::new(2).program("corners").arg(situation).limit(300).run().all_ok(2);
    }
    Job::of(std::process::Command::new(mpi().program("corners"))).arg("sessions").limit(300).run().all_ok(1);
}

#[test]
fn questions_about_the_binary_interface() {
    if !mpi().is_ours() {
        return leave_out("questions about the binary interface", "not every library has it yet");
    }
    Job::new(1).program("abi").run().all_ok(1);
}

#[test]
fn windows_as_objects() {
    let strict = if mpi().is_ours() { "strict" } else { "-" };
    for ranks in [1, 2, 4] {
        let job = Job::new(ranks);
        // Without a component: what windows are on their own.
        let job = if mpi().is_ours() { job.args(["--mca", "osc", "^pt2pt,rdma"]) } else { job };
        job.program("windows").arg(strict).limit(300).run().all_ok(ranks);
    }
}

#[test]
fn what_was_not_freed_is_told_when_asked_for() {
    if !mpi().is_ours() {
        return leave_out("the report of what was not freed", "its words are ours");
    }
    let ended = Job::new(2).program("leaks").run();
    assert!(!ended.err.contains("not freed"), "nobody asked: {}", ended.err);
    ended.all_ok(2);
    let ended = Job::new(2).args(["--mca", "mpi_show_handle_leaks", "1"]).program("leaks").run();
    for rank in 0..2 {
        let start = format!("rank {rank}: not freed when MPI was finalized: ");
        let line = ended.err.lines().find(|l| l.contains(&start)).unwrap_or_else(|| panic!("{}", ended.err));
        let kinds = "1 communicator,forgotten,1 window,1 datatype,1 operation,1 group,1 request,1 attribute key,1 info";
        for kind in kinds.split(',') {
            assert!(line.contains(kind), "{kind}: {line}");
        }
    }
    ended.all_ok(2);
    let ended =
        Job::new(2).args(["--mca", "mpi_show_handle_leaks", "1"]).program("sessions").limit(300).run();
    assert!(!ended.err.contains("not freed"), "all is freed there: {}", ended.err);
    ended.all_ok(2);
}

#[test]
fn the_initial_error_handler_may_return() {
    if !mpi().is_ours() {
        return leave_out("the initial error handler", "the parameter is ours");
    }
    let returning = ["--mca", "mpi_initial_errhandler", "mpi_errors_return"];
    Job::new(2).args(returning).program("leaks").arg("return").run().all_ok(2);
    let ended = Job::new(1).program("leaks").arg("return").run();
    assert!(ended.status != 0 && ended.err.contains("MPI_Session_finalize"), "{}", ended.err);
}
