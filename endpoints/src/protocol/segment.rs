//! The shared memory of one client process and its proxies.
//!
//! ```text
//! header | a control block for each proxy | records for each proxy | heap
//! ```
//!
//! The client makes it as a memfd at its first need (which may be an allocation before MPI_Init), so it has no name that could be
//! left behind. Its proxies open it by /proc/PID/fd/N, compare the cookie they got by message, and map it wherever there is
//! room: addresses in commands are the client's. Memory that was never touched takes no room, so the areas are sized for the
//! largest job.

use super::doze::Doze;
use super::record::{Record, STRIDE};
use super::ring::Ring;
use super::sync::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = 0x3130_5045_4950_4d4f;
/// Raised with any change to what lies in the segment.
pub const VERSION: u32 = 2;

/// Proxies of one client process.
pub const PROXIES: usize = 64;
/// Operations that may be pending on one proxy.
pub const RECORDS: usize = 32768;
pub const CELLS: usize = 1024;

#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    pub pid: i32,
    pub cookie: u64,
    /// Where the client has mapped it.
    pub base: u64,
    pub size: u64,
}

/// State that one proxy and its client share beside records.
#[repr(C, align(64))]
pub struct Control {
    pub ring: Ring<CELLS>,
    pub doze: Doze,
    /// Threads of the client that wait: the proxy polls for them where progress is made in calls only.
    pub waiters: AtomicU32,
    /// Set by a test, cleared by the turn of progress that follows it.
    pub poke: AtomicU32,
    /// 1: the proxy can read and write the client's memory; 2: it cannot.
    pub reach: AtomicU32,
    pub counts: Counts,
}

/// Events that a proxy counts, for OXMPI_EP_REPORT.
#[repr(C, align(64))]
pub struct Counts {
    pub commands: AtomicU64,
    pub mapped: AtomicU64,
    pub remote: AtomicU64,
    pub remote_bytes: AtomicU64,
    pub sleeps: AtomicU64,
    pub turns: AtomicU64,
}

pub const CONTROL: usize = 16384;
const _: () = assert!(size_of::<Control>() <= CONTROL);
const FIRST_CONTROL: usize = 4096;
const FIRST_RECORD: usize = FIRST_CONTROL + PROXIES * CONTROL;
pub const HEAP: usize = FIRST_RECORD + PROXIES * RECORDS * STRIDE;

/// A mapped segment. It is mapped until the process ends.
#[derive(Clone, Copy)]
pub struct Segment {
    pub base: *mut u8,
    pub size: usize,
}

// SAFETY: an address; what lies there has its own rules.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    pub fn header(&self) -> *mut Header {
        self.base.cast()
    }

    pub fn control(&self, proxy: usize) -> &'static Control {
        assert!(proxy < PROXIES);
        // SAFETY: inside the mapping, which stays; all of it is atomics, and zeros are valid.
        unsafe { &*self.base.add(FIRST_CONTROL + proxy * CONTROL).cast() }
    }

    /// The record of a proxy, by its index.
    pub fn record(&self, proxy: usize, index: u32) -> *mut Record {
        assert!(proxy < PROXIES && (index as usize) < RECORDS);
        // SAFETY: inside the mapping.
        unsafe { self.base.add(FIRST_RECORD + (proxy * RECORDS + index as usize) * STRIDE).cast() }
    }

    /// Do all these bytes lie in it?
    pub fn holds(&self, at: *const u8, bytes: usize) -> bool {
        let offset = (at as usize).wrapping_sub(self.base as usize);
        offset < self.size && bytes <= self.size - offset
    }
}
