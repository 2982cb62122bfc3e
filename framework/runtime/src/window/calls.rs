//! Calls on a window by kind, for performance variables: counted by the C interface while somebody asks, which costs those who ask alone.

use super::Operation;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
    Flush,
}

impl From<Operation> for Called {
    fn from(operation: Operation) -> Called {
        match operation {
            Operation::Put => Called::Put,
            Operation::Get => Called::Get,
            Operation::Accumulate => Called::Accumulate,
            Operation::GetAccumulate => Called::GetAccumulate,
            Operation::FetchAndOp => Called::FetchAndOp,
            Operation::CompareAndSwap => Called::CompareAndSwap,
        }
    }
}

const KINDS: usize = Called::Flush as usize + 1;

/// Numbers by [`Called`].
#[derive(Default)]
pub(super) struct Calls([AtomicU64; KINDS]);

impl Calls {
    pub fn note(&self, called: Called) {
        self.0[called as usize].fetch_add(1, Ordering::Relaxed);
    }
    pub fn get(&self, called: Called) -> u64 {
        self.0[called as usize].load(Ordering::Relaxed)
    }
}
