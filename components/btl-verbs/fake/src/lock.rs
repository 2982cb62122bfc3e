//! A lock as the mlx5 library has it on a queue pair, a doorbell register or a completion queue: taken and counted, or
//! left away because the user promised one thread at a time. A promise that is broken is seen here.

use crate::counters::{self, Counter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct ModelLock {
    /// Counter of this lock; `None`: there is none, by promise.
    counted: Option<Counter>,
    real: Mutex<()>,
    inside: AtomicBool,
    lenient: bool,
}

/// Inside as long as this is.
pub enum Inside<'a> {
    Locked(#[expect(dead_code, reason = "held, not read")] MutexGuard<'a, ()>),
    Promised(&'a AtomicBool),
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if let Inside::Promised(inside) = self {
            inside.store(false, Ordering::Release);
        }
    }
}

impl ModelLock {
    pub fn new(counted: Option<Counter>, lenient: bool) -> ModelLock {
        ModelLock { counted, real: Mutex::new(()), inside: AtomicBool::new(false), lenient }
    }

    pub fn enter(&self, what: &str) -> Inside<'_> {
        if let Some(counter) = self.counted {
            counters::add(counter, 1);
            return Inside::Locked(self.real.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if self.inside.swap(true, Ordering::Acquire) {
            counters::add(Counter::Violations, 1);
            if !self.lenient {
                eprintln!("fake verbs: two threads at once on {what}, which is promised to one");
                std::process::abort();
            }
        }
        Inside::Promised(&self.inside)
    }
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
    fn locks_that_are_taken_are_counted() {
        let lock = ModelLock::new(Some(Counter::CqLocks), false);
        let before = counters::get(Counter::CqLocks);
        (0..3).for_each(|_| drop(lock.enter("it")));
        assert_eq!(counters::get(Counter::CqLocks), before + 3);
    }
}
