//! The interface's rule for threads: it takes no locks, so calls on one device exclude each other by the program's own care.

use crate::config::config;
use crate::counters::{self, Counter};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a thread is in a call on a device.
#[derive(Default)]
pub struct OneThread(AtomicBool);

/// Ends a call on a device.
pub struct Entered<'a>(&'a AtomicBool);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl OneThread {
    /// Notes that a thread is in a call. Another one there at the same time ends the process, or is counted where the set-up is lenient.
    pub fn enter(&self) -> Option<Entered<'_>> {
        if !self.0.swap(true, Ordering::Acquire) {
            return Some(Entered(&self.0));
        }
        counters::add(Counter::CallsByTwoThreads, 1);
        if !config().lenient {
            eprintln!(
                "libugni emulation: two threads are in calls on one device; the interface takes no locks, so the program has to"
            );
            std::process::abort();
        }
        None
    }
}
