//! Partitioned messages (MPI 5.0 §4.2): one persistent message in parts that the sender marks ready one
//! by one, from any of its threads.
//!
//! ```text
//! Psend_init   announcement (tag, first channel, partitions, bytes each) ─────►  met by a Precv_init
//! Start                                                                          Start
//! Pready(i)    channel first+i  ──────────────────────────────────────────────►  Parrived(j)
//! ```
//!
//! **Set-up.** The sender never waits for the receiver: it numbers its *channels* (one per partition)
//! itself and sends one small announcement when the operation is made. A channel is a tag of the
//! library's own, negative and far below those of collectives, so no receive of the user, wildcard or
//! not, can ever match. Each partition is a persistent send on its channel, made once; the receiver
//! makes one persistent receive per *sender's* partition once it has met the announcement, at the place in
//! its buffer where those bytes belong. Start and Pready start persistent requests and allocate nothing.
//!
//! **Matching.** All announcements of a communicator go by one tag, and carry the user's. Each
//! Precv_init posts one receive for an announcement of its source; what has come is paired with the
//! oldest Precv_init of that source and tag ([`Meeting`]). Announcements of a pair arrive in the order
//! of Psend_init, so operations pair in the order they were made, as the standard wants. A receive
//! request that is freed before it met anyone still takes its announcement off the line.
//!
//! **Partitions need not agree**: receiver's partition j has arrived when all sender's partitions that
//! overlap its bytes have. Where a sender's partition ends inside an element of a receive type with
//! gaps, the bytes are received aside and unpacked when they are there.
//!
//! **Access.** Cells and vectors belong to the holder of the request's lane lock (`made`),
//! and are not changed while the operation is active but for the cursor. The word of each part is what
//! threads share: `Pready` claims it (IDLE → CLAIMED → STARTED), arrival of a part that is received
//! aside likewise (IDLE → CLAIMED → DONE).

mod meeting;
mod receiving;
mod sending;

pub(crate) use meeting::Meeting;
pub use receiving::Receiving;
pub use sending::Sending;

use super::Made;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU8, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status};
use std::ptr::null_mut;

/// The tag of announcements; channels lie below it. Tags of collectives are above, those for making
/// communicators below (`construct`).
const ANNOUNCE: i32 = -(1 << 20);
const CHANNELS: u32 = 1 << 29;

fn channel_tag(first: u32, part: usize) -> i32 {
    ANNOUNCE - 1 - (first.wrapping_add(part as u32) % CHANNELS) as i32
}

const IDLE: u8 = 0;
const CLAIMED: u8 = 1;
const DONE: u8 = 2;

/// A persistent request of the point-to-point layer, and how far it is.
struct Part {
    req: *mut RequestHeader,
    word: AtomicU8,
}

impl Part {
    fn new(req: *mut RequestHeader) -> Part {
        Part { req, word: AtomicU8::new(IDLE) }
    }
    fn is_complete(&self) -> bool {
        // SAFETY: a live request of ours.
        unsafe { &*self.req }.completion.is_complete()
    }
    fn status(&self) -> MsgStatus {
        // SAFETY: complete, so nobody writes.
        unsafe { (*self.req).status }
    }
    fn start(&self) -> Status {
        // SAFETY: an inactive persistent request of ours.
        unsafe { ((*(*self.req).ops).start)(self.req) }
    }
    /// Takes the word from IDLE; false: somebody has.
    fn claim(&self, threaded: bool) -> bool {
        if threaded {
            return self.word.compare_exchange(IDLE, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        }
        let idle = self.word.load(Ordering::Relaxed) == IDLE;
        if idle {
            self.word.store(CLAIMED, Ordering::Relaxed);
        }
        idle
    }
}

fn release_all(parts: &mut Vec<Part>) {
    for part in parts.drain(..) {
        // SAFETY: complete or inactive, and nobody else's.
        unsafe { ((*(*part.req).ops).release)(part.req, null_mut()) };
    }
}

/// The user's description of a partitioned message, the sender's or the receiver's.
pub struct Layout<'a> {
    pub buf: *mut u8,
    pub partitions: usize,
    /// Elements per partition.
    pub count: u64,
    pub dtype: &'a TypeDesc,
    /// Rank of the other side.
    pub peer: i32,
    pub tag: i32,
}

impl Layout<'_> {
    /// Packed bytes of a partition; `None`: more than there can be in all.
    fn bytes(&self) -> Option<u64> {
        let each = self.dtype.packed.checked_mul(self.count)?;
        each.checked_mul(self.partitions as u64).filter(|n| *n <= i64::MAX as u64)?;
        Some(each)
    }
}

/// The announcement that travels ahead: little-endian words.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Announcement {
    tag: i32,
    first: u32,
    partitions: u64,
    bytes: u64,
}

const WORDS: usize = 3;

impl Announcement {
    fn encode(self) -> [u64; WORDS] {
        let head = self.tag as u32 as u64 | u64::from(self.first) << 32;
        [head.to_le(), self.partitions.to_le(), self.bytes.to_le()]
    }
    /// `None`: no sender says such a thing.
    fn decode(words: &[u64; WORDS]) -> Option<Announcement> {
        let [head, partitions, bytes] = words.map(u64::from_le);
        let whole = partitions.checked_mul(bytes).is_some_and(|n| n <= i64::MAX as u64);
        (whole && partitions <= u64::from(CHANNELS)).then_some(Announcement {
            tag: head as u32 as i32,
            first: (head >> 32) as u32,
            partitions,
            bytes,
        })
    }
}

/// The sender's side of a request, if it is one.
pub fn sending(made: &Made) -> Option<&Sending> {
    made.body()
}

/// The receiver's side of a request, if it is one.
pub fn receiving(made: &Made) -> Option<&Receiving> {
    made.body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_survive_the_wire_and_nonsense_is_refused() {
        let a = Announcement { tag: i32::MAX, first: u32::MAX, partitions: 8192, bytes: 1 << 20 };
        assert_eq!(Announcement::decode(&a.encode()), Some(a));
        assert_eq!(Announcement::decode(&[0, u64::MAX, 1]), None);
        assert_eq!(Announcement::decode(&[0, 1 << 20, 1 << 50]), None);
    }

    #[test]
    fn channels_lie_between_collectives_and_the_making_of_communicators() {
        for (first, part) in [(0, 0), (u32::MAX, 1), (CHANNELS - 1, 0), (CHANNELS, 7)] {
            let tag = channel_tag(first, part);
            assert!(tag < ANNOUNCE && tag > i32::MIN + (1 << 30) + 2, "{tag}");
        }
    }
}
