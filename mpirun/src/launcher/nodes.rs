//! All nodes of a job: a daemon and a link for each, and what goes from one node to another.
//!
//! mpirun is the root of a tree of depth one. What the nodes say to each other about the key-value store and the fence
//! ([`Exchange`]) passes through here: nodes at a fence are counted, a question goes to the node where the value is, its
//! answer to the node that asked. The rest is for the loop.
//!
//! **A daemon that has said `Done` stays** until all have, because others' ranks may still ask for what its ranks have
//! published; then the links are closed, which ends it. One whose link closes before is lost, with its ranks.
//!
//! **A daemon on this machine** is a child of mpirun's, which it starts here. Those of other machines are there already
//! (`crate::remote`); of each there is a link, and an agent that started it or another that did.

use super::daemon::{CannotStart, NodeDaemon};
use super::pump::Pump;
use crate::daemon::feed::Feed;
use crate::link::{Channel, Exchange, FromNode, Launch, Peer, ToNode};
use crate::remote::agents::Agents;
use crate::remote::hub::{Gathered, Linked};
use crate::remote::socket;
use crate::stacks::Frames;
use oxmpi_runtime::wireup::{NodeMap, Secret};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use std::process::Stdio;
use std::time::Instant;

#[derive(Debug)]
pub struct Nodes {
    all: Vec<Node>,
    map: NodeMap,
    /// A rank has left: no fence can be complete any more.
    broken: bool,
    /// What has started daemons on other machines.
    agents: Agents,
    /// When links to other machines are looked at next.
    look_at: Option<Instant>,
}

/// Where a node's daemon is.
#[derive(Debug)]
enum Daemon {
    Here(NodeDaemon),
    There {
        pid: u32,
        /// Its node's number for agents.
        machine: u32,
    },
}

#[derive(Debug)]
struct Node {
    name: String,
    daemon: Daemon,
    /// Standard input for its ranks, where it is on another machine.
    pump: Option<Pump>,
    /// None: closed, from either end.
    link: Option<Channel>,
    /// Everything on it has ended, or its daemon is lost.
    done: bool,
    /// It has started its ranks, counted them, come to the present fence.
    started: bool,
    counted: bool,
    came: bool,
}

/// What came from a node.
#[derive(Debug)]
pub struct Heard {
    pub messages: Vec<FromNode>,
    /// Its daemon is gone before it was done: how that went.
    pub lost: Option<Lost>,
}

#[derive(Debug)]
pub struct Lost {
    pub node: String,
    pub pid: u32,
    pub how: String,
}

/// Daemons that run and know nothing yet.
#[derive(Debug)]
pub struct Started {
    nodes: Vec<Node>,
    feed: Option<Feed>,
    agents: Agents,
}

/// Starts the daemons of these nodes that are not there yet, one for each launch, with the standard input that their
/// ranks are to have. `machines`: the number of each node for `gathered`. Daemons of nodes that turned out to have no part
/// in the job end with their links.
pub fn start(
    launches: &[Launch],
    names: &[String],
    machines: &[u32],
    gathered: Option<Gathered>,
) -> Result<Started, CannotStart> {
    let because = |reason: String| CannotStart { reason, looked_at: String::new() };
    let readers: Vec<bool> = launches.iter().map(Launch::reads_stdin).collect();
    let usable = super::daemon::may_read_stdin();
    let Gathered { nodes: mut there, agents, .. } = gathered.unwrap_or_default();
    let machine_of = |launch: &Launch| machines.get(launch.node as usize).copied().unwrap_or(u32::MAX);
    let far = |launch: &Launch| there.contains_key(&machine_of(launch));
    // One node here reads from mpirun's own; several, and those elsewhere, have copies.
    let wanted = readers.iter().filter(|reads| **reads).count();
    let copies = wanted > 1 || launches.iter().zip(&readers).any(|(launch, reads)| *reads && far(launch));
    let mut feed = (usable && copies).then(Feed::new).transpose().map_err(because)?;
    let mut nodes = Vec::with_capacity(launches.len());
    for (launch, reads) in launches.iter().zip(readers) {
        let copy = match &mut feed {
            Some(feed) if reads => Some(feed.add().map_err(|why| because(why.to_string()))?),
            _ => None,
        };
        let name = names.get(launch.node as usize).cloned().unwrap_or_default();
        let machine = machine_of(launch);
        nodes.push(match there.remove(&machine) {
            Some(Linked { link, facts }) => {
                let pump = copy.map(Pump::new).transpose().map_err(because)?;
                Node::new(name, Daemon::There { pid: facts.pid, machine }, link, pump)
            }
            None => {
                let stdin = match copy {
                    Some(copy) => copy.into(),
                    None if reads && usable => Stdio::inherit(),
                    None => Stdio::null(),
                };
                let (daemon, socket) = NodeDaemon::start(stdin)?;
                let link = Channel::new(socket).map_err(|why| because(why.to_string()))?;
                Node::new(name, Daemon::Here(daemon), link, None)
            }
        });
    }
    super::daemon::leave_stdin();
    Ok(Started { nodes, feed, agents })
}

