//! Entering context 0, under whose lock messages are sent.

use oxmpi_mca::{Guard, Host};

/// The context of all our messages.
pub const CONTEXT: u32 = 0;

/// Holds the CRI of [`CONTEXT`] until the guard goes. The caller is in no handler and holds no lock.
pub fn enter(host: &Host) -> Guard<'_> {
    host.cri(CONTEXT).lock.guard(host.threaded())
}
