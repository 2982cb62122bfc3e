//! The program that stands in for a process which no launcher has started and which asks for a job (`oxmpi_wireup::own_launcher`).
//!
//! It is the one process of its mpirun's first job, and does nothing: the process that it stands for takes its place in the wire-up. Its standard
//! input is a socket, the other end of which that process has: it tells it where the daemon is, ends when it does, and ends it when it
//! is to be ended itself.

use crate::{failed, signals};
use oxmpi_wireup::SOCKET_VARIABLE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL: less than this process has itself.
const PATIENCE: Duration = Duration::from_millis(500);
/// Signals that are passed on.
const PASSED: [Signal; 2] = [Signal::USR1, Signal::USR2];

/// The whole program.
pub fn main() -> Result<(), String> {
    let ending = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
    let passed = PASSED.map(Signal::as_raw);
    let signals = signals::Signals::take(&[&ending[..], &passed].concat())?;
    let tie = rustix::stdio::stdin();
    let peer = rustix::net::sockopt::socket_peercred(tie)
        .map_err(failed("cannot see for which process this one stands"))?;
    let process = pidfd_open(peer.pid, PidfdFlags::empty())
        .map_err(failed("the process for which this one stands is gone"))?;
    let socket = std::env::var(SOCKET_VARIABLE).map_err(|_| "mpirun starts this program")?;
    rustix::io::write(tie, format!("{socket}\n").as_bytes())
        .map_err(failed("the process for which this one stands does not listen"))?;
    let mut until: Option<Instant> = None;
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) });
        let mut fds = [PollFd::from_borrowed_fd(tie, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(format!("cannot wait: {why}")),
        }
        // It says nothing more: what comes is its end.
        if !fds[0].revents().is_empty() {
            return Ok(());
        }
        // That it has ended meanwhile shows above.
        while let Some(number) = signals.next() {
            match PASSED.into_iter().find(|signal| signal.as_raw() == number) {
                Some(signal) => _ = pidfd_send_signal(&process, signal),
                None => {
                    let _ = pidfd_send_signal(&process, Signal::TERM);
                    until.get_or_insert(Instant::now() + PATIENCE);
                }
            }
        }
        if until.take_if(|until| *until <= Instant::now()).is_some() {
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }
}
