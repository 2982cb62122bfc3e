//! Where a thread was when a signal came, and how much a report of it may say.

/// Longest stack that is sent, in bytes.
pub const STACK_LIMIT: usize = 64 << 10;

/// Longest map of memory that is sent, in bytes.
pub const MAPS_LIMIT: usize = 512 << 10;

/// Where a thread was when a signal came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    pub signal: i32,
    /// The signal's code (`si_code`), and the address it is about where it is about one.
    pub code: i32,
    pub address: u64,
    pub thread: u32,
    pub ip: u64,
    pub sp: u64,
    pub fp: u64,
    /// Return address where the processor keeps it in a register.
    pub lr: u64,
}

impl Moment {
    pub(super) const BYTES: usize = 52;

    /// Turns the moment into the bytes that travel; async-signal-safe.
    pub(super) fn to_bytes(self) -> [u8; Moment::BYTES] {
        let mut bytes = [0; Moment::BYTES];
        bytes[..4].copy_from_slice(&self.signal.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.code.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.thread.to_le_bytes());
        let words = [self.address, self.ip, self.sp, self.fp, self.lr];
        for (place, word) in bytes[12..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
