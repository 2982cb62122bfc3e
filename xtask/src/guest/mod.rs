//! `cargo xtask guest`: btl-verbs over a real kernel's soft-RoCE, in one virtual machine and in two that are joined.
//!
//! In one: the conformance suite of BTLs through Debian's libibverbs, and programs of two ranks. In two: the same programs with a rank on each,
//! started by `mpirun` through an agent. `--ofi` runs btl-ofi over the same device (`ofi.rs`), `--files` programs of files on a kernel's NFS server with two clients (`files.rs`). `--compare` measures beside another library (`compare.rs`). Not part of `cargo xtask test`: it fetches a kernel and emulates a machine.

mod compare;
mod files;
mod machine;
mod ofi;
mod programs;
mod scripts;

use crate::install;
use crate::sanitize;
use crate::workspace::Workspace;
use clap::Args;
use machine::Machine;
use programs::{compile, each};
use scripts::{GuestSettings, PAIR, one, pair, path, two};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// Run this shell command in a guest instead, with the install's programs first in PATH
    command: Vec<String>,
    /// Run the command in the first of two guests; $PAIR is mpirun's options for a rank on each
    #[arg(long, requires = "command")]
    two: bool,
    /// Measure latency and rate in a guest instead, beside Debian's Open MPI
    #[arg(long, conflicts_with = "command")]
    compare: bool,
    /// Run btl-ofi over libfabric's verbs;ofi_rxm instead: its suite, and programs in one guest and in two
    #[arg(long, conflicts_with_all = ["command", "compare", "files"])]
    ofi: bool,
    /// Run programs of files in two guests instead, on the NFS server of one, by these versions of NFS
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', conflicts_with_all = ["command", "compare"])]
    files: Vec<String>,
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

/// Options by which a job takes the device alone.
const OVER_VERBS: &str = "--mca btl verbs,self --mca mpi_yield_when_idle 1";

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let cache = workspace.root.join("target/guest");
    let prefix = match &options.prefix {
        Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
        None => install::run(workspace, &cache.join("oxmpi"), false)?.prefix,
    };
    let machine = Machine::prepare(&cache, &[&workspace.root, &workspace.target, &prefix])?;
    let how = GuestSettings { limit: Duration::from_secs(options.limit), kvm: options.kvm };
    if !options.command.is_empty() {
        let command = options.command.join(" ");
        if options.two {
            let script = format!("{}PAIR='{PAIR}'\n({command})\nbad=$?\n", path(&prefix));
            return two(&machine, &cache, &pair(&prefix, &script), &how).map(drop);
        }
        let script = format!("{}{command}\n", path(&prefix));
        return one(&machine, &cache, "command", &script, &how).map(drop);
    }
    if options.compare {
        return compare::run(workspace, &machine, &cache, &prefix, &how);
    }
    if !options.files.is_empty() {
        return files::run(workspace, &machine, (&cache, &prefix), &options.files, &how);
    }
    if options.ofi {
        return ofi::run(workspace, &machine, (&cache, &prefix), &how);
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

/// The conformance suite of BTLs over the kernel's device, each check within a limit of its own.
fn suite(workspace: &Workspace) -> Result<String, String> {
    let cargo = workspace.cargo(&["test", "--workspace"]);
    let built = sanitize::programs(workspace, cargo, &["conformance"])?;
    let program = built.into_iter().find(|p| p.package == "btl-verbs" && p.test.is_some());
    let program = program.ok_or("btl-verbs has no test program conformance")?;
    Ok(format!(
        "cd '{}'\nibv_devinfo\nOXMPI_TEST_VERBS_LIBRARY=libibverbs.so.1 '{}' --test-threads 1\n",
        workspace.root.join("components/btl-verbs").display(),
        program.path.display()
    ))
}

fn in_one(prefix: &Path, folder: &Path) -> String {
    each(prefix, folder, ("", OVER_VERBS)) + "exit $bad\n"
}

fn in_two(prefix: &Path, folder: &Path) -> [String; 2] {
    pair(prefix, &each(prefix, folder, (PAIR, OVER_VERBS)))
}
