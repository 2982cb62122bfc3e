//! One process's connection, as the daemon has it: bytes in, frames out, nothing ever blocks.

use super::super::frame::{HEADER, Inbox, Malformed};
use super::super::message::{HELLO_LIMIT, ToDaemon, ToRank};
use super::super::socket;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Whether the other side is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    Closed,
}

/// A process's connection: bytes that came, frames that go out.
#[derive(Debug)]
pub(super) struct Connection {
    socket: UnixStream,
    inbox: Inbox,
    /// Bytes on their way out, from `sent` on, and descriptors with the places in them beside which they travel.
    outgoing: Vec<u8>,
    sent: usize,
    beside: VecDeque<(usize, Arc<OwnedFd>)>,
    /// Process id that the kernel vouches for.
    pub(super) pid: u32,
    /// Set once the connection has shown the secret.
    pub(super) rank: Option<u32>,
    /// Set once it has done so only to report a crash.
    pub(super) witness: Option<u32>,
    /// Messages and bytes that came, and that were answered.
    pub(super) traffic: [u64; 4],
}

impl Connection {
    /// Takes a new connection, without blocking. `None`: it is of another user, or closed already.
    pub(super) fn of_same_user(socket: UnixStream) -> Option<Connection> {
        let peer = rustix::net::sockopt::socket_peercred(&socket).ok()?;
        if peer.uid != rustix::process::geteuid() || socket.set_nonblocking(true).is_err() {
            return None;
        }
        Some(Connection {
            socket,
            inbox: Inbox::new(HELLO_LIMIT),
            outgoing: Vec::new(),
            sent: 0,
            beside: VecDeque::new(),
            pid: peer.pid.as_raw_nonzero().get().cast_unsigned(),
            rank: None,
            witness: None,
            traffic: [0; 4],
        })
    }

    /// Sets how long a payload the connection may send from now on, in bytes.
    pub(super) fn accept_payloads(&mut self, limit: usize) {
        self.inbox.set_limit(limit);
    }

    /// Takes in what has arrived. A stranger's bytes beyond one frame wait in the kernel.
    pub(super) fn read(&mut self) -> Progress {
        let mut buffer = [0; 16 << 10];
        loop {
            match socket::receive(&self.socket, &mut buffer) {
                Ok(0) => return Progress::Closed,
                Ok(n) => {
                    self.inbox.extend(&buffer[..n]);
                    // One turn takes a bounded amount; the epoll says if there is more.
                    if n < buffer.len() || self.inbox.pending() > 4 << 20 {
                        return Progress::Open;
                    }
                }
                Err(Errno::AGAIN) => return Progress::Open,
                Err(_) => return Progress::Closed,
            }
        }
    }

    /// Takes the next whole message that arrived; `None`: there is none.
    pub(super) fn next(&mut self) -> Result<Option<ToDaemon>, Malformed> {
        let Some(frame) = self.inbox.next()? else { return Ok(None) };
        self.traffic[0] += 1;
        self.traffic[1] += (HEADER + frame.payload.len()) as u64;
        ToDaemon::decode(frame).map(Some)
    }

    /// Appends a frame, and a descriptor beside its first byte.
    pub(super) fn queue(&mut self, message: &ToRank, beside: Option<Arc<OwnedFd>>) -> Result<(), Malformed> {
        let bytes = message.encode()?;
        self.traffic[2] += 1;
        self.traffic[3] += bytes.len() as u64;
        if self.sent == self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
        }
        self.beside.extend(beside.map(|fd| (self.outgoing.len(), fd)));
        self.outgoing.extend_from_slice(&bytes);
        Ok(())
    }

    /// Sends what the kernel takes now.
    pub(super) fn flush(&mut self) -> Result<(), Errno> {
        while self.has_unsent() {
            // Bytes before the next descriptor go without it.
            let next = self.beside.front().filter(|(at, _)| *at == self.sent);
            let later = self.beside.iter().map(|(at, _)| *at).find(|at| *at > self.sent);
            let bytes = &self.outgoing[self.sent..later.unwrap_or(self.outgoing.len())];
            match socket::send(&self.socket, bytes, next.map(|(_, fd)| fd.as_fd())) {
                Ok(n) => {
                    if next.is_some() && n > 0 {
                        self.beside.pop_front();
                    }
                    self.sent += n;
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// How many bytes are queued and not sent.
    pub(super) fn unsent(&self) -> usize {
        self.outgoing.len() - self.sent
    }

    /// Whether queued bytes are not sent yet.
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent() > 0
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Why a connection is closed from this side.
pub(super) struct Refusal(pub(super) String);

impl From<Malformed> for Refusal {
    fn from(why: Malformed) -> Refusal {
        Refusal(format!("it sent an impossible frame: {why}"))
    }
}

/// Adds the traffic of two connections.
pub(super) fn add(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|i| a[i] + b[i])
}
