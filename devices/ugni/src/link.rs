//! Connections between processes: records through two rings of shared memory within a node, through the socket between nodes.
//!
//! A process that connects to a domain's abstract name greets it with one record, within a node with two, each of which carries the descriptor of a ring (the first
//! towards the listener). A connection carries what its opener asks for, and the answers to that.

use crate::frame::Header;
use crate::memory::Access;
use crate::ring::Ring;
use crate::sys;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const GREETING: &[u8] = b"oxmpi-ugni 1 ";
/// Bytes of the greatest record.
pub const RECORD: usize = Header::BYTES + crate::frame::PAYLOAD;

/// Something that waits for room.
pub enum Item {
    Frame(Header, Vec<u8>),
    /// The operation of ours with this number, as far as it has not gone out.
    Operation(u64),
    /// Bytes of our memory that a get asked for.
    Answer {
        header: Header,
        from: Access,
        sent: u64,
    },
}

pub struct Link {
    socket: OwnedFd,
    /// Out and in; `None`: the socket carries the records.
    rings: Option<(Ring, Ring)>,
    pub queue: VecDeque<Item>,
    closed: bool,
}

impl Link {
    /// Connects to a listening domain.
    pub fn open(name: &str, same_node: bool) -> io::Result<Link> {
        let socket = sys::connect(name)?;
        let mut rings = None;
        if same_node {
            let (out, out_fd) = Ring::make()?;
            let (inward, in_fd) = Ring::make()?;
            sys::send(&socket, [GREETING, b"ring"], Some(&out_fd))?;
            sys::send(&socket, [GREETING, b"ring"], Some(&in_fd))?;
            rings = Some((out, inward));
        } else {
            sys::send(&socket, [GREETING, b"socket"], None)?;
        }
        Ok(Link { socket, rings, queue: VecDeque::new(), closed: false })
    }

    /// Sends a frame. `Ok(false)`: no room at the moment.
    pub fn send(&self, header: &Header, payload: &[u8]) -> io::Result<bool> {
        let parts = [header.as_bytes(), payload];
        let sent = match &self.rings {
            Some((out, _)) => {
                let pushed = out.push(parts);
                if pushed && out.must_wake() {
                    // A nudge that finds no room finds others there.
                    let _ = sys::send(&self.socket, [&[1], &[]], None);
                }
                Ok(pushed)
            }
            None => match sys::send(&self.socket, parts, None) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
                other => other.map(|()| true),
            },
        };
        if matches!(sent, Ok(true)) {
            crate::counters::add(crate::counters::Counter::Frames, 1);
        }
        sent
    }

    /// Takes the next record: its length. An error: the other end is gone, or sends what is no record.
    pub fn receive(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.rings {
            Some((_, inward)) => match inward.pop(bytes)? {
                None if self.closed => Err(io::ErrorKind::ConnectionReset.into()),
                other => Ok(other),
            },
            None => match sys::recv(&self.socket, bytes) {
                Ok((0, _)) => Err(io::ErrorKind::ConnectionReset.into()),
                Ok((n, _)) => Ok(Some(n)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
                Err(e) => Err(e),
            },
        }
    }

    /// Takes nudges, and learns of the other end's close. Messages that it left in the ring are still taken.
    pub fn look(&mut self) {
        if self.rings.is_none() {
            return;
        }
        let mut bytes = [0; 16];
        loop {
            match sys::recv(&self.socket, &mut bytes) {
                Ok((0, _)) => self.closed = true,
                Ok(_) => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.closed = true,
            }
            return;
        }
    }

    pub fn sleep(&self, asleep: bool) {
        if let Some((_, inward)) = &self.rings {
            inward.sleep(asleep);
        }
    }

    /// Whether records go through the socket, and not through rings.
    pub fn has_socket_alone(&self) -> bool {
        self.rings.is_none()
    }

    pub fn has_records(&self) -> bool {
        self.rings.as_ref().is_some_and(|(_, inward)| !inward.is_empty())
    }

    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// A connection that has been accepted and has not finished its greeting.
pub struct Caller {
    socket: OwnedFd,
    first: Option<Ring>,
}

/// Outcome of a look at a caller.
pub enum Greeted {
    NotYet(Caller),
    Link(Link),
    /// A stranger, or gone.
    Gone,
}

impl Caller {
    pub fn new(socket: OwnedFd) -> Caller {
        Caller { socket, first: None }
    }

    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    pub fn look(mut self) -> Greeted {
        let mut bytes = [0; 64];
        loop {
            let (n, fd) = match sys::recv(&self.socket, &mut bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Greeted::NotYet(self),
                Err(_) => return Greeted::Gone,
                Ok(got) => got,
            };
            let rings = match (bytes[..n].strip_prefix(GREETING), fd) {
                (Some(b"socket"), None) => None,
                (Some(b"ring"), Some(fd)) => match (Ring::of(&fd), self.first.take()) {
                    (Ok(ring), Some(first)) => Some((ring, first)),
                    (Ok(ring), None) => {
                        self.first = Some(ring);
                        continue;
                    }
                    (Err(_), _) => return Greeted::Gone,
                },
                _ => return Greeted::Gone,
            };
            return Greeted::Link(Link { socket: self.socket, rings, queue: VecDeque::new(), closed: false });
        }
    }
}
