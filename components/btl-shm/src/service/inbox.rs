//! Which peers have requests for this process: one bit per process, a summary word, and the bell of who serves.
//!
//! **Order.** A requester publishes its request, sets its process's bit, sets the summary's bit, and looks at the
//! bell. Several contexts of a process use one bit at the same time, so each does all of that, whatever it finds set: the one
//! that set the bit may not have come to the summary yet. The server clears the summary, then the bits, then looks at the
//! links: a request that was published before a bit was set is seen by whoever took that bit.
//!
//! **The summary** has 32 bits, so that a waiter's look is one load of a `u32`; bit b stands for words b and b + 32.
//!
//! **The bell** is rung once: who rings it takes it back to awake. The server writes [`ASLEEP`], runs a full fence, and looks at the
//! summary once more; the requester's read-modify-writes are full barriers before it loads the bell. So either the requester finds the bell,
//! or the server finds the summary.

use crate::segment::inbox::ServiceMem;
use oxmpi_mca::sync::{AtomicU32, Ordering, fence};

/// The bell of a server that is asleep, or about to be.
pub const ASLEEP: u32 = 1;
/// The bell of a server that is awake.
const AWAKE: u32 = 0;

/// Announces a request of process `source` that has been published. True: wake the sleeper on the bell.
pub fn mark(inbox: &impl ServiceMem, source: u32) -> bool {
    let index = source as usize / 64;
    // SYNC POINT with the swaps in `take`. SeqCst: also before the load of the bell.
    inbox.word(index).fetch_or(1 << (source % 64), Ordering::SeqCst);
    inbox.pending().fetch_or(1 << (index % 32), Ordering::SeqCst);
    ring(inbox.bell())
}

/// Takes a bell from asleep to awake. True: the caller must wake the sleeper. The caller has published something, and
/// executed a read-modify-write or a full fence since.
pub fn ring(bell: &AtomicU32) -> bool {
    // loom gives SeqCst operations no order among themselves, fences it does.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
    // SYNC POINT with `arm`: either this load sees ASLEEP, or `arm` sees what was published.
    bell.load(Ordering::SeqCst) != AWAKE && bell.swap(AWAKE, Ordering::SeqCst) != AWAKE
}

/// Whether any bit may be set, so that requests may be there.
pub fn any(inbox: &impl ServiceMem) -> bool {
    inbox.pending().load(Ordering::Relaxed) != 0
}

/// Clears all bits and calls `each` with the local rank of every bit that was set; ranks that do not exist may be
/// among them.
pub fn take(inbox: &impl ServiceMem, words: usize, mut each: impl FnMut(u32)) {
    // SYNC POINT with `mark`.
    let summary = inbox.pending().swap(0, Ordering::AcqRel);
    for index in (0..words).filter(|index| summary >> (index % 32) & 1 != 0) {
        // SYNC POINT with `mark`: what was published before the bit is visible behind this.
        let mut bits = inbox.word(index).swap(0, Ordering::AcqRel);
        while bits != 0 {
            each(index as u32 * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

/// Announces that the server will sleep. True: no request is there, so it may sleep while the bell is [`ASLEEP`].
/// [`disarm`] follows in any case.
pub fn arm(inbox: &impl ServiceMem) -> bool {
    // Not a store: behind what requesters have done to the bell before, whoever looks at it next.
    inbox.bell().swap(ASLEEP, Ordering::AcqRel);
    // SYNC POINT with `ring`.
    fence(Ordering::SeqCst);
    !any(inbox)
}

/// Announces that the server is awake: nobody has to ring its bell.
pub fn disarm(inbox: &impl ServiceMem) {
    inbox.bell().swap(AWAKE, Ordering::AcqRel);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::sync::AtomicU64;

    #[derive(Default)]
    struct Memory {
        bell: AtomicU32,
        pending: AtomicU32,
        words: [AtomicU64; 32],
        more: [AtomicU64; 32],
    }
    impl ServiceMem for Memory {
        fn bell(&self) -> &AtomicU32 {
            &self.bell
        }
        fn pending(&self) -> &AtomicU32 {
            &self.pending
        }
        fn word(&self, index: usize) -> &AtomicU64 {
            self.words.get(index).unwrap_or_else(|| &self.more[index - 32])
        }
    }

    #[test]
    fn takes_each_once_and_rings_once() {
        let m = Memory::default();
        assert!(arm(&m));
        assert!(mark(&m, 4095));
        for source in [3, 64, 2048, 3, 0] {
            assert!(!mark(&m, source));
        }
        assert!(any(&m) && !arm(&m));
        disarm(&m);
        let mut got = Vec::new();
        take(&m, 64, |s| got.push(s));
        assert_eq!(got, [0, 3, 64, 2048, 4095]);
        assert!(!any(&m));
        take(&m, 64, |s| panic!("{s}"));
    }

    #[test]
    fn nonsense_in_the_summary_is_harmless() {
        let m = Memory::default();
        m.pending.store(u32::MAX, Ordering::Relaxed);
        take(&m, 1, |s| panic!("{s}"));
    }
}
