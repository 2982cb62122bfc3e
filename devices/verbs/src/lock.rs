//! A lock as the mlx5 library has it on a queue pair, a doorbell register or a completion queue: taken and counted, or
//! left away because the user promised one thread at a time. A promise that is broken is seen here.

use crate::counters::{self, Counter};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct ModelLock {
    /// Counter of this lock; `None`: there is none, by promise.
    counted: Option<Counter>,
    real: Mutex<()>,
    inside: AtomicBool,
    /// The thread that was inside last; 0: none yet.
    last: AtomicU32,
    lenient: bool,
}

/// The lock is held as long as this lives.
pub enum ModelGuard<'a> {
    Locked(#[expect(dead_code, reason = "held, not read")] MutexGuard<'a, ()>),
    Promised(&'a AtomicBool),
}

impl Drop for ModelGuard<'_> {
    fn drop(&mut self) {
        if let ModelGuard::Promised(inside) = self {
            inside.store(false, Ordering::Release);
        }
    }
}

impl ModelLock {
    pub fn new(counted: Option<Counter>, lenient: bool) -> ModelLock {
        ModelLock {
            counted,
            real: Mutex::new(()),
            inside: AtomicBool::new(false),
            last: AtomicU32::new(0),
            lenient,
        }
    }

    pub fn enter(&self, what: &str) -> ModelGuard<'_> {
        if let Some(counter) = self.counted {
            counters::add(counter, 1);
            return ModelGuard::Locked(self.real.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if self.inside.swap(true, Ordering::Acquire) {
            counters::add(Counter::Violations, 1);
            if !self.lenient {
                eprintln!("fake verbs: two threads at once on {what}, which is promised to one");
                std::process::abort();
            }
        }
        let thread = this_thread();
        let last = self.last.swap(thread, Ordering::Relaxed);
        if last != 0 && last != thread {
            counters::add(Counter::Handovers, 1);
        }
        ModelGuard::Promised(&self.inside)
    }
}

/// A number of this thread, which no other one of the process has had.
fn this_thread() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // At the thread's very end it is gone.
    NUMBER.try_with(|n| *n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_that_are_broken_are_counted() {
        let lock = ModelLock::new(None, true);
        let before = counters::by_name("violations").expect("a counter");
        drop(lock.enter("it"));
        let first = lock.enter("it");
        assert_eq!(counters::by_name("violations"), Some(before));
        drop(lock.enter("it"));
        assert_eq!(counters::by_name("violations"), Some(before + 1));
        drop(first);
    }

    #[test]
    fn threads_that_follow_each_other_are_counted() {
        let lock = ModelLock::new(None, false);
        drop(lock.enter("it"));
        let before = counters::get(Counter::Handovers);
        drop(lock.enter("it"));
        assert_eq!(counters::get(Counter::Handovers), before);
        std::thread::scope(|s| {
            s.spawn(|| drop(lock.enter("it")));
        });
        assert_eq!(counters::get(Counter::Handovers), before + 1);
    }

    #[test]
    fn locks_that_are_taken_are_counted() {
        let lock = ModelLock::new(Some(Counter::CqLocks), false);
        let before = counters::get(Counter::CqLocks);
        (0..3).for_each(|_| drop(lock.enter("it")));
        assert_eq!(counters::get(Counter::CqLocks), before + 3);
    }
}
