//! Where a fixed number of threads of a process wait for each other, again and again.
//!
//! Each thread reads the round, then counts itself in. The last one does what there is to be done once for all, sets the count back, and begins the
//! next round (release), which the others wait for (acquire) in whatever way they wait. No thread counts itself in again before it has
//! seen the round begin, so the count is back by then.

use oxmpi_mca::sync::{AtomicU32, Ordering};

/// See the module's head. Threads may come in any order; never more of them at once than it is for.
#[derive(Default)]
pub struct Meeting {
    here: AtomicU32,
    round: AtomicU32,
}

/// What a thread waits for that was not the last one.
#[derive(Clone, Copy, Debug)]
pub struct Round(u32);

impl Meeting {
    /// A thread has come. The last one of `threads` runs `last`, before any of the others goes on, and gets `None`.
    pub fn come(&self, threads: u32, last: impl FnOnce()) -> Option<Round> {
        let round = self.round.load(Ordering::Relaxed);
        // SYNC POINT with itself: the last one sees what the others did before they came.
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 != threads {
            return Some(Round(round));
        }
        last();
        self.here.store(0, Ordering::Relaxed);
        // SYNC POINT with `is_over`: what threads did before they met, and what the last one did, is visible to all afterwards.
        self.round.store(round.wrapping_add(1), Ordering::Release);
        None
    }

    /// Whether all have come since.
    pub fn is_over(&self, Round(round): Round) -> bool {
        // SYNC POINT with `come`.
        self.round.load(Ordering::Acquire) != round
    }
}

#[cfg(all(test, loom))]
mod model {
    //! Threads that meet twice: what each wrote before is in cells that loom watches, read by all behind the meeting.

    use super::Meeting;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    struct World {
        meeting: Meeting,
        said: Vec<UnsafeCell<u32>>,
        by_the_last: UnsafeCell<u32>,
    }
    // SAFETY: the cells are what the model is about.
    unsafe impl Sync for World {}
    // SAFETY: as above.
    unsafe impl Send for World {}

    fn meet(w: &World, me: usize, times: u32) {
        let threads = w.said.len() as u32;
        for turn in 1..=times {
            // SAFETY: loom looks whether anybody else is at a cell meanwhile; so it does below.
            w.said[me].with_mut(|p| unsafe { *p = turn });
            // SAFETY: as above.
            let last = || w.by_the_last.with_mut(|p| unsafe { *p += 1 });
            if let Some(round) = w.meeting.come(threads, last) {
                while !w.meeting.is_over(round) {
                    thread::yield_now();
                }
            }
            for said in &w.said {
                // SAFETY: as above.
                said.with(|p| assert_eq!(unsafe { *p }, turn, "a thread was not waited for"));
            }
            // SAFETY: as above.
            w.by_the_last.with(|p| assert_eq!(unsafe { *p }, 2 * turn - 1));
            if turn == times {
                break;
            }
            // Nobody writes before all have read.
            if let Some(round) = w.meeting.come(threads, last) {
                while !w.meeting.is_over(round) {
                    thread::yield_now();
                }
            }
        }
    }

    fn run(threads: usize, times: u32) {
        let mut model = loom::model::Builder::new();
        // Those who wait take turns at looking.
        model.max_branches = 20_000;
        model.check(move || {
            let w = Arc::new(World {
                meeting: Meeting::default(),
                said: (0..threads).map(|_| UnsafeCell::new(0)).collect(),
                by_the_last: UnsafeCell::new(0),
            });
            let others: Vec<_> = (1..threads)
                .map(|me| {
                    let w = w.clone();
                    thread::spawn(move || meet(&w, me, times))
                })
                .collect();
            meet(&w, 0, times);
            others.into_iter().for_each(|t| t.join().unwrap());
        });
    }

    #[test]
    fn model_two_threads_meet_again_and_again() {
        run(2, 2);
    }

    #[test]
    fn model_three_threads_meet() {
        run(3, 1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        const THREADS: u32 = 3;
        let (meeting, come, lasts) = (Meeting::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            for turn in 1..=200 {
                come.fetch_add(1, Ordering::Relaxed);
                let last = || _ = lasts.fetch_add(1, Ordering::Relaxed);
                if let Some(round) = meeting.come(THREADS, last) {
                    while !meeting.is_over(round) {
                        std::thread::yield_now();
                    }
                }
                assert!(come.load(Ordering::Relaxed) >= turn * THREADS as usize);
                assert!(lasts.load(Ordering::Relaxed) >= turn);
            }
        };
        std::thread::scope(|s| (0..THREADS).for_each(|_| _ = s.spawn(work)));
        assert_eq!(lasts.load(Ordering::Relaxed), 200);
    }
}
