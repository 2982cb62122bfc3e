//! Waiting with progress, for components that hold nothing.

use super::caller::caller;
use oxmpi_mca::services::Predicate;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Status, ThreadCtx};
use std::ffi::c_void;

/// Makes progress until `done` answers something else than 0; in the table as `HostServices::wait_until`. The caller
/// holds no lock.
pub(super) extern "C" fn wait_until(
    ctx: *mut c_void,
    thread: *mut ThreadCtx,
    done: Predicate,
    arg: *mut c_void,
) -> Status {
    caller(ctx).1.wait_until(thread, || done(arg) != 0);
    Status::OK
}

/// Makes progress until `word` has another value than `value`; in the table as `HostServices::wait_word`. The caller
/// holds no lock.
pub(super) extern "C" fn wait_word(
    ctx: *mut c_void,
    thread: *mut ThreadCtx,
    word: *const AtomicU32,
    value: u32,
) -> Status {
    // SAFETY: the component keeps the word until the call returns.
    let word = unsafe { &*word };
    // SYNC POINT with whoever changes the word (release).
    caller(ctx).1.wait_until(thread, || word.load(Ordering::Acquire) != value);
    Status::OK
}
