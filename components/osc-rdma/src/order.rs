//! Accumulates to a rank that are under way. A transport carries them out in any order, so one that has to come behind them waits.
//!
//! Which pairs are ordered is the window's `accumulate_ordering` (MPI 5.0 §12.7.2): an accumulate writes, one with a result reads, too, MPI_NO_OP
//! reads alone. Accumulates that are alike and integers, and have no result, go together whatever that says: nobody can tell their order.

use oxmpi_osc::ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How an accumulate deals with its target's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub reads: bool,
    pub writes: bool,
    /// Those of one kind go together; [`Touch::ALONE`]: of none.
    pub kind: u64,
}

impl Touch {
    pub const ALONE: u64 = 0;
    /// Reads and writes.
    pub const BOTH: Touch = Touch { reads: true, writes: true, kind: Touch::ALONE };
    /// Reads alone.
    pub const READ: Touch = Touch { reads: true, writes: false, kind: Touch::ALONE };
}

#[derive(Default)]
struct Pending {
    all: u64,
    reads: u64,
    writes: u64,
    /// Of all of them.
    kind: u64,
}

/// Of one origin and target.
#[derive(Default)]
pub struct Ordered(Mutex<Pending>);

impl Ordered {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes ahead, or has to wait. `orders`: bits of [`ordering`].
    pub fn begin(&self, touch: Touch, orders: u32) -> bool {
        let mut now = self.lock();
        let alike = now.all == 0 || (touch.kind != Touch::ALONE && now.kind == touch.kind);
        let behind = |bit, own: bool, others: u64| orders & bit != 0 && own && others > 0;
        let waits = behind(ordering::RAR, touch.reads, now.reads)
            || behind(ordering::RAW, touch.reads, now.writes)
            || behind(ordering::WAR, touch.writes, now.reads)
            || behind(ordering::WAW, touch.writes, now.writes);
        if waits && !alike {
            return false;
        }
        now.kind = if alike { touch.kind } else { Touch::ALONE };
        now.all += 1;
        now.reads += u64::from(touch.reads);
        now.writes += u64::from(touch.writes);
        true
    }

    pub fn end(&self, touch: Touch) {
        let mut now = self.lock();
        now.all -= 1;
        now.reads -= u64::from(touch.reads);
        now.writes -= u64::from(touch.writes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SUM: Touch = Touch { reads: false, writes: true, kind: 7 };
    const OTHER: Touch = Touch { reads: false, writes: true, kind: 8 };

    #[test]
    fn accumulates_that_are_alike_go_together() {
        let ordered = Ordered::default();
        let begin = |touch| ordered.begin(touch, ordering::ALL);
        assert!(begin(SUM) && begin(SUM) && !begin(OTHER) && !begin(Touch::BOTH) && !begin(Touch::READ));
        ordered.end(SUM);
        assert!(!begin(OTHER));
        ordered.end(SUM);
        assert!(begin(Touch::BOTH) && !begin(Touch::BOTH) && !begin(SUM));
        ordered.end(Touch::BOTH);
        assert!(begin(OTHER));
    }

    #[test]
    fn only_pairs_that_are_ordered_wait() {
        let waits = |first, second, orders| {
            let ordered = Ordered::default();
            assert!(ordered.begin(first, orders));
            !ordered.begin(second, orders)
        };
        for (first, second, bit) in [
            (Touch::READ, Touch::READ, ordering::RAR),
            (SUM, Touch::READ, ordering::RAW),
            (Touch::READ, SUM, ordering::WAR),
            (SUM, OTHER, ordering::WAW),
        ] {
            assert!(waits(first, second, bit), "{bit}");
            assert!(!waits(first, second, ordering::ALL & !bit) && !waits(first, second, 0), "{bit}");
        }
        assert!([ordering::RAR, ordering::WAW].iter().all(|bit| waits(Touch::BOTH, Touch::BOTH, *bit)));
    }

    #[test]
    fn mixed_kinds_are_no_kind() {
        let ordered = Ordered::default();
        assert!(ordered.begin(SUM, 0) && ordered.begin(OTHER, 0));
        assert!(!ordered.begin(SUM, ordering::WAW) && !ordered.begin(OTHER, ordering::WAW));
        ordered.end(OTHER);
        ordered.end(SUM);
        assert!(ordered.begin(SUM, ordering::WAW) && ordered.begin(SUM, ordering::WAW));
    }
}
