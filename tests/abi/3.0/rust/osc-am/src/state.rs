//! The component's state for one instance, behind one lock.
//!
//! **One lock.** Everything but the host's view and free requests stands in [`SharedState`] under a mutex: windows, messages that wait.
//! Verbs hold it to change state and put messages into the outbox; receivers hold it while they carry an operation out,
//! which makes operations atomic to each other. It is taken behind the CRI of our context, or alone; nobody enters
//! a CRI, waits or makes progress while holding it. The lock of the pool of requests is a leaf behind it.
//!
//! **Lives.** [`Am`] lives until the component is finalized; the host's tables have its address until then. A window's slot
//! is given free when all its messages are answered and all ranks have said so.

use crate::outbox::Outbox;
use oxmpi_mca::{Host, Status};
use oxmpi_osc_support::{Destination, Epochs, Exposed, Locks, Pending, RequestPool};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct Am {
    pub host: Host,
    /// The component's limit on messages; a transport's may be lower.
    pub max_message: usize,
    pub requests: RequestPool,
    shared: Mutex<SharedState>,
}

/// See the module's head.
pub struct SharedState {
    pub windows: Vec<Option<WinState>>,
    pub outbox: Outbox,
    pub progressing: bool,
}

/// A window of this process.
pub struct WinState {
    pub rank: u32,
    pub peers: Vec<Peer>,
    pub exposed: Exposed,
    pub epochs: Epochs,
    /// Of this rank's memory.
    pub locks: Locks,
    pub operations: Operations,
}

/// Another rank (or this one) as the window knows it.
pub struct Peer {
    pub proc: u32,
    /// Its number of the window.
    pub window: u32,
    pub bytes: u64,
    pub disp_unit: i64,
    /// Largest message to it.
    pub room: usize,
    /// Messages to it that it has not answered.
    pub pending: u64,
    /// The first failure of an operation without a request since the last synchronisation.
    pub failure: Status,
    /// It has granted a lock that we wait for.
    pub granted: bool,
    /// Its MPI_Win_post and MPI_Win_complete that no call of ours has used up.
    pub posts: u32,
    pub completes: u32,
}

/// An operation that waits for data.
pub struct Operation {
    pub target: u32,
    /// Messages that are not answered.
    pub left: u64,
    pub into: Destination,
    pub request: Option<Pending>,
    pub failure: Status,
}

/// The operations that wait, by number.
#[derive(Default)]
pub struct Operations {
    open: HashMap<u32, Operation>,
    next: u32,
}

impl Operations {
    pub fn add(&mut self, operation: Operation) -> u32 {
        // As many as there are numbers are never open at once: each has a message that waits for memory.
        while self.next == crate::wire::Header::NO_OPERATION || self.open.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.open.insert(number, operation);
        number
    }
    pub fn get(&mut self, number: u32) -> Option<&mut Operation> {
        self.open.get_mut(&number)
    }
    pub fn remove(&mut self, number: u32) -> Option<Operation> {
        self.open.remove(&number)
    }
}

impl SharedState {
    pub fn window(&mut self, number: u32) -> Option<&mut WinState> {
        self.windows.get_mut(number as usize)?.as_mut()
    }

    /// A free slot for a window.
    pub fn place(&mut self, window: WinState) -> u32 {
        let at = self.windows.iter().position(Option::is_none).unwrap_or_else(|| {
            self.windows.push(None);
            self.windows.len() - 1
        });
        self.windows[at] = Some(window);
        at as u32
    }
}

impl Am {
    /// `tag`: of all our messages.
    pub fn new(host: Host, tag: u8, max_message: usize) -> Am {
        let shared = SharedState { windows: Vec::new(), outbox: Outbox::new(tag), progressing: false };
        // SAFETY: it goes with the last of the component's state and its windows, each of which has a share of it; who has requests is a window.
        let requests = unsafe { RequestPool::new(host) };
        Am { host, max_message, requests, shared: Mutex::new(shared) }
    }

    pub fn lock(&self) -> MutexGuard<'_, SharedState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
