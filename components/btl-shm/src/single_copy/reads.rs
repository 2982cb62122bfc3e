//! The cooperative reads of a context that are under way (`cooperative.rs`).

use crate::single_copy::stretch::Stretch;
use crate::wire::ASSISTS;
use oxmpi_btl::Completion;
use rustix::io::Errno;

/// Reads in a row without a helper after which only one read in [`ASKED_EVERY`] asks for one.
const MOST_ALONE: u32 = 4;

/// One in so many reads asks for a helper, after helpers have not come.
const ASKED_EVERY: u32 = 8;

/// A read whose helper may not be done yet.
pub(super) struct Waiting {
    pub(super) index: u32,
    pub(super) expected: u32,
    pub(super) own: Result<(), Errno>,
    pub(super) peer: u32,
    pub(super) whole: Stretch,
}

/// The reads of one context.
#[repr(C)]
pub struct CooperativeReads {
    /// One bit per pair of words in use.
    used: u32,
    pub(super) generation: u32,
    /// Reads one after the other to which no helper came.
    pub(super) alone: u32,
    /// Those whose helpers were not done when the reader was, and how their callers hear of the end.
    pub(super) waiting: Vec<(Waiting, Completion)>,
}

impl CooperativeReads {
    /// A record without reads, with room for as many as can be under way.
    pub fn new() -> CooperativeReads {
        CooperativeReads {
            used: 0,
            generation: 0,
            alone: 0,
            // As many as there can be: a read allocates nothing.
            waiting: Vec::with_capacity(ASSISTS),
        }
    }

    /// Whether to ask the source to help with the next read: helpers came lately, or it is time to try again. A false
    /// answer counts as one more read without a helper.
    pub(super) fn is_help_likely(&mut self) -> bool {
        if self.alone < MOST_ALONE || self.alone.is_multiple_of(ASKED_EVERY) {
            return true;
        }
        self.alone = self.alone.wrapping_add(1);
        false
    }

    /// Takes a free pair of assist words for a new read, and moves the generation on. Returns the pair's index;
    /// `None`: all are in use.
    pub(super) fn claim(&mut self) -> Option<u32> {
        let index = self.used.trailing_ones();
        if index as usize >= ASSISTS {
            return None;
        }
        self.used |= 1 << index;
        self.generation = self.generation.wrapping_add(1);
        Some(index)
    }

    /// Frees the pair of assist words `index`, whose read has ended.
    pub(super) fn free(&mut self, index: u32) {
        self.used &= !(1 << index);
    }

    /// Whether any pair of assist words is in use, so that a read may wait for its helper.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.used != 0
    }
}
