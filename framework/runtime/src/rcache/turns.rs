//! A number that is odd while the watcher reads and handles events (the essay is in `mod.rs`).

use oxmpi_mca::sync::{AtomicU64, Ordering, fence};

pub struct Turns {
    number: AtomicU64,
}

impl Turns {
    pub fn new() -> Turns {
        Turns { number: AtomicU64::new(0) }
    }

    /// The watcher's, before it reads.
    pub fn begin(&self) {
        let now = self.number.load(Ordering::Relaxed);
        self.number.store(now + 1, Ordering::Relaxed);
        // SYNC POINT with `is_still`: before the slots are looked at. The system call that reads orders it for `quiet`.
        fence(Ordering::SeqCst);
    }

    /// The watcher's, when all that it read has been handled.
    pub fn end(&self) {
        let now = self.number.load(Ordering::Relaxed);
        // SYNC POINT with `quiet`: the marks come first.
        self.number.store(now + 1, Ordering::Release);
    }

    /// The number, unless the watcher is at it.
    pub fn quiet(&self) -> Option<u64> {
        // SYNC POINT with `end`.
        let now = self.number.load(Ordering::Acquire);
        (now & 1 == 0).then_some(now)
    }

    /// Whether no turn has begun since; behind the caller's store to a slot.
    pub fn is_still(&self, seen: u64) -> bool {
        // SYNC POINT with `begin`.
        fence(Ordering::SeqCst);
        self.number.load(Ordering::Relaxed) == seen
    }
}
