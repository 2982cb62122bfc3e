//! Links: pairs of mailboxes between a lane of ours and a lane of a peer's, each made when it is first used.
//!
//! A link is *new* until somebody wants it, *calling* once our half of it (an [`crate::wire::Offer`]) is on its way, and *connected* when
//! the peer's half has come; the halves go by datagrams (`connect.rs`). Where the process is lost it has *failed*, for good.

use crate::abi::{Ep, MemHandle};
use crate::wire::Card;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use oxmpi_btl::Loss;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The lock, whoever has panicked with it.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A process, as far as its links need to know.
pub struct Core {
    pub proc: u32,
    pub card: OnceLock<Card>,
    pub loss: Loss,
    /// It has said good-bye.
    pub gone: AtomicBool,
}

/// A process with its links.
pub struct Peer {
    pub core: Arc<Core>,
    /// By our lane: where messages go, and where requests go.
    pub messages: Box<[OnceLock<Arc<Link>>]>,
    pub requests: Box<[OnceLock<Arc<Link>>]>,
    /// By our lane and its lane.
    pub all: Mutex<HashMap<(u16, u16), Arc<Link>>>,
}

impl Peer {
    pub fn new(core: Core, lanes: usize) -> Peer {
        let empty = || (0..lanes).map(|_| OnceLock::new()).collect();
        Peer { core: Arc::new(core), messages: empty(), requests: empty(), all: Mutex::default() }
    }
}

/// Given for each process that the host asks for.
pub struct UgniEndpoint {
    pub peer: Arc<Peer>,
}

/// Our half of a link: memory that the peer writes messages to.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox {
    pub base: u64,
    pub offset: u32,
    pub handle: MemHandle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    New,
    Calling,
    Connected,
    Failed,
}

pub struct Link {
    pub core: Arc<Core>,
    /// Our lane, and the peer's.
    pub ours: u16,
    pub theirs: u16,
    /// Among the links of our lane; what events of its messages carry.
    pub index: u32,
    pub mailbox: Mailbox,
    state: AtomicU8,
    ep: AtomicPtr<c_void>,
    // --- of the holder of our lane; atomic, so that links can be shared ---
    /// Events that have come less messages that were taken: what an early event has announced.
    pub owed: AtomicI32,
    /// It is on the lane's list of links to look at.
    pub is_ready: AtomicBool,
    /// Attempts to send that were refused in a row, and offers to refuse before the next one.
    pub refusals: AtomicU32,
    pub skips: AtomicU32,
    /// Requests sent, and replies that came.
    pub asked: AtomicU32,
    pub answered: AtomicU32,
}

impl Link {
    pub fn new(core: Arc<Core>, lanes: (u16, u16), index: u32, mailbox: Mailbox) -> Link {
        Link {
            core,
            ours: lanes.0,
            theirs: lanes.1,
            index,
            mailbox,
            state: AtomicU8::new(State::New as u8),
            ep: AtomicPtr::new(null_mut()),
            owed: AtomicI32::new(0),
            is_ready: AtomicBool::new(false),
            refusals: AtomicU32::new(0),
            skips: AtomicU32::new(0),
            asked: AtomicU32::new(0),
            answered: AtomicU32::new(0),
        }
    }

    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::New,
            1 => State::Calling,
            2 => State::Connected,
            _ => State::Failed,
        }
    }

    /// False: the link was not in that state.
    pub fn advance(&self, from: State, to: State) -> bool {
        let (from, to) = (from as u8, to as u8);
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub fn fail(&self) {
        self.state.store(State::Failed as u8, Ordering::Release);
    }

    /// Before the link is connected.
    pub fn set_ep(&self, ep: Ep) {
        self.ep.store(ep.0, Ordering::Release);
    }

    /// `None`: it has none yet.
    pub fn ep(&self) -> Option<Ep> {
        let ep = self.ep.load(Ordering::Acquire);
        (!ep.is_null()).then_some(Ep(ep))
    }

    /// The endpoint, which the caller ends.
    pub fn take_ep(&self) -> Option<Ep> {
        let ep = self.ep.swap(null_mut(), Ordering::AcqRel);
        (!ep.is_null()).then_some(Ep(ep))
    }
}
