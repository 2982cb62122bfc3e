//! Completion queues: a ring of entries that the engine fills, and the requests whose completions come there.
//!
//! "Hardware" has no back-pressure: an entry that finds the queue full is lost, the newest one there gets the overrun bit, and from then
//! on the program is told ERROR_RESOURCE when it meets it. A queue is for local events or for remote ones, never both. Requests
//! are limited by the queue's size, halved with dual events.

use crate::config::config;
use crate::counters::{self, Counter};
use crate::entry;
use crate::layouts::PostDescriptor;
use crate::numbers::{Return, cq_mode, event, rc};
use crate::rule::OneThread;
use crate::sys;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Called with each entry that is taken, before the program gets it.
pub type Handler = unsafe extern "C" fn(*mut u64, *mut c_void);

/// How a queue is used; its first use decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Undecided,
    Local,
    Remote,
}

/// Something under way whose completion comes to a queue.
pub enum Request {
    Post {
        descriptor: *mut PostDescriptor,
        /// The program's identifier, which the descriptor gets back.
        post_id: u64,
        /// Events that are still to come or to be collected.
        events: u8,
        status: Return,
    },
    Message,
}

// SAFETY: the descriptor is only touched inside the program's own calls.
unsafe impl Send for Request {}

/// A descriptor that polls ready when an armed queue has something.
pub struct Channel {
    pub bell: OwnedFd,
    pub fired: Mutex<VecDeque<usize>>,
}

struct QueueState {
    entries: VecDeque<u64>,
    pushed: u64,
    requests: HashMap<u32, (usize, Request)>,
    next_tid: u32,
    used: Use,
    endpoints: usize,
    memories: usize,
    masked: bool,
    channel: Option<Arc<Channel>>,
    armed: bool,
}

pub struct Cq {
    /// The program's handle.
    pub handle: usize,
    capacity: usize,
    slots: usize,
    pub mode: u32,
    /// That of its device.
    pub rule: Arc<OneThread>,
    handler: Option<Handler>,
    context: usize,
    state: Mutex<QueueState>,
}

/// How a program wants a queue.
pub struct Wish {
    pub entries: u32,
    pub mode: u32,
    /// Posts of its domain may have two events.
    pub dual: bool,
    pub handler: Option<Handler>,
    pub context: usize,
}

/// Wakes those who wait for any queue.
static WAITERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
/// How many wait. One who waits counts itself before its last look.
static WAITING: AtomicUsize = AtomicUsize::new(0);

