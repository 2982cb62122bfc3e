//! The peers of an instance: a table by process, filled at first contact (`contact.rs`), and how many were lost.

use crate::peers::peer::Peer;
use crate::requests::pool::Requests;
use crate::state::instance::Instance;
use crate::state::paged::{PAGE, Paged};
use oxmpi_mca::Lock;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};
use std::sync::OnceLock;

/// Most processes of other jobs that an instance may meet: their indices only grow.
const MOST_OTHERS: usize = 1 << 20;

/// A place for each process: those of the job, and behind them those of other jobs, for which nothing is kept before one comes.
pub(super) struct ByProcess {
    own: Paged<AtomicPtr<Peer>>,
    /// How many `own` has room for.
    room: usize,
    others: OnceLock<Paged<AtomicPtr<Peer>>>,
}

impl ByProcess {
    fn new(job: usize) -> ByProcess {
        let room = job.next_multiple_of(PAGE);
        ByProcess { own: Paged::new(room), room, others: OnceLock::new() }
    }

    /// Finds a process's place. `None`: nothing was made for it.
    #[inline(always)]
    pub(super) fn get(&self, proc: usize) -> Option<&AtomicPtr<Peer>> {
        match self.own.get(proc) {
            None if proc >= self.room => self.others.get()?.get(proc - self.room),
            own => own,
        }
    }

    /// Finds a process's place and makes it where there is none; under the peers' lock. `None`: there are not so many.
    pub(super) fn make(&self, proc: usize) -> Option<&AtomicPtr<Peer>> {
        match proc.checked_sub(self.room) {
            None => self.own.make(proc),
            Some(other) => self.others.get_or_init(|| Paged::new(MOST_OTHERS)).make(other),
        }
    }

    /// Iterates over all places that were made.
    pub(super) fn iter(&self) -> impl Iterator<Item = &AtomicPtr<Peer>> {
        self.own.iter().chain(self.others.get().into_iter().flat_map(Paged::iter))
    }
}

/// The processes that messages go to and come from.
#[repr(C)]
pub struct Peers {
    requests: Requests,
    /// By process, each on the first FIFO.
    pub(super) table: ByProcess,
    /// Guards the making of peers and routes.
    pub(super) lock: Lock,
    /// Peers that were lost.
    pub(super) lost: AtomicU32,
}

impl Peers {
    /// Makes the table of an instance, without peers.
    pub fn new(requests: Requests) -> Peers {
        let table = ByProcess::new(requests.instance().host().job().job_size as usize);
        Peers { requests, table, lock: Lock::new(), lost: AtomicU32::new(0) }
    }

    /// Gives how many peers were lost.
    #[inline(always)]
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::Acquire)
    }

    /// Gives the word that counts them, for the host's engine.
    pub fn lost_word(&self) -> *const AtomicU32 {
        &raw const self.lost
    }

    /// Gives the requests.
    #[inline(always)]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Gives the instance.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        self.requests.instance()
    }
}
