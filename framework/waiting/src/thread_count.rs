//! The number of threads that have a context.

use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// How many threads have a context now, the main thread's always among them.
#[derive(Debug)]
pub struct ThreadCount(AtomicU32);

impl ThreadCount {
    /// A count of one: the main thread.
    pub fn new() -> ThreadCount {
        ThreadCount(AtomicU32::new(1))
    }
    /// Counts a thread that has got a context.
    pub fn comes(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    /// Counts a thread out whose context has gone.
    pub fn goes(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
    /// Whether more threads have a context than `room`, the cores for them.
    pub fn exceeds(&self, room: u32) -> bool {
        self.0.load(Ordering::Relaxed) > room
    }
}
