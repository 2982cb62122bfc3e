//! All nodes of a job: the links to daemons, what goes from one node to another, and where each node is in the tree.
//!
//! **Links and nodes.** A daemon on this machine is a child of mpirun's, which it starts here, with a link of its own. Those of other
//! machines are there already (`crate::remote`): some are linked to mpirun, others to daemons that started them, and are reached
//! through those. A message for all nodes goes once over each link, and so does the part of the launch message that is the same for all. A
//! daemon without a part in the job stays where others are behind it.
//!
//! Messages of the nodes about the key-value store and the fence ([`Exchange`]) pass through here: links over which all
//! have come to a fence are counted, a question goes to the node where the value is, its answer to the node that asked. The rest is
//! for the loop.
//!
//! **A daemon that has said `Done` stays** until all have, because others' ranks may still ask for what its ranks have
//! published; then the links are closed, which ends it. One whose link closes before is lost, with its ranks, and with those of nodes
//! behind it.

use super::daemon::{CannotStart, NodeDaemon};
use super::pump::Pump;
use crate::daemon::feed::Feed;
use crate::link::{
    Channel, Counts, DownMessage, Exchange, FromNode, Launch, Message, Part, Passed, Peer, ToNode, unpack,
};
use crate::remote::agents::Agents;
use crate::remote::doors::Doors;
use crate::remote::hub::{DaemonRoute, Gathered, Linked};
use crate::remote::socket;
use crate::stacks::Frames;
use oxmpi_wireup::frame::Malformed;
use oxmpi_wireup::{NodeMap, Secret};
use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

#[derive(Debug)]
pub struct Nodes {
    all: Vec<Node>,
    links: Vec<Link>,
    map: NodeMap,
    /// A rank has left: no fence can be complete any more.
    broken: bool,
    /// The starter of daemons on other machines.
    agents: Agents,
    /// When links to other machines are looked at next.
    look_at: Option<Instant>,
    /// Bytes of the message with what is the same for all nodes.
    job: usize,
    /// Some daemon cannot reach another but through here, and that was said.
    barred: bool,
}

/// Where the daemon at a link's other end is.
#[derive(Debug)]
enum Daemon {
    Here(NodeDaemon),
    There { name: String, pid: u32 },
}

#[derive(Debug)]
struct Link {
    daemon: Daemon,
    /// The node's number for agents and for envelopes; none on this machine.
    machine: Option<u32>,
    /// None: closed, from either end.
    channel: Option<Channel>,
    /// Nodes that are reached by it: the daemon's own, if that has a part in the job, and those behind it by machine.
    own: Option<usize>,
    behind: BTreeMap<u32, usize>,
    /// All nodes that are reached by it have come to the present fence.
    came: bool,
}

#[derive(Debug)]
struct Node {
    name: String,
    /// Its daemon.
    pid: u32,
    machine: Option<u32>,
    /// Index of its link.
    link: usize,
    /// Standard input for its ranks, where it is on another machine.
    pump: Option<Pump>,
    /// Its daemon is reached.
    open: bool,
    /// Everything on it has ended, or its daemon is lost.
    done: bool,
    /// It has started its ranks, counted them.
    started: bool,
    counted: bool,
}

/// A message that came by a link.
#[derive(Debug, Default)]
pub struct Heard {
    /// With the node of each.
    pub messages: Vec<(usize, FromNode)>,
    /// Daemons that are gone before their nodes were done: how that went.
    pub lost: Vec<LostDaemon>,
}

#[derive(Debug)]
pub struct LostDaemon {
    pub node: String,
    pub pid: u32,
    pub how: String,
}

/// Daemons that run and know nothing yet.
#[derive(Debug)]
pub struct Started {
    nodes: Vec<Node>,
    links: Vec<Link>,
    feed: Option<Feed>,
    agents: Agents,
    doors: Doors,
}

