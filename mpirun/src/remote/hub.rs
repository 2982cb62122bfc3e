//! mpirun's side of daemons that come back: it listens, asks for a proof, and waits until all are there, linked to it or to others
//! that are.
//!
//! It listens only meanwhile: before the first program starts the port is closed again.
//!
//! Before there is a job nothing else is to do, and [`Hub::run`] waits. For a later job the loop of mpirun waits for [`Hub::fds`] beside
//! everything else, until [`Hub::deadline`] at most, and gives it turns, each of which does what can be done at once.

use super::agents::{Agents, Failure};
use super::facts::NodeFacts;
use super::failure_reasons;
use super::reception::{Guest, Reception};
use super::socket;
use super::tree::Member;
use crate::help::paragraph;
use crate::link::{Channel, FromNode, Passed, Peer, unpack};
use oxmpi_wireup::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// How a daemon is reached.
#[derive(Debug)]
pub enum DaemonRoute {
    Link(Channel),
    /// By the daemon of this node, to which mpirun has a link.
    Through(u32),
}

/// A daemon that is there.
#[derive(Debug)]
pub struct Linked {
    pub route: DaemonRoute,
    pub facts: NodeFacts,
}

/// All daemons, by node, and what started them.
#[derive(Debug)]
pub struct Gathered {
    pub nodes: BTreeMap<u32, Linked>,
    pub agents: Agents,
    pub secret: Secret,
    /// A socket and its addresses, for the daemon on this machine to be called by the others.
    pub door: Option<(TcpListener, Vec<SocketAddr>)>,
}

impl Default for Gathered {
    /// Nobody.
    fn default() -> Gathered {
        let secret = Secret::from_bytes([0; Secret::BYTES]);
        Gathered { nodes: BTreeMap::new(), agents: Agents::default(), secret, door: None }
    }
}

impl Gathered {
    /// The daemons' facts about their nodes, by number.
    pub fn facts(&self) -> BTreeMap<usize, NodeFacts> {
        self.nodes.iter().map(|(node, linked)| (*node as usize, linked.facts.clone())).collect()
    }

    /// There is nothing to do: they end.
    pub fn dismiss(mut self) {
        self.nodes.clear();
        self.agents.finish();
    }
}

#[derive(Debug)]
pub struct Hub {
    reception: Reception,
    secret: Secret,
    agents: Agents,
    linked: BTreeMap<u32, Linked>,
    until: Option<Instant>,
    timeout: Option<Duration>,
    door: DoorPlace,
}

/// Addresses and ports by which a daemon on this machine may be called.
#[derive(Clone, Debug, Default)]
pub struct DoorPlace {
    pub addresses: Vec<IpAddr>,
    pub ports: Vec<RangeInclusive<u16>>,
}

impl DoorPlace {
    /// None: there is no port, and others reach that daemon by mpirun.
    fn listen(&self) -> Option<(TcpListener, Vec<SocketAddr>)> {
        let listener = socket::listen_to_the_end(&self.ports).ok()?;
        let port = listener.local_addr().ok()?.port();
        Some((listener, self.addresses.iter().map(|address| SocketAddr::new(*address, port)).collect()))
    }
}

impl Hub {
    /// Waits for the daemons of these nodes, who come to `listener`. `door`: for the one on this machine.
    pub fn new(
        listener: TcpListener,
        door: DoorPlace,
        secret: Secret,
        nodes: &[Member],
        agents: Agents,
        timeout: Option<Duration>,
    ) -> Result<Hub, String> {
        let reception = Reception::new("mpirun", listener, secret.clone(), nodes);
        Ok(Hub {
            reception: reception.map_err(|why| format!("cannot listen for daemons: {why}"))?,
            secret,
            agents,
            linked: BTreeMap::new(),
            until: timeout.map(|timeout| Instant::now() + timeout),
            timeout,
            door,
        })
    }

    /// Until all are there, or one cannot come: then the paragraph that says why, and nothing is left.
    pub fn run(mut self) -> Result<Gathered, String> {
        loop {
            match self.step(true) {
                Ok(true) => return Ok(self.gathered()),
                Ok(false) => {}
                Err(why) => {
                    self.give_up().finish();
                    return Err(why);
                }
            }
        }
    }

    /// Does what can be done without waiting. True: all are there. An error is the paragraph that says why one cannot come.
    pub fn turn(&mut self) -> Result<bool, String> {
        self.step(false)
    }

    /// The daemons, when all are there.
    pub fn gathered(self) -> Gathered {
        let door = self.door.listen();
        Gathered { nodes: self.linked, agents: self.agents, secret: self.secret, door }
    }

    /// Nobody is waited for any more: daemons that are there end with their links, and agents with their daemons.
    pub fn give_up(self) -> Agents {
        self.agents
    }

    /// Processes that start daemons.
    pub fn pids(&self) -> Vec<Pid> {
        self.agents.pids()
    }

    /// One turn, which waits for something to do, or takes what there is. True: all are there.
    fn step(&mut self, wait: bool) -> Result<bool, String> {
        if let Some(failure) = self.agents.turn().into_iter().next() {
            return Err(self.explain(&failure));
        }
        if self.missing() == 0 {
            return Ok(true);
        }
        let now = Instant::now();
        if self.until.is_some_and(|until| until <= now) {
            return Err(self.late());
        }
        self.reception.expire(now);
        let (connect, ready, linked) = self.look(now, wait)?;
        for at in ready.into_iter().rev() {
            let there = |node| self.linked.contains_key(&node);
            if let Some(guest) = self.reception.hear(at, there) {
                let Guest { node, link, facts } = guest;
                self.note_there(node, DaemonRoute::Link(link), facts);
                // A message beside it is there already, and would wake nobody.
                self.hear_linked(node)?;
            }
        }
        for node in linked {
            self.hear_linked(node)?;
        }
        if connect {
            self.reception.accept(self.missing(), |_| {});
        }
        Ok(self.missing() == 0)
    }

