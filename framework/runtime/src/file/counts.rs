//! Counters of files: of an instance, for tools, and of one file, for the line at its end.

use super::object::File;
use crate::objects::Instance;
use oxmpi_fbtl::transfer;
use oxmpi_mca::Entry;
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

impl File {
    /// Counts an access of this rank.
    pub(super) fn count_access(&self, collective: bool) {
        self.totals.accesses.fetch_add(1, Ordering::Relaxed);
        if collective {
            self.totals.collective.fetch_add(1, Ordering::Relaxed);
            self.host().files().counts.collective.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a list of pieces that was submitted.
    pub(super) fn count_transfer(&self, pieces: usize) {
        let counts = &self.host().files().counts;
        for (transfers, all) in
            [(&counts.transfers, &counts.pieces), (&self.totals.transfers, &self.totals.pieces)]
        {
            transfers.fetch_add(1, Ordering::Relaxed);
            all.fetch_add(pieces as u64, Ordering::Relaxed);
        }
    }

    /// Counts bytes that were moved in a direction of `oxmpi_fbtl::transfer`.
    pub(super) fn count_bytes(&self, what: u32, bytes: u64) {
        let counts = &self.host().files().counts;
        let words = match what {
            transfer::WRITE => [&counts.bytes_written, &self.totals.written],
            _ => [&counts.bytes_read, &self.totals.read],
        };
        for word in words {
            word.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Prints the line at the file's end, if rank 0's parameter `io_ompio_coll_timing_info` asks for it; called by all ranks.
    pub(super) fn tell_totals(&self, entry: &mut Entry) {
        if !self.tells {
            return;
        }
        let Ok(all) = self.comm.tell_all(entry, &self.totals.words()) else { return };
        if self.comm.rank() != 0 {
            return;
        }
        let [accesses, collective, read, written, transfers, pieces] =
            std::array::from_fn(|at| all.chunks(6).map(|words| words[at]).sum::<u64>());
        let [fs, fbtl, fcoll] = self.served_by();
        let aggregators = self.state.lock().layout.told().0.len();
        self.host().logger().always(&format!(
            "{}: served by {fs}, {fbtl} and {fcoll}; {} ranks, of which {aggregators} transfer for others; {accesses} accesses of ranks, {collective} of them collective; {written} \
             bytes written, {read} read; {transfers} transfers of {pieces} pieces",
            self.path.display(),
            self.comm.size()
        ));
    }
}

impl Instance {
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
