//! Counts of a communicator and of a resource instance.

use oxmpi_mca::sync::unmodelled::AtomicU64;

/// Counts of a communicator's handle, kept while somebody asks for them; an endpoint has a handle of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfComm {
    Sends,
    Receives,
    Collectives,
    BytesSent,
    BytesReceived,
}

/// Counts of a communicator, by [`OfComm`].
#[derive(Debug, Default)]
pub(crate) struct CommCalls(pub(crate) [AtomicU64; OfComm::BytesReceived as usize + 1]);

/// Counts of one resource instance; see [`Cri`](oxmpi_mca::Cri).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriCounts {
    pub lock_misses: u64,
    pub progress_calls: u64,
    pub completions: u64,
    pub shared_writes: u64,
}

impl CriCounts {
    /// The counts with the names that tools see.
    pub fn named(&self) -> [(&'static str, u64); 4] {
        [
            ("runtime_cri_lock_misses", self.lock_misses),
            ("runtime_cri_progress_calls", self.progress_calls),
            ("runtime_cri_completions", self.completions),
            ("runtime_cri_shared_writes", self.shared_writes),
        ]
    }
}
