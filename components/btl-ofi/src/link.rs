//! Links: what makes messages between two endpoints believable.
//!
//! Endpoints of libfabric need no connection, so whoever knows an address may send to it. A link is called for by the process that wants to send:
//! it says hello, the other side proves that it knows the job's secret and asks for the same, and opens the link when it has the caller's proof. Each side has told
//! the other a token by then, which is in the head of every message; a message without the token of its link is dropped. Messages and
//! requests go from the caller to the called process, replies the other way; two processes that send to each other have two links.
//!
//! Links belong to the context whose endpoint they are of, and are known there by number: an [`Out`] that this process has called for, an [`In`] that
//! a peer has.

use crate::order::Order;
use crate::wire::{Card, Challenge, Hello};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_btl::Loss;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The lock, whoever has panicked with it.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A process, as all contexts share it.
pub struct Core {
    pub proc: u32,
    pub card: OnceLock<Card>,
    pub loss: Loss,
    /// It has said good-bye.
    gone: AtomicBool,
    /// Numbers of its endpoints, by domain of ours and endpoint of its.
    numbers: Mutex<Vec<((usize, u16), u64)>>,
}

impl Core {
    pub fn new(proc: u32) -> Core {
        let (card, loss, gone) = (OnceLock::new(), Loss::default(), AtomicBool::new(false));
        Core { proc, card, loss, gone, numbers: Mutex::default() }
    }

    /// The process has left.
    pub fn leave(&self) {
        self.gone.store(true, Ordering::Release);
    }

    pub fn has_left(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Nothing can be sent to it any more.
    pub fn is_out(&self) -> bool {
        self.has_left() || self.loss.is_declared()
    }

    /// The number of one of its endpoints in the address vector of a domain, made by `insert` at first.
    pub fn number<E>(
        &self,
        domain: usize,
        lane: u16,
        insert: impl FnOnce() -> Result<u64, E>,
    ) -> Result<u64, E> {
        let mut numbers = held(&self.numbers);
        if let Some((_, number)) = numbers.iter().find(|(of, _)| *of == (domain, lane)) {
            return Ok(*number);
        }
        let number = insert()?;
        numbers.push(((domain, lane), number));
        Ok(number)
    }
}

/// The address, number and token with which a message is believed at the other side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Door {
    /// Number of the other side's endpoint in the address vector.
    pub address: u64,
    /// Number of the link there, and its token.
    pub link: u32,
    pub token: u64,
}

/// Most credits of a link: what is given back at once is told in a byte.
pub const MOST_CREDITS: u32 = 254;

/// Life of a link that this process calls for.
pub enum Calling {
    /// Nothing was sent.
    New,
    /// The hello is on its way.
    Hello(Box<Hello>),
    /// The proof is to be sent.
    Proving,
    /// It has gone out: credits will answer.
    Proved,
    Open,
}

/// A link to a peer.
pub struct Out {
    pub core: Arc<Core>,
    /// Number of the peer's endpoint in its card.
    pub theirs: u16,
    pub door: Door,
    /// By this replies are known.
    pub token: u64,
    pub calling: Calling,
    /// Messages that may be sent before the peer says that it has taken some.
    pub credits: u32,
    /// Number of the next message.
    pub number: u16,
    pub replies: Order,
    /// Requests sent, and replies that came.
    pub asked: u32,
    pub answered: u32,
}

impl Out {
    /// Credits have come, of which the first open the link. False: nobody who keeps to the protocol sends these.
    pub fn take_credits(&mut self, count: u8) -> bool {
        self.credits += u32::from(count);
        match self.calling {
            Calling::Proved => self.calling = Calling::Open,
            Calling::Open => {}
            _ => return false,
        }
        self.credits <= MOST_CREDITS
    }

    /// A reply has come. False: none is due.
    pub fn take_reply(&mut self) -> bool {
        let due = self.answered != self.asked;
        if due {
            self.answered = self.answered.wrapping_add(1);
        }
        due
    }
}

/// Life of a link that a peer calls for.
pub enum Called {
    /// The challenge is on its way to somebody who says that it is that process.
    Challenged(Box<(Hello, Challenge)>),
    Open,
    /// Its last message, the good-bye, has come.
    Left,
    /// The proof is none, which is to be said.
    Refused,
    /// The place is free.
    Free,
}

/// A link from a peer.
pub struct In {
    pub core: Arc<Core>,
    /// Where replies go.
    pub door: Door,
    /// By this messages are known.
    pub token: u64,
    pub called: Called,
    /// Number of the next reply.
    pub number: u16,
    pub messages: Order,
    /// Messages taken of which the peer was not told.
    pub owed: u32,
}

impl In {
    /// Whether messages may still come.
    pub fn is_live(&self) -> bool {
        matches!(self.called, Called::Open) && !self.core.loss.is_declared()
    }
}

/// Given for each process that the host asks for.
pub struct OfiEndpoint {
    pub core: Arc<Core>,
}

/// Where a context's traffic to a process goes, each since it was first used.
#[derive(Default)]
pub struct Routes {
    /// Numbers of links.
    pub messages: Option<u32>,
    pub requests: Option<u32>,
    /// Number of the target of one-sided operations in the address vector.
    pub target: Option<u64>,
}
