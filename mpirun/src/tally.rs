//! How many messages and bytes the wire-up of a job takes, by the tree that daemons make and the frames that they send, without a
//! network: for jobs that are larger than any machine at hand. Messages are the daemons' own, encoded as they encode them; nodes are split among daemons, and
//! questions dealt to direct links, by the same functions. `tests/jobs/tally.rs` holds it to what real daemons count.

use crate::direct::table::{MOST, Question, Step, Table};
use crate::link::{
    Counts, Direct, Exchange, FromNode, Launch, Message, Part, Place, Program, Stdin, Sum, ToNode,
};
use crate::remote::doors::Doors;
use crate::remote::facts::NodeFacts;
use crate::remote::hand::Hand;
use crate::remote::tree::{Member, split};
use oxmpi_wireup::frame::{HEADER, Malformed};
use oxmpi_wireup::message::{ToDaemon, ToRank};
use oxmpi_wireup::topology::Topology;
use oxmpi_wireup::{AppFacts, NodeMap, Secret};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

/// A job on nodes of which none is mpirun's own, and what its ranks do: each publishes a value under one key, all come to the fences,
/// and each node asks so many others for what their ranks have.
#[derive(Clone, Debug)]
pub struct Shape {
    pub nodes: u32,
    /// Ranks of each node, bound to nothing.
    pub each: u32,
    /// How many daemons each starts.
    pub width: usize,
    pub fences: u64,
    /// How many nodes each asks.
    pub asks: u64,
    pub key: String,
    /// Bytes of a value.
    pub value: usize,
    /// Bytes of the message with what is the same for all nodes.
    pub job: usize,
    pub facts: NodeFacts,
    /// Daemons reach each other; else all goes by the tree.
    pub direct: bool,
}

/// Where each daemon is reached: one address of version 4, as most nodes have.
const DOOR: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 40_000);
/// Daemons that each starts, as `rml_base_radix` has it where nobody sets it.
const WIDTH: usize = 32;

/// The part that is the same for all nodes: names of eleven letters, a program without arguments, and no environment beside.
fn launch(nodes: u32, each: u32) -> Launch {
    let of_ranks: Vec<u32> = (0..nodes * each).map(|rank| rank / each).collect();
    let program = Program { program: "./program".into(), ..Program::default() };
    Launch {
        job_id: 1,
        secret: Secret::from_bytes([0; Secret::BYTES]),
        map: NodeMap::of(&of_ranks),
        node: 0,
        node_names: (0..nodes).map(|node| format!("node{node:07}")).collect(),
        local_ranks: Vec::new(),
        cores: 0,
        oversubscribed: false,
        params: Vec::new(),
        programs: vec![program],
        places: Vec::new(),
        apps: vec![AppFacts { ranks: nodes * each, command: "./program".into(), ..AppFacts::default() }],
        universe: nodes * each,
        interactive: false,
        raw: false,
        stdin: Stdin::Rank(0),
        hold: false,
        tree: 1,
        sites: Vec::new(),
        parent: String::new(),
        doors: Doors::new(vec![vec![DOOR]; nodes as usize]),
    }
}

/// A node of two packages with 32 cores of two threads each, of which eight share a cache.
fn topology() -> Result<Topology, String> {
    let place = |cpu: u32| {
        let core = cpu % 64;
        (cpu, [core / 32, core / 32, core / 8, core, core, core, 2 * core + cpu / 64])
    };
    let all: Vec<_> = (0..128).map(place).collect();
    Topology::of_places(&all).map_err(|cpu| format!("processor {cpu} is there twice"))
}

impl Shape {
    /// A job as most are: nodes of 64 cores with one address, values of 64 bytes, and each node asks so many others.
    pub fn usual(nodes: u32, each: u32, asks: u64) -> Result<Shape, String> {
        let job = ToNode::Job(Box::new(launch(nodes, each))).encode();
        Ok(Shape {
            nodes,
            each,
            width: WIDTH,
            fences: 2,
            asks,
            key: "btl_tcp".into(),
            value: 64,
            job: job.map_err(|why| why.to_string())?.len(),
            facts: NodeFacts { door: vec![DOOR], topology: topology()?, ..NodeFacts::own()? },
            direct: true,
        })
    }
}

/// Counts of one daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Daemon {
    /// Nodes at and below it.
    pub nodes: u64,
    pub up: Counts,
    /// Of all links to those that it has started.
    pub below: Counts,
    /// Of all links to daemons that it has asked, or that have asked it.
    pub direct: Counts,
}

#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By node.
    pub daemons: Vec<Daemon>,
    /// Of all mpirun's links.
    pub mpirun: Counts,
    /// Of a rank to its daemon, without the bytes of its facts, which are one message.
    pub rank: Counts,
}

