//! Mistakes that users make: what each prints is a row of `docs/mistakes.md`, and each row is made
//! here. A row without a case, or a case without a row, fails.

use oxmpi_tests::{Ended, Job, Process, leave_out, mpi, root};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Row {
    key: String,
    parts: Vec<String>,
    status: Option<i32>,
}

fn table() -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/mistakes.md")).expect("the page is there");
    // Those of operators are made beside mpirun.
    let text = text.split("## Mistakes of operators").next().unwrap_or_default();
    let rows = text.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| Key"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" |").map(str::trim).collect();
        let [key, _, printed, status] = cells[..] else { panic!("not four cells: {line}") };
        let parts = printed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Row { key: key.trim_start_matches("| ").to_owned(), parts, status: status.parse().ok() }
    })
    .collect()
}

/// mpirun with these words, and then the job's folder for what the case needs.
fn job(ranks: usize) -> Job {
    Job::new(ranks)
}

fn file(job: &Job, name: &str, bytes: &[u8], mode: u32) -> PathBuf {
    let path = job.folder().join(name);
    fs::write(&path, bytes).expect("a fresh folder can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own file");
    path
}

fn with_file(name: &str, bytes: &[u8], mode: u32) -> Ended {
    let job = job(2);
    let path = file(&job, name, bytes, mode);
    job.arg(path).start().wait_and_leave_nothing()
}

/// A job started by a shell that sets something up first; `$@` is mpirun and its words.
fn shell(setup: &str, words: &[&str], program: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new("bash");
    command.args(["-c", setup, "sh"]).arg(mpi().bin("mpirun")).args(["--oversubscribe"]).args(words);
    command.arg(program).args(arguments);
    Job::of(command).start().wait_and_leave_nothing()
}

fn simple(ranks: usize, options: &[&str], program: &str, arguments: &[&str]) -> Ended {
    job(ranks).args(options).program(program).args(arguments).start().wait_and_leave_nothing()
}

/// A job for which parameters come from a file of these lines.
fn with_parameters(lines: &str) -> Ended {
    let job = job(2);
    let path = file(&job, "params.conf", lines.as_bytes(), 0o644);
    let path = path.to_string_lossy().into_owned();
    job.args(["--mca", "mca_base_param_files", &path]).program("ring").start().wait_and_leave_nothing()
}

/// A job over TCP on these interfaces.
fn over_tcp(interfaces: &str) -> Ended {
    simple(2, &["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", interfaces], "ring", &[])
}

/// A job that hangs, and what is done to it.
fn hanging(hurt: impl Fn(&Process, &[Process])) -> Ended {
    let job = job(2);
    let folder = job.folder();
    let mut running = job.program("hang").arg(&folder).start();
    running.until("all ranks are up", || (0..2).all(|r| folder.join(format!("rank{r}")).exists()));
    let pid = |r: i32| fs::read_to_string(folder.join(format!("rank{r}"))).expect("written");
    let ranks: Vec<Process> = (0..2)
        .map(|r| Process { pid: pid(r).trim().parse().expect("a number"), name: "rank".into(), state: '?' })
        .collect();
    hurt(&running.launcher(), &ranks);
    running.wait_and_leave_nothing()
}

/// A shared library that has nothing in it, under this name, in a folder of its own.
fn empty_library(name: &str) -> PathBuf {
    let folder = mpi().programs().join("mistakes");
    fs::create_dir_all(&folder).expect("target can be written");
    let source = folder.join("empty.c");
    fs::write(&source, "int nothing_of_interest;\n").expect("target can be written");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), "-o"])
        .arg(folder.join(name))
        .arg(&source);
    assert!(command.status().expect("a compiler").success());
    folder
}

