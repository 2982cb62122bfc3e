//! The state of every rank at the moment, and the place in its code.

use super::calls;
use super::state::Daemon;
use crate::link::{Ending, FromNode};
use crate::stacks::{Frames, Reader, ptrace};
use oxmpi_wireup::server::Membership;
use rustix::process::Pid;
use std::time::{Duration, Instant};

/// After which the remaining stacks are not read.
const PATIENCE: Duration = Duration::from_secs(40);
/// Longest stack that is sent.
const LIMIT: usize = 256 << 10;

impl Daemon {
    /// Asks all ranks, one after the other. It is done without the loop: the job is at its end, and
    /// its processes stand still one by one.
    pub(super) fn take_census(&mut self, stacks: Option<Frames>) {
        self.hear_ranks();
        let begin = Instant::now();
        let mut reader = Reader::default();
        let mut ended = Vec::new();
        for local in 0..self.ranks.len() {
            let rank = self.launch.local_ranks[local];
            let (pid, state) = self.state_of(local);
            let mut stack = match stacks.filter(|_| self.ranks[local].running) {
                None => String::new(),
                Some(_) if begin.elapsed() > PATIENCE => " (there was no time for its stack)\n".into(),
                Some(frames) => ptrace::stacks(&mut reader, pid, frames, &mut ended),
            };
            stack.truncate(stack.floor_char_boundary(LIMIT));
            self.say(&FromNode::State { rank, pid, state, stack });
        }
        self.say(&FromNode::Counted);
        self.hear_of_ended(ended);
    }

    /// Children that were found to have ended while they were looked at.
    pub(super) fn hear_of_ended(&mut self, ended: Vec<ptrace::Ended>) {
        for (pid, status) in ended {
            let ending = match libc::WIFEXITED(status) {
                true => Ending::Exit(libc::WEXITSTATUS(status)),
                false => Ending::Signal { number: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) },
            };
            if let Some(local) = Pid::from_raw(pid).and_then(|pid| self.children.remove(&pid)) {
                self.ended(local, ending);
            }
        }
    }

    fn state_of(&self, local: usize) -> (u32, String) {
        let (pid, mpi) = match self.server.membership(local) {
            Membership::Absent => (self.ranks[local].number(), "has not called MPI_Init"),
            Membership::Joined { pid } => (pid, "is between MPI_Init and MPI_Finalize"),
            Membership::Finalized { pid } => (pid, "has called MPI_Finalize"),
        };
        let kernel = match self.ranks[local].running {
            false => "has ended",
            true => match state_letter(pid) {
                Some('R') => "runs",
                Some('S') => "waits",
                Some('D') => "waits in the kernel and cannot be interrupted",
                Some('T' | 't') => "is stopped",
                _ => "is ending",
            },
        };
        let calls =
            if self.ranks[local].running { calls::of(pid).unwrap_or_default() } else { String::new() };
        (pid, format!("{mpi}, and {kernel}{calls}"))
    }
}

/// The state in `/proc/PID/stat`, behind the command in parentheses.
fn state_letter(pid: u32) -> Option<char> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end = stat.iter().rposition(|&c| c == b')')?;
    stat.get(end + 2).map(|&c| c.into())
}
