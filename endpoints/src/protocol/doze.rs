//! Sleep word of a proxy: it announces that it is about to sleep, looks at its ring once more, and sleeps on the word.
//!
//! A producer pushes first and looks at the word then; the proxy writes the word first and looks at the ring then. Each has a
//! full fence between the two, so at least one sees the other: a command is never left in the ring of a proxy that sleeps on.

use super::sync::{AtomicU32, Ordering, fence};

const AWAKE: u32 = 0;
/// The value of the word while the proxy sleeps.
pub const ASLEEP: u32 = 1;

#[repr(C, align(64))]
pub struct Doze(AtomicU32);

impl Doze {
    pub fn new() -> Self {
        Doze(AtomicU32::new(AWAKE))
    }

    /// Before the last look at the ring.
    pub fn announce(&self) {
        self.0.store(ASLEEP, Ordering::Relaxed);
        // SYNC POINT with the fence in `must_wake`.
        fence(Ordering::SeqCst);
    }

    /// After that look found something, and after a sleep.
    pub fn awake(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Behind a push: is the caller to wake the proxy? Says yes to one caller for a sleep.
    pub fn must_wake(&self) -> bool {
        // SYNC POINT with the fence in `announce`.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) == ASLEEP && self.0.swap(AWAKE, Ordering::Relaxed) == ASLEEP
    }

    /// The word to sleep on while it is ASLEEP.
    #[cfg(not(loom))]
    pub fn word(&self) -> *const u32 {
        self.0.as_ptr()
    }

    #[cfg(loom)]
    pub fn is_asleep(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ASLEEP
    }
}
