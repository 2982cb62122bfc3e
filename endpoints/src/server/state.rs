//! The state of a proxy: the operations that are under way, and what it needs to carry out commands.

use crate::abi::*;
use crate::agreement::Creations;
use crate::errors::{abort, class};
use crate::hello::Job;
use crate::lock_queue::LockQueue;
use crate::protocol::record::Record;
use crate::protocol::segment::{Control, Segment};
use crate::protocol::sync::Ordering;
use crate::protocol::sys;
use crate::stage::Stage;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// Without and with something to poll for. Where processes are more than cores a yield may cost the slices of all the others,
/// and a sleeper is woken before them.
const YIELDS: [u32; 2] = [300, 2000];
const CROWDED_YIELDS: [u32; 2] = [20, 20];

/// State that the two halves of a combined send and receive have in common.
pub struct Pair {
    pub left: Cell<u32>,
    pub status: Cell<Status>,
    pub error: Cell<c_int>,
}

impl Pair {
    pub fn new() -> Rc<Pair> {
        Rc::new(Pair { left: Cell::new(2), status: Cell::new(Status::default()), error: Cell::new(SUCCESS) })
    }
}

/// Operations that are looked at together: the last one completes a command.
pub struct Countdown {
    pub left: Cell<u32>,
    pub error: Cell<c_int>,
    /// The command that waits for them, once there is one.
    pub record: Cell<Option<u32>>,
}

/// The end of an operation leads to this.
#[derive(Default)]
pub enum Event {
    /// Its command is complete.
    #[default]
    Command,
    /// One operation of several is done.
    Counted(Rc<Countdown>),
    /// A message about a lock of this window came.
    Heard(u32),
}

/// A window of the endpoint, as the proxy has it.
pub struct Window {
    /// The library's, under one MPI_Win_lock_all from its making to its end.
    pub native: Win,
    /// A duplicate of the communicator, for the messages that synchronise.
    pub comm: Comm,
    /// Distances from clients' addresses to their proxies', by rank: of a dynamic window only.
    pub distances: Vec<i64>,
    /// A mapping that was made for this window alone.
    pub view: Option<(*mut u8, usize)>,
    pub lock: LockQueue,
    /// The listener's message, and how many of them came; those that were sent, by rank.
    pub heard: Box<c_int>,
    pub came: c_int,
    pub sent: Vec<c_int>,
    /// Completions that an exposure epoch waits for.
    pub exposure: Option<Rc<Countdown>>,
}

/// Memory of clients that is mapped here.
pub struct ClientMemory {
    pub segment: Segment,
    /// Where the client has the segment.
    pub base: u64,
    pub file: std::fs::File,
    /// Segments of other clients of the node.
    pub foreign: HashMap<usize, Segment>,
    /// Parts of the segment that are mapped at the client's addresses: address, bytes, offset.
    pub views: Vec<(u64, u64, u64)>,
}

/// An operation that is under way.
pub struct Work {
    pub event: Event,
    pub record: u32,
    /// Copies of buffers in the client's private memory.
    pub stages: [Option<Stage>; 2],
    /// Where MPI_Comm_idup puts the handle, and the communicator's number.
    pub newcomm: Option<(Box<Comm>, i64)>,
    pub persistent: bool,
    /// The data that comes may be less than the buffer holds.
    pub limited: bool,
    /// It is a send.
    pub sends: bool,
    /// One half of two; the one that receives is `limited`.
    pub pair: Option<Rc<Pair>>,
}

impl Work {
    pub fn new(record: u32) -> Work {
        Work {
            event: Event::Command,
            record,
            stages: [None, None],
            newcomm: None,
            persistent: false,
            limited: false,
            sends: false,
            pair: None,
        }
    }
}

/// How often a proxy looks in vain before it sleeps.
pub struct Pace {
    pub spin: u32,
    /// Yields after that, without and with something to poll for.
    pub yields: [u32; 2],
}

impl Pace {
    pub fn new(spin: u32, crowded: bool) -> Pace {
        Pace { spin, yields: if crowded { CROWDED_YIELDS } else { YIELDS } }
    }
}

pub struct Server {
    pub memory: ClientMemory,
    pub job: Job,
    pub number: usize,
    pub pid: i32,
    pub asynchronous: bool,
    pub pace: Pace,
    pub control: &'static Control,
    pub works: Vec<Work>,
    /// The library's handle for each of `works`.
    pub requests: Vec<Request>,
    /// Records of probes that wait.
    pub probes: Vec<u32>,
    /// Persistent operations by their record.
    pub persistent: HashMap<u32, (Request, Option<Work>)>,
    pub creations: Creations,
    pub windows: HashMap<u32, Window>,
    pub windows_made: u32,
    pub quit: bool,
    pub indices: Vec<c_int>,
    pub statuses: Vec<Status>,
}

impl Server {
    pub fn new(
        memory: ClientMemory,
        job: Job,
        number: usize,
        pid: i32,
        asynchronous: bool,
        pace: Pace,
        creations: Creations,
    ) -> Server {
        Server {
            control: memory.segment.control(number),
            memory,
            job,
            number,
            pid,
            asynchronous,
            pace,
            works: Vec::new(),
            requests: Vec::new(),
            probes: Vec::new(),
            persistent: HashMap::new(),
            creations,
            windows: HashMap::new(),
            windows_made: 0,
            quit: false,
            indices: Vec::new(),
            statuses: Vec::new(),
        }
    }

    pub fn record(&self, index: u32) -> *mut Record {
        self.memory.segment.record(self.number, index)
    }

    /// An address of the client's inside the segment, as this process has it.
    pub fn here(&self, address: u64) -> *mut u8 {
        if address == 0 {
            return core::ptr::null_mut();
        }
        let offset = address.wrapping_sub(self.memory.base) as usize;
        if offset >= self.memory.segment.size {
            abort(&format!("a command names address {address:#x}, which is not in the client's segment"));
        }
        // SAFETY: inside the mapping.
        unsafe { self.memory.segment.base.add(offset) }
    }

    /// An operation has been started: complete at the next turn, or later.
    pub fn pend(&mut self, work: Work, request: Request) {
        self.works.push(work);
        self.requests.push(request);
    }

    /// Several operations have been started: the last one completes the command, if there is one.
    pub fn pend_together(&mut self, requests: Vec<Request>, record: Option<u32>) -> Rc<Countdown> {
        let together = Rc::new(Countdown {
            left: Cell::new(requests.len() as u32),
            error: Cell::new(SUCCESS),
            record: Cell::new(record),
        });
        for request in requests {
            let work = Work { event: Event::Counted(together.clone()), ..Work::new(u32::MAX) };
            self.pend(work, request);
        }
        if together.left.get() == 0
            && let Some(record) = record
        {
            self.complete(record, SUCCESS);
        }
        together
    }

    pub fn pend_probe(&mut self, index: u32) {
        self.probes.push(index);
    }

    /// The library's handle of an operation that is under way.
    pub fn pending(&self, record: u32) -> Option<Request> {
        self.works.iter().position(|w| w.record == record).map(|at| self.requests[at])
    }

    /// The result is in the record.
    pub fn complete(&self, index: u32, error: c_int) {
        let record = self.record(index);
        // SAFETY: the record is the proxy's until the completion word says that it is done.
        unsafe {
            (*record).error = class(error);
            let state = &raw const (*record).state;
            if (*state).complete() {
                sys::wake((*state).word());
            }
        }
    }
}

pub fn add(counter: &crate::protocol::sync::AtomicU64, value: u64) {
    // One writer.
    counter.store(counter.load(Ordering::Relaxed) + value, Ordering::Relaxed);
}
