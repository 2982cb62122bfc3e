//! Scripts of guests: what they begin with, and one or two guests that run them.

use super::machine::{Machine, Place};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How guests run.
pub struct GuestSettings {
    pub limit: Duration,
    pub kvm: bool,
}

/// The first lines of a script: a folder to write to, and the install's programs.
pub fn path(prefix: &Path) -> String {
    format!("cd /tmp\nexport PATH='{}':$PATH\n", prefix.join("bin").display())
}

/// Options of mpirun for a rank on each of two guests.
pub const PAIR: &str = "--host guest1:1,192.168.77.2:1 --mca plm_ssh_agent /tmp/agent";

/// The scripts of two guests: the first one's sets `bad` to its result.
pub fn pair(prefix: &Path, script: &str) -> [String; 2] {
    let agent =
        "printf '#!/bin/sh\\nexec python3 /job/agent.py \"$@\"\\n' > /tmp/agent && chmod 755 /tmp/agent\n";
    let first = format!("{agent}{script}python3 /job/agent.py 192.168.77.2 'touch /job/over'\nexit $bad\n");
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

/// Runs a script in one guest; what it printed.
pub fn one(
    machine: &Machine,
    cache: &Path,
    name: &str,
    script: &str,
    how: &GuestSettings,
) -> Result<String, String> {
    let folder = job_folder(cache, name, script)?;
    let guest = machine.start(&folder, &Place { number: 1, joined: false, kvm: how.kvm }, how.limit)?;
    verdict(guest.end()?)
}

/// Runs the scripts of two guests that are joined, to the end of the first.
pub fn two(
    machine: &Machine,
    cache: &Path,
    scripts: &[String; 2],
    how: &GuestSettings,
) -> Result<String, String> {
    let mut guests = Vec::new();
    for (script, number) in scripts.iter().zip(1..) {
        let folder = job_folder(cache, &format!("pair{number}"), script)?;
        guests.push(machine.start(&folder, &Place { number, joined: true, kvm: how.kvm }, how.limit)?);
    }
    // The second ends when the first has told it; if the first does not, both are ended.
    verdict(guests.remove(0).end()?)
}

/// Shows what a guest printed; that, if its script ended well.
fn verdict((good, out): (bool, String)) -> Result<String, String> {
    print!("{out}");
    if good { Ok(out) } else { Err("its script failed".into()) }
}
