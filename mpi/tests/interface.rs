//! The library as a C program sees it: what it exports, what its header compiles with, how it behaves
//! in one process, and that tools can stand between.
//!
//! Programs are in `tests/c`. They run as one process without a launcher, with the components that
//! cargo built for this test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo put the shared libraries: beside this test.
fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    assert!(folder.join("libmpi_abi.so").exists(), "no libmpi_abi.so in {}", folder.display());
    folder
}

/// A folder of its own for each test, with the library under its soname.
fn room(name: &str) -> PathBuf {
    let room = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&room);
    std::fs::create_dir_all(room.join("oxmpi")).unwrap();
    std::os::unix::fs::symlink(libraries().join("libmpi_abi.so"), room.join("libmpi_abi.so.1")).unwrap();
    room
}

/// Runs a command that must end by itself.
fn run(command: &mut Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(300);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("{command:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn gcc(arguments: &[&str]) {
    let out = run(Command::new("gcc")
        .args(["-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
        .arg(here().join("include"))
        .args(arguments));
    assert!(out.status.success(), "gcc {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

fn source(name: &str) -> String {
    here().join("tests/c").join(name).display().to_string()
}

/// Compiles a program of `tests/c` against the library.
fn compile(room: &Path, name: &str) -> PathBuf {
    let program = room.join(name);
    let library = room.join("libmpi_abi.so.1");
    gcc(&[
        &source(&format!("{name}.c")),
        "-o",
        &program.display().to_string(),
        &library.display().to_string(),
    ]);
    program
}

/// A program that runs alone, with the components beside this test.
fn alone(room: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", room);
    command.env("OXMPI_MCA_mca_base_component_path", libraries());
    command
}

fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn passes(program: &str, arguments: &[&str]) {
    let room = room(&format!("{program}{}", arguments.join("")));
    let out = run(alone(&room, &compile(&room, program)).args(arguments));
    let text = stdout(&out);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && text == "No Errors\n", "{program}: {}\n{text}{errors}", out.status);
}

#[test]
fn wrong_arguments_have_their_class() {
    passes("errors", &[]);
}

#[test]
fn requests_complete_in_all_ways() {
    passes("requests", &[]);
}

#[test]
fn requests_complete_in_all_ways_with_threads() {
    passes("requests", &["threads"]);
}

#[test]
fn wrong_arguments_of_messages_have_their_class() {
    passes("arguments", &[]);
}

#[test]
fn generalized_requests_call_back_at_the_standards_times() {
    passes("generalized", &[]);
}

#[test]
fn objects_live_and_die() {
    passes("objects", &[]);
}

#[test]
fn values_that_do_not_fit_are_undefined() {
    passes("large", &[]);
}

#[test]
fn info_keeps_values_as_they_are() {
    passes("infos", &[]);
}

#[test]
fn datatypes_say_what_they_are() {
    passes("datatypes", &[]);
}

#[test]
fn every_operation_on_every_type() {
    passes("operations", &[]);
}

#[test]
fn datatypes_tell_how_they_were_made() {
    passes("contents", &[]);
}

#[test]
fn misuse_of_objects_has_its_class() {
    passes("misuse", &[]);
}

/// Names in the first column of the table of functions.
fn functions() -> Vec<String> {
    let table = std::fs::read_to_string(here().join("abi/functions.tsv")).unwrap();
    let names = table.lines().filter(|l| l.starts_with("MPI_"));
    names.map(|l| l.split('\t').next().unwrap().to_string()).collect()
}

/// Names that commands of this installation ask the library for, which no header declares.
const FOR_COMMANDS: [&str; 1] = ["oxmpi_tell_file"];

#[test]
fn every_function_is_exported_under_both_names_and_nothing_else_is() {
    let out = run(Command::new("nm").args(["-D", "--defined-only"]).arg(libraries().join("libmpi_abi.so")));
    let text = stdout(&out);
    let exported: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|l| {
            let mut columns = l.split_whitespace();
            Some((columns.next()?, columns.nth(1)?))
        })
        .collect();
    let address = |name: &str| exported.iter().find(|(_, n)| *n == name).map(|(a, _)| *a);
    let functions = functions();
    assert_eq!(functions.len(), 664);
    for name in &functions {
        assert!(address(name).is_some(), "{name} is not exported");
        assert!(address(&format!("P{name}")).is_some(), "P{name} is not exported");
    }
    let ours = ["MPI_", "PMPI_", "MPIX_", "PMPIX_"];
    for (_, name) in &exported {
        let is_ours = ours.iter().any(|prefix| name.starts_with(prefix));
        assert!(is_ours || FOR_COMMANDS.contains(name), "{name} is exported");
    }
}

/// Names of functions and variables that `mpi-ext.h` declares.
fn extensions() -> Vec<String> {
    let header = std::fs::read_to_string(here().join("include/mpi-ext.h")).unwrap();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let declared =
        header.lines().filter(|l| l.ends_with(';') && (l.contains('(') || l.starts_with("extern")));
    let name = |line: &str| {
        let head = line.split('(').next().unwrap().trim_end_matches(';');
        head.rsplit(|c| !word(c)).next().unwrap().to_owned()
    };
    declared.map(name).filter(|name| name.contains("MPIX_")).collect()
}

#[test]
fn the_header_of_extensions_says_what_is_exported() {
    let out = run(Command::new("nm").args(["-D", "--defined-only"]).arg(libraries().join("libmpi_abi.so")));
    let text = stdout(&out);
    let exported = text.lines().filter_map(|l| l.split_whitespace().nth(2)).filter(|n| n.contains("MPIX_"));
    let mut exported: Vec<&str> = exported.collect();
    let mut declared = extensions();
    exported.sort_unstable();
    declared.sort_unstable();
    assert!(declared.len() > 10, "{declared:?}");
    assert_eq!(exported, declared);
    for name in declared.iter().filter(|n| n.starts_with("MPIX_") && !n.to_uppercase().eq(*n)) {
        assert!(declared.contains(&format!("P{name}")), "{name} has no profiling name");
    }
}

#[test]
fn waiting_threads_help_with_large_work() {
    passes("tasks", &[]);
}

#[test]
fn user_level_threads_wait_for_one_another() {
    passes("fibers", &[]);
}

#[test]
fn sync_objects() {
    passes("sync", &[]);
}

#[test]
fn sync_objects_with_threads() {
    passes("sync", &["threads"]);
}

#[test]
fn the_library_has_the_standard_name() {
    let out = run(Command::new("readelf").arg("-d").arg(libraries().join("libmpi_abi.so")));
    assert!(stdout(&out).contains("soname: [libmpi_abi.so.1]"));
}

#[test]
fn the_header_compiles_as_c_and_cpp() {
    let room = room("header");
    let text = "#include <mpi.h>\n#include <mpi.h>\n#include <mpi-ext.h>\n#include <mpi-ext.h>\nMPI_Comm world(void);\nMPI_Comm world(void) { return MPI_COMM_WORLD; }\n";
    let (c, cpp) = (room.join("a.c"), room.join("a.cpp"));
    std::fs::write(&c, text).unwrap();
    std::fs::write(&cpp, text).unwrap();
    let out = room.join("a.o").display().to_string();
    for standard in ["-std=c99", "-std=c11", "-std=c2x"] {
        gcc(&[standard, "-pedantic", "-c", &c.display().to_string(), "-o", &out]);
    }
    for standard in ["-std=c++98", "-std=c++17"] {
        gcc(&[standard, "-c", &cpp.display().to_string(), "-o", &out]);
    }
}

#[test]
fn tools_stand_between_by_preload_by_object_and_by_library() {
    let room = room("tools");
    let path = |name: &str| room.join(name).display().to_string();
    let library = path("libmpi_abi.so.1");
    gcc(&["-shared", "-fPIC", &source("tool.c"), "-o", &path("libtool.so")]);
    gcc(&["-c", &source("tool.c"), "-o", &path("tool.o")]);
    let archived = run(Command::new("ar").args(["rc", &path("libtool.a"), &path("tool.o")]));
    assert!(archived.status.success());
    let program = compile(&room, "traced");
    gcc(&[&source("traced.c"), &path("tool.o"), &library, "-o", &path("by_object")]);
    gcc(&[&source("traced.c"), &path("libtool.a"), &library, "-o", &path("by_library")]);
    let plain = run(&mut alone(&room, &program));
    assert_eq!(stdout(&plain), "No Errors\n");
    let preloaded = run(alone(&room, &program).env("LD_PRELOAD", path("libtool.so")));
    let by_object = run(&mut alone(&room, &room.join("by_object")));
    let by_library = run(&mut alone(&room, &room.join("by_library")));
    for (how, out) in [("preload", preloaded), ("object", by_object), ("library", by_library)] {
        assert_eq!(stdout(&out), "tool: 3 sends\nNo Errors\n", "{how}");
    }
}

#[test]
fn fatal_errors_say_function_argument_and_value() {
    let room = room("fatal");
    let program = compile(&room, "fatal");
    let cases = [
        ("", ["MPI_Send", "MPI_ERR_RANK", "dest is 7", "MPI_COMM_WORLD", "MPI_ERRORS_ARE_FATAL"]),
        ("early", ["MPI_Comm_size", "before MPI_Init", "", "", ""]),
        ("late", ["MPI_Comm_size", "after MPI_Finalize", "", "", ""]),
        ("later", ["MPI_Comm_join", "MPI_ERR_ARG", "socket", "", ""]),
    ];
    for (argument, words) in cases {
        let out = run(alone(&room, &program).arg(argument));
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && out.stdout.is_empty(), "{argument}: {}", out.status);
        for word in words {
            assert!(text.contains(word), "{argument}: no {word:?} in {text}");
        }
    }
}
