//! `ACCUMULATE` of a target's state words, as attempts: accumulates that update elements by atomics share it, those that read, combine and
//! write have it alone.
//!
//! **The word.** Its low half counts those who share it, its high half those who want it alone. A sharer adds one; it has the word unless
//! somebody wants it alone, else it takes its one back. To have it alone one is added to the high half. An accumulate that finds none there
//! keeps that one, which lets no further sharer in, and has the word once the low half is zero; any other takes it back. So sharers never wait
//! for each other, and at most one waits for them.
//!
//! **Refused attempts** to share it look at the word before they add again: what is added and taken back keeps others out for a moment, so it is done once for each
//! accumulate and not once for each attempt. Those to have it alone replace 0, which is one step where nobody has it, as it mostly is, and changes nothing else; where
//! there are sharers they add. Adds that are taken back make the word differ from what its holders say; so it is given back by a
//! subtraction, never by a store.

use crate::call::Call;
use crate::peer::Met;
use crate::state_words::Words;
use crate::tally::Attempt;
use crate::wire::{ALONE, word};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

/// So many looks at a word that gets free soon are one attempt.
const LOOKS: u32 = 16;
/// The low half.
const SHARERS: u64 = ALONE - 1;

/// A wish for the word, and how far it has got.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    one: u64,
    state: ClaimState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimState {
    New,
    Refused,
    /// Nobody else wants it alone; sharers are still there.
    Next,
    Has,
}

impl Claim {
    pub const SHARED: Claim = Claim { one: 1, state: ClaimState::New };
    pub const ALONE: Claim = Claim { one: ALONE, state: ClaimState::New };

    /// Whether it waits for sharers alone, who do not take long.
    pub fn is_next(&self) -> bool {
        self.state == ClaimState::Next
    }

    pub fn is_shared(&self) -> bool {
        self.one == 1
    }

    /// Tries once. True: the word is had, until `release`.
    pub fn attempt(&mut self, words: &mut impl Words, rank: u32) -> Result<bool, Status> {
        self.state = match self.state {
            ClaimState::Next if words.read(rank, word::ACCUMULATE)? & SHARERS == 0 => ClaimState::Has,
            ClaimState::Refused => self.again(words, rank)?,
            ClaimState::New => self.add(words, rank)?,
            state => state,
        };
        Ok(self.state == ClaimState::Has)
    }

    fn add(&self, words: &mut impl Words, rank: u32) -> Result<ClaimState, Status> {
        let before = words.add(rank, word::ACCUMULATE, self.one)?;
        if before >= ALONE {
            words.add_later(rank, word::ACCUMULATE, self.one.wrapping_neg())?;
            return Ok(ClaimState::Refused);
        }
        Ok(if self.is_shared() || before == 0 { ClaimState::Has } else { ClaimState::Next })
    }

    /// Another attempt.
    fn again(&self, words: &mut impl Words, rank: u32) -> Result<ClaimState, Status> {
        let now = match self.is_shared() {
            true => words.read(rank, word::ACCUMULATE)?,
            false => match words.swap_if(rank, word::ACCUMULATE, 0, ALONE)? {
                0 => return Ok(ClaimState::Has),
                now => now,
            },
        };
        if now >= ALONE { Ok(ClaimState::Refused) } else { self.add(words, rank) }
    }

    /// The number to add to the word to give it back.
    pub fn change(&self) -> u64 {
        self.one.wrapping_neg()
    }

    /// Gives the word back, some time soon.
    pub fn release(self, words: &mut impl Words, rank: u32) -> Result<(), Status> {
        debug_assert_eq!(self.state, ClaimState::Has);
        words.add_later(rank, word::ACCUMULATE, self.change())
    }
}

impl<'a> Call<'a> {
    /// Waits until it is had. Of the threads of a process one at a time asks for it alone, or again.
    pub fn claim(&mut self, peer: Met<'_>, mut claim: Claim) -> Result<Claim, Status> {
        let tally = &self.win.tally;
        if claim.is_shared() && tally.tried(Attempt::Accumulate, claim.attempt(self, peer.rank))? {
            return Ok(claim);
        }
        // SYNC POINT with `may_ask`.
        self.insist(|_| Ok(peer.asks.swap(1, Ordering::Acquire) == 0))?;
        let had = self.insist(|call| {
            for _ in 0..LOOKS {
                let had = tally.tried(Attempt::Accumulate, claim.attempt(call, peer.rank))?;
                if had || !claim.is_next() {
                    return Ok(had);
                }
            }
            Ok(false)
        });
        if claim.is_shared() || had.is_err() {
            peer.may_ask();
        }
        had.map(|()| claim)
    }

