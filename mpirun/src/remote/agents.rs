//! Programs that start daemons elsewhere: ssh for a node, srun for all of them.
//!
//! An agent gets the boot line on its standard input and stays as long as its daemon. The end of its output on standard
//! error is kept for the report in case it fails. It is a process group of its own, so that a ^C at the terminal reaches
//! mpirun alone, and it dies with the process that started it.
//!
//! **An agent has failed** when it ends before its daemon is there; one that ends with status 0 has a few seconds,
//! because it may have put the daemon into the background.

use crate::{signals, too_long};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How much of an agent's words is kept.
const WORDS: usize = 4096;
/// How long after an agent that ended well its daemon may come.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// How long agents may take to end when their daemons have.
const PATIENCE: Duration = Duration::from_secs(5);

/// An agent to be started.
#[derive(Debug)]
pub struct Order {
    /// The nodes that come to nothing if it fails; its own first.
    pub nodes: Vec<u32>,
    pub words: Vec<String>,
    pub set: Vec<(&'static str, &'static str)>,
    pub unset: &'static [&'static str],
    pub line: String,
    /// It starts the daemons of all its nodes itself.
    pub all: bool,
}

/// How an agent came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    Exit(i32),
    Signal(i32),
    /// It could not be started.
    Never(String),
}

impl std::fmt::Display for AgentEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AgentEnd::Exit(code) => write!(f, "ended with status {code}"),
            AgentEnd::Signal(number) => write!(f, "was killed by {}", signals::name(*number)),
            AgentEnd::Never(why) => write!(f, "could not be started: {why}"),
        }
    }
}

/// An agent that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub nodes: Vec<u32>,
    pub how: AgentEnd,
    /// Its output.
    pub words: String,
    pub command: String,
}

#[derive(Debug)]
struct Agent {
    order: Order,
    child: Child,
    ended: OwnedFd,
    errors: Option<OwnedFd>,
    words: Vec<u8>,
    /// Of the boot line, and where it goes; None: it has been written, or cannot be.
    input: Option<OwnedFd>,
    written: usize,
    /// Nodes that are not there yet.
    missing: Vec<u32>,
    how: Option<(AgentEnd, Instant)>,
}

/// Agents that wait and those that run; dropping them ends them.
#[derive(Default)]
pub struct Agents {
    waiting: VecDeque<Order>,
    running: Vec<Agent>,
    concurrent: usize,
    delay: Duration,
    not_before: Option<Instant>,
    /// The signal mask that they get in the place of this process's.
    mask: Option<libc::sigset_t>,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agents").field("waiting", &self.waiting).field("running", &self.running).finish()
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        self.end();
    }
}

impl Agents {
    pub fn new(orders: Vec<Order>, concurrent: usize, delay: Duration) -> Agents {
        let concurrent = concurrent.max(1);
        let (waiting, running) = (orders.into(), Vec::new());
        Agents { waiting, running, concurrent, delay, not_before: None, mask: None }
    }

    /// Agents that begin with this signal mask.
    pub fn with_mask(mut self, mask: Option<libc::sigset_t>) -> Agents {
        self.mask = mask;
        self
    }

    /// Does what can be done without waiting.
    pub fn turn(&mut self) -> Vec<Failure> {
        let now = Instant::now();
        let mut failures = self.start(now);
        for agent in &mut self.running {
            agent.write();
            agent.read();
            agent.look(now);
        }
        let mut at = 0;
        while at < self.running.len() {
            match self.running[at].failure(now) {
                Some(failure) => {
                    failures.push(failure);
                    self.running.swap_remove(at);
                }
                None => at += 1,
            }
        }
        failures
    }

    fn start(&mut self, now: Instant) -> Vec<Failure> {
        let mut failures = Vec::new();
        while !self.waiting.is_empty()
            && self.running.iter().filter(|agent| !agent.missing.is_empty()).count() < self.concurrent
            && self.not_before.is_none_or(|at| at <= now)
        {
            let Some(order) = self.waiting.pop_front() else { break };
            if !self.delay.is_zero() {
                self.not_before = Some(now + self.delay);
            }
            let (nodes, command) = (order.nodes.clone(), order.words.join(" "));
            match Agent::start(order, self.mask) {
                Ok(agent) => self.running.push(agent),
                Err(why) => {
                    let how = AgentEnd::Never(why.to_string());
                    failures.push(Failure { nodes, how, words: String::new(), command });
                }
            }
        }
        failures
    }