/// Bytes that an envelope adds for one node, and for all.
const FOR_ONE: usize = HEADER + 4;
const FOR_ALL: usize = HEADER;

/// Bytes of each message as it is said.
struct Sizes {
    challenge: usize,
    answer: usize,
    welcome: usize,
    here: usize,
    part: usize,
    started: usize,
    release: usize,
    fence: usize,
    ask: usize,
    values: usize,
    direct_ask: usize,
    direct_values: usize,
}

impl Sizes {
    fn of(shape: &Shape) -> Result<Sizes, Malformed> {
        let length = |frame: Result<Vec<u8>, Malformed>| frame.map(|frame| frame.len());
        let (each, key) = (shape.each, shape.key.clone());
        let place = Place { program: 0, processors: Vec::new() };
        let values = (0..each).map(|rank| (rank, Some(vec![0; shape.value]))).collect();
        let answer = Exchange::Answer { to: 0, proc: 0, key: key.clone(), values, whole: true };
        let ask = Exchange::Ask { from: 0, proc: 0, key };
        Ok(Sizes {
            challenge: length(Hand::Challenge([0; 32]).encode())?,
            answer: length(Hand::Answer { node: 0, challenge: [0; 32], proof: [0; 32] }.encode())?,
            welcome: length(Hand::Welcome([0; 32]).encode())?,
            here: length(FromNode::Here(Box::new(shape.facts.clone())).encode())?,
            part: length(
                ToNode::Part(Part { node: 0, cores: 0, places: vec![place; each as usize] }).encode(),
            )?,
            started: length(FromNode::Started((0..each).map(|rank| (rank, 0)).collect()).encode())?,
            release: length(ToNode::Release.encode())?,
            fence: length(FromNode::Exchange(Exchange::Fence).encode())?,
            ask: length(ToNode::Exchange(ask.clone()).encode())?,
            values: length(ToNode::Exchange(answer.clone()).encode())?,
            direct_ask: length(Direct(ask).encode())?,
            direct_values: length(Direct(answer).encode())?,
        })
    }
}

/// A message of each node at and below the lower end of a link: as it is of that one, in envelopes of the others.
fn of_each(sum: &mut Sum, nodes: u64, times: u64, bytes: usize) {
    sum.add(times, bytes);
    sum.add((nodes - 1) * times, bytes + FOR_ONE);
}

/// Traffic over the link of a daemon with so many nodes at and below it, as that daemon counts.
fn link(shape: &Shape, sizes: &Sizes, nodes: u64) -> Counts {
    let mut counts = Counts::default();
    let Counts { sent, received } = &mut counts;
    received.add(1, sizes.challenge);
    sent.add(1, sizes.answer);
    received.add(1, sizes.welcome);
    of_each(sent, nodes, 1, sizes.here);
    let for_all = if nodes > 1 { FOR_ALL } else { 0 };
    received.add(1, shape.job + for_all);
    of_each(received, nodes, 1, sizes.part);
    of_each(sent, nodes, 1, sizes.started);
    received.add(1, sizes.release + for_all);
    sent.add(shape.fences, sizes.fence);
    received.add(shape.fences, sizes.fence + for_all);
    if shape.direct {
        return counts;
    }
    // Every node asks as many as it is asked by.
    for sum in [sent, received] {
        of_each(sum, nodes, shape.asks, sizes.ask);
        of_each(sum, nodes, shape.asks, sizes.values);
    }
    counts
}

/// Counts the whole job.
pub fn count(shape: &Shape) -> Result<Tally, Malformed> {
    let sizes = Sizes::of(shape)?;
    let mut tally = Tally { daemons: vec![Daemon::default(); shape.nodes as usize], ..Tally::default() };
    let all: Vec<Member> = (0..shape.nodes).map(|node| (node, String::new())).collect();
    let mut parts: Vec<(Option<u32>, Vec<Member>)> =
        split(&all, shape.width).into_iter().map(|part| (None, part)).collect();
    while let Some((above, part)) = parts.pop() {
        let Some(((node, _), rest)) = part.split_first() else { continue };
        let (nodes, up) = (part.len() as u64, link(shape, &sizes, part.len() as u64));
        let daemon = &mut tally.daemons[*node as usize];
        (daemon.nodes, daemon.up) = (nodes, up);
        match above {
            None => tally.mpirun.join(up.reversed()),
            Some(above) => tally.daemons[above as usize].below.join(up.reversed()),
        }
        parts.extend(split(rest, shape.width).into_iter().map(|part| (Some(*node), part)));
    }
    if shape.direct {
        (0..shape.nodes).for_each(|node| ask_directly(shape, &sizes, node, &mut tally.daemons));
    }
    tally.rank = rank(shape)?;
    Ok(tally)
}

