//! Moves a thread to another core when the thread that answers it shares its own.
//!
//! Threads of several processes that are more than the cores meet in pairs: one sends, the other answers. Two of a pair that run on
//! different cores find each other's messages in their looks (`waiting/src/policy.rs`) and keep their cores for thousands of messages; two on one core
//! never do, since each runs only when the other has given the core away, behind all the others there. The kernel sees cores that are equally
//! busy, and leaves the threads where they were made: 4 threads in each of 2 ranks on 2 cores had 0.5 or 3 microseconds for half a round trip, by
//! where they happened to begin, and have the lower one with what stands here.
//!
//! So a passing thread counts waits in a row whose answer was there behind its yield and not in its looks. With [`IN_VAIN`] of them, and some more that
//! differ from thread to thread so that not both of a pair do it, it asks the kernel for another of the cores that it may use, by an affinity
//! without its own core that is taken back at once. An answer in its looks begins the count anew. Where moving did not help the next try comes
//! after twice as many waits, up to [`MOST`]; where there is no other core, or the kernel refuses, there is none.

use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::cell::Cell;

/// Waits in a row with looks in vain before a thread moves for the first time.
const IN_VAIN: u32 = 512;
/// An answer behind more yields comes from a thread that had something else to do, wherever it runs.
const AT_ONCE: u32 = 4;
/// The most before it moves again.
const MOST: u32 = 1 << 20;

/// A thread's knowledge of its core: how its last waits in a crowd were answered. Only the thread uses it.
#[derive(Debug)]
pub struct Aside {
    /// Waits in a row with looks in vain.
    in_vain: Cell<u32>,
    /// So many before it moves.
    limit: Cell<u32>,
    /// Of the thread: what its limits are more than those of others.
    more: u32,
}

impl Aside {
    /// Nothing is known yet. `number`: of the thread, among all of the node.
    pub(crate) fn new(number: u32) -> Aside {
        // Odd multiples of a large number differ in their upper bits.
        let more = number.wrapping_mul(0x9e37_79b1) >> 23;
        Aside { in_vain: Cell::new(0), limit: Cell::new(IN_VAIN + more), more }
    }

    /// Counts a wait that ended in a crowd, behind so many `yields`; 0: in its looks. True: the thread had better move.
    pub fn answered(&self, yields: u32) -> bool {
        if yields == 0 {
            self.in_vain.set(0);
        }
        if yields == 0 || yields > AT_ONCE {
            return false;
        }
        self.in_vain.set(self.in_vain.get().saturating_add(1));
        if self.in_vain.get() < self.limit.get() {
            return false;
        }
        self.in_vain.set(0);
        self.limit.set((2 * (self.limit.get() - self.more)).min(MOST) + self.more);
        true
    }

    /// Moves the calling thread to another core that it may use, if there is one.
    #[cold]
    pub fn move_thread(&self) {
        let moved = sched_getaffinity(None).and_then(|all| {
            let mut others = all;
            others.unset(sched_getcpu());
            if others.count() == 0 {
                return Ok(false);
            }
            sched_setaffinity(None, &others)?;
            sched_setaffinity(None, &all).map(|()| true)
        });
        if moved != Ok(true) {
            self.limit.set(u32::MAX);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_moves_after_many_waits_in_vain_and_then_later() {
        let aside = Aside::new(0);
        for waits in [IN_VAIN, 2 * IN_VAIN, 4 * IN_VAIN] {
            assert_eq!((1..=waits).find(|_| aside.answered(1)), Some(waits));
        }
        assert!(!aside.answered(AT_ONCE + 1), "it says nothing");
        (1..8 * IN_VAIN).for_each(|_| assert!(!aside.answered(1)));
        assert!(!aside.answered(0) && !aside.answered(1), "it counts anew");
    }

    #[test]
    fn two_of_a_pair_do_not_move_at_once() {
        let limits: Vec<u32> = (1000..1016).map(|number| Aside::new(number).limit.get()).collect();
        let different: std::collections::HashSet<_> = limits.iter().collect();
        assert!(
            different.len() > 12 && limits.iter().all(|limit| (IN_VAIN..2 * IN_VAIN).contains(limit)),
            "{limits:?}"
        );
    }

    #[test]
    fn moving_keeps_the_affinity() {
        let before = sched_getaffinity(None).unwrap();
        let aside = Aside::new(3);
        aside.move_thread();
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        assert_eq!(
            aside.limit.get() == u32::MAX,
            before.count() == 1,
            "where there is no other core it never moves again"
        );
    }
}
