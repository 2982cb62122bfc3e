//! Ways between the processes of a fabric.
//!
//! A process takes a number by listening at an abstract address with it, so that the number is free again when the process ends, however
//! it does. Queue pair numbers begin with it. Towards each process talked to it makes a ring and hands it over a socket, which wakes
//! the other side when that sleeps, and tells either side that the other is gone.

use crate::config::Config;
use crate::counters::{self, Counter};
use crate::packet::{Packet, flag, kind};
use crate::ring::Ring;
use crate::sys;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Bits of a queue pair's number below the process's.
pub const INDEX_BITS: u32 = 12;
const MOST: u32 = (1 << (24 - INDEX_BITS)) - 2;
const HELLO: &[u8] = b"oxmpi-verbs-fake 1";

/// The connection to a process.
struct OutboundLink {
    ring: Ring,
    /// None: to ourselves.
    socket: Option<OwnedFd>,
}

/// The connection from a process that has called.
pub struct InboundLink {
    pub ring: Ring,
    socket: Option<OwnedFd>,
}

pub struct Links {
    pub number: u32,
    base: String,
    listener: OwnedFd,
    outbound: HashMap<u32, Option<OutboundLink>>,
    pub inbound: Vec<InboundLink>,
    /// Callers that have not said anything yet.
    callers: Vec<OwnedFd>,
    drop: u64,
    delay_every: u64,
    delay: Duration,
    counted: u64,
    /// Nothing goes out before then.
    held: Option<Instant>,
}

/// Outcome of sending a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Yes,
    /// No room.
    No,
    /// Nobody is there.
    Nobody,
}

impl Links {
    pub fn open(config: &Config) -> io::Result<Links> {
        let base = format!("oxmpi-verbs-fake-{}-{}", sys::user(), config.fabric);
        for number in 1..=MOST {
            match sys::listen(&format!("{base}-{number}")) {
                Ok(listener) => {
                    return Ok(Links {
                        number,
                        base,
                        listener,
                        outbound: HashMap::new(),
                        inbound: Vec::new(),
                        callers: Vec::new(),
                        drop: config.drop,
                        delay_every: config.delay_every,
                        delay: config.delay,
                        counted: 0,
                        held: None,
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AddrInUse => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("the fabric is full"))
    }

    fn outbound(&mut self, process: u32) -> io::Result<Option<&OutboundLink>> {
        if !self.outbound.contains_key(&process) {
            let link = self.call(process)?;
            self.outbound.insert(process, link);
        }
        Ok(self.outbound[&process].as_ref())
    }

    /// `Ok(None)`: nobody has that number. An error: try again later.
    fn call(&mut self, process: u32) -> io::Result<Option<OutboundLink>> {
        let (ring, fd) = Ring::make()?;
        if process == self.number {
            self.inbound.push(InboundLink { ring: Ring::of(&fd)?, socket: None });
            return Ok(Some(OutboundLink { ring, socket: None }));
        }
        match sys::connect(&format!("{}-{process}", self.base)) {
            Ok(socket) => {
                sys::send_with(&socket, HELLO, &fd)?;
                Ok(Some(OutboundLink { ring, socket: Some(socket) }))
            }
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Sends a packet to the process of the queue pair `packet.to`. An error is `fill`'s.
    pub fn send<E>(
        &mut self,
        packet: &Packet,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Sent, E> {
        if self.held.is_some_and(|until| Instant::now() < until) {
            return Ok(Sent::No);
        }
        self.held = None;
        let (drop_every, delay_every, counted) = (self.drop, self.delay_every, self.counted + 1);
        let link = match self.outbound(packet.to >> INDEX_BITS) {
            Ok(Some(link)) => link,
            Ok(None) => return Ok(Sent::Nobody),
            Err(_) => return Ok(Sent::No),
        };
        if drop_every != 0 && counted.is_multiple_of(drop_every) {
            self.counted = counted;
            counters::add(Counter::Dropped, 1);
            return Ok(Sent::Yes);
        }
        if !link.ring.push(packet, fill)? {
            return Ok(Sent::No);
        }
        counters::add(Counter::Packets, 1);
        // An acknowledgement of what nobody hears of wakes nobody: who waits for one looks by itself now and then.
        let is_urgent = packet.kind != kind::ACK || packet.is(flag::REPORTED);
        if let Some(socket) = &link.socket
            && is_urgent
            && link.ring.must_wake()
        {
            sys::nudge(socket);
        }
        self.counted = counted;
        if delay_every != 0 && counted.is_multiple_of(delay_every) {
            self.held = Some(Instant::now() + self.delay);
        }
        Ok(Sent::Yes)
    }

    /// Packets that were sent or lost.
    pub fn sent(&self) -> u64 {
        self.counted
    }

    /// Whether the process of a queue pair has taken all that we sent. One that is gone takes everything.
    pub fn is_consumed(&self, qp: u32) -> bool {
        match self.outbound.get(&(qp >> INDEX_BITS)) {
            Some(Some(link)) => link.ring.is_consumed(),
            Some(None) => true,
            // Not called yet.
            None => false,
        }
    }

    pub fn sleep(&self, asleep: bool) {
        self.inbound.iter().for_each(|i| i.ring.sleep(asleep));
    }

    /// Descriptors to wait on.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let inbound = self.inbound.iter().filter_map(|i| i.socket.as_ref());
        let outbound = self.outbound.values().flatten().filter_map(|w| w.socket.as_ref());
        let all = std::iter::once(&self.listener).chain(&self.callers).chain(inbound).chain(outbound);
        all.map(AsRawFd::as_raw_fd).collect()
    }

    /// Takes callers, what they say, and ends, of those descriptors that have something: a process with many peers asks the system for each
    /// that woke it and for no other.
    pub fn look(&mut self, ready: &[RawFd]) {
        let is_ready = |socket: &OwnedFd| ready.contains(&socket.as_raw_fd());
        if is_ready(&self.listener) {
            while let Ok(socket) = sys::accept(&self.listener) {
                self.callers.push(socket);
            }
        }
        // Few at any time: also those that have just come.
        let callers = std::mem::take(&mut self.callers);
        for socket in callers {
            let mut bytes = [0; 64];
            match sys::recv_with(&socket, &mut bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.callers.push(socket),
                Ok((n, Some(fd))) if &bytes[..n] == HELLO => {
                    if let Ok(ring) = Ring::of(&fd) {
                        self.inbound.push(InboundLink { ring, socket: Some(socket) });
                    }
                }
                // A stranger, or somebody who is gone.
                _ => {}
            }
        }
        let lives = |socket: &OwnedFd| !is_ready(socket) || sys::take_nudges(socket);
        // Packets that a process has sent before it ended are still taken.
        self.inbound.retain(|i| i.ring.has_more() || i.socket.as_ref().is_none_or(lives));
        for link in self.outbound.values_mut() {
            if link.as_ref().and_then(|w| w.socket.as_ref()).is_some_and(|s| !lives(s)) {
                *link = None;
            }
        }
    }
}
