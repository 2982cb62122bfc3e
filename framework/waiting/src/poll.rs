//! Turns of progress for calls that look and do not wait: Test, Iprobe and their kin.
//!
//! Programs wait in loops of such calls, too, and then many a look finds nothing. Where more threads want to run
//! than there are cores, a thread that looks on is in the way of the one it waits for, until the
//! kernel takes its core away, which is milliseconds later: 8 threads of each of 2 ranks that loop over MPI_Testall on
//! 2 cores moved 86 thousand messages per second, and 4 million with what stands here. So a thread gives its core
//! away once in [`LOOKS`] looks in a row that brought nothing: with 1 as with 16 the rate is the same, with 64 it is
//! half, and a single look between two pieces of work mostly costs nothing.

use crate::layer::{Layer, Waiter};
use crate::states::{State, count};
use crate::waiting::Waiting;
use oxmpi_mca::Entry;
use oxmpi_progress::thread::Slot;

/// Looks in a row without an event.
const LOOKS: u32 = 16;

impl<L: Layer> Waiter<'_, L> {
    /// Makes one turn of progress for a call that looks and does not wait. Returns the number of events.
    #[inline(always)]
    pub fn poll(mut self) -> i32 {
        let waiting = self.waiting();
        let events = self.turn();
        if events > 0 {
            self.tell_condition_waiters();
        } else if waiting.threaded() || waiting.patience.has_none() {
            self.entry.apart(|entry| waiting.no_news(entry));
        }
        events
    }
}

impl Waiting {
    /// Counts a look that brought nothing, and gives the core away once in [`LOOKS`] of them, where more threads than
    /// cores want to run.
    #[inline(never)]
    fn no_news(&self, entry: &Entry) {
        if !self.patience.has_none() && !self.thread_count.exceeds(self.room) {
            return;
        }
        let Some(slot) = Slot::of(entry) else { return };
        slot.looks.set((slot.looks.get() + 1) % LOOKS);
        if slot.looks.get() == 0 {
            count(slot, State::Yield);
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::thread_count::ThreadCount;

    #[test]
    fn threads_come_and_go() {
        let thread_count = ThreadCount::new();
        assert!(!thread_count.exceeds(1));
        thread_count.comes();
        assert!(thread_count.exceeds(1) && !thread_count.exceeds(2));
        thread_count.goes();
        assert!(!thread_count.exceeds(1));
    }
}
