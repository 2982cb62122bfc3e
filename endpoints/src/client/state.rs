//! The process as a client: the job, its proxies, commands and waiting.
//!
//! A process is a client from MPI_Init to MPI_Finalize. Records of a proxy are taken and given back under the pool's lock (a few
//! words), and issued without one. A thread that waits looks, then yields, then sleeps on the record's completion word; it
//! wakes once a second to see whether the proxy lives.

use super::heap::{self, Heap};
use super::lock;
use crate::abi::*;
use crate::hello::{self, Job};
use crate::hints;
use crate::pmpi;
use crate::protocol::record::Record;
use crate::protocol::segment::{Control, RECORDS};
use crate::protocol::settings::Settings;
use crate::protocol::sync::{AtomicU32, AtomicU64, Ordering};
use crate::protocol::{completion, sys};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

const YIELDS: u32 = 200;
/// Where processes are more than cores a yield may cost the slices of all the others, and a sleeper is woken before them.
const CROWDED_YIELDS: u32 = 10;

/// Free records of a proxy: those that were used before come first, since they are in caches.
struct Pool {
    free: Vec<u32>,
    fresh: u32,
}

/// How the data of commands went, for OXMPI_EP_REPORT.
#[derive(Default)]
pub struct Counts {
    pub mapped: AtomicU64,
    pub inline: AtomicU64,
    pub bounced: AtomicU64,
    pub bounced_bytes: AtomicU64,
    pub remote: AtomicU64,
    pub sleeps: AtomicU64,
}

pub struct Proxy {
    pub number: usize,
    pub world_rank: usize,
    pid: i32,
    pub control: &'static Control,
    pool: Mutex<Pool>,
    pub counts: Counts,
}

pub struct Client {
    pub heap: &'static Heap,
    pub job: Job,
    /// This process's rank in the application's world.
    pub rank: usize,
    /// The application's world, as the library knows it.
    pub world: Comm,
    pub proxies: Vec<Proxy>,
    pub asynchronous: bool,
    pub cma_min: usize,
    pub report: bool,
    spin: u32,
    crowded: bool,
    pub tag_limit: i64,
    pub creations: AtomicU32,
}

static CLIENT: OnceLock<Client> = OnceLock::new();

/// This process as a client: from MPI_Init on.
#[inline]
pub fn client() -> Option<&'static Client> {
    CLIENT.get()
}

pub fn begin(heap: &'static Heap, job: Job, settings: &Settings, world: Comm) {
    let rank = job.clients.iter().position(|c| *c == job.rank).expect("this process is a client");
    let proxy = |(number, world_rank): (usize, &usize)| Proxy {
        number,
        world_rank: *world_rank,
        pid: job.hellos[*world_rank].pid,
        control: heap.segment.control(number),
        pool: Mutex::new(Pool { free: Vec::new(), fresh: 0 }),
        counts: Counts::default(),
    };
    let proxies: Vec<Proxy> = job.proxies[rank].iter().enumerate().map(proxy).collect();
    let asynchronous = proxies.iter().all(|p| job.hellos[p.world_rank].asynchronous != 0);
    let crowded = job.neighbors() > sys::processors();
    let client = Client {
        heap,
        rank,
        world,
        proxies,
        asynchronous,
        cma_min: if settings.cma { settings.cma_min } else { usize::MAX },
        report: settings.report,
        spin: settings.spin.unwrap_or(if crowded { 0 } else { 2000 }),
        crowded,
        tag_limit: hello::tag_limit(),
        creations: AtomicU32::new(0),
        job,
    };
    assert!(CLIENT.set(client).is_ok(), "MPI_Init is called once");
}

impl Client {
    pub fn record(&self, proxy: usize, index: u32) -> *mut Record {
        self.heap.segment.record(proxy, index)
    }

    /// Looks at the word, yields, sleeps: until `done` says so. `sleep` gets a thread that has looked long enough.
    pub fn wait_until(&self, mut done: impl FnMut() -> bool, mut sleep: impl FnMut()) {
        let yields = if self.crowded { CROWDED_YIELDS } else { YIELDS };
        let mut vain = 0;
        while !done() {
            vain += 1;
            if vain < self.spin {
                core::hint::spin_loop();
            } else if vain < self.spin + yields {
                std::thread::yield_now();
            } else {
                sleep();
            }
        }
    }

