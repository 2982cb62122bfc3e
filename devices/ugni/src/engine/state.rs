//! State of the engine: its connections, and what waits.

use crate::config::config;
use crate::datagram::{Packet, Peer};
use crate::domain::Nic;
use crate::frame::flag;
use crate::link::{Caller, Link, RECORD};
use crate::operation::Operation;
use crate::sys;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// The abstract name at which a domain listens.
pub fn name(cookie: u32, (address, inst): Peer) -> String {
    format!("oxmpi-ugni-{}-{}-{cookie}-{address}-{inst}", sys::user(), config().fabric)
}

/// A connection's place, with a number that tells it from an earlier one there.
pub(super) type LinkId = usize;

/// A packet of a datagram that is to be sent at a later time.
pub(super) struct Delayed {
    pub(super) due: Instant,
    pub(super) tries: u32,
    /// `datagram_drop` has counted it.
    pub(super) is_counted: bool,
    pub(super) nic: Arc<Nic>,
    pub(super) packet: Packet,
}

pub(super) struct Engine {
    pub(super) links: HashMap<LinkId, Link>,
    pub(super) last_link: LinkId,
    /// Connections by cookie and peer.
    pub(super) outbound: HashMap<(u32, Peer), LinkId>,
    pub(super) listeners: HashMap<(u32, u32), (OwnedFd, Arc<Nic>)>,
    pub(super) callers: Vec<Caller>,
    /// Operations that have no answer yet, with their connections.
    pub(super) operations: HashMap<u64, (Operation, LinkId)>,
    pub(super) last_operation: u64,
    /// Puts of peers that have failed before their last frame.
    pub(super) failed: HashMap<(LinkId, u64), u8>,
    pub(super) delayed: Vec<Delayed>,
    /// Completions that wait for their draw.
    pub(super) shuffled: Vec<(Operation, u8)>,
    pub(super) random: u64,
    pub(super) datagrams: u64,
    pub(super) messages: u64,
    /// How many there were. Callers and ends of connections are looked at now and then: a look is a system call for each listener.
    pub(super) turns: u64,
    pub(super) buffer: Vec<u8>,
}

impl Engine {
    pub(super) fn new() -> Engine {
        Engine {
            links: HashMap::new(),
            last_link: 0,
            outbound: HashMap::new(),
            listeners: HashMap::new(),
            callers: Vec::new(),
            operations: HashMap::new(),
            last_operation: 0,
            failed: HashMap::new(),
            delayed: Vec::new(),
            shuffled: Vec::new(),
            random: config().shuffle,
            datagrams: 0,
            messages: 0,
            turns: 0,
            buffer: vec![0; RECORD],
        }
    }

    /// A number drawn from the seed.
    pub(super) fn draw(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % below.max(1)
    }

    /// The connection to a peer, made where there is none.
    pub(super) fn link_to(&mut self, cookie: u32, peer: Peer) -> io::Result<LinkId> {
        if let Some(id) = self.outbound.get(&(cookie, peer)) {
            return Ok(*id);
        }
        let link = Link::open(&name(cookie, peer), peer.0 == config().node)?;
        let id = self.adopt(link);
        self.outbound.insert((cookie, peer), id);
        Ok(id)
    }

    pub(super) fn adopt(&mut self, link: Link) -> LinkId {
        self.last_link += 1;
        self.links.insert(self.last_link, link);
        self.last_link
    }

    /// A connection has ended: what went over it fails.
    pub(super) fn drop_link(&mut self, id: LinkId) {
        self.links.remove(&id);
        self.outbound.retain(|_, l| *l != id);
        self.failed.retain(|(l, _), _| *l != id);
        let lost: Vec<u64> =
            self.operations.iter().filter(|(_, (_, l))| *l == id).map(|(op, _)| *op).collect();
        for op in lost {
            let (operation, _) = self.operations.remove(&op).expect("just found");
            operation.end(crate::numbers::status::ENDPOINT_UNREACHABLE);
        }
    }
}

/// Flags of an operation's event.
pub(super) fn event_flags(event: Option<crate::operation::RemoteEvent>) -> u8 {
    match event {
        None => 0,
        Some(e) => {
            flag::EVENT
                | if e.message { flag::MESSAGE } else { 0 }
                | if config().early_event { flag::EARLY } else { 0 }
        }
    }
}
