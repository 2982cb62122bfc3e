//! Entering context 0, under whose CRI messages are sent.

use oxmpi_mca::{CriGuard, Entry, Host};

/// The context of all our messages.
pub const CONTEXT: u32 = 0;

/// Holds the CRI of [`CONTEXT`] until the guard goes; so long nobody can wait by the same entry.
pub fn enter<'a>(host: &'a Host, entry: &'a mut Entry) -> CriGuard<'a> {
    host.hold(entry, CONTEXT)
}

/// The same if nobody else is inside.
pub fn try_enter<'a>(host: &'a Host, entry: &'a mut Entry) -> Option<CriGuard<'a>> {
    host.try_hold(entry, CONTEXT)
}
