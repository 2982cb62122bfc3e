//! How many messages and bytes the wire-up of a job takes, by the tree that daemons make and the frames that they send, without a
//! network: for jobs that are larger than any machine at hand. `tests/jobs/tally.rs` holds it to what real daemons count.

use crate::link::{Counts, Exchange, FromNode, Message, Part, Place, Sum, ToNode};
use crate::remote::facts::NodeFacts;
use crate::remote::hand::Hand;
use crate::remote::tree::{Member, split};
use oxmpi_wireup::Secret;
use oxmpi_wireup::frame::{HEADER, Malformed};
use oxmpi_wireup::message::{ToDaemon, ToRank};

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
}

/// Counts of one daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Daemon {
    /// Nodes at and below it.
    pub nodes: u64,
    pub up: Counts,
    /// Of all links to those that it has started.
    pub below: Counts,
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
}

impl Sizes {
    fn of(shape: &Shape) -> Result<Sizes, Malformed> {
        let length = |frame: Result<Vec<u8>, Malformed>| frame.map(|frame| frame.len());
        let (each, key) = (shape.each, shape.key.clone());
        let place = Place { program: 0, processors: Vec::new() };
        let values = (0..each).map(|rank| (rank, Some(vec![0; shape.value]))).collect();
        let answer = Exchange::Answer { to: 0, proc: 0, key: key.clone(), values, whole: true };
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
            ask: length(ToNode::Exchange(Exchange::Ask { from: 0, proc: 0, key }).encode())?,
            values: length(ToNode::Exchange(answer).encode())?,
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
    tally.rank = rank(shape)?;
    Ok(tally)
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
