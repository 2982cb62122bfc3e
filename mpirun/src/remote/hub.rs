//! mpirun's side of daemons that come back: it listens, asks for a proof, and waits until all are there.
//!
//! It listens only meanwhile: before the first program starts the port is closed again.

use super::agents::{Agents, Failure};
use super::facts::NodeFacts;
use super::hand::{Hand, LIMIT, why_not};
use super::proof::{Bytes, Side, Talk};
use super::tree::Member;
use super::{socket, why};
use crate::help::paragraph;
use crate::link::{self, Channel, FromNode, Peer};
use oxmpi_runtime::wireup::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

/// How long a stranger has to prove himself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many strangers are listened to beside the daemons that are still missing.
const STRANGERS: usize = 64;
/// How many refusals are told.
const TOLD: usize = 8;

/// A daemon that is there.
#[derive(Debug)]
pub struct Linked {
    pub link: Channel,
    pub facts: NodeFacts,
}

/// All daemons, by node, and what started them.
#[derive(Debug)]
pub struct Gathered {
    pub nodes: BTreeMap<u32, Linked>,
    pub agents: Agents,
    pub secret: Secret,
}

impl Default for Gathered {
    /// Nobody.
    fn default() -> Gathered {
        let secret = Secret::from_bytes([0; Secret::BYTES]);
        Gathered { nodes: BTreeMap::new(), agents: Agents::default(), secret }
    }
}

impl Gathered {
    /// What the daemons say of their nodes, by number.
    pub fn facts(&self) -> BTreeMap<usize, NodeFacts> {
        self.nodes.iter().map(|(node, linked)| (*node as usize, linked.facts.clone())).collect()
    }

    /// There is nothing to do: they end.
    pub fn dismiss(mut self) {
        self.nodes.clear();
        self.agents.finish();
    }
}

/// A connection that is not a link yet.
#[derive(Debug)]
struct Stranger {
    channel: Channel,
    from: IpAddr,
    challenge: Bytes,
    until: Instant,
    /// It has proved to be this node's daemon, and is to say what the node is made of.
    node: Option<u32>,
}

#[derive(Debug)]
pub struct Hub {
    listener: TcpListener,
    secret: Secret,
    names: BTreeMap<u32, String>,
    agents: Agents,
    strangers: Vec<Stranger>,
    linked: BTreeMap<u32, Linked>,
    until: Option<Instant>,
    timeout: Option<Duration>,
    refused: usize,
}

impl Hub {
    pub fn new(
        listener: TcpListener,
        secret: Secret,
        nodes: &[Member],
        agents: Agents,
        timeout: Option<Duration>,
    ) -> Result<Hub, String> {
        listener.set_nonblocking(true).map_err(|why| format!("cannot listen for daemons: {why}"))?;
        Ok(Hub {
            listener,
            secret,
            names: nodes.iter().cloned().collect(),
            agents,
            strangers: Vec::new(),
            linked: BTreeMap::new(),
            until: timeout.map(|timeout| Instant::now() + timeout),
            timeout,
            refused: 0,
        })
    }

    /// Until all are there, or one cannot come: then the paragraph that says why, and nothing is left.
    pub fn run(mut self) -> Result<Gathered, String> {
        let all = self.wait_for_all();
        match all {
            Ok(()) => Ok(Gathered { nodes: self.linked, agents: self.agents, secret: self.secret }),
            Err(why) => {
                // Daemons that are there end with their links, and agents with their daemons.
                self.linked.clear();
                self.strangers.clear();
                drop(self.listener);
                self.agents.finish();
                Err(why)
            }
        }
    }

    fn wait_for_all(&mut self) -> Result<(), String> {
        loop {
            if let Some(failure) = self.agents.turn().into_iter().next() {
                return Err(self.explain(&failure));
            }
            if self.linked.len() == self.names.len() {
                return Ok(());
            }
            let now = Instant::now();
            if self.until.is_some_and(|until| until <= now) {
                return Err(self.late());
            }
            self.strangers.retain(|stranger| now < stranger.until);
            let (connect, ready, linked) = self.wait(now)?;
            for at in ready.into_iter().rev() {
                if let Some(node) = self.hear_stranger(at) {
                    // What it said beside is there already, and would wake nobody.
                    self.hear_linked(node)?;
                }
            }
            for node in linked {
                self.hear_linked(node)?;
            }
            if connect {
                self.accept();
            }
        }
    }