/// Starts the daemons of a job's nodes that are not there yet, one for each, with the standard input that their
/// ranks are to have. `machines`: the number of each node for `gathered`. Daemons of nodes that turned out to have no part
/// in the job end with their links, unless others are behind them. `libraries`: the folder that ranks here are to look into first. `mask`: the
/// signal mask that daemons get in the place of mpirun's.
pub fn start(
    job: &Launch,
    machines: &[u32],
    gathered: Option<Gathered>,
    libraries: Option<&Path>,
    mask: Option<libc::sigset_t>,
) -> Result<Started, CannotStart> {
    let because = |reason: String| CannotStart { reason, looked_at: String::new() };
    let readers = job.readers();
    let in_use = job.map.nodes() as usize;
    let usable = super::daemon::may_read_stdin();
    let Gathered { nodes: there, agents, door, .. } = gathered.unwrap_or_default();
    // One node needs no others.
    let mut door = door.filter(|_| in_use > 1);
    let mut doors = Vec::with_capacity(in_use);
    let machine_of = |node: u32| machines.get(node as usize).copied().unwrap_or(u32::MAX);
    // One node here reads from mpirun's own; several, and those elsewhere, have copies.
    let far = |node: &u32| there.contains_key(&machine_of(*node));
    let copies = readers.len() > 1 || readers.iter().any(far);
    let mut feed = (usable && copies).then(Feed::new).transpose().map_err(because)?;
    let mut nodes = Vec::with_capacity(in_use);
    let mut links = Vec::new();
    for node in 0..job.map.nodes() {
        let reads = readers.contains(&node);
        let copy = match &mut feed {
            Some(feed) if reads => Some(feed.add().map_err(|why| because(why.to_string()))?),
            _ => None,
        };
        let name = job.node_names.get(node as usize).cloned().unwrap_or_default();
        let machine = machine_of(node);
        nodes.push(match there.get(&machine) {
            Some(linked) => {
                let pump = copy.map(Pump::new).transpose().map_err(because)?;
                doors.push(linked.facts.door.clone());
                // Its link is found below.
                Node::new(name, linked.facts.pid, Some(machine), usize::MAX, pump)
            }
            None => {
                let stdin = match copy {
                    Some(copy) => copy.into(),
                    None if reads && usable => Stdio::inherit(),
                    None => Stdio::null(),
                };
                let (listener, own) = door.take().unzip();
                doors.push(own.unwrap_or_default());
                let (daemon, socket) = NodeDaemon::start(stdin, libraries, mask, listener.as_ref())?;
                let channel = Channel::new(socket).map_err(|why| because(why.to_string()))?;
                let node = Node::new(name, daemon.number(), None, links.len(), None);
                links.push(Link::new(Daemon::Here(daemon), None, channel, Some(nodes.len())));
                node
            }
        });
    }
    take_links(there, &mut nodes, &mut links);
    super::daemon::leave_stdin();
    Ok(Started { nodes, links, feed, agents, doors: Doors::new(doors) })
}

/// The links to other machines that the job needs, and which nodes are reached by each.
fn take_links(there: BTreeMap<u32, Linked>, nodes: &mut [Node], links: &mut Vec<Link>) {
    let places = nodes.iter().enumerate().filter_map(|(at, node)| Some((node.machine?, at)));
    let places: BTreeMap<u32, usize> = places.collect();
    let mut behind: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (machine, linked) in &there {
        if let (DaemonRoute::Through(first), Some(&at)) = (&linked.route, places.get(machine)) {
            behind.entry(*first).or_default().insert(*machine, at);
        }
    }
    for (machine, Linked { route, facts }) in there {
        let (own, behind) = (places.get(&machine).copied(), behind.remove(&machine).unwrap_or_default());
        let DaemonRoute::Link(channel) = route else { continue };
        own.iter().chain(behind.values()).for_each(|&at| nodes[at].link = links.len());
        if own.is_some() || !behind.is_empty() {
            let daemon = Daemon::There { name: facts.hostname, pid: facts.pid };
            links.push(Link { behind, ..Link::new(daemon, Some(machine), channel, own) });
        }
    }
}

impl Node {
    fn new(name: String, pid: u32, machine: Option<u32>, link: usize, pump: Option<Pump>) -> Node {
        Node { name, pid, machine, link, pump, open: true, done: false, started: false, counted: false }
    }
}

impl Link {
    fn new(daemon: Daemon, machine: Option<u32>, channel: Channel, own: Option<usize>) -> Link {
        Link { daemon, machine, channel: Some(channel), own, behind: BTreeMap::new(), came: false }
    }

