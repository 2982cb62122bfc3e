//! Counting: on and off while the program runs, and the sums that tools read.

use crate::communicator::Communicator;
use crate::instance::Instance;
use crate::spc::{self, Counter};
use oxmpi_mca::ThreadCtx;
use oxmpi_pml::Counts;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

impl Instance {
    /// Whether anybody asks for counting.
    pub fn counting(&self) -> bool {
        self.counting.load(Ordering::Relaxed) > 0
    }

    /// One more asks for counting, or one less.
    pub fn ask_counting(&self, more: bool) {
        match more {
            true => self.counting.fetch_add(1, Ordering::AcqRel),
            false => self.counting.fetch_sub(1, Ordering::AcqRel),
        };
    }

    /// Software performance counters of this rank, by number. Those that `mpi_spc_attach` does not
    /// name, if it names any, are 0.
    pub fn counters(&self) -> Vec<u64> {
        let mut counters = self.all_counters();
        for (n, _) in counters.iter_mut().zip(&self.params.spc_attach).filter(|(_, attached)| !**attached) {
            *n = 0;
        }
        counters
    }

    /// All of them, whoever asked.
    pub fn all_counters(&self) -> Vec<u64> {
        self.threads.counters()
    }

    /// What the PML has counted on all communicators, those that are gone included.
    pub fn message_counts(&self) -> Counts {
        // Whoever has the last handle closes the communicator, which takes the list's lock.
        let live: Vec<Arc<Communicator>> = self.live.lock().iter().filter_map(Weak::upgrade).collect();
        let mut sum = *self.gone_counts.lock();
        for counts in live.iter().filter_map(|c| c.counts()) {
            join(&mut sum, &counts);
            sum.waiting += counts.waiting;
        }
        sum
    }

    /// A communicator goes.
    pub(crate) fn keep_counts(&self, counts: &Counts) {
        join(&mut self.gone_counts.lock(), counts);
    }

    /// How often a thread found a CRI's lock taken and went on, by CRI.
    pub fn lock_misses(&self) -> Vec<u64> {
        self.cris().iter().map(|cri| cri.lock_misses.load(Ordering::Relaxed).into()).collect()
    }
}

impl Communicator {
    /// A collective sent or received so many bytes.
    #[inline]
    pub(crate) fn note_own(&self, thread: *mut ThreadCtx, counter: Counter, bytes: u64) {
        if self.instance().counting() {
            // SAFETY: callers pass their own context.
            unsafe { spc::count(thread, counter, bytes) }
        }
    }

    /// What the PML has counted here; `None`: it counts nothing, or the communicator is closed.
    pub fn counts(&self) -> Option<Counts> {
        let _not_closing = self.reading.lock();
        if self.closed.load(Ordering::Acquire) { None } else { self.ask_counts() }
    }

    pub(crate) fn ask_counts(&self) -> Option<Counts> {
        let pml = self.instance().pml()?;
        let mut counts = Counts { size: size_of::<Counts>() as u32, ..Counts::default() };
        (pml.table.counts)(pml.state, self.hot.comm, &mut counts).is_ok().then_some(counts)
    }
}

/// All but what waits now.
fn join(sum: &mut Counts, counts: &Counts) {
    sum.unexpected += counts.unexpected;
    sum.posted += counts.posted;
    sum.most_waiting = sum.most_waiting.max(counts.most_waiting);
}
