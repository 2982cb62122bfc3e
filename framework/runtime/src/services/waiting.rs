//! Waiting with progress, for components that hold nothing.

use super::caller::caller;
use oxmpi_mca::services::Predicate;
use oxmpi_mca::{Status, ThreadCtx, WakingWord};
use oxmpi_waiting::Awaited;
use oxmpi_waiting::futex::wake_shared;
use std::ffi::c_void;

/// The way in of a component's call.
macro_rules! entry {
    ($instance:expr, $thread:expr) => {
        // SAFETY: a call from inside a verb or a turn, thus inside the gate, whose entry is lent for it; made once for each.
        &mut unsafe { $instance.entry($thread) }
    };
}

/// Makes progress until `done` answers something else than 0; in the table as `HostServices::wait_until`. The caller
/// holds no lock.
pub(super) extern "C" fn wait_until(
    ctx: *mut c_void,
    thread: *mut ThreadCtx,
    done: Predicate,
    arg: *mut c_void,
) -> Status {
    let instance = caller!(ctx).1;
    instance.wait_until(entry!(instance, thread), |_| done(arg) != 0);
    Status::OK
}

/// Makes progress, or sleeps, until `word` has another value than `value`, or a process fails; in the table as
/// `HostServices::wait_word`. The caller holds no lock.
pub(super) extern "C" fn wait_word(
    ctx: *mut c_void,
    thread: *mut ThreadCtx,
    word: *const WakingWord,
    value: u32,
) -> Status {
    let instance = caller!(ctx).1;
    let before = instance.failures_told();
    // SAFETY: the component keeps the word until the call returns.
    let awaited = unsafe { Awaited::new(word, value) };
    instance.wait_word(entry!(instance, thread), awaited, || instance.failures_told() != before);
    if awaited.has_changed() { Status::OK } else { Status::PEER_FAILED }
}

/// Wakes those who sleep on a word, in whatever process; in the table as `HostServices::wake_word`. The caller may hold locks.
pub(super) extern "C" fn wake_word(_: *mut c_void, word: *const WakingWord) -> Status {
    wake_shared(word.addr());
    Status::OK
}
