//! Finding and ending everything below this process.
//!
//! Both programs are subreapers: a process whose parent dies is handed to them, so whatever a rank
//! started is below them as long as they live, whatever session or process group it made for
//! itself.

use rustix::process::{Pid, Signal};
use std::collections::HashMap;

/// From now on orphans below this process become its children.
pub fn adopt_orphans() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(crate::failed("cannot become the parent of what ranks leave behind"))
}

/// All processes below this one, in no order.
pub fn all() -> Vec<Pid> {
    all_but(&[])
}

/// The same without these and what is below them.
pub fn all_but(kept: &[Pid]) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    for entry in processes.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process that is gone by now is nobody's child.
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut look = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = look.pop() {
        for pid in children.remove(&parent).into_iter().flatten() {
            if let Some(known) = Pid::from_raw(pid).filter(|known| !kept.contains(known)) {
                look.push(pid);
                found.push(known);
            }
        }
    }
    found
}

/// The parent's id in a `/proc/PID/stat`: the second field behind the command, which stands in
/// parentheses and may contain anything.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let end = stat.iter().rposition(|&c| c == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal to everything below but these and what is below them. A stopped process is continued, so that it can take it.
pub fn signal(signal: Signal, kept: &[Pid]) {
    for pid in all_but(kept) {
        // One that is gone by now, or belongs to another user, cannot be helped.
        let _ = rustix::process::kill_process(pid, signal);
        let _ = rustix::process::kill_process(pid, Signal::CONT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_contain_anything() {
        assert_eq!(parent_in(b"12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (\xff\n)) R 1 2"), Some(1));
        assert_eq!(parent_in(b""), None);
        assert_eq!(parent_in(b"12 (x)"), None);
    }

    #[test]
    fn a_child_and_its_child_are_found() {
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut line = String::new();
        let out = child.stdout.take().expect("piped");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).expect("a line");
        let grandchild: i32 = line.trim().parse().expect("a pid");
        let found = all();
        assert!(found.contains(&Pid::from_child(&child)));
        assert!(found.iter().any(|pid| pid.as_raw_nonzero().get() == grandchild));
        let others = all_but(&[Pid::from_child(&child)]);
        assert!(
            others
                .iter()
                .all(|pid| ![grandchild, child.id().cast_signed()].contains(&pid.as_raw_nonzero().get()))
        );
        for pid in [grandchild, child.id().cast_signed()] {
            let pid = Pid::from_raw(pid).expect("not 0");
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        child.wait().expect("it was killed");
    }
}
