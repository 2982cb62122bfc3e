//! Steps, slots and words: who may write a slot when, and who may read it.
//!
//! **Steps.** The ranks of a communicator do the same steps in the same order, and each counts them for itself; a collective takes one or a few. In a step a rank may post:
//! it writes its slot of that step, then the slot's word, of which it is the only writer. A rank that needs the post waits until the
//! word has the step's number and reads the slot.
//!
//! **Slots.** A rank has [`SLOTS`] of them, which follow each other, and fewer [`CELLS`], which they have in turn. It writes the slot of a step, or its cell, when all others have finished what they did with the post that was
//! there before. They have where it saw a later post of each, in a step in which all post and all see all ([`Protocol::all_are_beyond`]); otherwise it
//! reads their *done* words. So a rank may run ahead of the others by some steps, and no further.
//!
//! **Done words.** A rank tells at the end of a collective, from which the others cannot conclude it, what it has finished, but only when that is half as many steps
//! as there are cells since it last told ([`Protocol::finish`]), or when somebody waits for it ([`Protocol::finish_now`]). So of the steps before a
//! collective less than half as many are untold, and a rank that is `n` steps behind the others still lets them begin `CELLS / 2 - n` more: nobody waits for a rank
//! that waits for it. A collective in which done words are not written must not need them: it notes what it concludes before it has begun more
//! than half as many steps as there are cells, so that no more lie between a step and the last one that it knows all others to be beyond.
//!
//! **Running ahead.** A rank that alone posts, step by step, is as fast as lines come back to it from those who have read them, and these are as fast as lines come to them. So it
//! has the line of a later step come while it posts ([`Protocol::lead`]), and they have the next one come while they read, where they are behind ([`Protocol::follow`]).
//!
//! **A crowd**, ranks that share cores, meets in a count ([`Protocol::arrive`]): each adds itself when it has posted, the last one goes on, and lets the others
//! go by one word ([`Protocol::release`]), on which they sleep once. Nobody writes that word but the last one of a meeting, before anybody arrives
//! for the next.
//!
//! **Leaving.** A rank whose wait ended with an error writes that into all its words. A rank that waits for it, then or later, ends with the same error and leaves,
//! too. A rank leaves only behind its last look at what others posted. It writes the error into the word of the crowd, too, which the last one of a meeting
//! may be writing: so it notes before that it leaves, and the last one looks at the note behind its own writing and writes the error again.

use crate::sequence::{gone, reached, steps, why_gone};
use crate::tree::Branch;
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering, fence};
use oxmpi_mca::{Status, WakingWord};

/// A status other than OK is the error. It ends the communicator's collectives in this rank.
pub type Result<T = ()> = core::result::Result<T, Status>;

/// Slots of a rank: so many short posts it may be ahead of those who read them.
#[cfg(not(loom))]
pub const SLOTS: u32 = 32;
/// Cells of a rank, which its slots have in turn: enough that a collective of three steps need not ask who has finished the one before.
#[cfg(not(loom))]
pub const CELLS: u32 = 8;
/// Enough for a meeting of a crowd behind another one.
#[cfg(loom)]
pub const SLOTS: u32 = 4;
#[cfg(loom)]
pub const CELLS: u32 = 4;

/// A rank that runs ahead has the line come of the step that is so many behind its present one: time enough for a line to come from another processor's cache, and not yet a line
/// that others still read.
const LEAD: u32 = 12;

/// Counts that a rank has for itself of one communicator. Used by one thread at a time.
#[derive(Debug)]
pub struct Counters {
    /// Steps that it has begun.
    step: AtomicU32,
    /// Nobody reads its posts of steps before this one any more.
    free: AtomicU32,
    /// The value of its done word.
    told: AtomicU32,
    /// Meetings of the crowd that it has come to.
    meetings: AtomicU32,
}

impl Counters {
    pub fn new() -> Counters {
        let zero = || AtomicU32::new(0);
        Counters { step: zero(), free: zero(), told: zero(), meetings: zero() }
    }
}

/// The words that all ranks of a crowd write; 16 zero bytes at first.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Ranks that have come to meetings.
    count: AtomicU32,
    /// The mark of a rank that leaves; 0: none has.
    left: AtomicU32,
}

