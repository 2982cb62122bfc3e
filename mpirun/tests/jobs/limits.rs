//! Arguments and variables that the system does not take are told with the limit and with what exceeds it.

use crate::remote::Room;
use crate::support::{Ended, Job, mpirun, one_report};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// More than one string may have.
fn long() -> String {
    "x".repeat(200_000)
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// The same job, started by a shell after this.
fn below(script: &str, mut job: Job) -> Job {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(job.command.get_program()).args(job.command.get_args());
    for (name, value) in job.command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    job.command = shell;
    job
}

/// Goes where a path of more than 4095 bytes leads, a folder at a time, and starts the job there.
const DEEP: &str = r#"name=$(printf %0200d 0); export name
go='n=$1; shift; test $n = 0 && exec "$@"; mkdir $name; exec env -C $name sh -c "$go" sh $((n - 1)) "$@"'; export go
cd FOLDER; exec sh -c "$go" sh 21 "$@""#;

const NODES: [&str; 2] = ["-n 2", "-n 2 --host a,b --mca plm local"];

#[test]
fn a_string_that_is_too_long_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let tune = written(folder.path(), "tune", &format!("btl_tcp_if_exclude = {}\n", long()));
    for nodes in NODES {
        let job = mpirun(&format!("{nodes} --tune {tune}")).script("true");
        one_report(&job.run(), 1, &["131072", "the variable OXMPI_MCA_btl_tcp_if_exclude has 200030"]);
    }
    for (line, cause) in [
        (format!("-x NAME={} true", long()), "the variable NAME has 200006"),
        (format!("true short {}", long()), "argument 2 has 200001"),
    ] {
        let file = written(folder.path(), "apps", &format!("-n 1 {line}\n"));
        one_report(&mpirun(&format!("--app {file}")).run(), 1, &["cannot be started", "131072", cause]);
    }
}

/// All strings together: the limit is a quarter of the stack's.
#[test]
fn too_many_arguments_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["y".repeat(80).as_str()].repeat(3000).join(" ");
    let file = written(folder.path(), "apps", &format!("-n 2 true {words}\n"));
    let job = below("ulimit -s 1024; exec \"$@\"", mpirun(&format!("--app {file}")));
    one_report(&job.run(), 1, &["all together 262144", "of which 3000 arguments have", "ulimit -s"]);
}

/// As many as the system takes reach daemons on other nodes, too.
#[test]
fn many_arguments_reach_other_nodes() {
    let room = Room::new("");
    let many: Vec<String> = (0..3000).map(|n| format!("{n:080}")).collect();
    let reached = |ended: Ended| {
        ended.expect(0, &[]);
        assert_eq!(ended.said(), ["3000 0000", "3000 0000"], "{ended:?}");
    };
    let script = "first=$1; echo says: $# $(printf %.4s $first)";
    for mut job in [mpirun(NODES[1]), room.over("far:1,further:1", "")] {
        job.command.args(["/bin/sh", "-c", script, "sh"]).args(&many);
        reached(job.run());
    }
}

#[test]
fn names_and_folders_that_are_too_long() {
    let name = "z".repeat(300);
    for nodes in NODES {
        let mut job = mpirun(nodes);
        job.command.arg(format!("/tmp/{name}"));
        one_report(&job.run(), 1, &["cannot be started", "File name too long", "4095", "255"]);
        let mut job = mpirun(&format!("{nodes} --wdir /tmp/{name}"));
        job.command.arg("true");
        one_report(&job.run(), 1, &["--wdir", "File name too long", "4095", "255"]);
    }

    // A folder whose own path is too long to be named is still one to be in.
    let top = tempfile::tempdir().expect("a folder");
    for (nodes, wdir) in NODES.iter().flat_map(|nodes| [(*nodes, false), (*nodes, true)]) {
        let place = tempfile::tempdir_in(top.path()).expect("a folder");
        let mut job = mpirun(nodes);
        job.command.args(if wdir { &["--wdir", "."][..] } else { &[] });
        let script = DEEP.replace("FOLDER", &place.path().display().to_string());
        let job = below(&script, job.script("echo says: up"));
        let ended = job.run();
        match wdir {
            true => one_report(&ended, 1, &["--wdir", "File name too long", "4095"]),
            false => assert_eq!((ended.code(), ended.said().len()), (0, 2), "{ended:?}"),
        }
    }
}
