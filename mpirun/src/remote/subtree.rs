//! Daemons below this one: those that it has started are linked to it, as it is linked to whoever started it.
//!
//! Messages that come down for them are handed on, theirs are sent up, in envelopes that name the node (`link::route`); where each node is
//! is learned from the first word of its daemon, which comes by here. **A fence is counted on the way:** one word goes up
//! when all nodes at and below this one have come, so that each link carries one of each fence in each direction, however many nodes
//! there are.
//!
//! **One that is lost** takes those below it along: they end when their link closes. mpirun is told by the daemon
//! that had the link, whose nodes they are.
//!
//! Everything is in one epoll, which whoever owns this waits for; nothing here blocks.

use super::addresses;
use super::boot::Boot;
use super::reception::{Guest, Reception};
use super::socket;
use crate::link::{Channel, Counts, DownMessage, Exchange, FromNode, Message, Passed, Peer, ToNode};
use rustix::event::epoll::{self, EventData, EventFlags};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// How a link that is closed reads in mpirun's report.
const CLOSED: &str = "has closed its connection: it was killed, or its node was switched off";
const DEAF: &str = "does not answer any more: its node was switched off, or the network between is gone";

#[derive(Debug)]
pub struct Subtree {
    epoll: OwnedFd,
    /// Until all are there.
    reception: Option<Reception>,
    children: Vec<Child>,
    /// The node has ranks, and they have come to the present fence.
    has_ranks: bool,
    came: bool,
    /// One is lost: no fence can be complete any more.
    broken: bool,
}

/// A daemon that is linked to this one.
#[derive(Debug)]
struct Child {
    node: u32,
    link: Channel,
    /// The nodes below it.
    below: BTreeSet<u32>,
    /// All at and below it have come to the present fence.
    came: bool,
}

/// Messages to send up, and daemons that are there now.
#[derive(Debug, Default)]
pub struct Turn {
    pub up: Vec<Passed>,
    pub arrived: Vec<u32>,
}

