//! MPIR: what a parallel debugger does with mpirun, done with gdb.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::process::Command;
use tempfile::TempDir;

/// gdb on mpirun with these commands.
fn gdb(commands: &[&str], ranks: &str, program: &str, arguments: &[&str]) -> Option<Job> {
    if !mpi().is_ours() {
        leave_out("MPIR", "tested on ours");
        return None;
    }
    if !in_path("gdb") {
        leave_out("MPIR", "gdb is not installed (Debian package gdb)");
        return None;
    }
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-q"]);
    for line in
        ["set debuginfod enabled off", "set confirm off", "set language c", "handle all nostop noprint pass"]
            .iter()
            .chain(commands)
    {
        command.args(["-ex", line]);
    }
    command.arg("--args").arg(mpi().bin("mpirun")).args(["--oversubscribe", "-n", ranks]);
    command.arg(mpi().program(program)).args(arguments);
    Some(Job::of(command))
}

/// gdb can be forbidden to trace, as in some containers.
fn forbidden(text: &str) -> bool {
    let forbidden = text.contains("ptrace: Operation not permitted") || text.contains("Could not trace");
    if forbidden {
        leave_out("MPIR", "this machine does not permit gdb to trace");
    }
    forbidden
}

/// Row `n` of the table, without types that a binary may not describe.
fn row(n: usize) -> String {
    let place = format!("*(char**)&MPIR_proctable + {n}*24");
    format!(r#"printf "row %s|%s|%d\n", *(char**)({place}), *(char**)({place} + 8), *(int*)({place} + 16)"#)
}

#[test]
fn a_debugger_that_starts_the_job_finds_the_processes_in_mpi_init() {
    let folder = TempDir::new_in(root().join("target")).expect("target can be written");
    let name = folder.path().to_string_lossy().into_owned();
    let rows: Vec<String> = (0..3).map(row).collect();
    let count = |what: &str| format!("ls '{name}' | grep -c '^{what}'");
    // All are in MPI_Init soon; then they have a second to come out of it.
    let look = format!(
        "shell for i in $(seq 600); do test $({}) = 3 && break; sleep 0.1; done; sleep 1; \
         echo held: $({}) in, $({}) through",
        count("before"),
        count("before"),
        count("behind")
    );
    let mut commands = vec![
        "tbreak main",
        "run",
        "set *(int*)&MPIR_being_debugged = 1",
        "break MPIR_Breakpoint",
        "continue",
        "printf \"size %d state %d\\n\", *(int*)&MPIR_proctable_size, *(int*)&MPIR_debug_state",
    ];
    commands.extend(rows.iter().map(String::as_str));
    commands.extend([look.as_str(), "delete", "continue"]);
    let Some(job) = gdb(&commands, "3", "held", &[&name]) else { return };
    let ended = job.run();
    if forbidden(&ended.err) {
        return;
    }
    let text = format!("{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("size 3 state 1"), "{text}");
    assert!(ended.out.contains("held: 3 in, 0 through"), "{text}");
    assert_eq!(ended.out.lines().filter(|l| *l == "ok").count(), 3, "the job goes on: {text}");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let program = mpi().program("held").canonicalize().expect("it is there");
    let rows = ended.out.lines().filter_map(|l| l.strip_prefix("row "));
    let rows: Vec<Vec<&str>> = rows.map(|l| l.split('|').collect()).collect();
    assert_eq!(rows.len(), 3, "{text}");
    let file = |what: &str, end: &str| folder.path().join(format!("{what}.{end}")).exists();
    for (rank, row) in rows.iter().enumerate() {
        assert_eq!(row[..2], [host.as_str(), &program.to_string_lossy()], "{text}");
        assert!(file("before", row[2]), "process {} is one of the job's: {text}", row[2]);
        assert!(file("behind", &rank.to_string()), "rank {rank} went on: {text}");
    }
}

#[test]
fn a_debugger_hears_of_an_abort() {
    let commands = [
        "break MPIR_Breakpoint",
        "run",
        "continue",
        "printf \"state %d: %s\\n\", *(int*)&MPIR_debug_state, *(char**)&MPIR_debug_abort_string",
        "delete",
        "continue",
    ];
    let Some(job) = gdb(&commands, "2", "leave", &["abort", "7"]) else { return };
    let ended = job.run();
    if forbidden(&ended.err) {
        return;
    }
    assert!(
        ended.out.contains("state 2: ") && ended.out.contains("MPI_Abort"),
        "{}\n{}",
        ended.out,
        ended.err
    );
}

/// A debugger looks for them before anything else.
#[test]
fn the_names_are_dynamic_symbols() {
    if !mpi().is_ours() {
        return leave_out("MPIR", "tested on ours");
    }
    let output =
        Command::new("nm").arg("-D").arg(mpi().bin("mpirun")).output().expect("binutils come with gcc");
    let symbols = String::from_utf8_lossy(&output.stdout);
    for name in [
        "MPIR_Breakpoint",
        "MPIR_being_debugged",
        "MPIR_debug_abort_string",
        "MPIR_debug_state",
        "MPIR_force_to_main",
        "MPIR_i_am_starter",
        "MPIR_ignore_queues",
        "MPIR_partial_attach_ok",
        "MPIR_proctable",
        "MPIR_proctable_size",
    ] {
        assert!(symbols.lines().any(|l| l.ends_with(&format!(" {name}"))), "{name} is not in\n{symbols}");
    }
}
