//! Programs of two ranks that guests run: compiled on the host, where guests see them, and the lines of a script that run each.

use super::scripts::path;
use crate::bounded::{self, Outcome};
use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Programs of tests/programs with two ranks, and options of mpirun that each is run with.
const PROGRAMS: [(&str, &str); 11] = [
    ("ring", ""),
    ("requests", ""),
    ("datatypes", ""),
    ("protocols", ""),
    ("wildcards", ""),
    ("collectives", ""),
    ("rma", ""),
    ("order", ""),
    ("rma", "--mca osc rdma"),
    ("rma_passive", "--mca osc rdma"),
    ("rma_threads", "--mca osc rdma"),
];
/// Compiles the programs where guests see them.
pub fn compile(workspace: &Workspace, cache: &Path, prefix: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("programs");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let sources = workspace.root.join("tests/programs");
    let names: BTreeSet<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
    for name in names {
        let mut command = Command::new(prefix.join("bin/mpicc"));
        command.args(["-O1", "-pthread", "-I"]).arg(&sources).arg(sources.join(format!("{name}.c")));
        command.arg("-lm").arg("-o").arg(folder.join(name));
        if let Outcome::Failed(why) = bounded::run(&mut command, Duration::from_secs(120)) {
            return Err(format!("{name}.c: {why}"));
        }
    }
    Ok(folder)
}

/// Lines that run each program, with options for the hosts and for the transport, and count those that fail.
pub fn each(prefix: &Path, folder: &Path, (hosts, transport): (&str, &str)) -> String {
    let mut script = format!("{}bad=0\n", path(prefix));
    for (name, options) in PROGRAMS {
        let program = folder.join(name);
        let _ = writeln!(
            script,
            "timeout 300 mpirun -n 2 {hosts} {transport} {options} '{}' > out 2>&1 && echo 'passed  {name} {options}' || {{ echo 'FAILED  {name} {options}'; cat out; bad=1; }}",
            program.display()
        );
    }
    script
}
