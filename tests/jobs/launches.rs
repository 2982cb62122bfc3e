//! Starts at the edge of what the system can start, processes that another launcher starts, and programs of another MPI.

use crate::first_hour::{ours, says};
use oxmpi_tests::{Job, mpi};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The variables that mpirun adds must not keep a program from starting that the system starts.
#[test]
fn as_many_arguments_as_the_system_takes() {
    if !ours("OMPI_ARGV") {
        return;
    }
    let many: Vec<String> = (0..3000).map(|n| format!("{n:080}")).collect();
    let here = Job::new(2).program("size").args(&many).run().passed();
    says(&here, &["rank 1 of 2, 3000 arguments, OMPI_ARGV not set"]);
    let nodes = ["--mca", "plm", "local", "--host", "a,b"];
    let there = Job::new(2).args(nodes).program("size").args(&many).run().passed();
    says(&there, &["rank 1 of 2, 3000 arguments, OMPI_ARGV not set"]);
    let few = Job::new(1).program("size").args(&many[..3]).run().passed();
    says(&few, &["rank 0 of 1, 3 arguments, OMPI_ARGV set"]);

    // A string that fits as an argument, and with the variable's name before it does not.
    let long = "x".repeat((128 << 10) - 1);
    says(&Job::new(1).program("size").arg(&long).run().passed(), &["1 arguments, OMPI_ARGV not set"]);
    // mpirun itself is given it in a file, where the system knows no limit.
    let job = Job::new(1);
    let file = job.folder().join("apps");
    let text = format!("-n 1 {} {long}x\n", mpi().program("size").display());
    fs::write(&file, text).expect("the job's folder can be written");
    let mut command = Command::new(mpi().bin("mpirun"));
    command.arg("--app").arg(&file);
    let ended = Job::of(command).run().ended_with(1);
    says(
        &ended,
        &["cannot be started", "Argument list too long", "131072", "RLIMIT_STACK", "argument 1 has 131073"],
    );

    // Nor has our folder room in this one.
    let folders = format!("/{}", "x".repeat((128 << 10) - 20));
    let ended = Job::new(1).env("LD_LIBRARY_PATH", folders).program("size").run().ended_with(1);
    says(&ended, &["131072", "the variable LD_LIBRARY_PATH has"]);
    assert_eq!(ended.err.lines().filter(|line| line.starts_with("-----")).count(), 2, "{}", ended.err);
    assert!(!ended.err.contains("mpirun: \n"), "{}", ended.err);
}

/// Limits that keep the job from starting are named with their values.
#[test]
fn limits_are_named() {
    if !ours("limits") {
        return;
    }
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]).arg(mpi().bin("mpirun"));
    let ended = Job::of(command).args(["-n", "64"]).program("size").run().ended_with(1);
    says(&ended, &["Too many open files", "40 (RLIMIT_NOFILE, ulimit -n)"]);
    // The daemon's, which starts each rank and has a connection to it; and a rank's, in the words of a component.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 30; exec \"$@\"", "sh"]).arg(mpi().bin("mpirun"));
    let ended = Job::of(command).args(["-n", "8"]).program("size").run().ended_with(1);
    says(&ended, &["30 (RLIMIT_NOFILE, ulimit -n)"]);
    let job = Job::new(2).args(["--mca", "btl", "tcp,self", "sh", "-c", "ulimit -n 10; exec \"$0\""]);
    says(&job.program("size").run().failed(), &["btl:tcp", "10 (RLIMIT_NOFILE, ulimit -n)"]);
}

/// A program without our mpirun, with these variables.
fn alone(variables: &[(&str, &str)]) -> Job {
    let job = Job::of(Command::new(mpi().program("size")));
    variables.iter().fold(job, |job, (name, value)| job.env(name, value))
}

#[test]
fn processes_of_another_launcher_do_not_run_alone_in_silence() {
    if !ours("other launchers") {
        return;
    }
    for (variables, evidence) in [
        (&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "0")][..], "SLURM_STEP_NUM_TASKS=4"),
        (&[("PMI_SIZE", "4"), ("PMI_RANK", "0")], "PMI_SIZE=4"),
        (&[("PMIX_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")], "OMPI_COMM_WORLD_SIZE=2"),
    ] {
        for words in [&[][..], &["session"]] {
            let ended = alone(variables).args(words).run().failed();
            says(&ended, &[evidence, "by mpirun", "mpi_permit_singletons"]);
            assert_eq!(ended.out, "", "{evidence}");
        }
        let permitted = alone(variables).env("OXMPI_MCA_mpi_permit_singletons", "true");
        says(&permitted.run().passed(), &["rank 0 of 1"]);
    }
    let third = alone(&[("PMI_SIZE", "4"), ("PMI_RANK", "2")]).run().failed();
    says(&third, &["process 2", "PMI_SIZE=4", "process 0 says"]);
    assert!(!third.err.contains("parameter sweep"), "the paragraph stands once: {}", third.err);

    // The one process of an allocation's shell, and ours below another launcher's.
    let shell = [("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")];
    says(&alone(&shell).run().passed(), &["rank 0 of 1"]);
    let below = Job::new(2).env("PMI_SIZE", "4").env("PMI_RANK", "0").env("SLURM_STEP_NUM_TASKS", "4");
    says(&below.program("size").run().passed(), &["rank 1 of 2"]);
}

