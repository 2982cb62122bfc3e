//! The processes of a job, found by a mark in their environment.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The variable that every process of a test's job inherits.
pub(crate) const MARK: &str = "OXMPI_TEST_JOB";

/// A process that carries the mark of a job.
#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    /// Its name, as the kernel shortens it.
    pub name: String,
    /// State letter of /proc: `Z` is a process that has ended and waits for its parent.
    pub state: char,
}

impl Process {
    /// Sends a signal; that it is gone already is no error.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process(pid, signal);
        }
    }

    /// The process that started it; of a rank the daemon of its node. `None`: it is gone.
    pub fn parent(&self) -> Option<Process> {
        let pid = stat(self.pid)?.2;
        let (name, state, _) = stat(pid)?;
        Some(Process { pid, name, state })
    }

    /// Whether it has ended; its parent may not have heard of it.
    pub fn has_ended(&self) -> bool {
        stat(self.pid).is_none_or(|(_, state, _)| state == 'Z')
    }
}

/// Name, state and parent of a process as /proc says; `None`: there is none.
fn stat(pid: i32) -> Option<(String, char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut rest = after.split_ascii_whitespace();
    let state = rest.next()?.chars().next()?;
    Some((name, state, rest.next()?.parse().ok()?))
}

/// All living processes that carry `mark`.
pub fn marked(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&b| b == 0).any(|variable| variable == wanted.as_bytes())
    })
    .filter_map(|pid| stat(pid).map(|(name, state, _)| Process { pid, name, state }))
    // A process that has ended has no environment any more; between the two looks it may have.
    .filter(|p| p.state != 'Z')
    .collect()
}