/// The word of the last one of a meeting to the others.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Exit {
    /// The number of meetings that are over.
    pub word: WakingWord,
    pub header: AtomicU64,
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
    /// This rank's place in the tree by which many meet.
    fn branch(&self) -> &Branch;
    /// Where the crowd arrives.
    fn arrivals(&self) -> &Arrivals;
    /// By which it goes on.
    fn exit(&self) -> &Exit;
    /// Waits until a word is not `value` any more.
    fn wait(&self, word: &WakingWord, value: u32) -> Result;
    /// Wakes those who sleep on a word.
    fn wake(&self, word: &WakingWord);
    /// How often to look at a word before waiting for it.
    fn looks(&self) -> u32;
    /// Has the line of a slot come here while this rank goes on: for writing where the slot is its own, for reading otherwise. A hint.
    fn get_line(&self, rank: u32, slot: u32);
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

    /// Waits until a word is at `wanted` steps or beyond, and returns its value. An error: its rank has left, or the wait is over without that.
    #[inline]
    fn reach(&self, word: &WakingWord, wanted: u32) -> Result<u32> {
        for _ in 0..self.looks() {
            let value = word.load();
            if reached(value, wanted) {
                return Ok(value);
            }
            oxmpi_mca::sync::spin_hint();
        }
        self.reach_by_waiting(word, wanted)
    }

    fn reach_by_waiting(&self, word: &WakingWord, wanted: u32) -> Result<u32> {
        loop {
            let value = word.load();
            if reached(value, wanted) {
                return Ok(value);
            }
            if let Some(why) = why_gone(value) {
                return Err(why);
            }
            self.wait(word, value)?;
        }
    }

    /// Waits until this rank may write its slot of a step, with its cell.
    #[inline]
    fn make_room(&self, step: u32) -> Result {
        self.await_readers_of(steps(step.wrapping_add(1).wrapping_sub(CELLS)))
    }

    /// Waits until this rank may write its slot of a step, without its cell.
    #[inline]
    fn make_room_in_line(&self, step: u32) -> Result {
        self.await_readers_of(steps(step.wrapping_add(1).wrapping_sub(SLOTS)))
    }

    /// Waits until nobody reads this rank's posts of steps before `wanted` any more.
    #[inline]
    fn await_readers_of(&self, wanted: u32) -> Result {
        let free = &self.counters().free;
        if reached(free.load(Ordering::Relaxed), wanted) {
            return Ok(());
        }
        // As far as the one who is behind most, so that the words are not looked at again in each step.
        let mut least = u32::MAX;
        for other in self.others() {
            least = least.min(steps(self.reach(self.done(other), wanted)?.wrapping_sub(wanted)));
        }
        free.store(steps(wanted.wrapping_add(least)), Ordering::Relaxed);
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

    /// Has the line of a later step come; called before a post in a collective in which this rank waits for nobody.
    #[inline]
    fn lead(&self, step: u32) {
        self.get_line(self.rank(), slot(step.wrapping_add(LEAD)));
    }

    /// Has the line of a rank's next step come, where that rank is ahead; called before a look at the post of one that waits for nobody.
    #[inline]
    fn follow(&self, rank: u32, step: u32) {
        // A rank that is not ahead is about to write the next line, which is not to be taken from it.
        if reached(self.posted(rank, slot(step)).load(), steps(step.wrapping_add(1))) {
            self.get_line(rank, slot(step.wrapping_add(1)));
        }
    }

    /// Notes that each rank has posted in a step that it begins when it has finished all before.
    #[inline]
    fn all_are_beyond(&self, step: u32) {
        self.counters().free.store(step, Ordering::Relaxed);
    }

    /// Says that this rank has finished all steps that it has begun, and tells it if that is many.
    #[inline]
    fn finish(&self) {
        let Counters { step, told, .. } = self.counters();
        let untold = steps(step.load(Ordering::Relaxed).wrapping_sub(told.load(Ordering::Relaxed)));
        if untold >= CELLS / 2 {
            self.finish_now();
        }
    }

    /// Tells that this rank has finished all steps that it has begun.
    #[inline]
    fn finish_now(&self) {
        let done = self.counters().step.load(Ordering::Relaxed);
        self.counters().told.store(done, Ordering::Relaxed);
        // SYNC POINT with `reach`: what this rank has read is read.
        self.change(self.done(self.rank()), done);
    }

    /// Waits until a rank has finished a step, which it tells at once.
    fn see_finished(&self, rank: u32, step: u32) -> Result {
        self.reach(self.done(rank), steps(step.wrapping_add(1))).map(|_| ())
    }

    /// Comes to a meeting of the crowd, with what this rank has posted before. True: it is the last one, sees the posts of all, and calls
    /// [`Protocol::release`]; the others call [`Protocol::await_release`].
    #[inline]
    fn arrive(&self) -> bool {
        let meetings = &self.counters().meetings;
        let meeting = meetings.load(Ordering::Relaxed).wrapping_add(1);
        meetings.store(meeting, Ordering::Relaxed);
        // SYNC POINT with itself: the last one sees what all did before they came.
        let count = self.arrivals().count.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        count == meeting.wrapping_mul(self.ranks())
    }

    /// Lets the others of a meeting go on, and tells them a number.
    fn release(&self, header: u64) {
        let exit = self.exit();
        exit.header.store(header, Ordering::Relaxed);
        self.change(&exit.word, steps(self.counters().meetings.load(Ordering::Relaxed)));
        // SYNC POINT with `leave`: `change` ends with a fence. A rank that leaves has noted that before its fence, or writes the word after this.
        if let left @ 1.. = self.arrivals().left.load(Ordering::Relaxed) {
            self.change(&exit.word, left);
        }
    }

    /// Waits until the last one lets this rank go on, and returns the number that it tells.
    fn await_release(&self) -> Result<u64> {
        let meeting = steps(self.counters().meetings.load(Ordering::Relaxed));
        self.reach(&self.exit().word, meeting)?;
        Ok(self.exit().header.load(Ordering::Relaxed))
    }

    /// Leaves the communicator's collectives because of an error.
    fn leave(&self, why: Status) {
        let rank = self.rank();
        for word in (0..SLOTS).map(|slot| self.posted(rank, slot)).chain([self.done(rank)]) {
            self.change(word, gone(why));
        }
        self.arrivals().left.store(gone(why), Ordering::Relaxed);
        // SYNC POINT with `release`.
        fence(Ordering::SeqCst);
        self.change(&self.exit().word, gone(why));
    }

    #[inline]
    fn change(&self, word: &WakingWord, value: u32) {
        if word.store(value) {
            self.wake(word);
        }
    }
}

impl<D: Desk + ?Sized> Protocol for D {}
