//! The cooperative reads of a context that are under way (`cooperative.rs`).

use crate::wire::ASSISTS;
use core::cell::{Cell, RefCell};
use oxmpi_btl::RmaDesc;
use rustix::io::Errno;

/// Reads in a row without a helper after which only one read in [`ASKED_EVERY`] asks for one.
const MOST_ALONE: u32 = 4;

/// One in so many reads asks for a helper, after helpers have not come.
const ASKED_EVERY: u32 = 8;

/// A read whose helper was not done when the reader was.
pub(super) struct Waiting {
    pub(super) index: u32,
    pub(super) expected: u32,
    pub(super) own: Result<(), Errno>,
    pub(super) peer: u32,
    pub(super) rma: RmaDesc,
}

/// The reads of one context. Touched only inside verbs of the context.
pub struct CooperativeReads {
    pub(super) generation: Cell<u32>,
    /// One bit per pair of words in use.
    pub(super) used: Cell<u32>,
    /// Reads one after the other to which no helper came.
    pub(super) alone: Cell<u32>,
    pub(super) waiting: RefCell<Vec<Waiting>>,
}

impl CooperativeReads {
    /// A record without reads, with room for as many as can be under way.
    pub fn new() -> CooperativeReads {
        CooperativeReads {
            generation: Cell::new(0),
            used: Cell::new(0),
            alone: Cell::new(0),
            // As many as there can be: a read allocates nothing.
            waiting: RefCell::new(Vec::with_capacity(ASSISTS)),
        }
    }

    /// Whether to ask the source to help with the next read: helpers came lately, or it is time to try again. A false
    /// answer counts as one more read without a helper.
    pub(super) fn is_help_likely(&self) -> bool {
        let alone = self.alone.get();
        if alone < MOST_ALONE || alone.is_multiple_of(ASKED_EVERY) {
            return true;
        }
        self.alone.set(alone.wrapping_add(1));
        false
    }

    /// Takes a free pair of assist words for a new read, and moves the generation on. Returns the pair's index;
    /// `None`: all are in use.
    pub(super) fn claim(&self) -> Option<u32> {
        let index = self.used.get().trailing_ones();
        if index as usize >= ASSISTS {
            return None;
        }
        self.used.set(self.used.get() | 1 << index);
        self.generation.set(self.generation.get().wrapping_add(1));
        Some(index)
    }

    /// Frees the pair of assist words `index`, whose read has ended.
    pub(super) fn free(&self, index: u32) {
        self.used.set(self.used.get() & !(1 << index));
    }

    /// Whether any pair of assist words is in use, so that a read may wait for its helper.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.used.get() != 0
    }
}
