//! Which FIFOs the messages of one communicator to one process take, once the process sends on several.
//!
//! **Home first.** They all take one FIFO, that of the communicator's tag 0 (*home*), as long as one thread sends
//! them: a program that gives each thread a communicator of its own, as it should, gives it a FIFO, too, whatever tags it
//! uses. Its messages stay in order on their way, which keeps the search for their receives short, and none of its locks
//! goes to another thread.
//!
//! **Then by tag.** Threads that share a communicator and have tags of their own would share home. So when threads have
//! sent on it in turns for a while, mostly with tags that no other uses ([`Users`]), the messages *fork*: from now on the FIFO
//! is that of the tag. This happens once for each process they go to, and stays so. Threads that share the tags as well would
//! share all FIFOs; one is better then.
//!
//! **Order.** A fork is a switch (`switch.rs`) of one communicator's messages to one process: SWITCH names the communicator by the
//! receiver's index, so it waits until that is known, and stands in home, while what stays in home by its tag goes on behind it.
//!
//! SWITCH is visible before any OPEN of it is sent, so whoever has seen an OPEN finds SWITCH when it looks at all FIFOs again. No two
//! FIFOs wait for each other: each waits for something that was sent before what waits.
//!
//! **Access.** [`Users`] are hints, written by any thread that finds another thread's number there.

use crate::state::fifos::SHARDS;
use oxmpi_mca::sync::{Ordering, unmodelled};
use std::sync::OnceLock;
use unmodelled::{AtomicU8, AtomicU32};

/// In `last`: a thread's number plus 1; above it, the turns that count.
const LAST_BITS: u32 = 24;
const LAST: u32 = (1 << LAST_BITS) - 1;
/// Milliseconds between two turns that threads take while both are at work.
const CLOSE: u32 = 20;
/// A turn with a tag of another thread undoes so many with tags of their own.
const UNDONE: u32 = 4;

/// The threads that send on a communicator, wherever to. On lines of its own, since they write it in turns.
#[repr(align(128))]
#[derive(Default)]
pub struct Users {
    last: AtomicU32,
    /// When that changed, in milliseconds of its own clock.
    changed: AtomicU32,
    /// By the shard of the tag, who sent last of those that sent in turns: a thread's number, folded, or 0.
    tags: OnceLock<Box<[AtomicU8; SHARDS as usize]>>,
}

impl Users {
    /// The most turns that can be asked for.
    pub const MOST: u32 = 255;

    /// Whether the thread with this number was the last that sent on the communicator.
    #[inline(always)]
    pub fn is(&self, thread: u32) -> bool {
        self.last.load(Ordering::Relaxed) & LAST == thread.wrapping_add(1) & LAST
    }

    /// Counts a send by a thread, whose tag has this shard, at the time `now`, in milliseconds. `true`: the
    /// communicator's messages are to part, because threads have sent in `due` turns (at most [`Users::MOST`]) close
    /// behind each other, mostly with tags of their own, now or before.
    pub fn part(&self, thread: u32, shard: usize, due: u32, now: impl FnOnce() -> u32) -> bool {
        let me = thread.wrapping_add(1) & LAST;
        let word = self.last.load(Ordering::Relaxed);
        let (last, mut turns) = (word & LAST, word >> LAST_BITS);
        if last != me {
            if last != 0 && turns < due {
                turns = match self.is_own(me, shard) {
                    true if self.is_soon(now()) => turns + 1,
                    true => 1,
                    false => turns.saturating_sub(UNDONE),
                };
            }
            self.last.store(me | turns << LAST_BITS, Ordering::Relaxed);
        }
        last != 0 && turns >= due
    }

    /// Whether the sending thread changed at most [`CLOSE`] milliseconds ago; notes `now` as the time of the last
    /// change. Threads that replace others after longer pauses do not share the communicator.
    fn is_soon(&self, now: u32) -> bool {
        let before = self.changed.load(Ordering::Relaxed);
        self.changed.store(now, Ordering::Relaxed);
        now.wrapping_sub(before) <= CLOSE
    }

    /// Whether no other thread sent with a tag of this shard, as far as is known; notes the thread `me` as the shard's
    /// last user.
    fn is_own(&self, me: u32, shard: usize) -> bool {
        let tags = self.tags.get_or_init(|| Box::new([const { AtomicU8::new(0) }; SHARDS as usize]));
        let me = (me % 255) as u8 + 1;
        let user = tags[shard].load(Ordering::Relaxed);
        if user != me {
            tags[shard].store(me, Ordering::Relaxed);
        }
        user == 0 || user == me
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_with_tags_of_their_own_part() {
        let users = Users::default();
        assert!((0..100).all(|_| !users.part(3, 7, 8, || 0)), "one thread alone");
        assert!(users.is(3) && !users.is(4));
        let part = |i| users.part(4 + i % 2, (4 + i % 2) as usize, 8, || i * CLOSE);
        assert_eq!((0..9).map(part).position(|p| p), Some(7));
        assert!(users.part(u32::MAX, 7, 8, || 0), "and stay so, whoever sends what");
    }

    #[test]
    fn threads_with_the_same_tags_stay_together() {
        let users = Users::default();
        assert!((0..10_000).all(|i| !users.part(i % 3, (i / 3 % 64) as usize, 8, || 0)));
        // One tag that all use, seldom enough, does not keep them.
        let users = Users::default();
        let tag = |i: u32| if i.is_multiple_of(10) { 63 } else { (i % 3) as usize };
        assert!((0..1000).any(|i| users.part(i % 3, tag(i), 64, || 0)));
    }

    #[test]
    fn threads_that_take_the_place_of_others_do_not_share() {
        let users = Users::default();
        assert!((0..1000).all(|i| !users.part(i % 200, (i % 200 % 64) as usize, 3, || i * (CLOSE + 1))));
    }

    #[test]
    fn the_first_change_may_do() {
        let users = Users::default();
        assert!(!users.part(1, 0, 1, || 0) && !users.part(1, 0, 1, || 0));
        assert!(users.part(2, 1, 1, || 0));
    }
}
