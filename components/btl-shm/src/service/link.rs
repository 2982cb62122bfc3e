//! A link: the slots in which requests of one context of a process go to the service context of another, and replies come back.
//!
//! A slot is free, then has a request, then the reply in the same place, then is free again. So room for the reply
//! is there before the request is made, and a server never waits for any. Slots are used in turn, by the requester for its next request
//! and by the server for the next that it takes, so replies come in the order of requests.
//!
//! ```text
//! link      0        how many requests have been answered since its birth (the server's, for a server that comes back)
//!           4096     ROOM slots of SLOT bytes: state, length, tag; 64 bytes on, header and payload
//! ```
//!
//! The requester makes the link and owns all slots but those with a request, which are the server's. Data that the other
//! side writes is copied before it is looked at, and its lengths are checked.

use oxmpi_mca::sync::{AtomicU32, Ordering};

/// Slots of a link: requests without a reply at most.
pub const ROOM: u64 = 16;
/// Bytes of a slot.
pub const SLOT: u64 = 4096;
/// Bytes of header and payload that a slot takes.
pub const MOST: u64 = SLOT - DATA;
/// Offset of the header within a slot.
pub const DATA: u64 = 64;
/// Bytes of a link.
pub const LEN: u64 = 4096 + ROOM * SLOT;
/// Offset of the first slot.
pub const SLOTS: u64 = 4096;

/// State of a slot that the requester may write a request into.
const FREE: u32 = 0;
/// State of a slot with a request that waits for the server.
const ASKED: u32 = 1;
/// State of a slot with a reply that waits for the requester.
const ANSWERED: u32 = 2;

/// Marks a slot, which was free, as having a request that is written. The requester calls it.
pub fn ask(state: &AtomicU32) {
    // SYNC POINT with `is_asked`.
    state.store(ASKED, Ordering::Release);
}

/// Whether a slot has a request that the server has not answered.
pub fn is_asked(state: &AtomicU32) -> bool {
    // SYNC POINT with `ask`.
    state.load(Ordering::Acquire) == ASKED
}

/// Marks a slot as having a reply, written in the place of its request. The server calls it.
pub fn answer(state: &AtomicU32) {
    // SYNC POINT with `is_answered`.
    state.store(ANSWERED, Ordering::Release);
}

/// Whether a slot has a reply that the requester has not taken.
pub fn is_answered(state: &AtomicU32) -> bool {
    // SYNC POINT with `answer`.
    state.load(Ordering::Acquire) == ANSWERED
}

/// Marks a slot as free, after its reply was taken. The requester calls it.
pub fn free(state: &AtomicU32) {
    state.store(FREE, Ordering::Relaxed);
}
