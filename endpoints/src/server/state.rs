//! The state of a proxy: the operations that are under way, and what it needs to carry out commands.

use crate::abi::*;
use crate::agreement::Creations;
use crate::errors::{abort, class};
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

/// An operation that is under way.
pub struct Work {
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
    pub segment: Segment,
    /// Where the client has the segment.
    pub client_base: u64,
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
    pub quit: bool,
    pub indices: Vec<c_int>,
    pub statuses: Vec<Status>,
}

impl Server {
    pub fn new(
        segment: Segment,
        client_base: u64,
        number: usize,
        pid: i32,
        asynchronous: bool,
        pace: Pace,
        creations: Creations,
    ) -> Server {
        Server {
            segment,
            client_base,
            number,
            pid,
            asynchronous,
            pace,
            control: segment.control(number),
            works: Vec::new(),
            requests: Vec::new(),
            probes: Vec::new(),
            persistent: HashMap::new(),
            creations,
            quit: false,
            indices: Vec::new(),
            statuses: Vec::new(),
        }
    }

    pub fn record(&self, index: u32) -> *mut Record {
        self.segment.record(self.number, index)
    }

    /// An address of the client's inside the segment, as this process has it.
    pub fn here(&self, address: u64) -> *mut u8 {
        if address == 0 {
            return core::ptr::null_mut();
        }
        let offset = address.wrapping_sub(self.client_base) as usize;
        if offset >= self.segment.size {
            abort(&format!("a command names address {address:#x}, which is not in the client's segment"));
        }
        // SAFETY: inside the mapping.
        unsafe { self.segment.base.add(offset) }
    }

    /// An operation has been started: complete at the next turn, or later.
    pub fn pend(&mut self, work: Work, request: Request) {
        self.works.push(work);
        self.requests.push(request);
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