    /// What is ready: the listener, strangers, daemons that are there.
    fn wait(&self, now: Instant) -> Result<(bool, Vec<usize>, Vec<u32>), String> {
        let ends = self.strangers.iter().map(|stranger| stranger.until);
        let deadline = ends.chain(self.until).chain(self.agents.deadline()).min();
        let timeout = deadline.map(|at| {
            let left = at.saturating_duration_since(now) + Duration::from_millis(1);
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
        });
        let wanted = |channel: &Channel| match channel.unsent() > 0 {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        fds.extend(self.strangers.iter().map(|s| PollFd::new(&s.channel, wanted(&s.channel))));
        fds.extend(self.linked.values().map(|l| PollFd::new(&l.link, wanted(&l.link))));
        fds.extend(self.agents.fds());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(format!("cannot wait for daemons: {why}")),
        }
        let ready = |at: usize| !fds[at].revents().is_empty();
        let strangers = (0..self.strangers.len()).filter(|at| ready(1 + at)).collect();
        let behind = 1 + self.strangers.len();
        let linked = self.linked.keys().enumerate().filter(|(at, _)| ready(behind + at));
        Ok((ready(0), strangers, linked.map(|(_, node)| *node).collect()))
    }

    fn accept(&mut self) {
        loop {
            let (stream, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(why) if why.raw_os_error() == Some(libc::ECONNABORTED) => continue,
                // Nobody any more, or no descriptor: the next turn tries again.
                Err(_) => return,
            };
            let missing = self.names.len() - self.linked.len();
            if self.strangers.len() >= missing + STRANGERS {
                // The oldest has had the longest time.
                self.strangers.remove(0);
            }
            if let Some(stranger) = self.greet(stream, from) {
                self.strangers.push(stranger);
            }
        }
    }

    /// None: it is gone again.
    fn greet(&self, stream: std::net::TcpStream, from: SocketAddr) -> Option<Stranger> {
        socket::tune(&stream).ok()?;
        let mut channel = Channel::with_limit(stream.into(), LIMIT).ok()?;
        let challenge = *Secret::random().ok()?.bytes();
        channel.send(&Hand::Challenge(challenge)).ok()?;
        let until = Instant::now() + PATIENCE;
        Some(Stranger { channel, from: from.ip().to_canonical(), challenge, until, node: None })
    }

    /// Some: it is no stranger any more, but this node's daemon.
    fn hear_stranger(&mut self, at: usize) -> Option<u32> {
        let stranger = &mut self.strangers[at];
        stranger.channel.flush();
        let gone = stranger.channel.receive() == Peer::Gone;
        let heard = match stranger.node {
            None => self.prove(at),
            Some(node) => self.be_told(at, node),
        };
        match heard {
            Ok(Some(node)) => return Some(node),
            // A daemon that keeps another of its connections closes this one.
            Ok(None) if gone => drop(self.strangers.swap_remove(at)),
            Ok(None) => {}
            Err(why) => {
                let mut stranger = self.strangers.swap_remove(at);
                let _ = stranger.channel.send(&Hand::Refused(why.clone()));
                self.tell_refused(&stranger, &why);
            }
        }
        None
    }

    /// Some: it is no stranger any more.
    fn prove(&mut self, at: usize) -> Result<Option<u32>, String> {
        let stranger = &mut self.strangers[at];
        let hand = stranger.channel.take::<Hand>().map_err(|why| why_not(&why))?;
        let (node, daemon, proof) = match hand {
            None => return Ok(None),
            Some(Hand::Answer { node, challenge, proof }) => (node, challenge, proof),
            Some(_) => return Err("it did not answer the challenge".into()),
        };
        let talk = Talk { launcher: stranger.challenge, daemon, node };
        if !talk.check(&self.secret, Side::Daemon, &proof) {
            return Err("it does not know the job's secret".into());
        }
        let Some(name) = self.names.get(&node) else { return Err("its node is none of the job's".into()) };
        if self.linked.contains_key(&node) {
            return Err(format!("the daemon of node {name} is there already"));
        }
        let welcome = Hand::Welcome(talk.prove(&self.secret, Side::Launcher));
        stranger.channel.send(&welcome).map_err(|why| why.to_string())?;
        stranger.channel.set_limit(link::LIMIT);
        stranger.node = Some(node);
        self.be_told(at, node)
    }