fn make(key: &str) -> Option<Ended> {
    let ring = mpi().program("ring");
    Some(match key {
        "program-missing" => job(2).arg("no-such-program-anywhere").run(),
        "program-here" => {
            let job = job(2);
            file(&job, "unlikely-name", b"#!/bin/sh\n", 0o755);
            let folder = job.folder();
            let script = format!("cd '{}' && \"$@\"", folder.display());
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh"]).arg(mpi().bin("mpirun")).args(["-n", "1", "unlikely-name"]);
            let _keep = job;
            Job::of(command).run()
        }
        "wrong-folder" => job(2).arg("./no/such/folder/program").run(),
        "no-program" => job(2).run(),
        "not-executable" => with_file("a.out", b"\x7fELF", 0o644),
        "folder" => job(2).arg(root()).run(),
        "interpreter" => with_file("script", b"#!/no/such/interpreter -x\n", 0o755),
        "carriage-return" => with_file("script", b"#!/bin/sh\r\necho hi\r\n", 0o755),
        "architecture" => {
            let mut elf = [0_u8; 128];
            elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
            (elf[16], elf[18], elf[20]) = (2, 243, 1);
            with_file("riscv", &elf, 0o755)
        }
        "library-missing" => {
            let folder = empty_library("libnothere.so");
            let out = folder.join("needs-library");
            let mut command = Command::new("cc");
            let source = folder.join("main.c");
            fs::write(
                &source,
                "extern int nothing_of_interest; int main(void) { return nothing_of_interest; }\n",
            )
            .expect("target can be written");
            command.arg("-o").arg(&out).arg(&source).arg(folder.join("libnothere.so"));
            assert!(command.status().expect("a compiler").success());
            // Found at link time by its soname only.
            fs::remove_file(folder.join("libnothere.so")).expect("it was made above");
            job(1).arg(out).run()
        }
        "other-mpi" => {
            let folder = empty_library("libmpi_abi.so.1");
            let setting = format!("LD_LIBRARY_PATH={}", folder.display());
            // mpicc writes a path that LD_LIBRARY_PATH overrides, or one that it does not.
            let ended = job(1).arg("env").arg(setting).arg(ring).run();
            if ended.status == 0 {
                leave_out("another library in LD_LIBRARY_PATH", "the program's own path comes first here");
                return None;
            }
            ended
        }
        "option" => simple(2, &["--timeuot", "3"], "ring", &[]),
        "ranks-zero" => Job::of(mpirun(&["-n", "0", "true"])).run(),
        "ranks-word" => Job::of(mpirun(&["-n", "two", "true"])).run(),
        "time-limits" => job(1).args(["--timeout", "5"]).env("MPIEXEC_TIMEOUT", "6").arg("true").run(),
        "output-word" => simple(2, &["--output", "tga"], "ring", &[]),
        "output-folder" => simple(2, &["--output", "dir=/proc/no/such"], "ring", &[]),
        "output-file-full" => {
            let job = job(1);
            let name = job.folder().join("log");
            std::os::unix::fs::symlink("/dev/full", job.folder().join("log.1.0.out"))
                .expect("a fresh folder");
            job.args(["--output", &format!("file={}", name.display())]).arg(ring).run()
        }
        "output-full" => shell("\"$@\" > /dev/full", &["-n", "2"], &ring, &[]),
        "parameter-name" => simple(2, &["--mca", "btl_shm_eager_limt", "4k"], "ring", &[]),
        "parameter-value" => simple(2, &["--mca", "btl_shm_eager_limit", "12x"], "ring", &[]),
        "file-value" => with_parameters("mpi_spin_count = 7\nbtl_shm_eager_limit = 12x\n"),
        "file-line" => with_parameters("mpi_spin_count 7\n"),
        "profile" => simple(2, &["--tune", "latencyy"], "ring", &[]),
        "interface" => over_tcp("eth99"),
        "network" => over_tcp("10.0.0.0/99"),
        "host" => Job::of(mpirun(&["--host", "no-such-host.invalid", "true"])).run(),
        "slots" => Job::of(mpirun(&["--host", "localhost:2", "-n", "3", "true"])).run(),
        "hostfile" => Job::of(mpirun(&["--hostfile", "/no/such/hosts", "true"])).run(),
        "wdir" => simple(2, &["--wdir", "/no/such/folder"], "ring", &[]),
        "component" => simple(2, &["--mca", "pml", "ucx"], "ring", &[]),
        "io-nothing" => simple(2, &["--mca", "io", "^ompio,romio341"], "ring", &[]),
        "io-word" => simple(2, &["--mca", "io", "ompoi"], "ring", &[]),
        "open-files" => shell("ulimit -n 40; \"$@\"", &["-n", "64"], &ring, &[]),
        "memory" => {
            let script = format!("ulimit -f 32; exec '{}'", ring.display());
            job(2).arg("bash").args(["-c", &script]).run()
        }
        "tmpdir" => job(2).env("TMPDIR", "/proc/no/such").program("ring").run(),
        "no-cma" => {
            // Only x86-64 has the filter that the program sets up.
            simple(2, &[], "noreadv", &[&mpi().program("protocols").to_string_lossy()])
        }
        "reader-gone" => shell("\"$@\" | true; exit ${PIPESTATUS[0]}", &["-n", "1"], Path::new("yes"), &[]),
        "stdin-closed" => shell("exec \"$@\" <&-", &["-n", "2"], &ring, &[]),
        "stdout-closed" => shell("exec \"$@\" >&-", &["-n", "2"], &ring, &[]),
        "hangup" => hanging(|mpirun, _| mpirun.signal(Signal::HUP)),
        "interrupt" => hanging(|mpirun, _| mpirun.signal(Signal::INT)),
        "no-finalize" => simple(2, &[], "leave", &["exit", "0"]),
        "exit-code" => simple(2, &[], "leave", &["exit", "5"]),
        "abort" => simple(2, &[], "leave", &["abort", "7"]),
        "segfault" => simple(2, &[], "crash", &["segv"]),
        "killed" => hanging(|_, ranks| ranks[1].signal(Signal::KILL)),
        "mpirun-killed" => hanging(|mpirun, _| mpirun.signal(Signal::KILL)),
        "deadlock" => {
            let job = job(2).args(["--timeout", "1"]);
            let folder = job.folder();
            job.program("hang").arg(folder).start().wait_and_leave_nothing()
        }
        "early" | "late" | "twice" | "count" | "tag" => simple(1, &[], "mistake", &[key]),
        "short-buffer" => simple(2, &[], "mistake", &["short"]),
        "no-such-rank" => simple(2, &[], "leave", &["error"]),
        _ => return None,
    })
}

