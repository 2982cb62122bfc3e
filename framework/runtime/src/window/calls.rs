//! Calls on a window by kind, for performance variables: counted by the C interface while somebody asks, which costs those who ask alone.

use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_osc::Operation;

/// Kinds of calls that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
    Flush,
}

impl From<Operation> for CallKind {
    fn from(operation: Operation) -> CallKind {
        match operation {
            Operation::Put => CallKind::Put,
            Operation::Get => CallKind::Get,
            Operation::Accumulate => CallKind::Accumulate,
            Operation::GetAccumulate => CallKind::GetAccumulate,
            Operation::FetchAndOp => CallKind::FetchAndOp,
            Operation::CompareAndSwap => CallKind::CompareAndSwap,
        }
    }
}

/// How many kinds of calls are counted.
const KINDS: usize = CallKind::Flush as usize + 1;

/// Numbers by [`CallKind`].
#[derive(Default)]
pub(crate) struct Calls([AtomicU64; KINDS]);

impl Calls {
    /// Counts one call of a kind.
    pub fn note(&self, kind: CallKind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }
    /// How many calls of a kind were counted.
    pub fn get(&self, kind: CallKind) -> u64 {
        self.0[kind as usize].load(Ordering::Relaxed)
    }
}
