//! Counts of a window's locks, for performance variables. Locks are counted where they are taken, which write shared words anyway.

use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_osc::WinCounts;

/// Kinds of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Exclusive,
    Shared,
    Accumulate,
}

const KINDS: usize = Attempt::Accumulate as usize + 1;

/// Attempts, and those that were refused, by kind.
#[derive(Default)]
pub struct Tally {
    attempts: [AtomicU64; KINDS],
    refused: [AtomicU64; KINDS],
}

impl Tally {
    /// Notes an attempt, whose outcome this is: true, it was granted.
    pub fn tried(&self, kind: Attempt, outcome: Result<bool, Status>) -> Result<bool, Status> {
        self.attempts[kind as usize].fetch_add(1, Ordering::Relaxed);
        if outcome == Ok(false) {
            self.refused[kind as usize].fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    /// Attempts at locks of ranks.
    pub fn locks(&self) -> u64 {
        let of = |kind: Attempt| self.attempts[kind as usize].load(Ordering::Relaxed);
        of(Attempt::Exclusive).wrapping_add(of(Attempt::Shared))
    }

    /// All but what is counted elsewhere.
    pub fn counts(&self) -> WinCounts {
        let of = |all: &[AtomicU64; KINDS], kind: Attempt| all[kind as usize].load(Ordering::Relaxed);
        let refused = |kind| of(&self.refused, kind);
        WinCounts {
            exclusive_attempts: of(&self.attempts, Attempt::Exclusive),
            shared_attempts: of(&self.attempts, Attempt::Shared),
            lock_retries: refused(Attempt::Exclusive) + refused(Attempt::Shared),
            // Each refusal is followed by another attempt.
            accumulate_locks: of(&self.attempts, Attempt::Accumulate)
                .saturating_sub(refused(Attempt::Accumulate)),
            accumulate_retries: refused(Attempt::Accumulate),
            ..WinCounts::default()
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_retries() {
        let tally = Tally::default();
        for (kind, outcome) in [
            (Attempt::Exclusive, Ok(false)),
            (Attempt::Exclusive, Ok(true)),
            (Attempt::Shared, Ok(false)),
            (Attempt::Accumulate, Ok(false)),
            (Attempt::Accumulate, Ok(true)),
            (Attempt::Accumulate, Err(Status::PEER_FAILED)),
        ] {
            assert_eq!(tally.tried(kind, outcome), outcome);
        }
        let counts = tally.counts();
        assert_eq!((counts.exclusive_attempts, counts.shared_attempts, counts.lock_retries), (2, 1, 2));
        assert_eq!((counts.accumulate_locks, counts.accumulate_retries), (2, 1));
    }
}
