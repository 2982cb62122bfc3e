//! All nodes of a job: a daemon and a link for each, and what goes from one node to another.
//!
//! mpirun is the root of a tree of depth one. What the nodes say to each other about the key-value store and the fence
//! ([`Exchange`]) passes through here: nodes at a fence are counted, a question goes to the node where the value is, its
//! answer to the node that asked. The rest is for the loop.
//!
//! **A daemon that has said `Done` stays** until all have, because others' ranks may still ask for what its ranks have
//! published; then the links are closed, which ends it. One whose link closes before is lost, with its ranks.

use super::daemon::{CannotStart, NodeDaemon};
use crate::daemon::feed::Feed;
use crate::link::{Channel, Exchange, FromNode, Launch, Peer, Stdin, ToNode};
use crate::stacks::Frames;
use oxmpi_runtime::wireup::NodeMap;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

#[derive(Debug)]
pub struct Nodes {
    all: Vec<Node>,
    map: NodeMap,
    /// A rank has left: no fence can be complete any more.
    broken: bool,
}

#[derive(Debug)]
struct Node {
    daemon: NodeDaemon,
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
pub struct Started(Vec<(NodeDaemon, UnixStream)>, Option<Feed>);

/// Starts the daemons of these nodes, one for each launch, with the standard input that their ranks are to have.
pub fn start(launches: &[Launch], names: &[String]) -> Result<Started, CannotStart> {
    let because = |reason: String| CannotStart { reason, looked_at: String::new() };
    let readers: Vec<bool> = launches.iter().map(reads_stdin).collect();
    let usable = super::daemon::may_read_stdin();
    // One node reads from mpirun's own; several have copies.
    let several = usable && readers.iter().filter(|reads| **reads).count() > 1;
    let mut feed = several.then(Feed::new).transpose().map_err(because)?;
    let mut daemons = Vec::with_capacity(launches.len());
    for (launch, reads) in launches.iter().zip(readers) {
        let stdin = match &mut feed {
            _ if !reads || !usable => Stdio::null(),
            None => Stdio::inherit(),
            Some(feed) => feed.add().map_err(|why| because(why.to_string()))?.into(),
        };
        let name = names.get(launch.node as usize).cloned().unwrap_or_default();
        daemons.push(NodeDaemon::start(name, stdin)?);
    }
    super::daemon::leave_stdin();
    Ok(Started(daemons, feed))
}

fn reads_stdin(launch: &Launch) -> bool {
    match &launch.stdin {
        Stdin::Rank(reader) => launch.local_ranks.contains(reader),
        Stdin::Copies(readers) => readers.iter().any(|reader| launch.local_ranks.contains(reader)),
        Stdin::Nobody => false,
    }
}

impl Started {
    /// Tells each what to do. The feed has copies of standard input for several nodes.
    pub fn launch(self, launches: Vec<Launch>, map: NodeMap) -> Result<(Nodes, Option<Feed>), String> {
        let mut all = Vec::with_capacity(launches.len());
        for ((daemon, link), launch) in self.0.into_iter().zip(launches) {
            let mut link =
                Channel::new(link).map_err(|why| format!("cannot use the link to the daemon: {why}"))?;
            link.send(&ToNode::Launch(Box::new(launch))).map_err(|why| why.to_string())?;
            let (done, started, counted, came) = (false, false, false, false);
            all.push(Node { daemon, link: Some(link), done, started, counted, came });
        }
        Ok((Nodes { all, map, broken: false }, self.1))
    }
}

impl Nodes {
    pub fn name(&self, node: usize) -> &str {
        &self.all[node].daemon.node
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
        let mut lost = None;
        if over {
            node.link = None;
            if !node.done {
                node.done = true;
                let (pid, how) = (node.daemon.number(), node.daemon.end_and_describe());
                lost = Some(Lost { node: node.daemon.node.clone(), pid, how });
            }
        }
        exchanges.into_iter().for_each(|exchange| self.pass_on(at, exchange));
        Heard { messages, lost }
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
                        let answer = Exchange::Answer { to: from, proc, key, value: None };
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

    /// Daemons that are still there.
    pub fn daemons(&self) -> Vec<Pid> {
        let there = self.all.iter().filter(|node| node.link.is_some());
        there.filter_map(|node| Pid::from_raw(node.daemon.number().cast_signed())).collect()
    }

    /// All are done: closes the links and waits for the daemons.
    pub fn dismiss(&mut self) {
        self.all.iter_mut().for_each(|node| node.link = None);
        self.all.iter_mut().for_each(|node| node.daemon.wait());
    }
}
