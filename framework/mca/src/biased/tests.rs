//! Entries that checked builds refuse, and a host without the barrier.

use super::*;
use crate::{BiasedLock, Entry};
use std::process::Command;

fn seat() -> &'static Seat {
    Box::leak(Box::new(Seat::new()))
}

fn lock() -> BiasedLock<{ level::CRI }> {
    BiasedLock::new(LockServices::WITHOUT_OWNERS)
}

/// Set in a process that is to die of its second entry.
const TWICE: &str = "OXMPI_TEST_ENTERS_TWICE";

#[test]
#[cfg(debug_assertions)]
fn a_seat_that_enters_twice_ends_the_process() {
    if std::env::var_os(TWICE).is_some() {
        let (one, other, me) = (lock(), lock(), seat());
        let _first = one.enter(&Entry::among(), Some(me));
        let _second = other.enter(&Entry::among(), Some(me));
        return;
    }
    let name = "biased::tests::a_seat_that_enters_twice_ends_the_process";
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["--exact", name, "--nocapture"]).env(TWICE, "1").output();
    let output = output.expect("this program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it went on: {said}");
    assert!(said.contains("a thread enters the lock of a CRI while it holds another"), "{said}");
}

/// One behind the other is as it should be, and so is one of each level.
#[test]
fn locks_behind_each_other_and_of_two_levels() {
    let (one, other, me) = (lock(), lock(), Some(seat()));
    let shard = BiasedLock::<{ level::SHARD }>::new(LockServices::WITHOUT_OWNERS);
    for lock in [&one, &other, &one] {
        let pass = lock.enter(&Entry::among(), me);
        // SAFETY: each is entered with that pass.
        unsafe {
            shard.leave(shard.enter(&Entry::among(), me));
            lock.leave(pass);
        }
    }
}

#[test]
fn without_the_barrier_nobody_becomes_the_owner() {
    let (lock, me) = (lock(), seat());
    for _ in 0..2 * Bias::MOST {
        // SAFETY: it is entered with that pass.
        unsafe { lock.leave(lock.enter(&Entry::among(), Some(me))) };
        assert!(!lock.enter_own(me));
    }
    assert!(lock.word.try_lock(), "the word is free");
}