    /// Does something while a rank's `ACCUMULATE` word is had as wanted.
    pub fn holding<T>(
        &mut self,
        peer: Met<'_>,
        claim: Claim,
        work: impl FnOnce(&mut Call<'a>) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let claim = self.claim(peer, claim)?;
        let done = work(self);
        self.release(peer, claim)?;
        done
    }

    /// All that was done under it is visible. By a transport the word is free some time later, and a failure is told by the next synchronisation.
    pub fn release(&mut self, peer: Met<'_>, claim: Claim) -> Result<(), Status> {
        let released = claim.release(self, peer.rank);
        if !claim.is_shared() {
            peer.may_ask();
        }
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_mca::sync::{AtomicU64, Ordering};

    impl Words for &AtomicU64 {
        fn add(&mut self, _: u32, word: u64, value: u64) -> Result<u64, Status> {
            assert_eq!(word, word::ACCUMULATE);
            Ok(self.fetch_add(value, Ordering::SeqCst))
        }
        fn swap_if(&mut self, _: u32, word: u64, from: u64, to: u64) -> Result<u64, Status> {
            assert_eq!(word, word::ACCUMULATE);
            let swapped = self.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
            Ok(swapped.unwrap_or_else(|now| now))
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn sharers_keep_out_whoever_wants_it_alone_and_the_other_way_round() {
        let word = AtomicU64::new(0);
        let now = || word.load(Ordering::SeqCst);
        let (mut one, mut two) = (Claim::SHARED, Claim::SHARED);
        let (mut alone, mut late) = (Claim::ALONE, Claim::ALONE);
        assert_eq!((one.attempt(&mut &word, 0), two.attempt(&mut &word, 0)), (Ok(true), Ok(true)));
        assert_eq!((alone.attempt(&mut &word, 0), alone.is_next()), (Ok(false), true));
        assert_eq!((late.attempt(&mut &word, 0), late.is_next()), (Ok(false), false));
        let mut three = Claim::SHARED;
        assert_eq!(three.attempt(&mut &word, 0), Ok(false), "somebody waits");
        assert_eq!(now(), ALONE + 2, "what was refused was taken back");
        assert_eq!((one.release(&mut &word, 0), alone.attempt(&mut &word, 0)), (Ok(()), Ok(false)));
        assert_eq!((two.release(&mut &word, 0), alone.attempt(&mut &word, 0)), (Ok(()), Ok(true)));
        assert_eq!((three.attempt(&mut &word, 0), late.attempt(&mut &word, 0)), (Ok(false), Ok(false)));
        assert_eq!((now(), alone.release(&mut &word, 0)), (ALONE, Ok(())));
        let mut sharer = Claim::SHARED;
        assert_eq!((sharer.attempt(&mut &word, 0), late.attempt(&mut &word, 0)), (Ok(true), Ok(false)));
        assert_eq!((late.is_next(), now()), (true, ALONE + 1), "the next one, though refused before");
        assert_eq!((sharer.release(&mut &word, 0), late.attempt(&mut &word, 0)), (Ok(()), Ok(true)));
        assert_eq!(late.release(&mut &word, 0), Ok(()));
        assert_eq!((three.attempt(&mut &word, 0), three.release(&mut &word, 0)), (Ok(true), Ok(())));
        assert_eq!(now(), 0);
    }

    /// All ways in which accumulates of both kinds meet.
    #[cfg(loom)]
    mod model {
        use super::*;
        use loom::sync::Arc;

        struct Memory {
            word: AtomicU64,
            sharers: AtomicU64,
            alone: AtomicU64,
        }

        impl Memory {
            /// Tries a few times, and waits for sharers as long as they are there.
            fn with(&self, mut claim: Claim, work: impl Fn(&Memory)) {
                for _ in 0..2 {
                    let mut has = claim.attempt(&mut &self.word, 0) == Ok(true);
                    while claim.is_next() {
                        loom::thread::yield_now();
                        has = claim.attempt(&mut &self.word, 0) == Ok(true);
                    }
                    if has {
                        work(self);
                        assert_eq!(claim.release(&mut &self.word, 0), Ok(()));
                        return;
                    }
                }
            }
            fn shared(&self) {
                self.with(Claim::SHARED, |m| {
                    m.sharers.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(m.alone.load(Ordering::SeqCst), 0, "shared beside alone");
                    m.sharers.fetch_sub(1, Ordering::SeqCst);
                });
            }
            fn alone(&self) {
                self.with(Claim::ALONE, |m| {
                    assert_eq!(m.alone.fetch_add(1, Ordering::SeqCst), 0, "alone twice");
                    assert_eq!(m.sharers.load(Ordering::SeqCst), 0, "alone beside shared");
                    m.alone.fetch_sub(1, Ordering::SeqCst);
                });
            }
        }

        fn meet(bodies: [fn(&Memory); 3]) {
            // All ways with three changes of thread against their will.
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(move || {
                let zero = || AtomicU64::new(0);
                let memory = Arc::new(Memory { word: zero(), sharers: zero(), alone: zero() });
                let [own, others @ ..] = bodies;
                let others = others.map(|body| {
                    let memory = memory.clone();
                    loom::thread::spawn(move || body(&memory))
                });
                own(&memory);
                others.into_iter().for_each(|thread| thread.join().expect("no panic"));
                assert_eq!(memory.word.load(Ordering::SeqCst), 0, "everything is given back");
            });
        }

        #[test]
        fn two_share_and_one_wants_it_alone() {
            meet([Memory::shared, Memory::shared, Memory::alone]);
        }
        #[test]
        fn two_want_it_alone_and_one_shares() {
            meet([Memory::alone, Memory::shared, Memory::alone]);
        }
        #[test]
        fn all_want_it_alone() {
            meet([Memory::alone; 3]);
        }
    }
}
