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
    // SYNC POINT with the swaps in `Taken`. SeqCst: also ordered before the load of the bell.
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

/// Ready bits that are taken one after the other. Between two of them nothing of the inbox is borrowed.
pub struct Taken {
    /// Words that have not been looked at.
    summary: u64,
    /// The word that `bits` are from.
    index: usize,
    bits: u64,
}

impl Taken {
    /// Clears the summary and begins.
    #[inline]
    pub fn begin(inbox: &impl InboxMem) -> Taken {
        // SYNC POINT with `mark`.
        Taken { summary: inbox.summary().swap(0, Ordering::AcqRel), index: 0, bits: 0 }
    }

    /// The local rank of the next bit that was set, of an inbox with so many words of bits; ranks that do not exist may be among them. All
    /// bits of a word are cleared with the first of them.
    #[inline]
    pub fn next(&mut self, inbox: &impl InboxMem, words: usize) -> Option<u32> {
        while self.bits == 0 {
            if self.summary == 0 {
                return None;
            }
            self.index = self.summary.trailing_zeros() as usize;
            self.summary &= self.summary - 1;
            if self.index < words {
                // SYNC POINT with `mark`: what was published before the bit is visible behind this.
                self.bits = inbox.word(self.index).swap(0, Ordering::AcqRel);
            }
        }
        let source = self.index as u32 * 64 + self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(source)
    }
}

/// Takes all ready bits and calls `each` with the local rank of each.
#[cfg(test)]
pub fn take(inbox: &impl InboxMem, words: usize, mut each: impl FnMut(u32)) {
    let mut taken = Taken::begin(inbox);
    while let Some(source) = taken.next(inbox, words) {
        each(source);
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
