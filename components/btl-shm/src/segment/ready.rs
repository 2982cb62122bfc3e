//! The ready bits: which of many rings has something, found in two steps whatever their number.
//!
//! One inbox per receiving context: one bit per source rank, and above them a summary word with one
//! bit per word of bits. Only rings that the receiver does not watch use it (`doorbell.rs`).
//!
//! **Order.** A sender publishes its message, sets its bit, and, if the bit was clear, sets the
//! summary's. The receiver clears the summary, then each word, then looks at the rings. So whoever
//! finds the bit *set* may stop there: the bit stands until the receiver's exchange of that word, which
//! comes after in the word's order and therefore sees the message. A sender alone sets the bit of its ring, but for
//! the receiver: hence a set bit means that its summary bit has been set since the receiver last took it, or will be
//! before that sender's call returns, or before the receiver's turn ends.
//!
//! **Messages that the receiver leaves** in a ring it marks by itself ([`mark_again`]), the summary in any case. The bit may be set by a
//! sender that has not come to the summary yet, with a younger message. It would do so in a moment, but what was left was
//! sent before, and the next look must find it: matching rests on that (whatever was sent before a message that is seen is seen
//! by the look that follows).
//!
//! Words come from shared memory: bits beyond the ranks of the node are ignored by the caller.

use crate::segment::inbox::InboxMem;
use oxmpi_mca::sync::Ordering;

/// Sets the ready bit of `source`, and its summary bit. True: the bit was clear, so the receiver may have to be woken.
pub fn mark(inbox: &impl InboxMem, source: u32) -> bool {
    let bit = 1u64 << (source % 64);
    let index = source as usize / 64;
    // SYNC POINT with the swaps in `take`. SeqCst: also ordered before the load of the bell.
    if inbox.word(index).fetch_or(bit, Ordering::SeqCst) & bit != 0 {
        return false;
    }
    inbox.summary().fetch_or(1 << index, Ordering::SeqCst);
    true
}

/// Sets the ready bit of a ring in which the receiver has left something, or may have, so that its next look finds
/// that. The receiver itself calls it.
pub fn mark_again(inbox: &impl InboxMem, source: u32) {
    let index = source as usize / 64;
    // SYNC POINT with `mark`: a sender that finds the bit set leaves the summary to us.
    inbox.word(index).fetch_or(1 << (source % 64), Ordering::SeqCst);
    inbox.summary().fetch_or(1 << index, Ordering::SeqCst);
}

/// Whether any ready bit may be set.
#[inline(always)]
pub fn any(inbox: &impl InboxMem) -> bool {
    inbox.summary().load(Ordering::Relaxed) != 0
}

/// Clears all ready bits and calls `each` with the local rank of every bit that was set; ranks that do not exist may
/// be among them.
pub fn take(inbox: &impl InboxMem, words: usize, mut each: impl FnMut(u32)) {
    // SYNC POINT with `mark`.
    let mut summary = inbox.summary().swap(0, Ordering::AcqRel);
    while summary != 0 {
        let index = summary.trailing_zeros() as usize;
        summary &= summary - 1;
        if index >= words {
            continue;
        }
        // SYNC POINT with `mark`: what was published before the bit is visible behind this.
        let mut bits = inbox.word(index).swap(0, Ordering::AcqRel);
        while bits != 0 {
            each(index as u32 * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::sync::{AtomicU32, AtomicU64};

    #[derive(Default)]
    struct Memory {
        bell: AtomicU32,
        summary: AtomicU64,
        words: [AtomicU64; 4],
    }
    impl InboxMem for Memory {
        fn bell(&self) -> &AtomicU32 {
            &self.bell
        }
        fn summary(&self) -> &AtomicU64 {
            &self.summary
        }
        fn word(&self, index: usize) -> &AtomicU64 {
            &self.words[index]
        }
    }

    #[test]
    fn takes_each_once_in_rising_order() {
        let m = Memory::default();
        for source in [200, 3, 64, 63, 3, 0] {
            let first = m.words[source as usize / 64].load(Ordering::Relaxed) >> (source % 64) & 1 == 0;
            assert_eq!(mark(&m, source), first);
        }
        assert!(any(&m));
        let mut got = Vec::new();
        take(&m, 4, |s| got.push(s));
        assert_eq!(got, [0, 3, 63, 64, 200]);
        assert!(!any(&m));
        take(&m, 4, |s| panic!("{s}"));
    }

    #[test]
    fn nonsense_in_the_summary_is_ignored() {
        let m = Memory::default();
        m.summary.store(u64::MAX, Ordering::Relaxed);
        mark(&m, 70);
        let mut got = Vec::new();
        take(&m, 4, |s| got.push(s));
        assert_eq!(got, [70]);
    }

    /// Its sender has set the bit for what came next, but has not come to the summary.
    #[test]
    fn what_is_left_is_found_at_once() {
        let m = Memory::default();
        mark(&m, 70);
        take(&m, 4, |s| {
            m.words[1].fetch_or(1 << (s % 64), Ordering::SeqCst);
            mark_again(&m, s);
        });
        assert!(any(&m));
        let mut got = Vec::new();
        take(&m, 4, |s| got.push(s));
        assert_eq!(got, [70]);
    }

    #[test]
    fn a_bit_set_while_taking_is_not_lost() {
        let m = Memory::default();
        mark(&m, 1);
        let mut got = Vec::new();
        take(&m, 4, |s| {
            if got.len() < 3 {
                mark(&m, 1);
            }
            got.push(s);
        });
        assert_eq!(got, [1]);
        take(&m, 4, |s| got.push(s));
        assert_eq!(got, [1, 1]);
    }
}