impl Subtree {
    /// Listens for the daemons of these nodes. Where: for them.
    pub fn listen(boot: &Boot) -> Result<(Subtree, Vec<SocketAddr>), String> {
        let cannot = |why: std::io::Error| format!("cannot listen for the daemons that it starts: {why}");
        let launcher = &boot.launcher;
        let listener = socket::listen(&launcher.ports).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let own = addresses::door(port, &launcher.include, &launcher.exclude)?;
        let reception =
            Reception::new("oxmpid", listener, boot.secret.clone(), &boot.nodes).map_err(cannot)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|why| cannot(why.into()))?;
        epoll::add(&epoll, reception.listener(), EventData::new_u64(0), EventFlags::IN)
            .map_err(|why| cannot(why.into()))?;
        let below = Subtree {
            epoll,
            reception: Some(reception),
            children: Vec::new(),
            has_ranks: false,
            came: false,
            broken: false,
        };
        Ok((below, own))
    }

    /// The node has ranks of the job.
    pub fn note_ranks(&mut self) {
        self.has_ranks = true;
    }

    /// Messages of the wire-up that went over the links to those that are linked to this one.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.children.iter().for_each(|child| counts.join(child.link.counts()));
        counts
    }

    /// mpirun is gone: so are we, for them.
    pub fn clear(&mut self) {
        self.reception = None;
        self.children.clear();
    }

    /// Does all there is to do.
    pub fn turn(&mut self) -> Turn {
        let mut turn = Turn::default();
        self.receive_guests(&mut turn);
        for at in (0..self.children.len()).rev() {
            let gone = self.hear(at, &mut turn.up);
            self.watch(at);
            if let Some(how) = gone {
                turn.up.extend(self.lose(at, &how));
            }
        }
        turn
    }

    /// Looks whether those that are linked still answer, and ends strangers who have had their time.
    pub fn look(&mut self, now: Instant) -> Vec<Passed> {
        self.reception.iter_mut().for_each(|reception| reception.expire(now));
        let deaf = (0..self.children.len()).rev().filter(|&at| socket::deaf(&self.children[at].link));
        let deaf: Vec<usize> = deaf.collect();
        deaf.into_iter().filter_map(|at| self.lose(at, DEAF)).collect()
    }

    /// Hands a frame on to the daemon of a node. A frame for a daemon that is gone is dropped.
    pub fn pass_to(&mut self, node: u32, frame: Vec<u8>) {
        let one = |child: &Child| child.node == node || child.below.contains(&node);
        let Some(at) = self.children.iter().position(one) else { return };
        let child = &mut self.children[at];
        let _ = match child.node == node {
            true => child.link.send(&Passed { node: None, frame }),
            false => child.link.send(&DownMessage::To(node, frame)),
        };
        self.watch(at);
    }

    /// Hands a frame on to all, with this message in it.
    pub fn pass_to_all(&mut self, message: &ToNode, frame: &[u8]) {
        if let ToNode::Exchange(Exchange::Fence) = message {
            self.came = false;
            self.children.iter_mut().for_each(|child| child.came = false);
        }
        for at in 0..self.children.len() {
            let child = &mut self.children[at];
            // One that has nothing below it needs no envelope.
            let _ = match child.below.is_empty() {
                true => child.link.send(&Passed { node: None, frame: frame.to_vec() }),
                false => child.link.send(&DownMessage::All(frame.to_vec())),
            };
            self.watch(at);
        }
    }

    /// This node's ranks have come to the fence. True: all below have, too.
    pub fn enter_fence(&mut self) -> bool {
        self.came = true;
        self.all_came()
    }

    fn all_came(&self) -> bool {
        !self.broken && (self.came || !self.has_ranks) && self.children.iter().all(|child| child.came)
    }

    fn receive_guests(&mut self, turn: &mut Turn) {
        let Some(reception) = &mut self.reception else { return };
        let there = |children: &[Child], node: u32| {
            children.iter().any(|child| child.node == node || child.below.contains(&node))
        };
        let missing = reception.names().keys().filter(|node| !there(&self.children, **node)).count();
        let mut watched = Ok(());
        reception.accept(missing, |channel| {
            watched = epoll::add(&self.epoll, channel, EventData::new_u64(1), EventFlags::IN);
        });
        debug_assert!(watched.is_ok(), "{watched:?}");
        for at in (0..reception.count()).rev() {
            if let Some(Guest { node, link, facts }) = reception.hear(at, |node| there(&self.children, node))
            {
                let here = FromNode::Here(Box::new(facts)).encode();
                turn.up.extend(here.map(|frame| Passed { node: Some(node), frame }));
                turn.arrived.push(node);
                self.children.push(Child { node, link, below: BTreeSet::new(), came: false });
            }
        }
        // Those below a child come to it, and are learned of by its words.
        let all = reception.names().keys().all(|node| there(&self.children, *node));
        if all {
            self.reception = None;
        }
    }

    /// Takes what a child has said. Some: its link is over, and how.
    fn hear(&mut self, at: usize, up: &mut Vec<Passed>) -> Option<String> {
        let names = self.reception.as_ref().map(Reception::names);
        let child = &mut self.children[at];
        child.link.flush();
        let gone = child.link.receive() == Peer::Gone;
        let mut came = false;
        let over = loop {
            let passed = match child.link.take::<Passed>() {
                Ok(Some(passed)) => passed,
                Ok(None) => break gone.then(|| CLOSED.to_owned()),
                Err(why) => break Some(format!("sent an impossible frame: {why}")),
            };
            match passed.node {
                None if is_fence(&passed.frame) => came = true,
                None => up.push(Passed { node: Some(child.node), ..passed }),
                Some(node) => {
                    let is_new = || names.is_some_and(|names| names.contains_key(&node));
                    if !child.below.contains(&node) && !is_new() {
                        break Some(format!("speaks for node {node}, which is not below it"));
                    }
                    child.below.insert(node);
                    up.push(passed);
                }
            }
        };
        child.came |= came;
        if came && self.all_came() {
            let fence = FromNode::Exchange(Exchange::Fence).encode();
            up.extend(fence.map(|frame| Passed { node: None, frame }));
        }
        over
    }

    /// A child's link is over. Some: what mpirun is to be told.
    fn lose(&mut self, at: usize, how: &str) -> Option<Passed> {
        self.broken = true;
        let child = self.children.remove(at);
        let nodes = std::iter::once(child.node).chain(child.below).collect();
        let frame = FromNode::Lost { nodes, how: how.to_owned() }.encode().ok()?;
        Some(Passed { node: None, frame })
    }

    /// Waits for room where there is something to send.
    fn watch(&self, at: usize) {
        let mut flags = EventFlags::IN;
        flags.set(EventFlags::OUT, self.children[at].link.unsent() > 0);
        // It was added before, and is taken out by being closed.
        let _ = epoll::modify(&self.epoll, &self.children[at].link, EventData::new_u64(2), flags);
    }
}

impl AsFd for Subtree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

fn is_fence(frame: &[u8]) -> bool {
    FromNode::Exchange(Exchange::Fence).encode().is_ok_and(|fence| fence == frame)
}
