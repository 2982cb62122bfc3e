//! The number of threads that have a context.

use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// How many threads have a context now, the main thread's always among them.
#[derive(Debug)]
pub(crate) struct ThreadCount(AtomicU32);

impl ThreadCount {
    pub fn new() -> ThreadCount {
        ThreadCount(AtomicU32::new(1))
    }
    pub fn comes(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    pub fn goes(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
    pub(crate) fn exceeds(&self, room: u32) -> bool {
        self.0.load(Ordering::Relaxed) > room
    }
}
