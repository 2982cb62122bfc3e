//! Ranks that load the library of another MPI while they run, which nothing in their files tells.

use crate::support::{Ended, Job, mpirun};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LIBRARY: &str = "int MPI_Init(int *n, void *v) { (void)n, (void)v; return 0; }\n";
/// Opens the library it is told, says so, and lives until its input ends.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
    int (*start)(int *, void *) = 0;
    if (library) *(void **)&start = dlsym(library, "MPI_Init");
    if (!start) return 3;
    start(0, 0);
    puts("up");
    fflush(stdout);
    while (getchar() != EOF) {}
    return 0;
}
"#;

fn compile(folder: &Path, words: &[&str]) {
    let mut command = Command::new("cc");
    assert!(command.current_dir(folder).args(words).status().expect("a compiler").success(), "{words:?}");
}

/// A folder with the program and this library.
fn made(library: &str, source: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("library.c", source);
    write("main.c", PROGRAM);
    compile(
        folder.path(),
        &["-shared", "-fPIC", &format!("-Wl,-soname,{library}"), "-o", library, "library.c"],
    );
    compile(folder.path(), &["main.c", "-o", "opens", "-ldl"]);
    let (program, library) = (folder.path().join("opens"), folder.path().join(library));
    (folder, program, library)
}

/// Runs it until `count` ranks have loaded the library and what they said has been read.
fn run(mut job: Job, words: &[&OsStr], count: usize) -> Ended {
    job.command.args(words).stdin(Stdio::piped());
    let mut running = job.start_without_reading();
    let input = running.child.stdin.take();
    let mut out = BufReader::new(running.child.stdout.take().expect("piped"));
    let mut err = running.child.stderr.take().expect("piped");
    let mut said = String::new();
    while said.lines().filter(|line| *line == "up").count() < count {
        if out.read_line(&mut said).expect("a pipe can be read") == 0 {
            break;
        }
    }
    drop(input);
    let mut errors = String::new();
    err.read_to_string(&mut errors).expect("text");
    let ended = running.wait();
    assert_eq!(said.lines().filter(|line| *line == "up").count(), count, "{said:?}, {errors}");
    Ended { out: said, err: errors, ..ended }
}

#[test]
fn ranks_that_load_another_mpi_are_told() {
    let (_folder, program, library) = made("libmpi.so.40", LIBRARY);
    let words = [program.as_os_str(), library.as_os_str()];
    let told = |ended: Ended, parts: &[&str]| {
        ended.expect(1, parts);
        assert_eq!(ended.reports(), 1, "{ended:?}");
    };
    let ended = run(mpirun("-n 2 --stdin all"), &words, 2);
    told(ended, &["2 of the job's 2", "libmpi.so.40", "rank 0 of 1", "mpi_permit_singletons"]);

    // Below a shell, as an interpreter or a script of the user's starts it, and on several nodes.
    let script = "\"$0\" \"$1\"; exit $?";
    let below = ["/bin/sh", "-c", script].map(OsStr::new);
    let nodes = mpirun("--host a,b --mca plm local --stdin all");
    told(run(nodes, &[&below[..], &words].concat(), 2), &["2 of the job's 2", "libmpi.so.40"]);
}

/// One process is rank 0 of 1 with either library, and parameter sweeps want it so.
#[test]
fn another_mpi_is_no_failure_where_processes_run_alone() {
    let (_folder, program, library) = made("libmpich.so.12", LIBRARY);
    let words = [program.as_os_str(), library.as_os_str()];
    run(mpirun("-n 1"), &words, 1).expect(0, &["1 of the job's 1", "libmpich.so.12"]);
    let swept = run(mpirun("-n 2 --stdin all --mca mpi_permit_singletons true"), &words, 2);
    swept.expect(0, &["2 of the job's 2"]);
}

/// The library of the standard ABI has the same name from everybody.
#[test]
fn libraries_of_the_standard_abi_are_told_apart() {
    let (_folder, program, library) = made("libmpi_abi.so.0", LIBRARY);
    let ended = run(mpirun("-n 2 --stdin all"), &[program.as_os_str(), library.as_os_str()], 2);
    ended.expect(1, &["2 of the job's 2", "libmpi_abi.so.0"]);

    // Ours, which a program may open and not use.
    let ours = format!("{LIBRARY}const char name[] = \"oxmpi\";\n");
    let (_folder, program, library) = made("libmpi_abi.so.1", &ours);
    let ended = run(mpirun("-n 2 --stdin all"), &[program.as_os_str(), library.as_os_str()], 2);
    ended.expect(0, &[]);
    assert_eq!(ended.err, "");
}
