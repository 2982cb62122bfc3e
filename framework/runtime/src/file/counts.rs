//! Counters of files.

use crate::objects::Instance;
use oxmpi_fbtl::transfer;
use oxmpi_mca::sync::unmodelled::Ordering;

/// All that an instance has done with files since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounters {
    /// Files opened.
    pub opened: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Bytes written to files.
    pub bytes_written: u64,
    /// Lists of pieces that were submitted.
    pub transfers: u64,
    /// Pieces of those.
    pub pieces: u64,
    /// Collective accesses.
    pub collective: u64,
}

impl FileCounters {
    /// The counts with the names that tools see.
    pub fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("runtime_files_opened", self.opened),
            ("runtime_files_bytes_read", self.bytes_read),
            ("runtime_files_bytes_written", self.bytes_written),
            ("runtime_files_transfers", self.transfers),
            ("runtime_files_pieces", self.pieces),
            ("runtime_files_collective", self.collective),
        ]
    }
}

impl Instance {
    /// Counts a list of pieces that was submitted.
    pub(super) fn count_transfer(&self, pieces: usize) {
        let counts = &self.files().counts;
        counts.transfers.fetch_add(1, Ordering::Relaxed);
        counts.pieces.fetch_add(pieces as u64, Ordering::Relaxed);
    }

    /// Counts bytes that were moved in a direction of `oxmpi_fbtl::transfer`.
    pub(super) fn count_bytes(&self, what: u32, bytes: u64) {
        let counts = &self.files().counts;
        let word = if what == transfer::WRITE { &counts.bytes_written } else { &counts.bytes_read };
        word.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The counters of files.
    pub fn file_counters(&self) -> FileCounters {
        let counts = &self.files().counts;
        let of = |word: &oxmpi_mca::sync::unmodelled::AtomicU64| word.load(Ordering::Relaxed);
        FileCounters {
            opened: of(&counts.opened),
            bytes_read: of(&counts.bytes_read),
            bytes_written: of(&counts.bytes_written),
            transfers: of(&counts.transfers),
            pieces: of(&counts.pieces),
            collective: of(&counts.collective),
        }
    }
}
