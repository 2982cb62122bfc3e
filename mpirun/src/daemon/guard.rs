//! Who ends a daemon's processes when the daemon itself dies on another machine.
//!
//! On mpirun's machine that is mpirun. Elsewhere the program that the agent starts is this guard: it starts the daemon and
//! waits for it. It is a subreaper, so that what a dead daemon leaves becomes its own, and it ends that. When the guard
//! dies the daemon is asked to end, and ends everything below it first. When both are killed at once, ranks die with the daemon, and nobody looks
//! for what they started.

use crate::{descendants, failed, signals};
use rustix::process::{Pid, Signal, WaitOptions};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How the guarded daemon is called.
pub const GUARDED: &str = "--guarded";
/// After which what does not end is given up.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn main() -> ExitCode {
    match guard() {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            super::begin::complain(&why);
            ExitCode::FAILURE
        }
    }
}

fn guard() -> Result<u8, String> {
    signals::restore_default(libc::SIGCHLD);
    descendants::adopt_orphans()?;
    let own = rustix::process::getpid();
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    let mut command = Command::new(path.unwrap_or_else(|| "/proc/self/exe".into()));
    command.arg0("oxmpid").arg(GUARDED);
    // SAFETY: the closure makes system calls only, in the child between fork and exec.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            match rustix::process::getppid() == Some(own) {
                true => Ok(()),
                false => Err(rustix::io::Errno::SRCH.into()),
            }
        });
    }
    let child = command.spawn().map_err(|why| format!("cannot start: {why}"))?;
    let daemon = Pid::from_child(&child);
    let status = loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == daemon => break status,
            // An orphan that ended before it was found.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(why) => return Err(failed("cannot wait for the daemon")(why)),
        }
    };
    end_what_is_left();
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, number) => {
            let number = number.unwrap_or(0);
            super::begin::complain(&format!("the daemon was killed by {}", signals::name(number)));
            128 + (number & 0x7f) as u8
        }
    })
}

fn end_what_is_left() {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let left = descendants::all();
        if left.is_empty() {
            return;
        }
        for &pid in &left {
            // Gone by now, or another user's.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        std::thread::sleep(Duration::from_millis(10));
    }
}
