//! Links: pairs of mailboxes between a lane of ours and a lane of a peer's, each made when it is first used.
//!
//! A link is *new* until somebody wants it, *calling* once our half of it (an [`crate::wire::Offer`]) is on its way, and *connected* when
//! the peer's half has come; the halves go by datagrams (`connect.rs`). Where the process is lost it has *failed*, for good.
//!
//! A [`Link`] is what all threads may know of it. Messages that pass over it are counted by the holder of our lane alone, in its
//! [`crate::context::Tracked`]; there a link is named by its index, and an endpoint keeps no more than that ([`Routes`]).

use crate::abi::MemHandle;
use crate::nic::Ep;
use crate::peer::Core;
use core::sync::atomic::{AtomicU8, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The lock, whoever has panicked with it.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A process with its links.
pub struct Process {
    pub core: Arc<Core>,
    /// By our lane and its lane.
    pub links: Mutex<HashMap<(u16, u16), Arc<Link>>>,
}

impl Process {
    pub fn new(core: Core) -> Process {
        Process { core: Arc::new(core), links: Mutex::default() }
    }
}

/// Given for each process that the host asks for.
pub struct UgniEndpoint {
    pub process: Arc<Process>,
}

/// Where messages of a context go to a process, and requests: indices of links of the context's lane, each since it was first used.
#[derive(Default)]
pub struct Routes {
    pub messages: Option<u32>,
    pub requests: Option<u32>,
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
    ep: OnceLock<Ep>,
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
            ep: OnceLock::new(),
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

    /// Before the link is connected, once.
    pub fn set_ep(&self, ep: Ep) {
        let _ = self.ep.set(ep);
    }

    /// `None`: it has none yet.
    #[inline]
    pub fn ep(&self) -> Option<&Ep> {
        self.ep.get()
    }
}
