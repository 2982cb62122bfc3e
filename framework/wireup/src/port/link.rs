//! A connection between two processes that meet: frames in and out, without blocking.

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes of a frame's length in front of it.
const LENGTH: usize = 4;
/// Longest frame of who has proved himself: what all processes of a large job say of themselves.
const LONGEST: usize = 1 << 30;
/// Longest frame of a stranger.
pub(super) const SHORT: usize = 128;

/// One end of a connection between two jobs.
#[derive(Debug)]
pub struct Link {
    socket: OwnedFd,
    limit: usize,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    sent: usize,
    ended: bool,
}

/// A link to a process that has proved itself, and the secret that both sides have from that.
#[derive(Debug)]
pub struct Met {
    pub link: Link,
    pub bridge: Secret,
}

impl Link {
    /// A link over a connected socket, to a stranger.
    pub(super) fn to_stranger(socket: OwnedFd) -> Result<Link, Error> {
        let cannot = |why| Error::system("cannot prepare a connection", why);
        rustix::io::ioctl_fionbio(&socket, true).map_err(cannot)?;
        Ok(Link { socket, limit: SHORT, inbox: Vec::new(), outbox: Vec::new(), sent: 0, ended: false })
    }

    /// From now on the other side is known.
    pub(super) fn trust(mut self) -> Link {
        self.limit = LONGEST;
        self
    }

    /// From now on takes frames of at most so many bytes.
    pub fn with_limit(mut self, limit: usize) -> Link {
        self.limit = limit;
        self
    }

    /// Bytes that were sent and have not gone.
    pub fn unsent(&self) -> usize {
        self.outbox.len() - self.sent
    }

    /// Queues a frame.
    pub fn send(&mut self, frame: &[u8]) {
        self.outbox.drain(..std::mem::take(&mut self.sent));
        // Longer ones are refused at the other end.
        self.outbox.extend_from_slice(&u32::try_from(frame.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.outbox.extend_from_slice(frame);
    }

    /// Sends and takes in what can be without waiting. An error: the connection is broken.
    pub fn turn(&mut self) -> Result<(), Error> {
        while self.is_sending() {
            match rustix::net::send(&self.socket, &self.outbox[self.sent..], SendFlags::NOSIGNAL) {
                Ok(n) => self.sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(why) => return Err(lost(why)),
            }
        }
        let mut buffer = [0; 64 << 10];
        while !self.ended && self.inbox.len() <= self.limit + LENGTH {
            match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((0, _)) => self.ended = true,
                Ok((n, _)) => self.inbox.extend_from_slice(&buffer[..n]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(why) => return Err(lost(why)),
            }
        }
        Ok(())
    }

    /// Takes the next whole frame; `None`: there is none yet. An error: there will be none.
    pub fn take(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let Some(length) = self.inbox.first_chunk::<LENGTH>() else { return self.none_yet() };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.limit {
            return Err(lost(format!("a frame of {length} bytes is announced, which is too long")));
        }
        if self.inbox.len() < LENGTH + length {
            return self.none_yet();
        }
        let rest = self.inbox.split_off(LENGTH + length);
        let mut frame = std::mem::replace(&mut self.inbox, rest);
        frame.drain(..LENGTH);
        Ok(Some(frame))
    }

    /// Whether something that was sent has not gone.
    pub fn is_sending(&self) -> bool {
        self.sent < self.outbox.len()
    }

    fn none_yet(&self) -> Result<Option<Vec<u8>>, Error> {
        if self.ended { Err(lost("the other side has closed it")) } else { Ok(None) }
    }
}

/// The error of a connection that is broken.
fn lost(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Lost, format!("the connection to the other job is lost: {why}"))
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
