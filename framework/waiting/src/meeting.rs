//! Where a fixed number of threads of a process wait for each other, again and again.
//!
//! Each thread reads the round, then counts itself in. The last one does what there is to be done once for all, sets the count back, and begins the
//! next round (release), which the others wait for (acquire) in whatever way they wait. No thread counts itself in again before it has
//! seen the round begin, so the count is back by then.

use oxmpi_mca::sync::{AtomicU32, Ordering};

/// A place where a fixed number of threads meet. Threads may come in any order; never more of them at once than it is
/// for.
#[derive(Default)]
pub struct Meeting {
    here: AtomicU32,
    round: AtomicU32,
}

/// The word that a thread waits for which was not the last one.
#[derive(Clone, Copy, Debug)]
pub struct Round(u32);

impl Meeting {
    /// Counts the calling thread in. The last one of `threads` runs `last`, before any of the others goes on, and gets
    /// `None`; the others wait until their round [is over](Meeting::is_over).
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

    /// Whether all threads have come since `come` gave this round.
    pub fn is_over(&self, Round(round): Round) -> bool {
        // SYNC POINT with `come`.
        self.round.load(Ordering::Acquire) != round
    }
}

#[cfg(all(test, loom))]
mod model {
    //! Threads that meet twice: what each wrote before is in cells that loom watches, read by all behind the meeting.

    use super::{Meeting, Round};
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
    // SAFETY: cells and words belong to no thread.
    unsafe impl Send for World {}

    impl World {
        fn of(threads: usize) -> Arc<World> {
            Arc::new(World {
                meeting: Meeting::default(),
                said: (0..threads).map(|_| UnsafeCell::new(0)).collect(),
                by_the_last: UnsafeCell::new(0),
            })
        }

        fn come(&self) -> Option<Round> {
            // SAFETY: loom looks whether anybody else is at a cell meanwhile; so it does below.
            let last = || self.by_the_last.with_mut(|p| unsafe { *p += 1 });
            self.meeting.come(self.said.len() as u32, last)
        }

        fn say(&self, me: usize, turn: u32) {
            // SAFETY: this thread's own cell; loom looks whether anybody reads it meanwhile.
            self.said[me].with_mut(|p| unsafe { *p = turn });
        }

        /// Behind a meeting, which is the how-manieth.
        fn hear(&self, turn: u32, meetings: u32) {
            for said in &self.said {
                // SAFETY: behind the meeting, where nobody writes; loom looks whether somebody does.
                said.with(|p| assert_eq!(unsafe { *p }, turn, "a thread was not waited for"));
            }
            // SAFETY: the last one has written before the meeting ended; loom looks whether it does now.
            self.by_the_last.with(|p| assert_eq!(unsafe { *p }, meetings));
        }
    }

    /// Waits in between, so that nobody writes before all have read.
    fn meet_twice(w: &World, me: usize) {
        let wait = || {
            if let Some(round) = w.come() {
                while !w.meeting.is_over(round) {
                    thread::yield_now();
                }
            }
        };
        w.say(me, 1);
        wait();
        w.hear(1, 1);
        wait();
        w.say(me, 2);
        wait();
        w.hear(2, 3);
    }

    /// Looks once: three that wait would take turns at it for ever.
    fn meet_once(w: &World, me: usize) {
        w.say(me, 1);
        if w.come().is_none_or(|round| w.meeting.is_over(round)) {
            w.hear(1, 1);
        }
    }

    fn run(threads: usize, meet: fn(&World, usize)) {
        loom::model(move || {
            let w = World::of(threads);
            let others: Vec<_> = (1..threads)
                .map(|me| {
                    let w = w.clone();
                    thread::spawn(move || meet(&w, me))
                })
                .collect();
            meet(&w, 0);
            others.into_iter().for_each(|t| t.join().unwrap());
        });
    }

    #[test]
    fn model_two_threads_meet_again_and_again() {
        run(2, meet_twice);
    }

    #[test]
    fn model_three_threads_meet() {
        run(3, meet_once);
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
