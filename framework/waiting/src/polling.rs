//! Stands for `futex` under the model checker, which has no sleep: a sleeper polls, so nobody has to be woken.

use oxmpi_mca::WaitWord;
use oxmpi_mca::sync::{AtomicU32, yield_now};
use std::time::Duration;

/// Words that one thread can wait for at once.
pub const MOST_WORDS: usize = 128;

/// Lets the others run; the caller looks again.
pub fn wait_private(_: &AtomicU32, _: u32, _: Option<Duration>) {
    yield_now();
}

/// Does nothing.
pub fn wake_private(_: usize) {}

/// Does nothing.
pub fn wake_shared(_: usize) {}

/// Lets the others run; the caller looks again.
///
/// # Safety
/// None is needed.
pub unsafe fn wait_shared(_: *const u32, _: u32, _: Duration) {
    yield_now();
}

/// Lets the others run; the caller looks again.
///
/// # Safety
/// None is needed.
pub unsafe fn wait_many(_: &[WaitWord], _: Option<(&AtomicU32, u32)>, _: Duration) -> bool {
    yield_now();
    true
}

/// Lets the others run.
pub fn nap(_: Duration) {
    yield_now();
}
