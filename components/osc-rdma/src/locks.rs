//! Locks of a window as attempts on its words; whoever is refused makes progress and tries again.
//!
//! **Two levels.** `GLOBAL`, one word for all ranks at rank 0, counts exclusive locks of anybody in its low half and lock_all's in its high
//! half; `LOCAL`, at each rank, is that rank's lock. lock_all is one add to `GLOBAL`, whatever the number of ranks. An exclusive lock is
//! one add there, which keeps lock_all's out, and a compare-and-swap at its target, both at the same time. A shared lock of one rank looks at its target alone,
//! which exclusive locks take, too. Attempts that meet the other kind take their add back, and both may do so at once: that is why
//! retries wait for unequal times (`retry.rs`).
//!
//! **On demand.** lock_all takes the shared lock of each rank when it is first operated on, so `GLOBAL` is not used, and an exclusive lock is one
//! compare-and-swap.
//!
//! Locks are given back without waiting for the answer: what was done under them is complete before, and whoever waits for one needs no more than
//! that the subtraction arrives. A rank that meets its own on the way is refused like any other and tries again.
//!
//! Adds that are taken back make a word differ from what its holders say for a moment; so exclusive locks are given back by a subtraction,
//! never by a store.

use crate::state_words::{Change, Step, Words};
use crate::wire::{EXCLUSIVE, ONE_ALL, word};
use oxmpi_mca::Status;

fn add(rank: u32, word: u64, value: u64) -> Step {
    Step { rank, word, change: Change::Add(value) }
}

/// The rank that has the word for all.
pub const MASTER: u32 = 0;

/// The low half of `GLOBAL`.
const HALF: u64 = ONE_ALL - 1;

/// lock_all of the two-level scheme. False: refused.
pub fn try_all(words: &mut impl Words) -> Result<bool, Status> {
    let before = words.add(MASTER, word::GLOBAL, ONE_ALL)?;
    if before & HALF == 0 {
        return Ok(true);
    }
    words.add_later(MASTER, word::GLOBAL, ONE_ALL.wrapping_neg()).map(|()| false)
}

pub fn release_all(words: &mut impl Words) -> Result<(), Status> {
    words.add_later(MASTER, word::GLOBAL, ONE_ALL.wrapping_neg())
}

/// A shared lock of one rank. False: refused.
pub fn try_shared(words: &mut impl Words, rank: u32) -> Result<bool, Status> {
    let before = words.add(rank, word::LOCAL, 1)?;
    if before & EXCLUSIVE == 0 {
        return Ok(true);
    }
    words.add_later(rank, word::LOCAL, 1u64.wrapping_neg()).map(|()| false)
}

pub fn release_shared(words: &mut impl Words, rank: u32) -> Result<(), Status> {
    words.add_later(rank, word::LOCAL, 1u64.wrapping_neg())
}

/// An exclusive lock of one rank; `levels`: of the two-level scheme. False: refused.
///
/// Both words are asked at the same time, so a lock is one round trip; it is had where neither refuses, whichever answered first.
pub fn try_exclusive(words: &mut impl Words, rank: u32, levels: bool) -> Result<bool, Status> {
    if !levels {
        return words.swap_if(rank, word::LOCAL, 0, EXCLUSIVE).map(|before| before == 0);
    }
    let take = Step { rank, word: word::LOCAL, change: Change::SwapIf { from: 0, to: EXCLUSIVE } };
    let [global, local] = words.both([add(MASTER, word::GLOBAL, 1), take])?;
    match (global >> 32 == 0, local == 0) {
        (true, true) => return Ok(true),
        (false, true) => words.add_later(rank, word::LOCAL, EXCLUSIVE.wrapping_neg())?,
        (_, false) => {}
    }
    words.add_later(MASTER, word::GLOBAL, 1u64.wrapping_neg()).map(|()| false)
}

