//! Communication domains, the devices they are attached to, and endpoints.
//!
//! The interface takes no locks: two threads in calls on one device are a program's error (`rule.rs`).

use crate::config::config;
use crate::cq::Cq;
use crate::datagram::Sessions;
use crate::node;
use crate::numbers::{mode, statistic};
use crate::rule::{Entered, OneThread};
use crate::smsg::Mailboxes;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

pub struct Cdm {
    pub inst: u32,
    pub ptag: u8,
    pub cookie: u32,
    pub modes: u32,
    /// Handles of the devices it is attached to, with their numbers.
    pub nics: Mutex<Vec<(u32, usize)>>,
}

/// A communication domain on a device.
pub struct Nic {
    pub handle: usize,
    pub inst: u32,
    pub cookie: u32,
    pub modes: u32,
    pub address: u32,
    /// Has a fast descriptor of its own.
    pub dedicated: bool,
    pub rule: Arc<OneThread>,
    pub sessions: Mutex<Sessions>,
    pub session_changed: Condvar,
    pub statistics: [AtomicU32; statistic::COUNT],
    pub max_retrans: AtomicU32,
    pub destroyed: AtomicBool,
}

impl Nic {
    pub fn new(handle: usize, cdm: &Cdm) -> Nic {
        Nic {
            handle,
            inst: cdm.inst,
            cookie: cdm.cookie,
            modes: cdm.modes,
            address: config().node,
            dedicated: cdm.modes & mode::FMA_SHARED == 0,
            rule: Arc::default(),
            sessions: Mutex::default(),
            session_changed: Condvar::new(),
            statistics: Default::default(),
            max_retrans: AtomicU32::new(10),
            destroyed: AtomicBool::new(false),
        }
    }

    /// Notes that a thread is in a call (`rule.rs`).
    pub fn enter(&self) -> Option<Entered<'_>> {
        self.rule.enter()
    }

    pub fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn count(&self, what: usize) {
        self.statistics[what].fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a fast operation finds a descriptor: its own, or one that no other domain of the node has for itself.
    pub fn has_fma(&self) -> bool {
        self.dedicated || node::used(node::Resource::Fma) < config().fma.into()
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        if self.dedicated {
            node::give(node::Resource::Fma, 1);
        }
    }
}

/// Where an endpoint leads to, and the data of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub address: u32,
    pub inst: u32,
    pub local_event: u32,
    pub remote_event: u32,
}

#[derive(Default)]
pub struct EpState {
    pub bound: Option<Bound>,
    /// Posts and messages that have not completed.
    pub outstanding: usize,
    pub datagram: bool,
    pub smsg: Option<Mailboxes>,
    pub broken: bool,
}

pub struct Ep {
    pub handle: usize,
    pub nic: Arc<Nic>,
    pub cq: Option<Arc<Cq>>,
    state: Mutex<EpState>,
}

impl Ep {
    pub fn new(handle: usize, nic: Arc<Nic>, cq: Option<Arc<Cq>>) -> Ep {
        Ep { handle, nic, cq, state: Mutex::default() }
    }

    pub fn state(&self) -> MutexGuard<'_, EpState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// An operation of it has completed.
    pub fn ended(&self) {
        let mut s = self.state();
        s.outstanding = s.outstanding.saturating_sub(1);
    }
}
