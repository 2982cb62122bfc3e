//! Where a measurement ran: without this its figures mean nothing.

use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    /// That this process may use.
    pub cores: usize,
    pub memory_gib: f64,
    pub kernel: String,
    /// Cores that others had for a moment before the measurement began: above 0.3 somebody was busy.
    pub load: f64,
    pub compiler: String,
    /// Seconds since 1970.
    pub time: u64,
    /// Of this project, where its history is at hand.
    pub commit: String,
}

fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|l| l.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn first_line(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

/// Time for which the use of cores is looked at. The load of the last minute would have what measurements did before.
const LOOK: Duration = Duration::from_millis(100);

/// Time of all cores of the machine so far, the part of it in which they had nothing to do, and how many there are.
fn core_times() -> Option<(u64, u64, usize)> {
    let text = read_to_string("/proc/stat").ok()?;
    let words = text.lines().next()?.split_whitespace().skip(1);
    // User, nice, system, idle, waiting for devices, ...; guests' time is in the user's.
    let times: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
    let idle = times.get(3)? + times.get(4)?;
    let cores = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
    Some((times.iter().sum(), idle, cores))
}

/// Cores of the machine that are in use, by others as long as the caller sleeps. `None`: the kernel does not tell.
fn cores_in_use() -> Option<f64> {
    let (before, idle_before, _) = core_times()?;
    std::thread::sleep(LOOK);
    let (now, idle, cores) = core_times()?;
    let all = now.checked_sub(before).filter(|all| *all > 0)? as f64;
    let busy = 1.0 - idle.saturating_sub(idle_before) as f64 / all;
    Some((busy.clamp(0.0, 1.0) * cores as f64 * 100.0).round() / 100.0)
}

impl Machine {
    /// A higher load says that somebody else was busy.
    pub const QUIET: f64 = 0.3;

    pub fn here() -> Machine {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib = memory.and_then(|m| m.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
        Machine {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".into()),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            memory_gib: (kib / 1024.0 / 1024.0 * 10.0).round() / 10.0,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: cores_in_use().unwrap_or(0.0),
            compiler: first_line("gcc", &["--version"]),
            time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            commit: first_line("git", &["-C", env!("CARGO_MANIFEST_DIR"), "rev-parse", "--short", "HEAD"]),
        }
    }

    /// For what is counted, which is the same on every machine.
    pub fn none() -> Machine {
        Machine {
            processor: "counted, not timed".into(),
            cores: 0,
            memory_gib: 0.0,
            kernel: String::new(),
            load: 0.0,
            compiler: String::new(),
            time: 0,
            commit: String::new(),
        }
    }

    pub fn line(&self) -> String {
        if self.cores == 0 {
            return self.processor.clone();
        }
        format!(
            "{}, {} cores, {} GiB, Linux {}, {}, {} cores in use by others, commit {}",
            self.processor, self.cores, self.memory_gib, self.kernel, self.compiler, self.load, self.commit
        )
    }
}
