//! Entering context 0, under whose CRI messages are sent.

use oxmpi_mca::{CriGuard, Host, ThreadCtx};

/// The context of all our messages.
pub const CONTEXT: u32 = 0;

/// Holds the CRI of [`CONTEXT`] until the guard goes. `thread`: the context of the calling thread, which is in no handler and
/// holds no lock.
pub fn enter(host: &Host, thread: *mut ThreadCtx) -> CriGuard<'_> {
    // SAFETY: the host passes the calling thread's context to every verb.
    host.hold(CONTEXT, unsafe { ThreadCtx::seat_of(thread) }, host.threaded())
}

/// The same if nobody else is inside.
pub fn try_enter(host: &Host, thread: *mut ThreadCtx) -> Option<CriGuard<'_>> {
    // SAFETY: as above, and to progress functions.
    host.try_hold(CONTEXT, unsafe { ThreadCtx::seat_of(thread) }, host.threaded())
}
