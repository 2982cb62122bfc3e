//! A number that is odd while the watcher reads and handles events (the essay is in `mod.rs`).

use oxmpi_mca::sync::{AtomicU64, Ordering, fence};

/// The watcher's number: odd from before it reads events until it has marked what they name.
pub struct Turns {
    number: AtomicU64,
}

impl Turns {
    /// Makes an even number: the watcher is not handling events.
    pub fn new() -> Turns {
        Turns { number: AtomicU64::new(0) }
    }

    /// Makes the number odd. Called by the watcher alone, before it reads events.
    pub fn begin(&self) {
        let now = self.number.load(Ordering::Relaxed);
        self.number.store(now + 1, Ordering::Relaxed);
        // SYNC POINT with `is_still`: before the slots are looked at. The system call that reads orders it for `quiet`.
        fence(Ordering::SeqCst);
    }

    /// Makes the number even. Called by the watcher alone, when all that it read has been handled.
    pub fn end(&self) {
        let now = self.number.load(Ordering::Relaxed);
        // SYNC POINT with `quiet`: the marks come first.
        self.number.store(now + 1, Ordering::Release);
    }

    /// The number; `None`: it is odd, so the watcher is handling events.
    pub fn quiet(&self) -> Option<u64> {
        // SYNC POINT with `end`.
        let now = self.number.load(Ordering::Acquire);
        (now & 1 == 0).then_some(now)
    }

    /// Whether the number is still `seen`, so that no handling of events has begun since; called behind the caller's
    /// store to a slot.
    pub fn is_still(&self, seen: u64) -> bool {
        // SYNC POINT with `begin`.
        fence(Ordering::SeqCst);
        self.number.load(Ordering::Relaxed) == seen
    }
}
