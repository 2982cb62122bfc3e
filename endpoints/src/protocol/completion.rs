//! Completion word of a command: IDLE → PENDING → (WAITED →) DONE → PENDING …
//!
//! The client arms it before it publishes the command, the proxy swaps it to DONE behind everything it wrote. A thread that is
//! going to sleep on the word changes PENDING to WAITED first, so the proxy's swap tells whether somebody is to be woken; there is no
//! moment in which one could miss the other, since both change the same word.

use super::sync::{AtomicU32, Ordering};

const IDLE: u32 = 0;
pub const PENDING: u32 = 1;
/// Pending, and a thread sleeps on the word.
pub const WAITED: u32 = 2;
pub const DONE: u32 = 3;

/// The word.
#[repr(transparent)]
pub struct Completion(AtomicU32);

impl Completion {
    pub fn new() -> Self {
        Completion(AtomicU32::new(IDLE))
    }

    /// By the client, before the record is pushed; the push publishes it.
    pub fn arm(&self) {
        self.0.store(PENDING, Ordering::Relaxed);
    }

    pub fn is_done(&self) -> bool {
        // SYNC POINT with `complete`.
        self.0.load(Ordering::Acquire) == DONE
    }

    /// By the proxy, behind all it wrote. Says whether a sleeper is to be woken.
    pub fn complete(&self) -> bool {
        // SYNC POINT with `is_done` and `announce`.
        self.0.swap(DONE, Ordering::Release) == WAITED
    }

    /// By a thread that is going to sleep: true if the word is WAITED now, false if it is DONE.
    pub fn announce(&self) -> bool {
        match self.0.compare_exchange(PENDING, WAITED, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => true,
            Err(found) => found == WAITED,
        }
    }

    /// The word to sleep on while it is WAITED.
    #[cfg(not(loom))]
    pub fn word(&self) -> *const u32 {
        self.0.as_ptr()
    }
}
