//! Tools between a program and the library, compiler wrappers, and an install that was moved.

use oxmpi_tests::{Ended, Job, in_path, leave_out, mpi, root};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command that must succeed; what it printed.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{err}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each of two ranks sends `ring`'s hundred messages, rank 0 by MPI_Isend.
#[track_caller]
fn counted(ended: Ended) {
    let ended = ended.all_ok(2);
    for line in ["rank 0 sent 0", "rank 1 sent 100"] {
        assert!(ended.out.lines().any(|l| l == line), "no {line:?} in\n{}", ended.out);
    }
}

const TOOL: &str = "tests/programs/counting_tool.c";
const RING: &str = "tests/programs/ring.c";

#[test]
fn a_tool_that_is_preloaded() {
    let tool = mpi().build("counting_tool.so", &[TOOL.into()], &["-shared", "-fPIC"]);
    let ring = mpi().program("ring");
    // Not in the launcher's own environment: `env` sets it for the ranks alone.
    let mut preload = std::ffi::OsString::from("LD_PRELOAD=");
    preload.push(&tool);
    counted(Job::new(2).arg("env").arg(preload).arg(ring).run());
}

#[test]
fn a_tool_that_is_an_object_of_the_program() {
    let program = mpi().build("ring_with_tool", &[RING.into(), TOOL.into()], &["-O2"]);
    counted(Job::new(2).arg(program).run());
}

#[test]
fn a_tool_in_a_static_library() {
    let folder = mpi().programs();
    let (object, archive) = (folder.join("counting_tool.o"), folder.join("libcounting.a"));
    printed(Command::new(mpi().bin("mpicc")).args(["-c", "-o"]).arg(&object).arg(TOOL));
    let _ = std::fs::remove_file(&archive);
    printed(Command::new("ar").arg("rcs").arg(&archive).arg(&object));
    let archive = archive.to_string_lossy().into_owned();
    // MPI_Finalize is undefined in the program, so the archive's member is pulled in.
    let program = mpi().build("ring_with_archive", &[RING.into(), archive], &["-O2"]);
    counted(Job::new(2).arg(program).run());
}

fn showme(question: &str) -> String {
    printed(Command::new(mpi().bin("mpicc")).arg(question)).trim().to_owned()
}

#[test]
fn the_wrapper_answers_both_families_of_questions() {
    if !mpi().is_ours() {
        return leave_out("questions to mpicc", "each MPI has its own");
    }
    let prefix = mpi().prefix.canonicalize().unwrap();
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    assert_eq!(showme("--showme:incdirs"), include.to_string_lossy());
    assert_eq!(showme("--showme:libdirs"), lib.to_string_lossy());
    assert_eq!(showme("--showme:libs"), "mpi_abi");
    assert_eq!(showme("--showme:compile"), format!("-I{}", include.display()));
    assert!(showme("--showme:link").contains(&format!("-L{} ", lib.display())));
    assert!(showme("-show").ends_with("-lmpi_abi") && showme("-link-info").ends_with("-lmpi_abi"));
    assert!(showme("--showme:version").contains("oxmpi"));

    // The command that the wrapper shows works without the wrapper.
    let out = mpi().programs().join("ring_by_hand");
    let line = format!(
        "{} {} -O2 -o {} {RING} {}",
        showme("--showme:command"),
        showme("--showme:compile"),
        out.display(),
        showme("--showme:link")
    );
    printed(Command::new("sh").args(["-c", &line]));
    Job::new(2).arg(out).run().all_ok(2);
}

#[test]
fn pkg_config() {
    if !mpi().is_ours() {
        return leave_out("pkg-config", "the file is ours");
    }
    if !in_path("pkg-config") {
        return leave_out("pkg-config", "pkg-config is not installed (Debian package pkg-config)");
    }
    let folder = mpi().prefix.join("lib/pkgconfig");
    let flags = printed(
        Command::new("pkg-config").args(["--cflags", "--libs", "oxmpi"]).env("PKG_CONFIG_PATH", folder),
    );
    let out = mpi().programs().join("ring_by_pkg_config");
    printed(Command::new("sh").args(["-c", &format!("cc -O2 -o {} {RING} {flags}", out.display())]));
    Job::new(2).arg(out).run().all_ok(2);
}

