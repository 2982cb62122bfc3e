//! Numbers of one file in one rank, for the line at its end.

use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

/// All that a rank has done with one file.
#[derive(Debug, Default)]
pub(super) struct FileTotals {
    pub accesses: AtomicU64,
    pub collective: AtomicU64,
    pub read: AtomicU64,
    pub written: AtomicU64,
    pub transfers: AtomicU64,
    pub pieces: AtomicU64,
}

impl FileTotals {
    /// As numbers to be added up over ranks.
    pub fn words(&self) -> [u64; 6] {
        [&self.accesses, &self.collective, &self.read, &self.written, &self.transfers, &self.pieces]
            .map(|word| word.load(Ordering::Relaxed))
    }
}