impl Cq {
    pub fn new(handle: usize, rule: Arc<OneThread>, wish: Wish) -> Cq {
        let Wish { entries, mode, dual, handler, context } = wish;
        let capacity = entries.max(1) as usize;
        // A request's number has 16 bits in an entry.
        let slots = (if dual { capacity / 2 } else { capacity }).clamp(1, 65535);
        let state = QueueState {
            entries: VecDeque::new(),
            pushed: 0,
            requests: HashMap::new(),
            next_tid: 0,
            used: Use::Undecided,
            endpoints: 0,
            memories: 0,
            masked: false,
            channel: None,
            armed: false,
        };
        Cq { handle, capacity, slots, mode, rule, handler, context, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn is_blocking(&self) -> bool {
        self.mode & cq_mode::BLOCKING != 0
    }

    /// Takes the queue for local or remote events. False: it is used the other way.
    pub fn take_for(&self, used: Use) -> bool {
        let mut s = self.state();
        if s.used == Use::Undecided {
            s.used = used;
        }
        s.used == used
    }

    pub fn attach_endpoint(&self) {
        self.state().endpoints += 1;
    }
    pub fn detach_endpoint(&self) {
        self.state().endpoints -= 1;
    }
    pub fn attach_memory(&self) {
        self.state().memories += 1;
    }
    pub fn detach_memory(&self) {
        self.state().memories -= 1;
    }
    pub fn is_referenced(&self) -> bool {
        let s = self.state();
        s.endpoints + s.memories > 0
    }

    /// A number for a request. `None`: as many as the queue is long are under way.
    /// It belongs to an endpoint.
    pub fn begin(&self, ep: usize, request: Request) -> Option<u32> {
        let mut s = self.state();
        if s.requests.len() >= self.slots {
            return None;
        }
        loop {
            s.next_tid = s.next_tid % 65535 + 1;
            let tid = s.next_tid;
            if let Entry::Vacant(place) = s.requests.entry(tid) {
                place.insert((ep, request));
                return Some(tid);
            }
        }
    }

    /// Forgets the requests of an endpoint that is gone.
    pub fn cancel(&self, ep: usize) {
        self.state().requests.retain(|_, (of, _)| *of != ep);
    }

    /// The engine's side: an event has happened. A status that is not OKAY becomes the request's outcome.
    pub fn push(&self, entry: entry::Entry) {
        let mut s = self.state();
        if entry.tid != 0 && !s.requests.contains_key(&entry.tid) {
            // Its endpoint was destroyed.
            return;
        }
        if entry.status != 0
            && let Some((_, Request::Post { status, .. })) = s.requests.get_mut(&entry.tid)
        {
            *status = rc::TRANSACTION_ERROR;
        }
        s.pushed += 1;
        let forced = config().overrun_at != 0 && s.pushed == config().overrun_at;
        if s.entries.len() >= self.capacity || forced {
            counters::add(Counter::Overruns, 1);
            match s.entries.back_mut() {
                Some(last) => *last = entry::with_overrun(*last),
                None => s.entries.push_back(entry::with_overrun(entry.pack(config().is_gemini()))),
            }
        } else {
            counters::add(Counter::Events, 1);
            s.entries.push_back(entry.pack(config().is_gemini()));
        }
        if s.armed
            && let Some(channel) = &s.channel
        {
            channel.fired.lock().unwrap_or_else(|e| e.into_inner()).push_back(self.handle);
            sys::ring(&channel.bell);
            s.armed = false;
        }
        drop(s);
        if WAITING.load(Ordering::SeqCst) > 0 {
            drop(WAITERS.0.lock().unwrap_or_else(|e| e.into_inner()));
            WAITERS.1.notify_all();
        }
    }

    pub fn has_entry(&self) -> bool {
        !self.state().entries.is_empty()
    }

    /// Takes the oldest entry: the outcome as GNI_CqGetEvent says it, and the entry.
    pub fn take(&self) -> (Return, u64) {
        let mut s = self.state();
        let Some(mut e) = s.entries.pop_front() else { return (rc::NOT_DONE, 0) };
        if entry::kind(e) == event::SMSG && entry::tid(e) != 0 {
            s.requests.remove(&entry::tid(e));
        }
        drop(s);
        if let Some(handler) = self.handler {
            // SAFETY: the program's own function and argument; the entry is ours.
            unsafe { handler(&mut e, self.context as *mut c_void) }
        }
        let outcome = if entry::is_overrun(e) {
            rc::ERROR_RESOURCE
        } else if entry::status_of(e) != 0 {
            rc::TRANSACTION_ERROR
        } else {
            rc::SUCCESS
        };
        (outcome, e)
    }

    /// The descriptor of a completed post, restored; its outcome.
    pub fn completed(&self, e: u64) -> (Return, *mut PostDescriptor) {
        if entry::kind(e) != event::POST {
            return (rc::DESCRIPTOR_ERROR, core::ptr::null_mut());
        }
        let mut s = self.state();
        let tid = entry::tid(e);
        let Some((_, Request::Post { descriptor, post_id, events, status })) = s.requests.get_mut(&tid)
        else {
            return (rc::INVALID_PARAM, core::ptr::null_mut());
        };
        *events -= 1;
        let (descriptor, post_id, status, last) = (*descriptor, *post_id, *status, *events == 0);
        if last {
            s.requests.remove(&tid);
        }
        // SAFETY: the program leaves a descriptor alone and alive until its last event is collected.
        unsafe {
            (*descriptor).status = status as u64;
            if last {
                (*descriptor).post_id = post_id;
            }
        }
        (status, descriptor)
    }

    pub fn mask(&self, masked: bool) {
        self.state().masked = masked;
    }
    pub fn is_masked(&self) -> bool {
        self.state().masked
    }

    /// Joins the queue to a channel. False: it has one.
    pub fn join(&self, channel: Arc<Channel>) -> bool {
        let mut s = self.state();
        let is_new = s.channel.is_none();
        s.channel.get_or_insert(channel);
        is_new
    }

    /// Whether the channel is to fire at the next entry.
    pub fn is_armed(&self) -> bool {
        self.state().armed
    }

    /// The channel fires at the next entry, or now where there is one. False: there is no channel. The caller sees to it that the engine's thread runs.
    pub fn arm(&self) -> bool {
        let mut s = self.state();
        let Some(channel) = s.channel.clone() else { return false };
        s.armed = s.entries.is_empty();
        if !s.armed {
            channel.fired.lock().unwrap_or_else(|e| e.into_inner()).push_back(self.handle);
            sys::ring(&channel.bell);
        }
        true
    }
}

/// Waits until one of the queues has an entry: its index. `ms` in milliseconds. `None`: the time is over. The caller sees to it
/// that the engine's thread runs.
pub fn wait_any(cqs: &[Arc<Cq>], ms: u64) -> Option<usize> {
    let end = Instant::now() + Duration::from_millis(ms);
    WAITING.fetch_add(1, Ordering::SeqCst);
    let mut held = WAITERS.0.lock().unwrap_or_else(|e| e.into_inner());
    let found = loop {
        if let Some(i) = cqs.iter().position(|c| c.has_entry()) {
            break Some(i);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break None;
        }
        held = WAITERS.1.wait_timeout(held, left).unwrap_or_else(|e| e.into_inner()).0;
    };
    WAITING.fetch_sub(1, Ordering::SeqCst);
    found
}
