//! Shares of a read that two processes work on: which are taken, and how many have ended (`single_copy/cooperative.rs`).

use core::ops::Range;
use oxmpi_mca::sync::{AtomicU64, Ordering};

/// Added to `ended` for each failed copy of the helper's: the bits from here on count failures, those below shares.
const FAILED: u64 = 1 << 32;

/// The shared words of one read.
#[derive(Clone, Copy)]
pub struct Shares<'a> {
    pub taken: &'a AtomicU64,
    pub ended: &'a AtomicU64,
}

impl Shares<'_> {
    /// Opens a new read with number `generation`. The reader calls it, when no other read is under way on these words.
    pub fn begin(&self, generation: u32) {
        self.ended.store(0, Ordering::Relaxed);
        // SYNC POINT with `take`: a helper of this generation finds its count at zero.
        self.taken.store(u64::from(generation) << 32, Ordering::Release);
    }

    /// Takes half of the shares that are left, or at most `most`, by compare-and-swap. `None`: none is left, or the
    /// words serve another read than `generation`.
    pub fn take(&self, generation: u32, shares: u32, most: Option<u32>) -> Option<Range<u32>> {
        // SYNC POINT with `begin`.
        let mut word = self.taken.load(Ordering::Acquire);
        loop {
            if (word >> 32) as u32 != generation || word as u32 >= shares {
                return None;
            }
            let first = word as u32;
            let left = shares - first;
            let some = most.map_or(left.div_ceil(2), |most| most.clamp(1, left));
            let rest = word + u64::from(some);
            match self.taken.compare_exchange_weak(word, rest, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(first..first + some),
                Err(now) => word = now,
            }
        }
    }

    /// Ends the giving out of shares, and returns how many were given out. The reader calls it.
    pub fn close(&self, generation: u32, shares: u32) -> u32 {
        self.taken.swap(u64::from(generation) << 32 | u64::from(shares), Ordering::AcqRel) as u32
    }

    /// Counts `shares` shares of the helper's as ended; `well`: they were copied.
    pub fn end(&self, shares: u32, well: bool) {
        // SYNC POINT with `all_ended`: the bytes are there.
        self.ended.fetch_add(u64::from(shares) + if well { 0 } else { FAILED }, Ordering::AcqRel);
    }

    /// Whether all copies went well, once `expected` shares of the helper's have ended; `None` before.
    pub fn all_ended(&self, expected: u32) -> Option<bool> {
        // SYNC POINT with `end`.
        let word = self.ended.load(Ordering::Acquire);
        (word as u32 >= expected).then_some(word < FAILED)
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    struct Words {
        taken: AtomicU64,
        ended: AtomicU64,
        /// One cell per share, written by whoever took it and read by the reader at the end.
        bytes: [UnsafeCell<u32>; 2],
    }

    impl Words {
        fn shares(&self) -> Shares<'_> {
            Shares { taken: &self.taken, ended: &self.ended }
        }
        fn write(&self, share: u32, value: u32) {
            // SAFETY: loom checks that nobody else is in this cell.
            self.bytes[share as usize].with_mut(|b| unsafe { *b = value });
        }
    }

    /// Two reads over the same words, and a helper that is called to both: it may come late to the first.
    #[test]
    fn model_shares_are_taken_once_and_their_bytes_seen() {
        loom::model(|| {
            let words = Arc::new(Words {
                taken: AtomicU64::new(0),
                ended: AtomicU64::new(0),
                bytes: [UnsafeCell::new(0), UnsafeCell::new(0)],
            });
            let helper = {
                let words = words.clone();
                thread::spawn(move || {
                    for generation in 1..=2 {
                        while let Some(mut some) = words.shares().take(generation, 2, None) {
                            let count = some.len() as u32;
                            some.by_ref().for_each(|share| words.write(share, generation));
                            words.shares().end(count, true);
                        }
                    }
                })
            };
            for generation in 1..=2 {
                let shares = words.shares();
                shares.begin(generation);
                let mut mine = 0;
                while let Some(some) = shares.take(generation, 2, (generation == 2).then_some(2)) {
                    mine += some.len() as u32;
                    some.for_each(|share| words.write(share, generation));
                }
                let expected = shares.close(generation, 2).min(2) - mine;
                while shares.all_ended(expected).is_none() {
                    thread::yield_now();
                }
                for share in 0..2 {
                    // SAFETY: loom checks that nobody writes this cell.
                    let seen = words.bytes[share].with(|b| unsafe { *b });
                    assert_eq!(seen, generation);
                }
            }
            helper.join().expect("helper");
        });
    }
}
