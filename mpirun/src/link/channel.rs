//! One end of a link: frames in and out of a stream socket, without blocking.

use super::counts::{Counts, wires_up};
use super::message::{LIMIT, Message};
use oxmpi_wireup::frame::{HEADER, Inbox, Malformed};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes that are taken from the link at once.
const TURN: usize = 1 << 20;

/// One end of the connection. Nothing here blocks.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    inbox: Inbox,
    outgoing: Vec<u8>,
    sent: usize,
    counts: Counts,
}

/// Whether the other end is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    There,
    Gone,
}

impl Channel {
    pub fn new(socket: impl Into<OwnedFd>) -> std::io::Result<Channel> {
        Channel::with_limit(socket.into(), LIMIT)
    }

    /// Takes payloads of at most `limit` bytes.
    pub fn with_limit(socket: OwnedFd, limit: usize) -> std::io::Result<Channel> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        let counts = Counts::default();
        Ok(Channel { socket, inbox: Inbox::new(limit), outgoing: Vec::new(), sent: 0, counts })
    }

    /// From now on takes payloads of at most `limit` bytes.
    pub fn set_limit(&mut self, limit: usize) {
        self.inbox.set_limit(limit);
    }

    /// Queues a message and sends what the kernel takes now. A peer that is gone shows when the
    /// channel is read.
    pub fn send<M: Message>(&mut self, message: &M) -> Result<(), Malformed> {
        let bytes = message.encode()?;
        if bytes.len() - HEADER > LIMIT {
            return Err(Malformed::TooLong { length: (bytes.len() - HEADER) as u64, limit: LIMIT });
        }
        if wires_up(bytes[HEADER - 1], &bytes[HEADER..]) {
            self.counts.sent.add(1, bytes.len());
        }
        if self.unsent() == 0 {
            self.outgoing.clear();
            self.sent = 0;
        }
        self.outgoing.extend_from_slice(&bytes);
        self.flush();
        Ok(())
    }

    pub fn flush(&mut self) {
        while self.unsent() > 0 {
            match rustix::net::send(&self.socket, &self.outgoing[self.sent..], SendFlags::NOSIGNAL) {
                Ok(n) => self.sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // Nobody will read it; the reading side notices and decides.
                Err(_) => self.sent = self.outgoing.len(),
            }
        }
    }

    pub fn unsent(&self) -> usize {
        self.outgoing.len() - self.sent
    }

    /// Takes in what has arrived, a bounded amount per call.
    pub fn receive(&mut self) -> Peer {
        let mut buffer = [0; 64 << 10];
        loop {
            match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((0, _)) => return Peer::Gone,
                Ok((n, _)) => {
                    self.inbox.extend(&buffer[..n]);
                    if n < buffer.len() || self.inbox.pending() > TURN {
                        return Peer::There;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Peer::There,
                Err(_) => return Peer::Gone,
            }
        }
    }

    pub fn take<M: Message>(&mut self) -> Result<Option<M>, Malformed> {
        let Some(frame) = self.inbox.next()? else { return Ok(None) };
        if wires_up(frame.kind, frame.payload) {
            self.counts.received.add(1, HEADER + frame.payload.len());
        }
        M::decode(frame).map(Some)
    }

    /// Messages of the wire-up that went over it.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