    /// All nodes that are reached by it.
    fn nodes(&self) -> Vec<usize> {
        self.own.iter().chain(self.behind.values()).copied().collect()
    }

    /// For all nodes that are reached by it.
    fn tell_all(&mut self, message: &ToNode) -> Result<(), Malformed> {
        let Some(channel) = &mut self.channel else { return Ok(()) };
        match self.behind.is_empty() {
            true => channel.send(message),
            false => channel.send(&DownMessage::All(message.encode()?)),
        }
    }

    /// For one of them: the daemon's own, or of the machine that is behind it.
    fn tell(&mut self, behind: Option<u32>, message: &ToNode) -> Result<(), Malformed> {
        let Some(channel) = &mut self.channel else { return Ok(()) };
        match behind {
            None => channel.send(message),
            Some(machine) => channel.send(&DownMessage::To(machine, message.encode()?)),
        }
    }
}

impl Started {
    /// Tells each what to do. The feed has copies of standard input for several nodes.
    pub fn launch(mut self, launch: &Launch, parts: Vec<Part>) -> Result<(Nodes, Option<Feed>), String> {
        let failed = |why: Malformed| why.to_string();
        let (mut job, map) = (launch.common(), launch.map.clone());
        job.doors = std::mem::take(&mut self.doors);
        let mut bytes = 0;
        for here in [true, false] {
            if !here {
                // They have the secret, which does not travel over the network.
                job.secret = Secret::from_bytes([0; Secret::BYTES]);
            }
            let message = ToNode::Job(Box::new(job.clone()));
            bytes = message.encode().map_err(failed)?.len();
            let links = self.links.iter_mut().filter(|link| link.machine.is_none() == here);
            links.map(|link| link.tell_all(&message)).collect::<Result<Vec<()>, _>>().map_err(failed)?;
        }
        // Daemons have lower numbers than those behind them, and hear of their own part first.
        let mut order: Vec<(usize, Part)> = parts.into_iter().enumerate().collect();
        order.sort_by_key(|(at, _)| self.nodes[*at].machine);
        for (at, part) in order {
            let node = &self.nodes[at];
            let link = &mut self.links[node.link];
            let behind = node.machine.filter(|_| link.own != Some(at));
            link.tell(behind, &ToNode::Part(part)).map_err(failed)?;
        }
        let several = self.links.iter().any(|link| link.machine.is_some());
        let look_at = several.then(|| Instant::now() + socket::LOOK);
        let Started { nodes: all, links, feed, agents, .. } = self;
        Ok((Nodes { all, links, map, broken: false, agents, look_at, job: bytes, barred: false }, feed))
    }
}

impl Nodes {
    /// Those of a job of this size in tests: nobody is reached.
    #[cfg(test)]
    pub fn none(size: u32) -> Nodes {
        Nodes {
            all: Vec::new(),
            links: Vec::new(),
            map: NodeMap::one_node(size),
            broken: false,
            agents: Agents::default(),
            look_at: None,
            job: 0,
            barred: false,
        }
    }

    pub fn name(&self, node: usize) -> &str {
        &self.all[node].name
    }

    pub fn name_of(&self, rank: u32) -> &str {
        self.name(self.node_of(rank))
    }

    /// Of a number that a daemon has said.
    pub fn name_of_node(&self, node: u32) -> &str {
        self.all.get(node as usize).map_or("?", |node| &node.name)
    }

    /// A daemon cannot reach another. True: it is the first of which that is heard.
    pub fn note_barred(&mut self) -> bool {
        !std::mem::replace(&mut self.barred, true)
    }

    fn node_of(&self, rank: u32) -> usize {
        // Reports of daemons about ranks that are none are taken for ones about the first node.
        self.map.node_of(rank).map_or(0, |node| node as usize).min(self.all.len() - 1)
    }

    /// Everything has ended.
    pub fn done(&self) -> bool {
        self.all.iter().all(|node| node.done)
    }

    /// At least one is reached.
    pub fn reachable(&self) -> bool {
        self.all.iter().any(|node| node.open)
    }

    pub fn tell_all(&mut self, message: &ToNode) {
        // These messages are short: they can always be made.
        self.links.iter_mut().for_each(|link| drop(link.tell_all(message)));
    }

