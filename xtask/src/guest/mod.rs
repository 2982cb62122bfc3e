//! `cargo xtask guest`: btl-verbs over a real kernel's soft-RoCE, in one virtual machine and in two that are joined.
//!
//! In one: the conformance suite of BTLs through Debian's libibverbs, and programs of two ranks. In two: the same programs with a rank on each,
//! started by `mpirun` through an agent. Not part of `cargo xtask test`: it fetches a kernel and emulates a machine.

mod machine;

use crate::bounded::{self, Outcome};
use crate::install;
use crate::sanitize::programs;
use crate::workspace::Workspace;
use clap::Args;
use machine::{Machine, Place};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// Run this shell command in a guest instead, with the install's programs first in PATH
    command: Vec<String>,
    /// An install to test (default: makes one in target/guest)
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Seconds that the script of a guest may take
    #[arg(long, default_value_t = 900)]
    limit: u64,
    /// Let the processor run guests (/dev/kvm), which is several times faster where it works
    #[arg(long)]
    kvm: bool,
}

/// Programs of tests/programs with two ranks.
const PROGRAMS: [&str; 8] =
    ["ring", "requests", "datatypes", "protocols", "wildcards", "collectives", "rma", "order"];
/// Options by which a job takes the device alone.
const OVER_VERBS: &str = "--mca btl verbs,self --mca mpi_yield_when_idle 1";

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let cache = workspace.root.join("target/guest");
    let machine = Machine::prepare(&cache)?;
    let prefix = match &options.prefix {
        Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
        None => install::run(workspace, &cache.join("oxmpi"), false)?.prefix,
    };
    let how = How { limit: Duration::from_secs(options.limit), kvm: options.kvm };
    if !options.command.is_empty() {
        let script = format!("{}{}\n", path(&prefix), options.command.join(" "));
        return one(&machine, &cache, "command", &script, &how);
    }
    let compiled = compile(workspace, &cache, &prefix)?;
    let mut failed = Vec::new();
    let suite = suite(workspace)?;
    for (name, script) in [("suite", suite), ("programs", in_one(&prefix, &compiled))] {
        println!("--- {name}, one guest");
        if let Err(why) = one(&machine, &cache, name, &script, &how) {
            println!("FAILED {name}: {why}");
            failed.push(name);
        }
    }
    println!("--- programs, two guests");
    if let Err(why) = two(&machine, &cache, &in_two(&prefix, &compiled), &how) {
        println!("FAILED programs, two guests: {why}");
        failed.push("programs in two guests");
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// How guests run.
struct How {
    limit: Duration,
    kvm: bool,
}

fn path(prefix: &Path) -> String {
    format!("cd /tmp\nexport PATH='{}':$PATH\n", prefix.join("bin").display())
}

/// Compiles the programs where guests see them.
fn compile(workspace: &Workspace, cache: &Path, prefix: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("programs");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let sources = workspace.root.join("tests/programs");
    for name in PROGRAMS {
        let mut command = Command::new(prefix.join("bin/mpicc"));
        command.args(["-O1", "-pthread", "-I"]).arg(&sources).arg(sources.join(format!("{name}.c")));
        command.arg("-lm").arg("-o").arg(folder.join(name));
        if let Outcome::Failed(why) = bounded::run(&mut command, Duration::from_secs(120)) {
            return Err(format!("{name}.c: {why}"));
        }
    }
    Ok(folder)
}

/// The conformance suite of BTLs over the kernel's device, each check within a limit of its own.
fn suite(workspace: &Workspace) -> Result<String, String> {
    let cargo = workspace.cargo(&["test", "--workspace"]);
    let built = programs(workspace, cargo, &["conformance"])?;
    let program = built.into_iter().find(|p| p.package == "btl-verbs" && p.test.is_some());
    let program = program.ok_or("btl-verbs has no test program conformance")?;
    Ok(format!(
        "cd '{}'\nibv_devinfo\nOXMPI_TEST_VERBS_LIBRARY=libibverbs.so.1 '{}' --test-threads 1\n",
        workspace.root.join("components/btl-verbs").display(),
        program.path.display()
    ))
}

/// Lines that run each program and count those that fail.
fn each(prefix: &Path, folder: &Path, hosts: &str) -> String {
    let mut script = format!("{}bad=0\n", path(prefix));
    for name in PROGRAMS {
        let program = folder.join(name);
        let _ = writeln!(
            script,
            "timeout 120 mpirun -n 2 {hosts} {OVER_VERBS} '{}' > out 2>&1 && echo 'passed  {name}' || {{ echo 'FAILED  {name}'; cat out; bad=1; }}",
            program.display()
        );
    }
    script
}

fn in_one(prefix: &Path, folder: &Path) -> String {
    each(prefix, folder, "") + "exit $bad\n"
}

fn in_two(prefix: &Path, folder: &Path) -> [String; 2] {
    let hosts = "--host guest1:1,192.168.77.2:1 --mca plm_ssh_agent /tmp/agent";
    let agent =
        "printf '#!/bin/sh\\nexec python3 /job/agent.py \"$@\"\\n' > /tmp/agent && chmod 755 /tmp/agent\n";
    let first = format!(
        "{agent}{}python3 /job/agent.py 192.168.77.2 'touch /job/over'\nexit $bad\n",
        each(prefix, folder, hosts)
    );
    // The second one serves until the first has ended.
    let second = format!(
        "{}python3 /job/agent.py serve &\nwhile [ ! -e /job/over ]; do sleep 0.2; done\n",
        path(prefix)
    );
    [first, second]
}

fn job_folder(cache: &Path, name: &str, script: &str) -> Result<PathBuf, String> {
    let folder = cache.join("jobs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(folder.join("run.sh"), script).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn one(machine: &Machine, cache: &Path, name: &str, script: &str, how: &How) -> Result<(), String> {
    let folder = job_folder(cache, name, script)?;
    let guest = machine.start(&folder, &Place { number: 1, joined: false, kvm: how.kvm }, how.limit)?;
    verdict(guest.end()?)
}

fn two(machine: &Machine, cache: &Path, scripts: &[String; 2], how: &How) -> Result<(), String> {
    let mut guests = Vec::new();
    for (script, number) in scripts.iter().zip(1..) {
        let folder = job_folder(cache, &format!("pair{number}"), script)?;
        guests.push(machine.start(&folder, &Place { number, joined: true, kvm: how.kvm }, how.limit)?);
    }
    // The second ends when the first has told it; if the first does not, both are ended.
    verdict(guests.remove(0).end()?)
}

fn verdict((good, out): (bool, String)) -> Result<(), String> {
    print!("{out}");
    if good { Ok(()) } else { Err("its script failed".into()) }
}