impl Node {
    fn new(name: String, daemon: Daemon, link: Channel, pump: Option<Pump>) -> Node {
        let (done, started, counted, came) = (false, false, false, false);
        Node { name, daemon, pump, link: Some(link), done, started, counted, came }
    }

    fn is_here(&self) -> bool {
        matches!(self.daemon, Daemon::Here(_))
    }
}

impl Started {
    /// Tells each what to do. The feed has copies of standard input for several nodes.
    pub fn launch(mut self, launches: Vec<Launch>, map: NodeMap) -> Result<(Nodes, Option<Feed>), String> {
        for (node, mut launch) in self.nodes.iter_mut().zip(launches) {
            if !node.is_here() {
                // It has the secret, which does not travel over the network.
                launch.secret = Secret::from_bytes([0; Secret::BYTES]);
            }
            let launch = ToNode::Launch(Box::new(launch));
            let link = node.link.as_mut().ok_or("a daemon is gone before the job began")?;
            link.send(&launch).map_err(|why| why.to_string())?;
        }
        let several = self.nodes.iter().any(|node| !node.is_here());
        let look_at = several.then(|| Instant::now() + socket::LOOK);
        let nodes = Nodes { all: self.nodes, map, broken: false, agents: self.agents, look_at };
        Ok((nodes, self.feed))
    }
}

impl Nodes {
    pub fn name(&self, node: usize) -> &str {
        &self.all[node].name
    }

    pub fn name_of(&self, rank: u32) -> &str {
        self.name(self.node_of(rank))
    }

    fn node_of(&self, rank: u32) -> usize {
        // What daemons say of ranks that are none is said of the first node.
        self.map.node_of(rank).map_or(0, |node| node as usize).min(self.all.len() - 1)
    }

    /// Everything has ended.
    pub fn done(&self) -> bool {
        self.all.iter().all(|node| node.done)
    }

    /// A link is open to at least one.
    pub fn reachable(&self) -> bool {
        self.all.iter().any(|node| node.link.is_some())
    }

    pub fn tell_all(&mut self, message: &ToNode) {
        (0..self.all.len()).for_each(|node| self.tell(node, message));
    }

    /// The node of a rank.
    pub fn tell_of(&mut self, rank: u32, message: &ToNode) {
        self.tell(self.node_of(rank), message);
    }

    fn tell(&mut self, node: usize, message: &ToNode) {
        if let Some(link) = &mut self.all[node].link {
            // These messages are short, or came from a daemon: they can always be made.
            let _ = link.send(message);
        }
    }

    /// What to wait for, with the node of each.
    pub fn links(&self) -> Vec<(usize, PollFd<'_>)> {
        let wanted = |link: &Channel| match link.unsent() > 0 {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let open = self.all.iter().enumerate().filter_map(|(n, node)| Some((n, node.link.as_ref()?)));
        open.map(|(n, link)| (n, PollFd::new(link, wanted(link)))).collect()
    }

    /// Takes in what a node has said. Exchanges between nodes are passed on and not returned.
    pub fn hear(&mut self, at: usize) -> Heard {
        let mut messages = Vec::new();
        let node = &mut self.all[at];
        let Some(link) = &mut node.link else { return Heard { messages, lost: None } };
        link.flush();
        let mut over = link.receive() == Peer::Gone;
        let mut exchanges = Vec::new();
        loop {
            match link.take::<FromNode>() {
                Ok(Some(FromNode::Exchange(exchange))) => exchanges.push(exchange),
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(why) => {
                    messages.push(FromNode::Failed(format!("it sent an impossible frame: {why}")));
                    over = true;
                    break;
                }
            }
        }
        node.done |= messages.contains(&FromNode::Done);
        if let Some(pump) = &mut node.pump {
            for message in &messages {
                if let FromNode::Took { bytes, over } = message {
                    pump.note_taken(*bytes, *over);
                }
            }
        }
        let lost = match over {
            true => self.lose(at, "has closed its connection: it was killed, or its node was switched off"),
            false => None,
        };
        exchanges.into_iter().for_each(|exchange| self.pass_on(at, exchange));
        Heard { messages, lost }
    }

    /// A link is over. Some: its node was not done. `how`: for a daemon of which nobody here knows more.
    fn lose(&mut self, at: usize, how: &str) -> Option<Lost> {
        let node = &mut self.all[at];
        node.link = None;
        node.pump = None;
        if std::mem::replace(&mut node.done, true) {
            return None;
        }
        let (pid, how) = match &mut node.daemon {
            Daemon::Here(daemon) => (daemon.number(), daemon.end_and_describe()),
            Daemon::There { pid, machine } => {
                let said = self.agents.last_words_of(*machine);
                let said = if said.is_empty() { said } else { format!(" ({said})") };
                (*pid, format!("{how}{said}"))
            }
        };
        Some(Lost { node: node.name.clone(), pid, how })
    }

    /// Looks whether daemons on other machines still answer, when it is time to.
    pub fn look(&mut self, now: Instant) -> Vec<Lost> {
        if self.look_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        self.look_at = Some(now + socket::LOOK);
        let deaf = |node: &Node| !node.is_here() && node.link.as_ref().is_some_and(socket::deaf);
        let deaf: Vec<usize> = (0..self.all.len()).filter(|&at| deaf(&self.all[at])).collect();
        let how = "does not answer any more: its node was switched off, or the network between is gone";
        deaf.into_iter().filter_map(|at| self.lose(at, how)).collect()
    }

    pub fn look_at(&self) -> Option<Instant> {
        self.look_at
    }

    /// Sends on what has come of standard input.
    pub fn pump(&mut self) {
        for node in &mut self.all {
            let (Some(pump), Some(link)) = (&mut node.pump, &mut node.link) else { continue };
            while let Some(piece) = pump.next() {
                // A piece is short.
                let _ = link.send(&ToNode::Input(piece));
            }
        }
    }

    /// What of standard input to wait for.
    pub fn pumps(&self) -> Vec<PollFd<'_>> {
        self.all.iter().filter_map(|node| node.pump.as_ref()?.fd()).collect()
    }

