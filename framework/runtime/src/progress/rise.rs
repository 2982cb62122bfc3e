//! A thread level that rises while a thread waits (the rule is in `thread.rs`).
//!
//! `waiting` is 1 while a thread is in a lock-free wait loop; `rising` is 1 while somebody wants to
//! raise the level. Each side writes its word and then reads the other's: store, full barrier, load on
//! both sides, or both may miss the other. The waiter's side is on every blocking receive, so its
//! barrier is a compiler fence and the raiser pays for both by `membarrier`: after that call every
//! other thread has either its store of `waiting` visible or will see `rising`. The waiter clears
//! `waiting` before it stands still, which is the acknowledgement.
//!
//! Where the kernel has no private expedited membarrier the level does not rise.

use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

/// One per instance.
#[derive(Default)]
pub struct Rise {
    rising: AtomicU32,
    waiting: AtomicU32,
}

impl Rise {
    /// A wait loop without locks begins. False: not now, the level is rising.
    #[inline(always)]
    pub(crate) fn enter(&self) -> bool {
        self.waiting.store(1, Ordering::Relaxed);
        // With the raiser's membarrier this is a full fence.
        compiler_fence(Ordering::SeqCst);
        if self.rising.load(Ordering::Relaxed) == 0 {
            return true;
        }
        self.leave();
        false
    }

    /// The loop is left, by its end or as acknowledgement.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        // SYNC POINT with `run`: what this thread did without locks is seen by the raiser.
        self.waiting.store(0, Ordering::Release);
    }

    /// A loop looks here each time round, and leaves when it is true.
    #[inline(always)]
    pub(crate) fn wanted(&self) -> bool {
        self.rising.load(Ordering::Relaxed) != 0
    }

    /// Stands still until no rise is going on.
    pub(crate) fn stand_still(&self) {
        // SYNC POINT with `run`.
        while self.rising.load(Ordering::Acquire) != 0 {
            std::thread::yield_now();
        }
    }

    /// Runs `raise` while no thread is in a lock-free wait loop. False: this kernel cannot, nothing
    /// was done. One caller at a time.
    pub(crate) fn run(&self, raise: impl FnOnce()) -> bool {
        if membarrier(MembarrierCommand::RegisterPrivateExpedited).is_err() {
            return false;
        }
        self.rising.store(1, Ordering::SeqCst);
        let fenced = membarrier(MembarrierCommand::PrivateExpedited).is_ok();
        if fenced {
            // SYNC POINT with `leave`.
            while self.waiting.load(Ordering::Acquire) != 0 {
                std::thread::yield_now();
            }
            raise();
        }
        // SYNC POINT with `stand_still`.
        self.rising.store(0, Ordering::Release);
        fenced
    }
}
