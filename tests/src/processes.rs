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

/// The things that a process holds at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub descriptors: usize,
    pub threads: usize,
    pub memory: i64,
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

    /// Processes that it has started and that have not ended.
    pub fn children(&self) -> Vec<Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
        let child = |pid| {
            let (name, state, parent) = stat(pid)?;
            (parent == self.pid && state != 'Z').then_some(Process { pid, name, state })
        };
        pids.filter_map(child).collect()
    }

    /// Open descriptors, threads, and KiB of memory that is its own alone.
    pub fn holds(&self) -> Held {
        let count =
            |what: &str| fs::read_dir(format!("/proc/{}/{what}", self.pid)).map_or(0, Iterator::count);
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let private =
            |line: &str| line.strip_prefix("Private_Dirty:")?.split_whitespace().next()?.parse::<i64>().ok();
        let memory = rollup.lines().find_map(private).unwrap_or(0);
        Held { descriptors: count("fd"), threads: count("task"), memory }
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