    /// Descriptors to wait for.
    pub fn fds(&self) -> Vec<PollFd<'_>> {
        let mut fds = Vec::new();
        for agent in &self.running {
            if agent.how.is_none() {
                fds.push(PollFd::new(&agent.ended, PollFlags::IN));
            }
            fds.extend(agent.errors.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            fds.extend(agent.input.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        }
        fds
    }

    /// When there is something to do whatever happens.
    pub fn deadline(&self) -> Option<Instant> {
        let delayed = self.not_before.filter(|_| !self.waiting.is_empty());
        let silent = self.running.iter().filter(|agent| !agent.missing.is_empty());
        let silent = silent.filter_map(|agent| agent.how.as_ref().map(|(_, at)| *at + AFTERWARDS));
        silent.chain(delayed).min()
    }

    /// The daemon of a node is there.
    pub fn note_there(&mut self, node: u32) {
        for agent in &mut self.running {
            // Behind ssh stands one daemon; the others of its part are that one's business.
            if agent.order.nodes.first() == Some(&node) && !agent.order.all {
                agent.missing.clear();
            }
            agent.missing.retain(|missing| *missing != node);
        }
    }

    /// Processes that are not orphans of the job.
    pub fn pids(&self) -> Vec<Pid> {
        self.running.iter().filter(|a| a.how.is_none()).map(|agent| Pid::from_child(&agent.child)).collect()
    }

    /// Somebody else has waited for this process.
    pub fn note_reaped(&mut self, pid: Pid) {
        for agent in self.running.iter_mut().filter(|agent| Pid::from_child(&agent.child) == pid) {
            agent.how.get_or_insert((AgentEnd::Exit(0), Instant::now()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The output of the agent of a node, trimmed.
    pub fn words_of(&mut self, node: u32) -> String {
        let agent = self.running.iter_mut().find(|agent| agent.order.nodes.contains(&node));
        agent.map_or_else(String::new, |agent| {
            agent.read();
            agent.said()
        })
    }

    /// The output of the agent of a node when its daemon is gone, for which it has a moment.
    pub fn last_words_of(&mut self, node: u32) -> String {
        let one = |agent: &&mut Agent| agent.order.nodes.first() == Some(&node) && !agent.order.all;
        let Some(agent) = self.running.iter_mut().find(one) else { return String::new() };
        let mut fds = [PollFd::new(&agent.ended, PollFlags::IN)];
        let _ = rustix::event::poll(&mut fds, Some(&rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 }));
        agent.read();
        agent.said()
    }

    /// The daemons have ended, and agents are to end by themselves: starts no more of them. When those that still run are to be ended.
    pub fn retire(&mut self) -> Instant {
        self.waiting.clear();
        self.running.iter_mut().for_each(|agent| agent.input = None);
        Instant::now() + PATIENCE
    }

    /// All have ended, as far as can be seen without waiting.
    pub fn have_ended(&mut self) -> bool {
        self.running.iter_mut().for_each(|agent| {
            agent.read();
            agent.look(Instant::now());
        });
        self.running.iter().all(|agent| agent.how.is_some())
    }

    /// The daemons have ended: so do agents, or are ended.
    pub fn finish(&mut self) {
        let begin = Instant::now();
        self.retire();
        for agent in &mut self.running {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            let left = rustix::event::Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: 0 };
            let mut fds = [PollFd::new(&agent.ended, PollFlags::IN)];
            let _ = rustix::event::poll(&mut fds, Some(&left));
        }
        self.end();
    }

    /// Ends all that still run.
    pub fn end(&mut self) {
        self.waiting.clear();
        for mut agent in self.running.drain(..) {
            if agent.how.is_none() && matches!(agent.child.try_wait(), Ok(None)) {
                // Its group: it may be a script, and what that started.
                let _ = rustix::process::kill_process_group(Pid::from_child(&agent.child), Signal::KILL);
                let _ = agent.child.kill();
            }
            let _ = agent.child.wait();
        }
    }
}

impl Agent {
    fn start(order: Order, mask: Option<libc::sigset_t>) -> std::io::Result<Agent> {
        let program = order.words.first().cloned().unwrap_or_default();
        let mut command = Command::new(&program);
        command.args(order.words.iter().skip(1)).envs(order.set.iter().copied());
        order.unset.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let parent = rustix::process::getpid();
        // SAFETY: the closure makes system calls only, in the child between fork and exec.
        unsafe {
            command.pre_exec(move || {
                if let Some(mask) = &mask {
                    signals::set_mask(mask);
                }
                rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
                match rustix::process::getppid() == Some(parent) {
                    true => Ok(()),
                    false => Err(Errno::SRCH.into()),
                }
            });
        }
        let mut child = command.spawn().map_err(|why| {
            let limits = too_long::named(why.raw_os_error().unwrap_or(libc::EIO), &command, false);
            std::io::Error::new(why.kind(), format!("{why}{limits}"))
        })?;
        let errors = child.stderr.take().map(OwnedFd::from);
        let input = child.stdin.take().map(OwnedFd::from);
        for pipe in errors.iter().chain(&input) {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let missing = order.nodes.clone();
        Ok(Agent { order, child, ended, errors, words: Vec::new(), input, written: 0, missing, how: None })
    }

    fn write(&mut self) {
        while let Some(pipe) = &self.input {
            let rest = &self.order.line.as_bytes()[self.written..];
            if rest.is_empty() {
                self.input = None;
                return;
            }
            match rustix::io::write(pipe, rest) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It does not read: it has ended, or will say why.
                Err(_) => self.input = None,
            }
        }
    }

    fn read(&mut self) {
        let mut buffer = [0; 4096];
        while let Some(pipe) = &self.errors {
            match rustix::io::read(pipe, &mut buffer[..]) {
                Ok(0) => self.errors = None,
                Ok(n) => {
                    self.words.extend_from_slice(&buffer[..n]);
                    let above = self.words.len().saturating_sub(WORDS);
                    self.words.drain(..above);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.errors = None,
            }
        }
    }

    fn look(&mut self, now: Instant) {
        if self.how.is_some() {
            return;
        }
        let how = match self.child.try_wait() {
            Ok(None) => return,
            Ok(Some(status)) => match (status.code(), status.signal()) {
                (Some(code), _) => AgentEnd::Exit(code),
                (None, number) => AgentEnd::Signal(number.unwrap_or(0)),
            },
            // Somebody else has waited for it.
            Err(_) => AgentEnd::Exit(0),
        };
        self.read();
        self.how = Some((how, now));
    }

    fn failure(&mut self, now: Instant) -> Option<Failure> {
        let (how, at) = self.how.clone().filter(|_| !self.missing.is_empty())?;
        if how == AgentEnd::Exit(0) && now < at + AFTERWARDS {
            return None;
        }
        let nodes = std::mem::take(&mut self.missing);
        Some(Failure { nodes, how, words: self.said(), command: self.order.words.join(" ") })
    }

    fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.words);
        // Bytes that are not for a terminal stay away from it.
        let clean = |c: char| if c.is_control() && c != '\n' && c != '\t' { '?' } else { c };
        text.trim().replace("\r\n", "\n").chars().map(clean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(script: &str) -> Order {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        Order { nodes: vec![1, 2], words, set: vec![], unset: &[], line: "a line\n".into(), all: false }
    }

    fn failures(agents: &mut Agents) -> Vec<Failure> {
        for _ in 0..2000 {
            let failures = agents.turn();
            if !failures.is_empty() {
                return failures;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no agent failed in ten seconds");
    }

    #[test]
    fn an_agent_that_fails_says_why() {
        let mut agents = Agents::new(vec![order("read x; echo \"no $x\" >&2; exit 7")], 4, Duration::ZERO);
        let failed = failures(&mut agents);
        assert_eq!((failed[0].nodes.clone(), failed[0].how.clone()), (vec![1, 2], AgentEnd::Exit(7)));
        assert_eq!(failed[0].words, "no a line");
        let mut agents =
            Agents::new(vec![Order { words: vec!["/no/such/agent".into()], ..order("") }], 4, Duration::ZERO);
        assert!(matches!(failures(&mut agents)[0].how, AgentEnd::Never(_)));
    }

    #[test]
    fn so_many_at_a_time() {
        let mut agents = Agents::new((0..5).map(|_| order("sleep 60")).collect(), 2, Duration::ZERO);
        assert_eq!(agents.turn(), []);
        assert_eq!((agents.running.len(), agents.waiting.len()), (2, 3));
        agents.note_there(1);
        agents.turn();
        assert_eq!(agents.running.len(), 4, "two are there, two more may start");
        agents.end();
        assert!(agents.is_empty());
    }
}