/// A program that is linked with a library of this name, which makes no job; and that library's folder.
fn program_of_another_mpi(folder: &Path, library: &str) {
    let write =
        |name: &str, text: &str| fs::write(folder.join(name), text).expect("the job's folder can be written");
    write("library.c", "int MPI_Init(int *n, void *v) { (void)n, (void)v; return 0; }\n");
    write("main.c", "int MPI_Init(int *, void *);\nint main(void) { return MPI_Init(0, 0); }\n");
    let compile = |words: &[&str]| {
        let mut command = Command::new("cc");
        assert!(command.current_dir(folder).args(words).status().expect("a compiler").success());
    };
    compile(&["-shared", "-fPIC", &format!("-Wl,-soname,{library}"), "-o", library, "library.c"]);
    compile(&["main.c", "-o", "other", &format!("./{library}"), "-Wl,-rpath,$ORIGIN"]);
}

#[test]
fn programs_of_another_mpi_are_told() {
    if !ours("programs of another MPI") {
        return;
    }
    let job = Job::new(3);
    let folder = job.folder();
    program_of_another_mpi(&folder, "libmpi.so.40");
    let ended = job.arg(folder.join("other")).run().ended_with(1);
    says(&ended, &["3 of the job's 3 processes", "libmpi.so.40", "rank 0 of 1"]);
    let plain = Job::new(2).arg("true").run().passed();
    assert_eq!(plain.err, "", "a program without MPI");
}

/// A program is built before its install is moved, and finds the library of the mpirun that starts it, whatever else bears the
/// library's name: on this node, on nodes of this machine and on other machines.
#[test]
fn programs_built_before_the_install_was_moved() {
    if !ours("a moved install") {
        return;
    }
    let folder = tempfile::tempdir_in(oxmpi_tests::root().join("target")).expect("target can be written");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    let (program, other) = (folder.path().join("moved"), folder.path().join("other"));
    let done =
        |command: &mut Command| assert!(command.status().expect("it is there").success(), "{command:?}");
    // Its files are as good as copies: nothing writes to them.
    done(Command::new("cp").arg("-al").arg(mpi().bin("..").canonicalize().expect("installed")).arg(&before));
    let source = oxmpi_tests::root().join("tests/programs/size.c");
    done(Command::new(before.join("bin/mpicc")).arg(source).arg("-o").arg(&program));
    fs::create_dir(&other).expect("writable");
    fs::write(other.join("nothing.c"), "int nothing;\n").expect("writable");
    let decoy = ["-shared", "-fPIC", "nothing.c", "-Wl,-soname,libmpi_abi.so.1", "-o", "libmpi_abi.so.1"];
    done(Command::new("cc").current_dir(&other).args(decoy));
    fs::rename(&before, &after).expect("on one file system");

    // An agent in the place of ssh: a login, with an environment of its own, here.
    let agent = folder.path().join("agent");
    let login = "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\nexec env -i PATH=/usr/bin:/bin \
                 OXMPI_TEST_MARK=\"$OXMPI_TEST_MARK\" sh -c \"$2\"\n";
    fs::write(&agent, login).expect("writable");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("our file");
    let agent = agent.display().to_string();
    let run = |places: &[&str], more: &[&str]| {
        let mut command = Command::new(after.join("bin/mpirun"));
        command.args(["-n", "2"]);
        Job::of(command).args(places).args(more).arg(&program).run()
    };
    let named = format!("LD_LIBRARY_PATH={}", other.display());
    let here: &[&str] = &[];
    for places in [
        here,
        &["--mca", "plm", "local", "--host", "a,b"],
        &["--host", "m1,m2", "--mca", "plm_ssh_agent", &agent],
        &["--host", "localhost,m2", "--mca", "plm_ssh_agent", &agent],
    ] {
        for more in [here, &["-x", &named], &["--unset-env", "LD_LIBRARY_PATH"]] {
            says(&run(places, more).passed(), &["rank 1 of 2"]);
        }
        run(places, &["--noprefix", "-x", &named]).failed();
    }
}