/// Questions of a node to those that follow it, as its daemon has them go: each link is made and each question answered at once.
fn ask_directly(shape: &Shape, sizes: &Sizes, node: u32, daemons: &mut [Daemon]) {
    let now = Instant::now();
    let mut table = Table::new(MOST, now);
    for after in 1..=shape.asks as u32 {
        let other = (node + after) % shape.nodes;
        let question = Question { proc: other * shape.each, key: shape.key.clone() };
        let mut steps = VecDeque::from(table.want(other, question, now));
        while let Some(step) = steps.pop_front() {
            let mut counts = Counts::default();
            match step {
                Step::Connect(to) => {
                    counts.received.add(1, sizes.challenge);
                    counts.sent.add(1, sizes.answer);
                    counts.received.add(1, sizes.welcome);
                    steps.extend(table.opened(to, now));
                }
                Step::Ask(to, question) => {
                    counts.sent.add(1, sizes.direct_ask);
                    counts.received.add(1, sizes.direct_values);
                    steps.extend(table.answered(to, &question, now).into_iter().flatten());
                }
                Step::Close(_) => {}
                // All doors are open here.
                Step::ByTree(question) => unreachable!("{question:?}"),
            }
            daemons[node as usize].direct.join(counts);
            daemons[other as usize].direct.join(counts.reversed());
        }
    }
}

/// One rank: it asks for a value of a rank of each node that its own asks, and of the others of its node's.
fn rank(shape: &Shape) -> Result<Counts, Malformed> {
    let mut counts = Counts::default();
    let secret = Secret::from_bytes([0; Secret::BYTES]);
    let hello = ToDaemon::Hello { version: 0, secret, rank: 0, pid: 0 }.encode()?;
    counts.sent.add(1, hello.len());
    // Its facts, whose bytes are the node's business.
    counts.received.add(1, 0);
    let put = ToDaemon::Put(vec![(shape.key.clone(), vec![0; shape.value])]).encode()?;
    counts.sent.add(1, put.len());
    counts.sent.add(shape.fences, ToDaemon::Fence.encode()?.len());
    counts.received.add(shape.fences, ToRank::FenceDone.encode()?.len());
    counts.sent.add(1, ToDaemon::Finalized.encode()?.len());
    let asked = (shape.asks + 1) * u64::from(shape.each);
    counts.sent.add(asked, ToDaemon::Get { proc: 0, key: shape.key.clone() }.encode()?.len());
    let value = ToRank::Value { proc: 0, key: shape.key.clone(), value: Some(vec![0; shape.value]) };
    counts.received.add(asked, value.encode()?.len());
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mpirun carries the start, a few messages of a few hundred bytes for each node, and nothing of what nodes ask of each other.
    #[test]
    fn mpirun_is_not_in_the_middle() {
        for (nodes, each) in [(64, 64), (1024, 64), (2048, 8)] {
            let of = |asks| count(&Shape::usual(nodes, each, asks).expect("a shape")).expect("short").mpirun;
            let (none, six, many) = (of(0), of(6), of(u64::from(nodes).min(200) - 1));
            assert_eq!((none, none), (six, many), "{nodes} nodes: what they ask passes mpirun");
            let (messages, bytes) =
                (six.sent.messages + six.received.messages, six.sent.bytes + six.received.bytes);
            let nodes = u64::from(nodes);
            assert!(messages <= 3 * nodes + 10 * WIDTH as u64, "{messages} messages of {nodes} nodes");
            assert!(bytes <= 1800 * nodes, "{bytes} bytes of {nodes} nodes");
        }
    }

    /// A daemon carries what is asked of its own ranks and what is below it: bytes in proportion to the nodes at most, however deep the tree.
    #[test]
    fn no_daemon_is_in_the_middle() {
        let shape = Shape::usual(1024, 16, 6).expect("a shape");
        let tally = count(&shape).expect("short");
        let bytes = |counts: Counts| counts.sent.bytes + counts.received.bytes;
        let links = |daemon: &Daemon| bytes(daemon.up) + bytes(daemon.below);
        let most = tally.daemons.iter().map(links).max().expect("some");
        assert!(most <= 34 * shape.job as u64 + 2000 * 1024, "{most}");
        let direct = tally.daemons.iter().map(|daemon| bytes(daemon.direct));
        let (least, most) = (direct.clone().min(), direct.max());
        assert_eq!(least, most, "all ask and answer alike");
    }
}
