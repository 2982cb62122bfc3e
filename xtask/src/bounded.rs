//! Runs a command within a limit of time.
//!
//! The command stays in our process group, so that an interrupt at the terminal reaches all of it.
//! When the limit passes, its descendants are looked up in /proc and killed together with it: killing
//! `cargo` alone would leave the test it had started.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// How it ended.
#[derive(Debug)]
pub enum Outcome {
    Passed,
    Failed(String),
}

/// Runs `command` to its end, or to the limit's.
pub fn run(command: &mut Command, limit: Duration) -> Outcome {
    let began = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(format!("cannot run {:?}: {error}", command.get_program())),
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Outcome::Passed,
            Ok(Some(status)) => return Outcome::Failed(status.to_string()),
            Ok(None) if began.elapsed() < limit => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let running = kill_tree(child.id());
                // Reaps it; it has just been killed.
                let _ = child.wait();
                let (limit, running) = (limit.as_secs(), running.join(", "));
                return Outcome::Failed(format!("not done after {limit} s, while {running} ran"));
            }
            Err(error) => return Outcome::Failed(error.to_string()),
        }
    }
}

/// Kills a process and everything it started; their names.
fn kill_tree(root: u32) -> Vec<String> {
    let parents = parents();
    let mut doomed = vec![root];
    let mut at = 0;
    while at < doomed.len() {
        let parent = doomed[at];
        doomed.extend(parents.iter().filter(|&(_, &p)| p == parent).map(|(&pid, _)| pid));
        at += 1;
    }
    let names = doomed.iter().filter_map(|&pid| program_of(pid)).collect();
    for pid in doomed {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // It may be gone by now, and that is as good.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    names
}

/// The name of the program that a process runs, without its folder.
fn program_of(pid: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let program = String::from_utf8_lossy(line.split(|&byte| byte == 0).next()?).into_owned();
    program.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Every process and its parent.
fn parents() -> HashMap<u32, u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may hold anything; behind it: state, parent.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        Some((pid, parent.parse().ok()?))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_at_the_limit_is_named() {
        let mut command = Command::new("sleep");
        let Outcome::Failed(why) = run(command.arg("60"), Duration::from_secs(1)) else {
            panic!("it slept less than it was told to");
        };
        assert_eq!(why, "not done after 1 s, while sleep ran");
    }
}
