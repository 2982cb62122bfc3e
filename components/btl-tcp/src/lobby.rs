//! The lobby: listening sockets, and connections of strangers until they have proved who they are.
//!
//! One for each module, guarded by a lock that is a leaf (`visit.rs`). A stranger costs one entry and a few hundred bytes, is read
//! no further than a hello of fixed length, and there are never more than [`MOST`]: the one that has been silent longest makes room.
//! A connection that answers the challenge is moved from the lobby to the door of the context that it asked for (`door.rs`).

use crate::door::Door;
use crate::hello::{Hello, LONGEST, NONCE};
use crate::sys::{self, Got, Interest, Poller};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Connections that have not proved themselves, at most.
pub const MOST: usize = 1024;

pub struct Lobby {
    pub poller: Poller,
    pub listeners: Vec<OwnedFd>,
    pub guests: Mutex<Guests>,
}

#[derive(Default)]
pub struct Guests {
    /// By token.
    pub all: HashMap<u64, Guest>,
    pub next: u64,
}

pub struct Guest {
    pub fd: OwnedFd,
    pub from: SocketAddr,
    pub born: Instant,
    pub got: [u8; LONGEST],
    pub have: usize,
    /// Once its hello is there: that, whose it is, and what we asked.
    pub challenged: Option<Box<Challenged>>,
}

/// A guest's hello: the process and the stream that it claims, and the challenge that we sent.
pub struct Challenged {
    pub door: Arc<Door>,
    pub raw: [u8; Hello::BYTES],
    pub hello: Hello,
    pub proc: u32,
    pub nonce: [u8; NONCE],
}

impl Lobby {
    pub fn new(listeners: Vec<OwnedFd>) -> io::Result<Lobby> {
        let poller = Poller::new()?;
        for (token, listener) in listeners.iter().enumerate() {
            poller.add(listener, token as u64, Interest::Read)?;
        }
        let next = listeners.len() as u64;
        Ok(Lobby { poller, listeners, guests: Mutex::new(Guests { all: HashMap::new(), next }) })
    }
}

impl Guests {
    pub fn drop_oldest(&mut self) {
        if let Some(token) = self.all.iter().min_by_key(|(_, g)| g.born).map(|(token, _)| *token) {
            self.all.remove(&token);
        }
    }
}

/// A guest has to go, and why, if that is worth a word.
pub struct Leaves(pub Option<String>);

impl Guest {
    pub fn receive<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Leaves> {
        match sys::read(&self.fd, &mut self.got[self.have..N]) {
            Ok(Got::Nothing) => return Ok(None),
            Ok(Got::Bytes(n)) => self.have += n,
            // Port scanners do that; a peer that gave up, too.
            Ok(Got::End) | Err(_) => return Err(Leaves(None)),
        }
        if self.have < N {
            // Bytes that cannot become a hello are not waited for.
            let begun = self.have >= 4 && self.got[..4] != *b"oxTC";
            return if begun {
                Err(Leaves(Some("it does not speak this protocol".into())))
            } else {
                Ok(None)
            };
        }
        self.have = 0;
        Ok(self.got.first_chunk().copied())
    }
}
