//! Ways between the processes of a fabric.
//!
//! A process takes a number by listening at an abstract address with it, so that the number is free again when the process ends, however
//! it does. Queue pair numbers begin with it. Towards each process talked to it makes a ring and hands it over a socket, which wakes
//! the other side when that sleeps, and tells either side that the other is gone.
//!
//! A waiting device asks the other process for a sign of life (`ask`), which its device gives when it has taken and answered all that was sent
//! before. A process that is stopped or has no core gives none, and one whose end the socket tells never will (`answer_of`).

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
/// First words of a caller, with its number behind.
const HELLO: &[u8] = b"oxmpi-verbs-fake 2 ";

/// The connection to a process.
struct OutboundLink {
    ring: Ring,
    /// None: to ourselves.
    socket: Option<OwnedFd>,
}

/// The connection from a process that has called.
pub struct InboundLink {
    pub ring: Ring,
    /// Number of its process.
    process: u32,
    socket: Option<OwnedFd>,
    /// The question that is to be answered, and the position up to which packets preceded it.
    question: Option<(u64, u64)>,
}

impl InboundLink {
    fn new(ring: Ring, process: u32, socket: Option<OwnedFd>) -> InboundLink {
        InboundLink { ring, process, socket, question: None }
    }

    /// Notes a question, before packets are taken.
    pub fn hear_question(&mut self) {
        let asked = self.ring.asked();
        if self.question.is_none() && asked != self.ring.served() {
            self.question = Some((asked, self.ring.end()));
        }
    }
}

/// The wait for an answer to a request.
pub struct Quiet {
    pub since: Instant,
    /// The sign of life that was asked for when the time was over.
    pub question: Option<u64>,
    /// The position up to which packets from there preceded that sign.
    answers: Option<u64>,
}

impl Quiet {
    pub fn begin() -> Quiet {
        Quiet { since: Instant::now(), question: None, answers: None }
    }
}

/// How far a process has come with what we sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// There may be answers that we have not seen, or will be.
    Pending,
    /// It has taken and answered all that preceded the question.
    Given,
    /// It has ended, and what it had sent before has been taken.
    Gone,
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
    taken: u64,
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
                        taken: 0,
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
        // Of one that is gone somebody else may have the number now.
        if !matches!(self.outbound.get(&process), Some(Some(_))) {
            let link = self.call(process)?;
            self.outbound.insert(process, link);
        }
        Ok(self.outbound[&process].as_ref())
    }

    /// `Ok(None)`: nobody has that number. An error: try again later.
    fn call(&mut self, process: u32) -> io::Result<Option<OutboundLink>> {
        let (ring, fd) = Ring::make()?;
        if process == self.number {
            self.inbound.push(InboundLink::new(Ring::of(&fd)?, process, None));
            return Ok(Some(OutboundLink { ring, socket: None }));
        }
        match sys::connect(&format!("{}-{process}", self.base)) {
            Ok(socket) => {
                let hello = [HELLO, &self.number.to_ne_bytes()].concat();
                sys::send_with(&socket, &hello, &fd)?;
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
        if self.is_held() {
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

    /// Nothing goes out for a while, by order.
    pub fn is_held(&self) -> bool {
        self.held.is_some_and(|until| Instant::now() < until)
    }

    /// Counts packets that have come: whether the n-th was among them.
    pub fn has_taken(&mut self, packets: usize, n: u64) -> bool {
        let before = self.taken;
        self.taken += packets as u64;
        n != 0 && before < n && n <= self.taken
    }

    /// Packets that were sent or lost.
    pub fn sent(&self) -> u64 {
        self.counted
    }

    /// Asks the process of a queue pair for a sign of life. `None`: it is gone, or has not been called yet.
    pub fn ask(&self, qp: u32) -> Option<u64> {
        let link = self.outbound.get(&(qp >> INDEX_BITS))?.as_ref()?;
        let question = link.ring.ask();
        if let Some(socket) = &link.socket
            && link.ring.must_wake()
        {
            sys::nudge(socket);
        }
        Some(question)
    }

    /// Whether that process has answered the question, and what it had sent before has been taken.
    pub fn answer_of(&mut self, qp: u32, quiet: &mut Quiet) -> Attention {
        let process = qp >> INDEX_BITS;
        let link = self.outbound.get(&process);
        let is_served = |link: &OutboundLink| quiet.question.is_some_and(|q| link.ring.served() >= q);
        let has_answered = matches!(link, Some(Some(link)) if is_served(link));
        let is_gone = matches!(link, Some(None));
        if has_answered && quiet.answers.is_none() {
            // Behind the look at `served`: its first answer may lie in a ring that it has just made.
            self.welcome();
        }
        let inbound = || self.inbound.iter().filter(|i| i.process == process);
        match is_gone {
            false if has_answered => {
                let end = inbound().map(|i| i.ring.end()).max().unwrap_or(0);
                let answers = *quiet.answers.get_or_insert(end);
                let is_taken = inbound().all(|i| i.ring.is_past(answers));
                if is_taken { Attention::Given } else { Attention::Pending }
            }
            true if !inbound().any(|i| i.ring.has_more()) => Attention::Gone,
            _ => Attention::Pending,
        }
    }

    /// Gives the signs of life that are asked for, to those whose packets before the question have been taken and to whom nothing is owed.
    pub fn answer_questions(&mut self, owes: impl Fn(u32) -> bool) {
        for inbound in &mut self.inbound {
            if let Some((asked, end)) = inbound.question
                && inbound.ring.is_past(end)
                && !owes(inbound.process)
            {
                inbound.ring.serve(asked);
                inbound.question = None;
            }
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
        let ended = |socket: &OwnedFd| is_ready(socket) && !sys::take_nudges(socket);
        let mut has_lost = false;
        for link in self.outbound.values_mut() {
            if link.as_ref().and_then(|w| w.socket.as_ref()).is_some_and(ended) {
                *link = None;
                has_lost = true;
            }
        }
        // One that has ended may have called, and answered, before.
        if is_ready(&self.listener) || has_lost || !self.callers.is_empty() {
            self.welcome();
        }
        // Packets that a process has sent before it ended are still taken.
        self.inbound.retain(|i| i.ring.has_more() || !i.socket.as_ref().is_some_and(ended));
    }

    /// Takes callers, and what they say.
    fn welcome(&mut self) {
        while let Ok(socket) = sys::accept(&self.listener) {
            self.callers.push(socket);
        }
        // Few at any time: also those that have just come.
        let callers = std::mem::take(&mut self.callers);
        for socket in callers {
            let mut bytes = [0; 64];
            match sys::recv_with(&socket, &mut bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.callers.push(socket),
                Ok((n, Some(fd))) => {
                    let number = bytes[..n].strip_prefix(HELLO).and_then(|n| n.try_into().ok());
                    if let (Some(number), Ok(ring)) = (number, Ring::of(&fd)) {
                        let process = u32::from_ne_bytes(number);
                        self.inbound.push(InboundLink::new(ring, process, Some(socket)));
                    }
                }
                // A stranger, or somebody who is gone.
                _ => {}
            }
        }
    }
}