fn mpirun(words: &[&str]) -> Command {
    let mut command = Command::new(mpi().bin("mpirun"));
    command.args(words);
    command
}

const CASES: [&str; 56] = [
    "program-missing",
    "program-here",
    "wrong-folder",
    "no-program",
    "not-executable",
    "folder",
    "interpreter",
    "carriage-return",
    "architecture",
    "library-missing",
    "other-mpi",
    "option",
    "ranks-zero",
    "ranks-word",
    "time-limits",
    "output-word",
    "output-folder",
    "output-file-full",
    "output-full",
    "parameter-name",
    "parameter-value",
    "file-value",
    "file-line",
    "profile",
    "component",
    "interface",
    "network",
    "host",
    "slots",
    "io-nothing",
    "io-word",
    "hostfile",
    "wdir",
    "open-files",
    "memory",
    "tmpdir",
    "no-cma",
    "stdin-closed",
    "stdout-closed",
    "reader-gone",
    "hangup",
    "interrupt",
    "no-finalize",
    "exit-code",
    "abort",
    "segfault",
    "killed",
    "mpirun-killed",
    "deadlock",
    "early",
    "late",
    "twice",
    "no-such-rank",
    "count",
    "tag",
    "short-buffer",
];

#[test]
fn every_row_of_the_page_has_a_case_and_every_case_a_row() {
    let keys: Vec<String> = table().into_iter().map(|row| row.key).collect();
    assert_eq!(keys, CASES);
}

/// A part of the table, so that the tests run beside each other.
fn check(part: usize, of: usize) {
    if !mpi().is_ours() {
        return leave_out("mistakes", "the words are ours");
    }
    let mut wrong = Vec::new();
    for row in table().iter().skip(part).step_by(of) {
        let Some(ended) = make(&row.key) else { continue };
        let status = match row.status {
            Some(status) => ended.status == status,
            None => ended.status != 0,
        };
        let missing: Vec<&String> = row.parts.iter().filter(|part| !ended.err.contains(*part)).collect();
        if !status || !missing.is_empty() {
            wrong.push(format!("{}: status {}, not said: {missing:?}\n{}", row.key, ended.status, ended.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mistakes_are_told_as_the_page_says_1() {
    check(0, 3);
}

#[test]
fn mistakes_are_told_as_the_page_says_2() {
    check(1, 3);
}

#[test]
fn mistakes_are_told_as_the_page_says_3() {
    check(2, 3);
}
