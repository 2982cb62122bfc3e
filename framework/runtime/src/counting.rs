//! Counting: on and off while the program runs, and the sums that tools read.

use crate::counts::{CriCounts, OfComm};
use crate::objects::{Communicator, Instance};
use crate::spc::{self, Counter};
use oxmpi_mca::{Cri, Entry};
use oxmpi_pml::Counts;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

impl Instance {
    /// Whether anybody asks for counting.
    pub fn counting(&self) -> bool {
        self.counting_state().asking.load(Ordering::Relaxed) > 0
    }

    /// Raises (`more`) or lowers the number of those who ask for counting; counters are kept while it is above 0.
    pub fn ask_counting(&self, more: bool) {
        match more {
            true => self.counting_state().asking.fetch_add(1, Ordering::AcqRel),
            false => self.counting_state().asking.fetch_sub(1, Ordering::AcqRel),
        };
    }

    /// Raises (`more`) or lowers the number of those who ask for the time of matching. The PML measures it only while
    /// that number is above 0, since measuring takes time itself.
    pub fn ask_match_time(&self, more: bool) {
        let mut asking = self.counting_state().asking_match_time.lock();
        *asking = if more { *asking + 1 } else { asking.saturating_sub(1) };
        if let Some(pml) = self.pml() {
            // One that cannot has nothing to show either.
            let _ = (pml.table.measure)(pml.state, u32::from(*asking > 0));
        }
    }

    /// Sums the software performance counters of all threads of this rank, by counter number; those that
    /// `mpi_spc_attach` leaves out, if it names any, are 0.
    pub fn counters(&self) -> Vec<u64> {
        let mut counters = self.all_counters();
        for (n, _) in
            counters.iter_mut().zip(&self.host_params().spc_attach).filter(|(_, attached)| !**attached)
        {
            *n = 0;
        }
        counters
    }

    /// Sums the software performance counters of all threads of this rank, by counter number, whatever `mpi_spc_attach`
    /// names.
    pub fn all_counters(&self) -> Vec<u64> {
        self.waiting().counters()
    }

    /// Sums the PML's counts of all communicators, those included that have been closed.
    pub fn message_counts(&self) -> Counts {
        // The owner of the last handle closes the communicator, which takes the list's lock.
        let live: Vec<Arc<Communicator>> = self.life().live.lock().iter().filter_map(Weak::upgrade).collect();
        let mut sum = *self.counting_state().gone.lock();
        for counts in live.iter().filter_map(|c| c.counts()) {
            join(&mut sum, &counts);
            sum.waiting += counts.waiting;
            sum.out_of_sequence_now += counts.out_of_sequence_now;
            sum.posted_now += counts.posted_now;
        }
        sum
    }

    /// Adds the PML's counts of a communicator that is being closed to those of closed communicators.
    pub(crate) fn keep_counts(&self, counts: &Counts) {
        join(&mut self.counting_state().gone.lock(), counts);
    }

    /// Counts of each CRI, by its number.
    pub fn cri_counts(&self) -> Vec<CriCounts> {
        let counts = |cri: &Cri| CriCounts {
            lock_misses: cri.lock_misses.load(Ordering::Relaxed).into(),
            progress_calls: cri.progress_calls.load(Ordering::Relaxed),
            completions: cri.completions.load(Ordering::Relaxed),
            shared_writes: cri.shared_writes.load(Ordering::Relaxed),
        };
        self.cris().iter().map(counts).collect()
    }
}

impl Communicator {
    /// Adds bytes that a collective sent or received to a counter of the calling thread, if counting is asked for.
    #[inline]
    pub(crate) fn note_own(&self, entry: &Entry, counter: Counter, bytes: u64) {
        if self.instance().counting() {
            spc::count(entry.context(), counter, bytes);
        }
    }

    /// Adds `n` to a count of this communicator. Callers have looked whether counting is asked for; any thread may call
    /// it.
    pub fn note(&self, what: OfComm, n: u64) {
        self.calls.0[what as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// Reads a count of this communicator.
    pub fn noted(&self, what: OfComm) -> u64 {
        self.calls.0[what as usize].load(Ordering::Relaxed)
    }

    /// Asks the PML for its counts of this communicator; `None`: it counts nothing, or the communicator is closed.
    pub fn counts(&self) -> Option<Counts> {
        let _not_closing = self.reading.lock();
        if self.closed.load(Ordering::Acquire) { None } else { self.ask_counts() }
    }

    /// Asks the PML for its counts of this communicator, which must still be known to it: the caller holds `reading`,
    /// or is the one that closes. `None`: the PML counts nothing.
    pub(crate) fn ask_counts(&self) -> Option<Counts> {
        let pml = self.instance().pml()?;
        let mut counts = Counts { size: size_of::<Counts>() as u32, ..Counts::default() };
        (pml.table.counts)(pml.state, self.hot.comm, &mut counts).is_ok().then_some(counts)
    }
}

/// Adds counts of a communicator to a sum, or takes the larger one of maxima; leaves out the numbers of what is waiting
/// now.
fn join(sum: &mut Counts, counts: &Counts) {
    sum.unexpected += counts.unexpected;
    sum.posted += counts.posted;
    sum.spreads += counts.spreads;
    sum.most_waiting = sum.most_waiting.max(counts.most_waiting);
    sum.out_of_sequence += counts.out_of_sequence;
    sum.most_out_of_sequence = sum.most_out_of_sequence.max(counts.most_out_of_sequence);
    // One number of all communicators, as it was then.
    sum.match_time = sum.match_time.max(counts.match_time);
}
