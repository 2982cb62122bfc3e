//! Steps, slots and words: who may write a slot when, and who may read it.
//!
//! **Steps.** The ranks of a communicator do the same steps in the same order, and each counts them for itself; a collective takes one or a few. In a step a rank may post:
//! it writes its slot of that step, then the slot's word, of which it is the only writer. A rank that needs the post waits until the
//! word has the step's number and reads the slot.
//!
//! **Slots.** A rank has [`SLOTS`] of them, which follow each other. It writes the one of a step when all others have finished what they did with the post that was
//! there before. They have where it saw a later post of each, in a step in which all post and all see all ([`Protocol::all_are_beyond`]); otherwise it
//! reads their *done* words, which each writes at the end of a collective that the others cannot conclude it from. So a rank may run ahead of the others by
//! some steps, and no further. A collective in which done words are not written must not need them: it notes what it concludes before it has begun more
//! than half as many steps as there are slots, so that no more lie between a step and the last one that it knows all others to be beyond.
//!
//! **Leaving.** A rank whose wait ended with an error writes that into all its words. A rank that waits for it, then or later, ends with the same error and leaves,
//! too. A rank leaves only behind its last look at what others posted.

use crate::sequence::{gone, reached, steps, why_gone};
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Status, WakingWord};

/// A status other than OK is the error. It ends the communicator's collectives in this rank.
pub type Result<T = ()> = core::result::Result<T, Status>;

/// Slots of a rank: enough that a collective of three steps need not ask who has finished the one before.
#[cfg(not(loom))]
pub const SLOTS: u32 = 8;
/// Enough for a meeting of a crowd behind another one.
#[cfg(loom)]
pub const SLOTS: u32 = 4;

/// Counts that a rank has for itself of one communicator. Used by one thread at a time.
#[derive(Debug)]
pub struct Counters {
    /// Steps that it has begun.
    step: AtomicU32,
    /// Nobody reads its posts of steps before this one any more.
    free: AtomicU32,
}

impl Counters {
    pub fn new() -> Counters {
        Counters { step: AtomicU32::new(0), free: AtomicU32::new(0) }
    }
}

/// The words of a communicator, as one rank sees them, and how it waits.
pub trait Desk {
    fn rank(&self) -> u32;
    fn ranks(&self) -> u32;
    fn counters(&self) -> &Counters;
    /// The word of a rank's slot.
    fn posted(&self, rank: u32, slot: u32) -> &WakingWord;
    /// The number beside the word, which the slot's rank writes before the word.
    fn header(&self, rank: u32, slot: u32) -> &AtomicU64;
    /// The number of steps that a rank has finished.
    fn done(&self, rank: u32) -> &WakingWord;
    /// Waits until a word is not `value` any more.
    fn wait(&self, word: &WakingWord, value: u32) -> Result;
    /// Wakes those who sleep on a word.
    fn wake(&self, word: &WakingWord);
    /// How often to look at a word before waiting for it.
    fn looks(&self) -> u32;
}

/// The slot of a step.
#[inline(always)]
pub fn slot(step: u32) -> u32 {
    step % SLOTS
}

pub trait Protocol: Desk {
    /// Begins a step, and returns its number.
    #[inline]
    fn begin(&self) -> u32 {
        let step = self.counters().step.load(Ordering::Relaxed);
        self.counters().step.store(steps(step.wrapping_add(1)), Ordering::Relaxed);
        step
    }

    /// The number of the step that is begun next.
    #[inline]
    fn next(&self) -> u32 {
        self.counters().step.load(Ordering::Relaxed)
    }

    /// All ranks but this one, beginning behind it.
    fn others(&self) -> impl Iterator<Item = u32> {
        let (rank, ranks) = (self.rank(), self.ranks());
        (1..ranks).map(move |distance| {
            let other = rank + distance;
            if other >= ranks { other - ranks } else { other }
        })
    }

    /// Waits until a word is at `wanted` steps or beyond. An error: its rank has left, or the wait is over without that.
    #[inline]
    fn reach(&self, word: &WakingWord, wanted: u32) -> Result {
        for _ in 0..self.looks() {
            if reached(word.load(), wanted) {
                return Ok(());
            }
            oxmpi_mca::sync::spin_hint();
        }
        self.reach_by_waiting(word, wanted)
    }

    fn reach_by_waiting(&self, word: &WakingWord, wanted: u32) -> Result {
        loop {
            let value = word.load();
            if reached(value, wanted) {
                return Ok(());
            }
            if let Some(why) = why_gone(value) {
                return Err(why);
            }
            self.wait(word, value)?;
        }
    }

    /// Waits until this rank may write its slot of a step.
    #[inline]
    fn make_room(&self, step: u32) -> Result {
        let wanted = steps(step.wrapping_add(1).wrapping_sub(SLOTS));
        let free = &self.counters().free;
        if reached(free.load(Ordering::Relaxed), wanted) {
            return Ok(());
        }
        for other in self.others() {
            self.reach(self.done(other), wanted)?;
        }
        free.store(wanted, Ordering::Relaxed);
        Ok(())
    }

    /// Posts what this rank has written into its slot of a step.
    #[inline]
    fn post(&self, step: u32, header: u64) {
        let slot = slot(step);
        self.header(self.rank(), slot).store(header, Ordering::Relaxed);
        // SYNC POINT with `reach`: whoever sees the number sees the slot.
        self.change(self.posted(self.rank(), slot), steps(step.wrapping_add(1)));
    }

    /// Waits for a rank's post of a step, and returns its header.
    #[inline]
    fn see(&self, rank: u32, step: u32) -> Result<u64> {
        self.reach(self.posted(rank, slot(step)), steps(step.wrapping_add(1)))?;
        Ok(self.header(rank, slot(step)).load(Ordering::Relaxed))
    }

    /// Notes that each rank has posted in a step that it begins when it has finished all before.
    #[inline]
    fn all_are_beyond(&self, step: u32) {
        self.counters().free.store(step, Ordering::Relaxed);
    }

    /// Tells that this rank has finished all steps that it has begun.
    #[inline]
    fn finish(&self) {
        let done = self.counters().step.load(Ordering::Relaxed);
        // SYNC POINT with `reach`: what this rank has read is read.
        self.change(self.done(self.rank()), done);
    }

    /// Waits until a rank has finished a step, which it tells.
    fn see_finished(&self, rank: u32, step: u32) -> Result {
        self.reach(self.done(rank), steps(step.wrapping_add(1)))
    }

    /// Leaves the communicator's collectives because of an error.
    fn leave(&self, why: Status) {
        let rank = self.rank();
        for word in (0..SLOTS).map(|slot| self.posted(rank, slot)).chain([self.done(rank)]) {
            self.change(word, gone(why));
        }
    }

    #[inline]
    fn change(&self, word: &WakingWord, value: u32) {
        if word.store(value) {
            self.wake(word);
        }
    }
}

impl<D: Desk + ?Sized> Protocol for D {}
