//! Memory for each message that begins to be placed, for one rank.

use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_testing::held;
use std::collections::HashMap;
use std::sync::Mutex;

/// Tags whose messages have places.
pub const PLACED_TAGS: [u8; 3] = [5, 64, 133];

/// The one of them whose messages have a place only when they were claimed.
pub(crate) const CLAIMED_TAG: u8 = 64;

/// Bytes of a message that stay in front of its place, and that lie behind the place.
pub(crate) const HEADER: usize = 24;
pub(crate) const MARGIN: usize = 64;
pub(crate) const UNWRITTEN: u8 = 0xcd;

/// A message that is being placed.
pub(crate) struct Coming {
    pub start: Vec<u8>,
    pub memory: Vec<u8>,
    /// Bytes of the memory when it was said to be gone.
    pub left: Option<Vec<u8>>,
    pub asked: u32,
    /// The name under which it was claimed, or 0.
    pub name: u64,
}

impl Coming {
    /// Memory for a message of `len` bytes that begins so.
    pub(crate) fn new(start: Vec<u8>, len: usize, name: u64) -> Coming {
        let memory = vec![UNWRITTEN; len - start.len() + MARGIN];
        Coming { start, memory, left: None, asked: 0, name }
    }

    /// Whether a message of `len` bytes that begins so is the one.
    pub(crate) fn is(&self, start: &[u8], len: usize) -> bool {
        self.start == start && self.memory.len() == len - start.len() + MARGIN
    }
}

/// Messages that are being placed, by process and context, and how many were.
#[derive(Default)]
pub struct Places {
    pub(crate) coming: Mutex<HashMap<(u32, u32), Coming>>,
    /// Places go when they are asked for again.
    pub(crate) go_away: AtomicBool,
    /// Messages that were claimed.
    pub(crate) claimed: AtomicU64,
    pub(crate) placed: AtomicU64,
    pub(crate) gone: AtomicU64,
}

impl Places {
    /// Has places go when they are asked for again, or stay.
    pub fn let_go_away(&self, go: bool) {
        self.go_away.store(go, Ordering::Relaxed);
    }

    /// A message of a process came whole: it was one that had begun to be placed, perhaps, whose connection broke. False: that was claimed, so it may not.
    pub(crate) fn forget(&self, proc: u32, ctx: u32) -> bool {
        held(&self.coming).remove(&(proc, ctx)).is_none_or(|coming| coming.name == 0)
    }

    /// How many messages were placed, and how many went nowhere.
    pub fn count(&self) -> (u64, u64) {
        (self.placed.load(Ordering::Relaxed), self.gone.load(Ordering::Relaxed))
    }
}
