//! The device of a process, as its verbs see it: queues in front of the agent thread that does the work (`agent.rs`).
//!
//! **Locks** are leaves, never held while anything is called: the work queue, which all contexts share; a completion queue per
//! context, or one for all (`shared_queue`), from which a context's progress passes on what is another's and rings its
//! sleeper; the registry (`registry.rs`); the list of peers.

use crate::area::Area;
use crate::params::Settings;
use crate::pins::Pins;
use crate::registry::Registry;
use crate::wire::{Address, Handle};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use rustix::fd::OwnedFd;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of an operation: its context in the highest 16 bits.
pub type Op = u64;

pub fn context_of(op: Op) -> u32 {
    (op >> 48) as u32
}

/// A one-sided operation as it is handed to the agent.
#[derive(Clone, Copy)]
pub struct Work {
    pub op: Op,
    pub peer: usize,
    pub what: OperationKind,
    pub handle: Handle,
    /// Target memory.
    pub addr: u64,
    /// Our memory; 0: an atomic without result.
    pub local: u64,
    /// Of our memory.
    pub local_handle: Handle,
    pub len: u64,
}

#[derive(Clone, Copy)]
pub enum OperationKind {
    Put,
    Get,
    Atomic { amo: u32, flags: u32, operand: u64, compare: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Local memory is free; the operation goes on.
    Local,
    /// All of it is over.
    Whole,
}

#[derive(Clone, Copy)]
pub struct Event {
    pub op: Op,
    pub phase: Phase,
    pub status: Status,
}

/// A peer whose memory is mapped.
pub struct Link {
    pub area: Area,
    pub number: usize,
    pub failed: AtomicBool,
    /// Its failure has been told to the host.
    pub told: AtomicBool,
}

/// Orders of the control function.
#[derive(Default)]
pub struct Orders {
    /// So many held completions are to come.
    pub release: u64,
    pub fail: Vec<usize>,
    /// Puts that failed and were kept land now.
    pub land: bool,
}

#[derive(Default)]
struct Queue {
    events: Mutex<VecDeque<Event>>,
    /// How many, so that a look is one load.
    count: AtomicU32,
}

impl Queue {
    fn push(&self, event: Event) {
        held(&self.events).push_back(event);
        self.count.fetch_add(1, Ordering::SeqCst);
    }
    fn pop(&self) -> Option<Event> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let event = held(&self.events).pop_front()?;
        self.count.fetch_sub(1, Ordering::SeqCst);
        Some(event)
    }
}

/// Counts of the operations that a process asked of its device.
#[derive(Default)]
pub struct Counts {
    pub messages: AtomicU64,
    pub gets: AtomicU64,
    pub puts: AtomicU64,
    pub atomics: AtomicU64,
}

impl Counts {
    pub fn line(&self) -> String {
        let all = [
            ("messages", &self.messages),
            ("gets", &self.gets),
            ("puts", &self.puts),
            ("atomics", &self.atomics),
        ];
        all.map(|(name, count)| format!("{name} {}\n", count.load(Ordering::Relaxed))).concat()
    }
}

pub struct Nic {
    pub settings: Settings,
    pub counts: Counts,
    pub area: Area,
    pub address: Address,
    /// Ours among the processes of the job.
    pub number: usize,
    pub registry: Registry,
    work: Mutex<Vec<Work>>,
    queues: Box<[Queue]>,
    shared: Queue,
    links: Mutex<HashMap<usize, Arc<Link>>>,
    orders: Mutex<Orders>,
    /// Peers that failed, told or not.
    pub failures: AtomicU32,
    pub stop: AtomicBool,
    /// By context; what sleepers by descriptor sleep on.
    pub descriptors: Box<[OwnedFd]>,
}

pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Nic {
    pub fn new(
        settings: Settings,
        area: Area,
        address: Address,
        number: usize,
        descriptors: Vec<OwnedFd>,
        pins: Option<Pins>,
    ) -> Nic {
        Nic {
            registry: Registry::new(settings.registration_limit, address.process, pins),
            work: Mutex::default(),
            queues: (0..area.contexts()).map(|_| Queue::default()).collect(),
            shared: Queue::default(),
            links: Mutex::default(),
            counts: Counts::default(),
            orders: Mutex::default(),
            failures: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            descriptors: descriptors.into(),
            settings,
            area,
            address,
            number,
        }
    }

    /// Maps a peer's memory, or finds it mapped, and tells it how we are reached.
    pub fn link(&self, number: usize, address: &Address) -> Result<Arc<Link>, String> {
        let mut links = held(&self.links);
        if let Some(link) = links.get(&number) {
            return Ok(link.clone());
        }
        let area = Area::open(address)?;
        if self.number >= area.senders() || number >= self.area.senders() {
            return Err("it counts other processes of this job".into());
        }
        area.say_hello(self.number, self.address);
        let (failed, told) = (AtomicBool::new(false), AtomicBool::new(false));
        let link = Arc::new(Link { area, number, failed, told });
        links.insert(number, link.clone());
        Ok(link)
    }

    /// A peer that is mapped already.
    pub fn mapped(&self, number: usize) -> Option<Arc<Link>> {
        held(&self.links).get(&number).cloned()
    }

    /// Peers that failed and of which the host does not know.
    pub fn untold(&self) -> Vec<Arc<Link>> {
        let links = held(&self.links);
        let fresh = |l: &&Arc<Link>| l.failed.load(Ordering::SeqCst) && !l.told.swap(true, Ordering::SeqCst);
        let mut all: Vec<_> = links.values().filter(fresh).cloned().collect();
        all.sort_by_key(|l| l.number);
        all
    }

    pub fn post(&self, work: Work) {
        held(&self.work).push(work);
        self.area.ring_device();
    }

    pub fn posted(&self) -> Vec<Work> {
        std::mem::take(&mut *held(&self.work))
    }

    pub fn order(&self, give: impl FnOnce(&mut Orders)) {
        give(&mut held(&self.orders));
        self.area.ring_device();
    }

    pub fn orders(&self) -> Orders {
        std::mem::take(&mut *held(&self.orders))
    }

    /// The agent's: an operation got so far.
    pub fn tell(&self, event: Event) {
        let ctx = context_of(event.op);
        let queue = if self.settings.shared_queue { &self.shared } else { &self.queues[ctx as usize] };
        queue.push(event);
        self.area.ring_context(ctx);
    }

    /// The next event of a context, under that context's serialisation.
    pub fn event(&self, ctx: u32) -> Option<Event> {
        let own = &self.queues[ctx as usize];
        while let Some(event) = self.shared.pop() {
            let to = context_of(event.op);
            if to == ctx {
                return Some(event);
            }
            // Another context's: kept for its progress.
            self.queues[to as usize].push(event);
            self.area.ring_context(to);
        }
        own.pop()
    }

    /// Whether a context has events. SYNC POINT with `tell`: the caller has said that it sleeps.
    pub fn has_events(&self, ctx: u32) -> bool {
        self.queues[ctx as usize].count.load(Ordering::SeqCst) != 0
            || (self.shared.count.load(Ordering::SeqCst) != 0
                && held(&self.shared.events).iter().any(|e| context_of(e.op) == ctx))
    }
}