#[test]
fn cxx() {
    if !in_path("g++") && !in_path("c++") {
        return leave_out("a C++ program", "no C++ compiler is installed (Debian package g++)");
    }
    let source = mpi().programs().join("hello.cc");
    std::fs::write(
        &source,
        "#include <mpi.h>\n#include <iostream>\n#include <vector>\n\
         int main(int argc, char **argv) {\n\
         MPI_Init(&argc, &argv); int size = 0, one = 1, sum = 0; MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n\
         std::vector<MPI_Request> none; MPI_Finalize();\n\
         if (sum == size) std::cout << \"ok\" << std::endl;\n\
         return sum == size ? 0 : 1; }\n",
    )
    .unwrap();
    let out = mpi().programs().join("hello_cxx");
    printed(Command::new(mpi().bin("mpicxx")).args(["-Wall", "-Werror", "-o"]).arg(&out).arg(&source));
    Job::new(3).arg(out).run().all_ok(3);
}

/// A tool that translates programs, hides the vDSO from them, and says where they read or write what is not theirs. (It
/// cannot see what another process writes into this one's memory, so it is not asked who reads what nobody wrote.)
#[test]
fn a_program_in_valgrind() {
    const WHAT: &str = "a program in valgrind";
    if !mpi().is_ours() {
        return leave_out(WHAT, "what it says of others is theirs");
    }
    if !in_path("valgrind") {
        return leave_out(WHAT, "valgrind is missing (Debian package valgrind)");
    }
    let valgrind = ["valgrind", "--quiet", "--error-exitcode=77", "--undef-value-errors=no", "--vgdb=no"];
    Job::new(2).args(valgrind).arg(mpi().program("asleep")).limit(600).run().all_ok(2);
}

/// Memory that the library keeps for good stays reachable, so that a search for leaks finds the program's only.
#[test]
fn a_program_with_a_search_for_leaks() {
    const WHAT: &str = "a program with a search for leaks";
    if !mpi().is_ours() {
        return leave_out(WHAT, "what others leak is theirs");
    }
    let folder = mpi().programs();
    let (source, alone) = (folder.join("searched.c"), folder.join("searched"));
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let compiler = Command::new("cc").args(["-fsanitize=address", "-o"]).arg(&alone).arg(&source).output();
    let works = compiler.is_ok_and(|c| c.status.success())
        && Command::new(&alone).output().is_ok_and(|run| run.status.success());
    if !works {
        return leave_out(
            WHAT,
            "the C compiler has no AddressSanitizer, or its search for leaks does not work here",
        );
    }
    let flags = ["-g", "-fsanitize=address", "-pthread"];
    for name in ["ring", "asleep"] {
        let source = format!("tests/programs/{name}.c");
        let program = mpi().build(&format!("{name}_searched"), &[source], &flags);
        Job::new(2).arg(program).limit(600).run().all_ok(2);
    }
}

/// Copies an install with its links, as `mv` or `tar` would.
fn copy_tree(from: &Path, to: &Path) {
    printed(Command::new("cp").arg("-a").arg(from).arg(to));
}

#[test]
fn a_moved_install_works() {
    if !mpi().is_ours() {
        return leave_out("a moved install", "others are not relocatable");
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).unwrap();
    // A blank in the path is part of the test.
    let moved = folder.path().join("moved install");
    copy_tree(&mpi().prefix.canonicalize().unwrap(), &moved);
    let program = folder.path().join("ring");
    printed(Command::new(moved.join("bin/mpicc")).args(["-O2", "-o"]).arg(&program).arg(RING));
    let mut job = Command::new(moved.join("bin/mpirun"));
    job.args(["-n", "2"]).arg(&program);
    Job::of(job).run().all_ok(2);
    // The library that was used is that of the moved install.
    let linked = printed(Command::new("ldd").arg(&program));
    assert!(linked.contains("moved install/lib/libmpi_abi.so.1"), "{linked}");
}