    /// After a look in vain by a function that does not wait: loops of such calls must leave cores to the proxies.
    pub fn yield_after_empty_look(&self) {
        static LOOKS: AtomicU32 = AtomicU32::new(0);
        if self.crowded || LOOKS.fetch_add(1, Ordering::Relaxed).is_multiple_of(16) {
            std::thread::yield_now();
        }
    }
}

impl Proxy {
    /// A record nobody uses. MPI_ERR_NO_MEM: there are as many operations as a proxy can have.
    pub fn take(&self) -> Result<u32, c_int> {
        let mut pool = lock(&self.pool);
        if let Some(index) = pool.free.pop() {
            return Ok(index);
        }
        if pool.fresh as usize == RECORDS {
            return Err(ERR_NO_MEM);
        }
        pool.fresh += 1;
        Ok(pool.fresh - 1)
    }

    pub fn give_back(&self, index: u32) {
        lock(&self.pool).free.push(index);
    }

    /// Publishes a command.
    ///
    /// # Safety
    /// The record is filled in, and the caller's.
    pub unsafe fn issue(&self, record: *mut Record, index: u32) {
        // SAFETY: the caller's promise.
        unsafe { (*record).state.arm() };
        self.control.ring.push(index, std::thread::yield_now);
        self.wake();
    }

    fn wake(&self) {
        if self.control.doze.must_wake() {
            sys::wake(self.control.doze.word());
        }
    }

    /// Where progress is made in calls only: a turn of progress, soon.
    pub fn request_progress(&self) {
        self.control.poke.store(1, Ordering::Release);
        self.wake();
    }

    /// A thread begins or ends a wait.
    pub fn waits(&self, begins: bool) {
        if begins {
            self.control.waiters.fetch_add(1, Ordering::AcqRel);
            self.wake();
        } else {
            self.control.waiters.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits until the command is complete.
    ///
    /// # Safety
    /// The record was issued.
    pub unsafe fn wait(&self, client: &Client, record: *const Record) {
        // SAFETY: the record stays in the segment; its word is shared by design.
        let state = unsafe { &(*record).state };
        if state.is_done() {
            return;
        }
        if !client.asynchronous {
            self.waits(true);
        }
        let mut looked = Instant::now();
        let sleep = || {
            if state.announce() {
                self.counts.sleeps.fetch_add(1, Ordering::Relaxed);
                sys::wait(state.word(), completion::WAITED, Duration::from_secs(1));
            }
            if looked.elapsed() > Duration::from_secs(1) {
                looked = Instant::now();
                self.must_live();
            }
        };
        client.wait_until(|| state.is_done(), sleep);
        if !client.asynchronous {
            self.waits(false);
        }
    }

    /// Ends the job if the proxy is gone.
    pub fn must_live(&self) {
        if !sys::alive(self.pid) {
            report!("proxy {} of this process, rank {} of the job, is gone", self.number, self.world_rank);
            // SAFETY: MPI is initialised.
            unsafe { pmpi::MPI_Abort(COMM_WORLD, ERR_OTHER) };
        }
    }
}

/// A list of words inside the segment, freed with its value.
pub struct Words(*mut i64);

impl Words {
    pub fn new(words: &[i64]) -> Result<Words, c_int> {
        let block = heap::allocate(size_of_val(words).max(8), 16).cast::<i64>();
        if block.is_null() {
            return Err(ERR_NO_MEM);
        }
        // SAFETY: a fresh block of that length.
        unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), block, words.len()) };
        Ok(Words(block))
    }

    /// The hints of an info object; none where there are none.
    pub fn of_hints(info: Info) -> Result<Option<Words>, c_int> {
        let bytes = hints::pack(info);
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut words = vec![bytes.len() as i64];
        words.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            i64::from_ne_bytes(word)
        }));
        Words::new(&words).map(Some)
    }

    /// Its first bytes.
    pub fn bytes(&self, count: usize) -> Vec<u8> {
        // SAFETY: the proxy has written, and the block is that long.
        unsafe { core::slice::from_raw_parts(self.0.cast::<u8>(), count) }.to_vec()
    }

    pub fn address(&self) -> u64 {
        self.0 as u64
    }

    pub fn read(&self, count: usize) -> Vec<c_int> {
        // SAFETY: the proxy has written, and the block is that long.
        unsafe { core::slice::from_raw_parts(self.0, count) }.iter().map(|w| *w as c_int).collect()
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it.
        unsafe { heap::free(self.0.cast()) };
    }
}
