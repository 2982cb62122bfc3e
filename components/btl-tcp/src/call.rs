//! A call under way: its socket, how far its handshake has come, and how it ends without a connection.

use crate::hello::{BadHello, Hello, LONGEST, NONCE, Refusal, Welcome};
use crate::sys::{self, Got};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// A call under way.
pub struct Call {
    pub fd: OwnedFd,
    pub stage: Stage,
    pub hello: [u8; Hello::BYTES],
    pub nonce: [u8; NONCE],
    pub got: [u8; LONGEST],
    pub have: usize,
    pub begun: Instant,
    pub deadline: Instant,
    /// From an address of which rail of ours.
    pub from: u16,
    pub to: SocketAddr,
}

#[derive(Clone, Copy)]
pub enum Stage {
    Connecting,
    AwaitsChallenge,
    AwaitsWelcome { nonce: [u8; NONCE] },
}

/// How a call ends without a connection.
pub enum Failure {
    /// Counts against the time for which a process may be out of reach, from that time on.
    Refused(Instant, String),
    /// Nobody answers who is there: it computes, perhaps.
    Silent,
    /// It has called, too, and its call is kept.
    Crossed,
}

pub enum HandshakeStep {
    Waits,
    Welcome(Welcome),
}

impl Call {
    /// The next message of the handshake, once all of it is there.
    pub fn receive<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Failure> {
        match sys::read(&self.fd, &mut self.got[self.have..N]) {
            Ok(Got::Nothing) => return Ok(None),
            Ok(Got::Bytes(n)) => self.have += n,
            Ok(Got::End) => return Err(self.refused(&"it ends the connection")),
            Err(e) => return Err(self.refused(&e)),
        }
        if self.have < N {
            return Ok(None);
        }
        self.have = 0;
        Ok(self.got.first_chunk().copied())
    }

    pub fn bad(&self, why: BadHello) -> Failure {
        match why {
            BadHello::Garbage => self.refused(&"it does not speak this protocol"),
            BadHello::Version(v) => {
                self.refused(&format!("it speaks version {v}, we speak {}", crate::hello::VERSION))
            }
        }
    }

    pub fn refused(&self, why: &dyn core::fmt::Display) -> Failure {
        Failure::Refused(self.begun, format!("{}: {why}", self.to))
    }

    pub fn check(&self, refusal: Refusal) -> Result<(), Failure> {
        match refusal {
            Refusal::None => Ok(()),
            Refusal::Crossed => Err(Failure::Crossed),
            other => Err(self.refused(&other.explanation())),
        }
    }
}
