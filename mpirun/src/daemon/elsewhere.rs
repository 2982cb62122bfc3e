//! What a daemon has to do besides where mpirun is on another machine: its agents, standard input that comes in frames,
//! and a look whether mpirun's machine still answers.

use super::Daemon;
use crate::failed;
use crate::link::{FromNode, INPUT, ToNode};
use crate::remote::agents::Agents;
use crate::remote::socket;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

#[derive(Debug)]
pub struct Elsewhere {
    agents: Agents,
    input: Option<Input>,
    look_at: Instant,
}

/// Standard input for this node's ranks, which they read from a pipe in the place of the daemon's own.
#[derive(Debug)]
struct Input {
    pipe: OwnedFd,
    queue: VecDeque<u8>,
    ended: bool,
}

impl Elsewhere {
    /// `reads`: some rank of the node reads standard input.
    pub fn new(agents: Agents, reads: bool) -> Result<Elsewhere, String> {
        let cannot = failed("cannot make a pipe for standard input");
        let mut input = None;
        if reads {
            let (read, pipe) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(&cannot)?;
            rustix::io::ioctl_fionbio(&pipe, true).map_err(&cannot)?;
            rustix::stdio::dup2_stdin(read).map_err(&cannot)?;
            input = Some(Input { pipe, queue: VecDeque::new(), ended: false });
        }
        Ok(Elsewhere { agents, input, look_at: Instant::now() + socket::LOOK })
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

    /// It is time to look at the link.
    pub fn is_time(&mut self, now: Instant) -> bool {
        let time = self.look_at <= now;
        if time {
            self.look_at = now + socket::LOOK;
        }
        time
    }
}

impl Input {
    /// Gives what the pipe takes. How much, and whether anybody will take more.
    fn give(&mut self) -> (usize, bool) {
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

impl Daemon {
    /// A piece of standard input; an empty one is the end.
    pub(super) fn take_input(&mut self, bytes: Vec<u8>) {
        let Some(elsewhere) = &mut self.elsewhere else { return };
        let Some(input) = &mut elsewhere.input else { return };
        if input.queue.len() + bytes.len() > INPUT {
            self.say(&FromNode::Failed("mpirun sent more standard input than agreed".into()));
            return self.phase.force();
        }
        input.ended |= bytes.is_empty();
        input.queue.extend(bytes);
        self.give_own_input();
    }

    pub(super) fn give_own_input(&mut self) {
        let Some(input) = self.elsewhere.as_mut().and_then(|elsewhere| elsewhere.input.as_mut()) else {
            return;
        };
        let (given, goes_on) = input.give();
        // Waited for only while there is something to give, and added once.
        let _ = epoll::delete(&self.epoll, &input.pipe);
        if goes_on && !input.queue.is_empty() {
            let _ = epoll::add(&self.epoll, &input.pipe, EventData::new_u64(super::INPUT), EventFlags::OUT);
        }
        if !goes_on && let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.input = None;
        }
        if given > 0 || !goes_on {
            let bytes = u32::try_from(given).unwrap_or(u32::MAX);
            self.say(&FromNode::Took { bytes, over: !goes_on });
        }
    }

    /// Children that are not the job's.
    pub(super) fn kept(&self) -> Vec<Pid> {
        self.elsewhere.as_ref().map_or_else(Vec::new, Elsewhere::agents)
    }
}

/// What mpirun wants started; daemons that were to be started in turn and do not come are told meanwhile. None: mpirun is
/// gone before it said anything.
pub fn await_launch(
    channel: &mut crate::link::Channel,
    agents: &mut Agents,
) -> Result<Option<Box<crate::link::Launch>>, String> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    loop {
        for failure in agents.turn() {
            channel.send(&FromNode::Unstarted(failure)).map_err(|why| why.to_string())?;
        }
        match channel.take::<ToNode>() {
            Ok(Some(ToNode::Launch(launch))) => return Ok(Some(launch)),
            Ok(Some(_)) => return Err("mpirun's first word is not what to launch".into()),
            Ok(None) => {}
            Err(why) => return Err(format!("mpirun sent an impossible frame: {why}")),
        }
        let unsent = channel.unsent() > 0;
        let deaf = {
            let wanted = if unsent { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            let mut fds = vec![PollFd::new(&*channel, wanted)];
            fds.extend(agents.fds());
            let look = Timespec { tv_sec: socket::LOOK.as_secs().cast_signed(), tv_nsec: 0 };
            match poll(&mut fds, Some(&look)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(why) => return Err(format!("cannot wait for mpirun: {why}")),
            }
            socket::deaf(&*channel)
        };
        channel.flush();
        // A frame that came before the end starts a job that would end at once.
        if deaf || channel.receive() == crate::link::Peer::Gone {
            return Ok(None);
        }
    }
}