    /// The node of a rank.
    pub fn tell_of(&mut self, rank: u32, message: &ToNode) {
        self.tell(self.node_of(rank), message);
    }

    fn tell(&mut self, at: usize, message: &ToNode) {
        let node = &self.all[at];
        if let Some(link) = self.links.get_mut(node.link).filter(|_| node.open) {
            let behind = node.machine.filter(|_| link.own != Some(at));
            // These messages are short, or came from a daemon: they can always be made.
            let _ = link.tell(behind, message);
        }
    }

    /// Descriptors to wait for, with the number of each link.
    pub fn links(&self) -> Vec<(usize, PollFd<'_>)> {
        let wanted = |link: &Channel| match link.unsent() > 0 {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let open = self.links.iter().enumerate().filter_map(|(n, link)| Some((n, link.channel.as_ref()?)));
        open.map(|(n, link)| (n, PollFd::new(link, wanted(link)))).collect()
    }

    /// Takes in what came by a link. Exchanges between nodes are passed on and not returned.
    pub fn hear(&mut self, at: usize) -> Heard {
        let mut heard = Heard::default();
        let Some(channel) = &mut self.links[at].channel else { return heard };
        channel.flush();
        let mut over = channel.receive() == Peer::Gone;
        let mut exchanges = Vec::new();
        loop {
            match self.next(at) {
                Ok(Some((_, FromNode::Exchange(Exchange::Fence)))) => self.links[at].came = true,
                Ok(Some((Some(node), FromNode::Exchange(exchange)))) => exchanges.push((node, exchange)),
                Ok(Some((_, FromNode::Lost { nodes, how }))) => {
                    heard.lost.extend(self.lose_behind(at, &nodes, &how));
                }
                Ok(Some((Some(node), message))) => heard.messages.push((node, message)),
                // A daemon without a part in the job has nothing to say of it.
                Ok(Some((None, _))) => {}
                Ok(None) => break,
                Err(why) => {
                    let node = self.links[at].nodes().first().copied().unwrap_or(0);
                    let why = format!("it sent an impossible frame: {why}");
                    heard.messages.push((node, FromNode::Failed(why)));
                    over = true;
                    break;
                }
            }
        }
        for (node, message) in &heard.messages {
            let node = &mut self.all[*node];
            node.done |= *message == FromNode::Done;
            if let (FromNode::Took { bytes, over }, Some(pump)) = (message, &mut node.pump) {
                pump.note_taken(*bytes, *over);
            }
        }
        if over {
            let how = "has closed its connection: it was killed, or its node was switched off";
            heard.lost.extend(self.lose(at, how));
        }
        self.count_fence();
        exchanges.into_iter().for_each(|(node, exchange)| self.pass_on(node, exchange));
        heard
    }

    /// The next message of a link, and of which node; None: of a daemon without a part in the job.
    fn next(&mut self, at: usize) -> Result<Option<(Option<usize>, FromNode)>, Malformed> {
        let link = &mut self.links[at];
        let Some(channel) = &mut link.channel else { return Ok(None) };
        let Some(passed) = channel.take::<Passed>()? else { return Ok(None) };
        let message = unpack::<FromNode>(&passed.frame)?;
        Ok(Some(match passed.node {
            None => (link.own, message),
            Some(machine) => (link.behind.get(&machine).copied(), message),
        }))
    }

    /// A link is over. Some: its nodes were not done. `how`: for a daemon of which nobody here knows more.
    fn lose(&mut self, at: usize, how: &str) -> Option<LostDaemon> {
        let link = &mut self.links[at];
        link.channel = None;
        let nodes = link.nodes();
        if !self.close(&nodes) {
            return None;
        }
        let link = &mut self.links[at];
        let (pid, how) = match &mut link.daemon {
            Daemon::Here(daemon) => (daemon.number(), daemon.end_and_describe()),
            Daemon::There { pid, .. } => {
                let said = link.machine.map(|machine| self.agents.last_words_of(machine)).unwrap_or_default();
                let said = if said.is_empty() { said } else { format!(" ({said})") };
                (*pid, format!("{how}{said}"))
            }
        };
        let node = match (link.own, &link.daemon) {
            (Some(own), _) => self.all[own].name.clone(),
            (None, Daemon::There { name, .. }) => name.clone(),
            (None, Daemon::Here(_)) => String::new(),
        };
        Some(LostDaemon { node, pid, how })
    }

    /// A daemon behind a link is lost, of the first of these machines, and those behind it. Some: their nodes were not done.
    fn lose_behind(&mut self, at: usize, machines: &[u32], how: &str) -> Option<LostDaemon> {
        let behind = &self.links[at].behind;
        let nodes: Vec<usize> = machines.iter().filter_map(|machine| behind.get(machine).copied()).collect();
        let first = nodes.first().copied();
        if !self.close(&nodes) {
            return None;
        }
        let node = &self.all[first?];
        Some(LostDaemon { node: node.name.clone(), pid: node.pid, how: how.to_owned() })
    }

    /// These are not reached any more. True: one was not done.
    fn close(&mut self, nodes: &[usize]) -> bool {
        let mut lost = false;
        for &at in nodes {
            let node = &mut self.all[at];
            (node.open, node.pump) = (false, None);
            lost |= !std::mem::replace(&mut node.done, true);
        }
        lost
    }

    /// Looks whether daemons on other machines still answer, when it is time to.
    pub fn look(&mut self, now: Instant) -> Vec<LostDaemon> {
        if self.look_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        self.look_at = Some(now + socket::LOOK);
        let deaf = |link: &Link| link.machine.is_some() && link.channel.as_ref().is_some_and(socket::deaf);
        let deaf: Vec<usize> = (0..self.links.len()).filter(|&at| deaf(&self.links[at])).collect();
        let how = "does not answer any more: its node was switched off, or the network between is gone";
        deaf.into_iter().filter_map(|at| self.lose(at, how)).collect()
    }

    pub fn look_at(&self) -> Option<Instant> {
        self.look_at
    }

    /// Sends on what has come of standard input.
    pub fn pump(&mut self) {
        for at in 0..self.all.len() {
            while let Some(piece) = self.all[at].pump.as_mut().and_then(Pump::next) {
                self.tell(at, &ToNode::Input(piece));
            }
        }
    }

    /// Events of standard input to wait for.
    pub fn pumps(&self) -> Vec<PollFd<'_>> {
        self.all.iter().filter_map(|node| node.pump.as_ref()?.fd()).collect()
    }