    /// What a daemon that is believed says of its node. Some: it has.
    fn be_told(&mut self, at: usize, node: u32) -> Result<Option<u32>, String> {
        let message = self.strangers[at].channel.take::<FromNode>();
        match message.map_err(|why| format!("it sent an impossible frame: {why}"))? {
            None => Ok(None),
            Some(FromNode::Here(facts)) if !self.linked.contains_key(&node) => {
                let link = self.strangers.swap_remove(at).channel;
                self.linked.insert(node, Linked { link, facts: *facts });
                self.agents.note_there(node);
                Ok(Some(node))
            }
            Some(_) => Err("its first word is not what its node is made of".into()),
        }
    }

    /// A daemon that is there may say that another does not come, or be lost again.
    fn hear_linked(&mut self, node: u32) -> Result<(), String> {
        let Some(linked) = self.linked.get_mut(&node) else { return Ok(()) };
        linked.link.flush();
        let gone = linked.link.receive() == Peer::Gone;
        match linked.link.take::<FromNode>() {
            Ok(Some(FromNode::Unstarted(failure))) => Err(self.explain(&failure)),
            Ok(None) if !gone => Ok(()),
            Ok(None) => {
                let words = self.agents.words_of(node);
                let how = match words.is_empty() {
                    true => "has closed its connection before the job began".to_owned(),
                    false => format!("has closed its connection before the job began:\n\n    {words}\n\n"),
                };
                Err(paragraph("daemon-died", &[self.name(node), &linked_pid(&self.linked, node), &how]))
            }
            Ok(Some(_)) => {
                Err(paragraph("daemon-failed", &[self.name(node), "it speaks before it is asked"]))
            }
            Err(why) => {
                let why = format!("it sent an impossible frame: {why}");
                Err(paragraph("daemon-failed", &[self.name(node), &why]))
            }
        }
    }

    fn explain(&self, failure: &Failure) -> String {
        let there = |node: &&u32| !self.linked.contains_key(node);
        let missing: Vec<u32> = failure.nodes.iter().filter(there).copied().collect();
        let first = missing.first().or(failure.nodes.first()).copied().unwrap_or(0);
        why::explain(self.name(first), failure, missing.len().saturating_sub(1))
    }

    fn name(&self, node: u32) -> &str {
        self.names.get(&node).map_or("?", String::as_str)
    }

    fn late(&mut self) -> String {
        let missing: Vec<u32> = self.names.keys().copied().filter(|n| !self.linked.contains_key(n)).collect();
        let mut names: Vec<&str> = missing.iter().take(8).map(|node| self.name(*node)).collect();
        let count = missing.len().to_string();
        if missing.len() > names.len() {
            names.push("...");
        }
        let (names, seconds) = (names.join(", "), self.timeout.unwrap_or_default().as_secs().to_string());
        let words: Vec<String> = missing.iter().map(|node| self.agents.words_of(*node)).collect();
        let said = match words.iter().find(|words| !words.is_empty()) {
            Some(words) => format!("\n\nWhat starts them said:\n\n    {}", words.replace('\n', "\n    ")),
            None => String::new(),
        };
        paragraph("startup-timeout", &[&count, &names, &seconds, &said])
    }

    fn tell_refused(&mut self, stranger: &Stranger, why: &str) {
        self.refused += 1;
        if self.refused <= TOLD {
            eprintln!("mpirun: a connection from {} is refused: {why}", stranger.from);
        }
        if self.refused == TOLD {
            eprintln!("mpirun: further connections that are refused are not told");
        }
    }
}

fn linked_pid(linked: &BTreeMap<u32, Linked>, node: u32) -> String {
    linked.get(&node).map_or(0, |linked| linked.facts.pid).to_string()
}