    fn missing(&self) -> usize {
        self.reception.names().len() - self.linked.len()
    }

    fn note_there(&mut self, node: u32, route: DaemonRoute, facts: NodeFacts) {
        self.linked.insert(node, Linked { route, facts });
        self.agents.note_there(node);
    }

    /// Daemons with a link of their own.
    fn links(&self) -> impl Iterator<Item = (u32, &Channel)> {
        self.linked.iter().filter_map(|(node, linked)| match &linked.route {
            DaemonRoute::Link(link) => Some((*node, link)),
            DaemonRoute::Through(_) => None,
        })
    }

    /// When a turn is due whatever happens.
    pub fn deadline(&self) -> Option<Instant> {
        let ends = self.reception.deadline().into_iter();
        ends.chain(self.until).chain(self.agents.deadline()).min()
    }

    /// Events to wait for: the listener, strangers, daemons that are there, agents.
    pub fn fds(&self) -> Vec<PollFd<'_>> {
        let wanted = |channel: &Channel| match channel.unsent() > 0 {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let mut fds = vec![PollFd::new(self.reception.listener(), PollFlags::IN)];
        fds.extend(self.reception.strangers().map(|channel| PollFd::new(channel, wanted(channel))));
        fds.extend(self.links().map(|(_, link)| PollFd::new(link, wanted(link))));
        fds.extend(self.agents.fds());
        fds
    }

    /// Descriptors that are ready: the listener, strangers, daemons that are there. `wait`: until one is.
    fn look(&self, now: Instant, wait: bool) -> Result<(bool, Vec<usize>, Vec<u32>), String> {
        let deadline = if wait { self.deadline() } else { Some(now) };
        let timeout = deadline.map(|at| {
            let left = at.saturating_duration_since(now) + Duration::from_millis(wait.into());
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
        });
        let mut fds = self.fds();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(format!("cannot wait for daemons: {why}")),
        }
        let ready = |at: usize| !fds[at].revents().is_empty();
        let strangers = (0..self.reception.count()).filter(|at| ready(1 + at)).collect();
        let behind = 1 + self.reception.count();
        let linked = self.links().enumerate().filter(|(at, _)| ready(behind + at));
        Ok((ready(0), strangers, linked.map(|(_, (node, _))| node).collect()))
    }

    /// A daemon that is there may say that another has come to it or does not come, or be lost again.
    fn hear_linked(&mut self, node: u32) -> Result<(), String> {
        let Some(Linked { route: DaemonRoute::Link(link), .. }) = self.linked.get_mut(&node) else {
            return Ok(());
        };
        link.flush();
        let gone = link.receive() == Peer::Gone;
        let failed = |hub: &Hub, why: &str| paragraph("daemon-failed", &[hub.name(node), why]);
        loop {
            let Some(Linked { route: DaemonRoute::Link(link), .. }) = self.linked.get_mut(&node) else {
                return Ok(());
            };
            let message = link.take::<Passed>().and_then(|passed| {
                passed.map(|p| Ok((p.node.unwrap_or(node), unpack::<FromNode>(&p.frame)?))).transpose()
            });
            match message {
                Ok(Some((_, FromNode::Unstarted(failure)))) => return Err(self.explain(&failure)),
                Ok(Some((from, FromNode::Here(facts))))
                    if self.reception.names().contains_key(&from) && !self.linked.contains_key(&from) =>
                {
                    self.note_there(from, DaemonRoute::Through(node), *facts);
                }
                Ok(Some((_, FromNode::Lost { nodes, how }))) => {
                    return Err(self.lost(nodes.first().copied().unwrap_or(node), &how));
                }
                Ok(None) if !gone => return Ok(()),
                Ok(None) => {
                    let words = self.agents.words_of(node);
                    let how = match words.is_empty() {
                        true => "has closed its connection before the job began".to_owned(),
                        false => {
                            format!("has closed its connection before the job began:\n\n    {words}\n\n")
                        }
                    };
                    return Err(self.lost(node, &how));
                }
                Ok(Some(_)) => return Err(failed(self, "it speaks before it is asked")),
                Err(why) => return Err(failed(self, &format!("it sent an impossible frame: {why}"))),
            }
        }
    }

    fn lost(&self, node: u32, how: &str) -> String {
        let pid = self.linked.get(&node).map_or(0, |linked| linked.facts.pid);
        paragraph("daemon-died", &[self.name(node), &pid.to_string(), how])
    }

    fn explain(&self, failure: &Failure) -> String {
        let there = |node: &&u32| !self.linked.contains_key(node);
        let missing: Vec<u32> = failure.nodes.iter().filter(there).copied().collect();
        let first = missing.first().or(failure.nodes.first()).copied().unwrap_or(0);
        failure_reasons::explain(self.name(first), failure, missing.len().saturating_sub(1))
    }

    fn name(&self, node: u32) -> &str {
        self.reception.names().get(&node).map_or("?", String::as_str)
    }

    fn late(&mut self) -> String {
        let all = self.reception.names().keys().copied();
        let missing: Vec<u32> = all.filter(|node| !self.linked.contains_key(node)).collect();
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
}
