//! One command: started, bounded, read, and cleared away.
//!
//! Launchers start daemons that leave their process group, so what belongs to a job is found by a mark in its
//! environment, which every process of it inherits.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const MARK: &str = "OXMPI_BENCH_JOB";

/// The output of a command that ended well.
#[derive(Debug)]
pub struct CommandOutput {
    pub out: String,
    pub err: String,
}

/// Runs `command` within `limit`; its output goes through files in `folder`, which must be there. `Err`: why nothing
/// came of it, in one line.
pub fn run(command: &mut Command, limit: Duration, folder: &Path) -> Result<CommandOutput, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (out, err) = (folder.join(format!("{mark}.out")), folder.join(format!("{mark}.err")));
    let file = |path: &Path| File::create(path).map_err(|e| format!("{}: {e}", path.display()));
    command.env(MARK, &mark).stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
    let ended = wait(command, limit);
    clear_away(&mark);
    let read = |path: &Path| {
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        // Nobody else knows the file; what cannot be removed is a leftover, not a wrong result.
        let _ = std::fs::remove_file(path);
        text.map_err(|e| format!("{}: {e}", path.display()))
    };
    let said = CommandOutput { out: read(&out)?, err: read(&err)? };
    match ended {
        Ok(()) => Ok(said),
        Err(why) => Err(match telling_line(&said.err) {
            Some(line) => format!("{why}: {line}"),
            None => why,
        }),
    }
}

fn wait(command: &mut Command, limit: Duration) -> Result<(), String> {
    let began = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|e| format!("cannot start {name}: {e}"))?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) if began.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                // It may have ended this moment; then there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("not done after {} s", limit.as_secs()));
            }
            Err(e) => return Err(format!("cannot wait for {name}: {e}")),
        }
    }
}

/// The line of an error output that says most.
fn telling_line(text: &str) -> Option<&str> {
    let lines = || text.lines().map(str::trim).filter(|l| l.chars().any(char::is_alphanumeric));
    // A line that ends with a colon only announces the next.
    let telling = |l: &&str| {
        !l.ends_with(':') && ["rror", "annot", "not ", "nvalid", "nknown"].iter().any(|w| l.contains(w))
    };
    lines().find(telling).or_else(|| lines().next())
}

/// Ends whatever still carries the mark.
fn clear_away(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    for entry in entries.flatten() {
        let pid = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|b| *b == 0).any(|v| v == wanted.as_bytes()) {
            // It may be gone by now, and that is as good.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, limit: u64) -> Result<CommandOutput, String> {
        let folder = std::env::temp_dir();
        run(Command::new("sh").args(["-c", text]), Duration::from_millis(limit), &folder)
    }

    #[test]
    fn what_it_said_or_why_not() {
        let said = shell("echo one; echo two >&2", 60_000).unwrap();
        assert_eq!((said.out.as_str(), said.err.as_str()), ("one\n", "two\n"));
        let why = shell("echo hm >&2; echo 'an error: no cheese' >&2; exit 3", 60_000).unwrap_err();
        assert!(why.contains("3") && why.ends_with("an error: no cheese"), "{why}");
    }

    #[test]
    fn nothing_outlives_its_limit() {
        let began = Instant::now();
        let why = shell("setsid sleep 987 & sleep 987", 300).unwrap_err();
        assert!(why.contains("not done"), "{why}");
        assert!(began.elapsed() < Duration::from_secs(60));
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let asleep = |p: std::fs::DirEntry| {
            std::fs::read(p.path().join("cmdline")).is_ok_and(|c| c.starts_with(b"sleep\x00987"))
        };
        std::thread::sleep(Duration::from_millis(200));
        assert!(!all.into_iter().any(asleep));
    }
}
