//! Where the ranks are that a communicator's messages may name: process and endpoint of each.
//!
//! The host's arrays are read until it deletes the communicator. One that is in use after that (receives are posted, or what was sent on it
//! waits) reads a copy: answers to its first messages may still come, and the host's arrays are gone.

use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};
use std::sync::OnceLock;

/// Processes, and endpoints where any is not 0.
type Copied = (Box<[u32]>, Box<[u16]>);

/// Places of ranks; all of them on the host's arrays, or on own ones.
pub struct Members {
    num: usize,
    procs: AtomicPtr<u32>,
    /// Null: all are endpoint 0.
    endpoints: AtomicPtr<u16>,
    kept: OnceLock<Copied>,
}

impl Members {
    /// Makes the places of `num` ranks from the host's arrays, which are not copied; null `endpoints`: all are endpoint
    /// 0.
    ///
    /// # Safety
    /// The arrays have `num` entries (`endpoints` may be null) and live until `keep` was called or this is dropped.
    pub unsafe fn new(num: u32, procs: *const u32, endpoints: *const u16) -> Members {
        Members {
            num: num as usize,
            procs: AtomicPtr::new(procs.cast_mut()),
            endpoints: AtomicPtr::new(endpoints.cast_mut()),
            kept: OnceLock::new(),
        }
    }

    /// Gives process (its rank in the job) and endpoint of a rank of the communicator. `None`: no such rank.
    #[inline(always)]
    pub fn place(&self, rank: i32) -> Option<(u32, u16)> {
        let i = usize::try_from(rank).ok().filter(|&i| i < self.num)?;
        let (procs, endpoints) = (self.procs.load(Ordering::Relaxed), self.endpoints.load(Ordering::Relaxed));
        // SAFETY: the arrays have `num` entries and live: see `new` and `keep`.
        unsafe {
            let endpoint = if endpoints.is_null() { 0 } else { *endpoints.add(i) };
            Some((*procs.add(i), endpoint))
        }
    }

    /// Copies the places of all ranks, once, and reads the copy from now on. Nobody else looks meanwhile: the caller
    /// holds the locks of all resource instances, and the program has given the communicator up.
    pub fn keep(&self) {
        let has_endpoints = !self.endpoints.load(Ordering::Relaxed).is_null();
        let (procs, endpoints) = self.kept.get_or_init(|| {
            let ranks = || (0..self.num as i32).filter_map(|rank| self.place(rank));
            let endpoints = if has_endpoints { self.num } else { 0 };
            (ranks().map(|(proc, _)| proc).collect(), ranks().take(endpoints).map(|(_, e)| e).collect())
        });
        self.procs.store(procs.as_ptr().cast_mut(), Ordering::Relaxed);
        if has_endpoints {
            self.endpoints.store(endpoints.as_ptr().cast_mut(), Ordering::Relaxed);
        }
    }
}
