//! The faults of a process, and which operations have them.

use oxmpi_mca::Params;

/// A fault that is injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// No more than one operation is taken at a time.
    Full,
    Slow,
    /// The operation that came last is carried out first.
    Reordered,
    /// The number of the system's error.
    Fails(i32),
}

/// The faults of a process.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub fault: Fault,
    pub every: u64,
    /// Makes ranks draw different operations.
    pub seed: u64,
}

impl Faults {
    pub fn of(params: Params<'_>, rank: u32) -> Faults {
        let fault = match params.int(0) {
            0 => Fault::None,
            1 => Fault::Full,
            2 => Fault::Slow,
            3 => Fault::Reordered,
            4 => Fault::Fails(libc::EIO),
            5 => Fault::Fails(libc::ENOSPC),
            _ => Fault::Fails(libc::EDQUOT),
        };
        Faults { fault, every: params.int(1) as u64, seed: u64::from(rank) }
    }

    /// Whether an operation has the fault, by its number.
    pub fn hit(&self, number: u64) -> bool {
        let mixed = (number * 31 + self.seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 33).is_multiple_of(self.every)
    }
}
