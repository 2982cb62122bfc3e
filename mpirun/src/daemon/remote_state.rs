//! State that a daemon has besides where mpirun is on another machine: its agents, the daemons below it, and standard input that
//! comes in frames.

use crate::failed;
use crate::remote::agents::Agents;
use crate::remote::socket;
use crate::remote::subtree::Subtree;
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

#[derive(Debug)]
pub struct RemoteState {
    pub(super) agents: Agents,
    pub(super) below: Option<Subtree>,
    pub(super) input: Option<Input>,
    pub(super) look_at: Instant,
}

/// Standard input for this node's ranks, which they read from a pipe in the place of the daemon's own.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) pipe: OwnedFd,
    pub(super) queue: VecDeque<u8>,
    pub(super) ended: bool,
}

impl RemoteState {
    /// `reads`: some rank of the node reads standard input.
    pub fn new(agents: Agents, below: Option<Subtree>, reads: bool) -> Result<RemoteState, String> {
        let cannot = failed("cannot make a pipe for standard input");
        let mut input = None;
        if reads {
            let (read, pipe) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(&cannot)?;
            rustix::io::ioctl_fionbio(&pipe, true).map_err(&cannot)?;
            rustix::stdio::dup2_stdin(read).map_err(&cannot)?;
            input = Some(Input { pipe, queue: VecDeque::new(), ended: false });
        }
        Ok(RemoteState { agents, below, input, look_at: Instant::now() + socket::LOOK })
    }

    /// Children that are not the job's.
    pub fn agents(&self) -> Vec<Pid> {
        self.agents.pids()
    }

    pub fn note_reaped(&mut self, pid: Pid) {
        self.agents.note_reaped(pid);
    }

    pub fn deadline(&self) -> Instant {
        self.look_at
    }

    /// mpirun is gone.
    pub fn lose_mpirun(&mut self) {
        self.below.iter_mut().for_each(Subtree::clear);
    }
}

impl Input {
    /// Gives what the pipe takes. How much, and whether anybody will take more.
    pub(super) fn give(&mut self) -> (usize, bool) {
        let mut given = 0;
        loop {
            let (first, _) = self.queue.as_slices();
            if first.is_empty() {
                return (given, !self.ended);
            }
            match rustix::io::write(&self.pipe, first) {
                Ok(n) => {
                    self.queue.drain(..n);
                    given += n;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return (given, true),
                Err(_) => return (given, false),
            }
        }
    }
}