pub fn release_exclusive(words: &mut impl Words, rank: u32, levels: bool) -> Result<(), Status> {
    words.add_later(rank, word::LOCAL, EXCLUSIVE.wrapping_neg())?;
    match levels {
        true => words.add_later(MASTER, word::GLOBAL, 1u64.wrapping_neg()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_mca::sync::{AtomicU64, Ordering};

    /// The words of two ranks.
    struct Board {
        global: AtomicU64,
        locals: [AtomicU64; 2],
        /// In which order two words are asked.
        backwards: bool,
    }

    impl Board {
        fn new() -> Board {
            let zero = || AtomicU64::new(0);
            Board { global: zero(), locals: [zero(), zero()], backwards: false }
        }
        fn at(&self, rank: u32, word: u64) -> &AtomicU64 {
            if word == word::GLOBAL { &self.global } else { &self.locals[rank as usize] }
        }
        fn is_free(&self) -> bool {
            [&self.global, &self.locals[0], &self.locals[1]].iter().all(|w| w.load(Ordering::SeqCst) == 0)
        }
    }

    impl Words for &Board {
        /// Later first: what comes in whichever order is asked in the other one than is written.
        fn both(&mut self, [first, second]: [Step; 2]) -> Result<[u64; 2], Status> {
            let backwards = self.backwards;
            let one = |Step { rank, word, change }: Step| match change {
                Change::Add(value) => self.add(rank, word, value),
                Change::SwapIf { from, to } => self.swap_if(rank, word, from, to),
            };
            let mut answers = if backwards { [second, first] } else { [first, second] }.map(one);
            if backwards {
                answers.reverse();
            }
            let [first, second] = answers;
            Ok([first?, second?])
        }
        fn add(&mut self, rank: u32, word: u64, value: u64) -> Result<u64, Status> {
            Ok(self.at(rank, word).fetch_add(value, Ordering::SeqCst))
        }
        fn swap_if(&mut self, rank: u32, word: u64, from: u64, to: u64) -> Result<u64, Status> {
            let at = self.at(rank, word);
            Ok(at.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).unwrap_or_else(|now| now))
        }
    }

    #[cfg(not(loom))]
    mod alone {
        use super::*;

        #[test]
        fn kinds_exclude_each_other() {
            let board = Board::new();
            assert_eq!(try_all(&mut &board), Ok(true));
            assert_eq!((try_all(&mut &board), try_exclusive(&mut &board, 1, true)), (Ok(true), Ok(false)));
            assert_eq!(try_shared(&mut &board, 1), Ok(true), "beside lock_all");
            assert_eq!((release_all(&mut &board), release_all(&mut &board)), (Ok(()), Ok(())));
            assert_eq!(
                (try_exclusive(&mut &board, 1, true), try_exclusive(&mut &board, 0, true)),
                (Ok(false), Ok(true))
            );
            assert_eq!((try_all(&mut &board), try_shared(&mut &board, 0)), (Ok(false), Ok(false)));
            assert_eq!(
                (release_shared(&mut &board, 1), try_exclusive(&mut &board, 1, true)),
                (Ok(()), Ok(true))
            );
            assert_eq!(release_exclusive(&mut &board, 0, true), Ok(()));
            assert_eq!(try_all(&mut &board), Ok(false), "one of two is there");
            assert_eq!((release_exclusive(&mut &board, 1, true), try_all(&mut &board)), (Ok(()), Ok(true)));
            assert_eq!(release_all(&mut &board), Ok(()));
            assert!(board.is_free());
        }

        #[test]
        fn on_demand_leaves_the_global_word_alone() {
            let board = Board::new();
            assert_eq!(
                (try_exclusive(&mut &board, 1, false), board.global.load(Ordering::SeqCst)),
                (Ok(true), 0)
            );
            assert_eq!(
                (try_shared(&mut &board, 1), release_exclusive(&mut &board, 1, false)),
                (Ok(false), Ok(()))
            );
            assert!(board.is_free());
        }
    }

    /// All ways in which attempts of three ranks at rank 1's memory meet.
    #[cfg(loom)]
    mod model {
        use super::*;
        use loom::sync::Arc;

        struct Memory {
            board: Board,
            readers: AtomicU64,
            writers: AtomicU64,
        }

        impl Memory {
            fn read(&self) {
                self.readers.fetch_add(1, Ordering::SeqCst);
                assert_eq!(self.writers.load(Ordering::SeqCst), 0, "shared beside exclusive");
                self.readers.fetch_sub(1, Ordering::SeqCst);
            }
            fn all(&self) {
                if try_all(&mut &self.board) == Ok(true) {
                    self.read();
                    assert_eq!(release_all(&mut &self.board), Ok(()));
                }
            }
            fn shared(&self) {
                if try_shared(&mut &self.board, 1) == Ok(true) {
                    self.read();
                    assert_eq!(release_shared(&mut &self.board, 1), Ok(()));
                }
            }
            fn exclusive(&self, levels: bool) {
                if try_exclusive(&mut &self.board, 1, levels) == Ok(true) {
                    assert_eq!(self.writers.fetch_add(1, Ordering::SeqCst), 0, "exclusive twice");
                    assert_eq!(self.readers.load(Ordering::SeqCst), 0, "exclusive beside shared");
                    self.writers.fetch_sub(1, Ordering::SeqCst);
                    assert_eq!(release_exclusive(&mut &self.board, 1, levels), Ok(()));
                }
            }
        }

        fn meet(bodies: [fn(&Memory); 3]) {
            for backwards in [false, true] {
                meet_in_order(bodies, backwards);
            }
        }

        fn meet_in_order(bodies: [fn(&Memory); 3], backwards: bool) {
            // All ways with three changes of thread against their will.
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(move || {
                let (board, zero) = (Board { backwards, ..Board::new() }, || AtomicU64::new(0));
                let memory = Arc::new(Memory { board, readers: zero(), writers: zero() });
                let [own, others @ ..] = bodies;
                let others = others.map(|body| {
                    let memory = memory.clone();
                    loom::thread::spawn(move || body(&memory))
                });
                own(&memory);
                others.into_iter().for_each(|thread| thread.join().expect("no panic"));
                assert!(memory.board.is_free(), "everything is given back");
            });
        }

        #[test]
        fn exclusive_shared_and_all() {
            meet([|m| m.exclusive(true), |m| m.shared(), |m| m.all()]);
        }
        #[test]
        fn two_exclusive_and_all() {
            meet([|m| m.exclusive(true), |m| m.exclusive(true), |m| m.all()]);
        }
        #[test]
        fn two_all_and_exclusive() {
            meet([|m| m.all(), |m| m.exclusive(true), |m| m.all()]);
        }
        #[test]
        fn on_demand() {
            meet([|m| m.exclusive(false), |m| m.shared(), |m| m.shared()]);
        }
    }
}