    fn pass_on(&mut self, at: usize, exchange: Exchange) {
        match exchange {
            Exchange::Fence => {
                self.all[at].came = true;
                if !self.broken && self.all.iter().all(|node| node.came) {
                    self.all.iter_mut().for_each(|node| node.came = false);
                    self.tell_all(&ToNode::Exchange(Exchange::Fence));
                }
            }
            Exchange::Gone { rank } => {
                if !std::mem::replace(&mut self.broken, true) {
                    self.tell_all(&ToNode::Exchange(Exchange::Gone { rank }));
                }
            }
            Exchange::Never { .. } => {
                let others = (0..self.all.len()).filter(|&node| node != at);
                others.for_each(|node| self.tell(node, &ToNode::Exchange(exchange.clone())));
            }
            Exchange::Ask { proc, key, .. } => {
                let (from, to) = (at as u32, self.node_of(proc));
                match self.all[to].link.is_some() {
                    true => self.tell(to, &ToNode::Exchange(Exchange::Ask { from, proc, key })),
                    false => {
                        // The job is ending, and nobody waits for ever.
                        let (values, whole) = (Vec::new(), true);
                        let answer = Exchange::Answer { to: from, proc, key, values, whole };
                        self.tell(at, &ToNode::Exchange(answer));
                    }
                }
            }
            Exchange::Answer { to, .. } => {
                if (to as usize) < self.all.len() {
                    self.tell(to as usize, &ToNode::Exchange(exchange));
                }
            }
        }
    }

    /// A node's ranks run. True: with that all do.
    pub fn note_started(&mut self, at: usize) -> bool {
        self.all[at].started = true;
        self.all.iter().all(|node| node.started)
    }

    /// A census is to be taken.
    pub fn begin_census(&mut self, stacks: Option<Frames>) {
        self.all.iter_mut().for_each(|node| node.counted = node.link.is_none());
        self.tell_all(&ToNode::Census { stacks });
    }

    /// A node's census is complete. True: with that all are.
    pub fn note_counted(&mut self, at: usize) -> bool {
        self.all[at].counted = true;
        self.all.iter().all(|node| node.counted || node.link.is_none())
    }

    /// Children of mpirun's that are no orphans: daemons that are still there, and agents.
    pub fn children(&self) -> Vec<Pid> {
        let there = self.all.iter().filter(|node| node.link.is_some());
        let here = there.filter_map(|node| match &node.daemon {
            Daemon::Here(daemon) => Pid::from_raw(daemon.number().cast_signed()),
            Daemon::There { .. } => None,
        });
        here.chain(self.agents.pids()).collect()
    }

    /// All are done: closes the links and waits for the daemons.
    pub fn dismiss(&mut self) {
        self.all.iter_mut().for_each(|node| node.link = None);
        for node in &mut self.all {
            if let Daemon::Here(daemon) = &mut node.daemon {
                daemon.wait();
            }
        }
        self.agents.finish();
    }
}
