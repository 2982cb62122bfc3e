//! Doors: each context of each rail has one, through which connections come that the lobby has checked.
//!
//! A stream is named by rails and contexts and not by the way of its connection. So a call for a stream of one rail may come
//! at the listening socket of another, where the network of its own is cut; its lobby finds the door here. Doors are shared by all
//! rails of the process and outlive each of them.

use crate::hello::{Hello, NONCE, SERVICE};
use oxmpi_btl_support::Bell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

/// A connection whose caller has proved itself.
pub struct Admission {
    pub fd: OwnedFd,
    pub proc: u32,
    /// It came over the network of this rail of ours.
    pub by: u16,
    pub raw: [u8; Hello::BYTES],
    pub hello: Hello,
    /// Our question to it.
    pub nonce: [u8; NONCE],
    /// It has everything before.
    pub position: u64,
}

/// Connections on their way to a context, and the bell that tells it.
pub struct Door {
    pub bell: Bell,
    /// A leaf, taken once per connection.
    inbox: Mutex<Vec<Admission>>,
}

impl Door {
    fn new() -> io::Result<Arc<Door>> {
        Ok(Arc::new(Door { bell: Bell::new()?, inbox: Mutex::default() }))
    }

    /// From any thread: a connection for this context.
    pub fn deliver(&self, admission: Admission) {
        self.inbox.lock().unwrap_or_else(|poison| poison.into_inner()).push(admission);
        self.bell.ring();
    }

    /// Takes what was delivered.
    pub fn admissions(&self) -> Vec<Admission> {
        self.bell.silence();
        std::mem::take(&mut *self.inbox.lock().unwrap_or_else(|poison| poison.into_inner()))
    }
}

/// Of all rails of a process.
pub struct Doors {
    /// By rail; behind those of the ordinary contexts that of the service context.
    rails: Box<[Box<[Arc<Door>]>]>,
}

impl Doors {
    pub fn new(rails: usize, contexts: u16) -> io::Result<Doors> {
        let rail = |_| (0..=contexts).map(|_| Door::new()).collect();
        Ok(Doors { rails: (0..rails).map(rail).collect::<Result<_, _>>()? })
    }

    /// Has all contexts of a rail look after their streams.
    pub fn ring(&self, rail: u16) {
        self.rails.get(usize::from(rail)).into_iter().flatten().for_each(|door| door.bell.ring());
    }

    /// `None`: there is no such rail or context.
    pub fn find(&self, rail: u16, context: u16) -> Option<&Arc<Door>> {
        let (service, ordinary) = self.rails.get(usize::from(rail))?.split_last()?;
        if context == SERVICE { Some(service) } else { ordinary.get(usize::from(context)) }
    }
}
