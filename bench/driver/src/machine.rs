//! Where a measurement ran: without this its figures mean nothing.

use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    /// That this process may use.
    pub cores: usize,
    pub memory_gib: f64,
    pub kernel: String,
    /// Of the last minute, when the measurement began: above 0.3 somebody else was busy.
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

impl Machine {
    /// A higher load says that somebody else was busy.
    pub const QUIET: f64 = 0.3;

    pub fn here() -> Machine {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib = memory.and_then(|m| m.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
        let load = read("/proc/loadavg");
        Machine {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".into()),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            memory_gib: (kib / 1024.0 / 1024.0 * 10.0).round() / 10.0,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0),
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
            "{}, {} cores, {} GiB, Linux {}, {}, load {}, commit {}",
            self.processor, self.cores, self.memory_gib, self.kernel, self.compiler, self.load, self.commit
        )
    }
}
