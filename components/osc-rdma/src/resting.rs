//! The ranks to which batches were begun: a set under a mutex, and a word that says whether it has any.
//!
//! A batch waits for what completes it. A program may wait for what its operations bring about before it completes them: it looks into memory in a loop, by fetches
//! and flushes to other ranks or to itself. So each call that programs loop over (flushes, MPI_Win_sync, MPI_Win_test, looks at notifications, locks) sends what
//! rests for all ranks. A batch is begun again when it was sent, and its rank is named again then; one that was sent since is found empty.

use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub struct Resting {
    /// 1: there may be a rank.
    any: AtomicU32,
    ranks: Mutex<BTreeSet<u32>>,
}

impl Resting {
    /// A batch to a rank was begun, and says that it waits.
    pub fn begun(&self, rank: u32) {
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        ranks.insert(rank);
        self.any.store(1, Ordering::Relaxed);
    }

    /// Whether batches may rest that this thread has begun.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed) != 0
    }

    /// The ranks that were named since the last time.
    pub fn take(&self) -> BTreeSet<u32> {
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(0, Ordering::Relaxed);
        core::mem::take(&mut *ranks)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named_once_until_they_are_taken() {
        let resting = Resting::default();
        assert!(!resting.any() && resting.take().is_empty());
        [7, 3, 7].into_iter().for_each(|rank| resting.begun(rank));
        assert!(resting.any());
        assert_eq!(resting.take().into_iter().collect::<Vec<_>>(), [3, 7]);
        assert!(!resting.any());
        resting.begun(3);
        assert!(resting.any() && resting.take().contains(&3));
    }
}
