//! State that both ends of service links keep: requests without a reply, and replies that wait for room. The rules are in `service.rs`.

use crate::params::Settings;
use crate::sys::{PeerName, Sent, Socket};
use crate::wire::{Frame, buffer};
use oxmpi_mca::Host;
use std::collections::{HashMap, VecDeque};
use std::io;

/// Requests of a link without a reply at most.
pub const ROOM: u32 = 8;

/// The requests of one context.
#[derive(Default)]
pub struct Requests {
    pub links: HashMap<u32, Link>,
    /// For which there was no room in the peer's socket: where to, and the bytes.
    pub unsent: VecDeque<(PeerName, Box<[u8]>)>,
}

impl Requests {
    /// Sends requests that found no room before.
    pub fn send_unsent(&mut self, socket: &Socket, host: &Host) {
        while let Some((to, bytes)) = self.unsent.front() {
            match socket.send(to, bytes) {
                Ok(Sent::NoRoom) => break,
                Ok(Sent::Yes) => {}
                Ok(Sent::Gone) => host.debug("a request was not sent: its process is gone"),
                Err(e) => host.error(&format!("cannot send a request: {e}")),
            }
            self.unsent.pop_front();
        }
    }

    /// Takes a reply that came on context `ctx`. False: it is not the next one of its link.
    pub fn take_reply(&mut self, ctx: u32, frame: &Frame) -> bool {
        let Some(link) = self.links.get_mut(&frame.proc) else { return false };
        let due = link.answered != link.asked && link.answered == frame.sequence;
        if due && u32::from(frame.ctx) == ctx {
            link.answered = link.answered.wrapping_add(1);
            return true;
        }
        false
    }
}

/// The requester's end: numbers of the next request and of the next reply.
#[derive(Default)]
pub struct Link {
    pub asked: u32,
    pub answered: u32,
}

/// The service context.
pub struct Service {
    pub socket: Socket,
    pub inbound: Box<[u8]>,
    pub out: Box<[u8]>,
    /// Bytes and sender of a request that lies in `inbound` already.
    pub early: Option<(usize, PeerName)>,
    /// The request whose receiver is running, until it is answered.
    pub current: Option<(Frame, PeerName)>,
    /// Replies for which there was no room.
    pub unsent: VecDeque<Unsent>,
}

pub struct Unsent {
    /// The process and its context.
    pub link: (u32, u16),
    pub to: PeerName,
    pub bytes: Box<[u8]>,
}

impl Service {
    pub fn new(socket: Socket, settings: &Settings) -> Service {
        Service {
            socket,
            inbound: buffer(settings.max_send_size),
            out: buffer(settings.max_send_size),
            early: None,
            current: None,
            unsent: VecDeque::new(),
        }
    }

    /// Bytes and sender of the next request, which is in `inbound` then.
    pub fn receive(&mut self) -> io::Result<Option<(usize, PeerName)>> {
        match self.early.take() {
            Some(early) => Ok(Some(early)),
            None => self.socket.receive_from(&mut self.inbound),
        }
    }

    /// Whether there is something to receive.
    pub fn is_readable(&mut self) -> bool {
        match self.receive() {
            Ok(found) => {
                self.early = found;
                self.early.is_some()
            }
            Err(_) => true,
        }
    }

    /// Replies of a link that wait for room.
    pub fn owed(&self, link: (u32, u16)) -> usize {
        self.unsent.iter().filter(|reply| reply.link == link).count()
    }

    /// Sends what waits, in order.
    pub fn send_unsent(&mut self) -> i32 {
        let mut sent = 0;
        while let Some(first) = self.unsent.front() {
            if matches!(self.socket.send(&first.to, &first.bytes), Ok(Sent::NoRoom)) {
                break;
            }
            // Also where the requester is gone: nobody waits for it.
            self.unsent.pop_front();
            sent += 1;
        }
        sent
    }
}
