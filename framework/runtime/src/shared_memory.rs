//! Memory that the ranks of a communicator share, as one process sees it, and what each asks for.

use oxmpi_wireup::mapping::Mapping;

/// One rank's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    pub bytes: u64,
    /// Told to all, not looked at.
    pub disp_unit: i64,
    /// Parts may lie apart, each on pages of its own. Rank 0's word counts.
    pub apart: bool,
}

/// A rank's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    pub bytes: u64,
    pub disp_unit: i64,
}

/// The memory as one process sees it.
#[derive(Debug)]
pub struct SharedMemory {
    pub(crate) mapping: Mapping,
    pub(crate) parts: Box<[Part]>,
}

impl SharedMemory {
    /// The parts of all ranks, by rank.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The address at which a rank's part begins in this process.
    pub fn at(&self, part: &Part) -> *mut u8 {
        self.mapping.base().wrapping_add(part.offset as usize)
    }
}