    /// Where all have come to the fence they are told.
    fn count_fence(&mut self) {
        if !self.broken && self.links.iter().all(|link| link.came) {
            self.links.iter_mut().for_each(|link| link.came = false);
            self.tell_all(&ToNode::Exchange(Exchange::Fence));
        }
    }

    fn pass_on(&mut self, at: usize, exchange: Exchange) {
        match exchange {
            // By link.
            Exchange::Fence => {}
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
                match self.all[to].open {
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
        self.all.iter_mut().for_each(|node| node.counted = !node.open);
        self.tell_all(&ToNode::Census { stacks });
    }

    /// A node's census is complete.
    pub fn note_counted(&mut self, at: usize) {
        self.all[at].counted = true;
    }

    /// The census of all nodes that are reached is complete.
    pub fn counted(&self) -> bool {
        self.all.iter().all(|node| node.counted || !node.open)
    }

    /// Children of mpirun's that are no orphans: daemons that are still there, and agents.
    pub fn children(&self) -> Vec<Pid> {
        let there = self.links.iter().filter(|link| link.channel.is_some());
        let here = there.filter_map(|link| match &link.daemon {
            Daemon::Here(daemon) => Pid::from_raw(daemon.number().cast_signed()),
            Daemon::There { .. } => None,
        });
        here.chain(self.agents.pids()).collect()
    }

    /// All are done: closes the links and waits for the daemons here. Returns the starter of the others, which ends when they have.
    pub fn dismiss(&mut self) -> Agents {
        crate::link::write_counts("mpirun", || {
            let mut counts = Counts::default();
            let open = self.links.iter().filter_map(|link| link.channel.as_ref());
            open.for_each(|channel| counts.join(channel.counts()));
            format!("links {counts}\njob {}\n", self.job)
        });
        self.links.iter_mut().for_each(|link| link.channel = None);
        for link in &mut self.links {
            if let Daemon::Here(daemon) = &mut link.daemon {
                daemon.wait();
            }
        }
        std::mem::take(&mut self.agents)
    }
}
