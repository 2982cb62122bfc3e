//! Guards of a daemon on another machine: they end its processes when it dies.
//!
//! On mpirun's machine that is mpirun. Elsewhere the program that the agent starts is a guard, which starts a second
//! one, which starts the daemon. All three are subreapers: what one leaves becomes its parent's, and each guard, when its
//! child has ended, ends what was left to it. A guard whose parent dies is asked to end, asks its child in turn, and stays until that
//! has ended; the daemon ends everything below it first. **So whichever two of the three are killed at once, the third ends
//! the rest.** The first one calls itself otherwise (`ps -o comm`), so that it outlives a signal to everything called oxmpid.

use crate::{descendants, failed, signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

/// How the second guard and the guarded daemon are called.
pub const SECOND: &str = "--guard-again";
pub const GUARDED: &str = "--guarded";
/// After which what does not end is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The guard that an agent starts.
pub fn first() -> ExitCode {
    // Without the name it is a guard as well.
    let _ = rustix::thread::set_name(c"oxmpi-guard");
    run(SECOND, "the second guard of the daemon")
}

/// The one between that and the daemon.
pub fn second() -> ExitCode {
    run(GUARDED, "the daemon")
}

fn run(child: &str, called: &str) -> ExitCode {
    match guard(child, called) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            complain(&why);
            ExitCode::FAILURE
        }
    }
}

fn guard(argument: &str, called: &str) -> Result<u8, String> {
    signals::restore_default(libc::SIGCHLD);
    descendants::adopt_orphans()?;
    let mask = signals::mask();
    let signals =
        signals::Signals::take(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT])?;
    let child = start(argument, mask).map_err(|why| format!("cannot start {called}: {why}"))?;
    let status = wait_for(Pid::from_child(&child), &signals)?;
    end_what_is_left();
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, number) => {
            let number = number.unwrap_or(0);
            complain(&format!("{called} was killed by {}", signals::name(number)));
            128 + (number & 0x7f) as u8
        }
    })
}

/// This program again, asked to end when we die.
fn start(argument: &str, mask: libc::sigset_t) -> std::io::Result<Child> {
    let own = rustix::process::getpid();
    let path = std::env::current_exe().ok().filter(|path| path.exists());
    let mut command = Command::new(path.unwrap_or_else(|| "/proc/self/exe".into()));
    command.arg0("oxmpid").arg(argument);
    // SAFETY: the closure makes system calls only, in the child between fork and exec.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            signals::set_mask(&mask);
            match rustix::process::getppid() == Some(own) {
                true => Ok(()),
                false => Err(Errno::SRCH.into()),
            }
        });
    }
    command.spawn()
}

/// Waits for the child's end and passes on requests to end.
fn wait_for(child: Pid, signals: &signals::Signals) -> Result<WaitStatus, String> {
    loop {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == child => return Ok(status),
                // An orphan that ended before it was found.
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(why) => return Err(failed("cannot wait for the daemon")(why)),
            }
        }
        match poll(&mut [PollFd::new(signals, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(failed("cannot wait for the daemon")(why)),
        }
        while let Some(number) = signals.next() {
            if number != libc::SIGCHLD {
                // It is our child and has not been waited for: the number is its own.
                let _ = rustix::process::kill_process(child, Signal::TERM);
            }
        }
    }
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

/// Says something where perhaps nobody reads any more.
pub(super) fn complain(why: &str) {
    let _ = writeln!(std::io::stderr(), "oxmpid: {why}");
}
