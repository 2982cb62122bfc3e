//! Which contexts of other threads a waiter enters: those on which it waits for something and that nobody progresses.
//!
//! A flush waits for operations of all threads to a target. Each was issued on a context of its thread's, whose lock that thread
//! mostly owns (`mca::biased`), and completes in progress of that context. The thread may be computing. Nobody hands its context over: the word
//! for that would have to be looked at in every send. Instead the waiter
//!
//! 1. compares counters, which anybody may read (`oxmpi_osc::Flow`): usually there is nothing to wait for;
//! 2. makes turns of progress as in any wait, which cover its own context;
//! 3. looks, not more often than in [`BETWEEN_LOOKS`], at the number of turns that each context with something outstanding has had. Where
//!    it is that of the last look, nobody is at it, and the waiter enters: it holds nothing, so it may wait until the owner,
//!    from whom the lock is taken, is outside, and others may do the same. It makes one turn and leaves.
//!
//! Two waiters that do so for the same context see each other's turns, and one of them waits. A thread that comes back finds
//! its lock as any that was taken away, and owns it again when it has used it often enough.
//!
//! With one thread in MPI there are no other owners, and its turns cover all contexts.

use crate::layer::{Layer, Waiter};
use oxmpi_mca::Cri;
use oxmpi_mca::cri::{MOST_CRIS, is_in};
use oxmpi_mca::sync::Ordering;
use oxmpi_system::clock::monotonic_now;
use std::time::Duration;

/// Time between two looks at the counts of turns. An owner that waits makes a turn in less, so nobody progresses a
/// context that had none.
const BETWEEN_LOOKS: Duration = Duration::from_micros(5);
/// The most CRIs that there may be.
const MOST: usize = MOST_CRIS as usize;

/// One waiter's view of contexts.
pub struct Looks {
    /// Turns of each one when it was looked at, plus 1; 0: it was not.
    turns: [u64; MOST],
    /// On the caller's clock.
    next: Duration,
}

impl Looks {
    /// A view in which no context has been looked at.
    pub fn new() -> Looks {
        Looks { turns: [0; MOST], next: Duration::ZERO }
    }

    /// The contexts of `outstanding` (by bits of a set) that had no turn of progress since the last look, by a bit for each. 0 until it is time
    /// for the next look; `now` is on the clock of all calls.
    pub fn idle(&mut self, cris: &[Cri], outstanding: u64, now: Duration) -> u128 {
        if now < self.next {
            return 0;
        }
        self.next = now + BETWEEN_LOOKS;
        let mut idle = 0;
        for (ctx, (cri, seen)) in cris.iter().zip(&mut self.turns).enumerate() {
            let turns = turns(cri);
            let still = is_in(outstanding, ctx as u32) && *seen == turns;
            idle |= u128::from(still) << ctx;
            *seen = turns;
        }
        idle
    }

    /// Notes that the waiter itself made a turn of context `ctx`, so that the next look does not take it for another
    /// thread's.
    pub fn made_a_turn(&mut self, cris: &[Cri], ctx: u32) {
        self.turns[ctx as usize] = turns(&cris[ctx as usize]);
    }
}

/// Turns of progress that a CRI has had, plus 1.
fn turns(cri: &Cri) -> u64 {
    // SYNC POINT with `Cri::count_progress`.
    cri.progress_calls.load(Ordering::Acquire).wrapping_add(1)
}

impl<L: Layer> Waiter<'_, L> {
    /// Waits until `outstanding` answers 0. It says on which contexts, by bits of a set, something is under way that the
    /// caller waits for; those of them that nobody progresses are entered. The caller holds no lock.
    pub fn wait_contexts(self, mut outstanding: impl FnMut() -> u64) {
        let mut looks = Looks::new();
        let (waiting, cris) = (self.waiting(), self.layer.cris());
        self.wait_until(|entry| {
            let set = outstanding();
            if set == 0 || !waiting.threaded() {
                return set == 0;
            }
            let idle = looks.idle(cris, set, monotonic_now());
            for ctx in (0..cris.len() as u32).filter(|&ctx| idle >> ctx & 1 != 0) {
                waiting.engine.turn_of_context(entry, ctx);
                looks.made_a_turn(cris, ctx);
            }
            idle != 0 && outstanding() == 0
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::LockServices;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn contexts_without_a_turn_between_two_looks() {
        let cris: Vec<Cri> = (0..3).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect();
        let mut looks = Looks::new();
        assert_eq!(looks.idle(&cris, 0b111, us(1)), 0, "a first look");
        assert_eq!(looks.idle(&cris, 0b111, us(3)), 0, "it is not time yet");
        cris[1].count_progress(0);
        assert_eq!(looks.idle(&cris, 0b111, us(6)), 0b101, "somebody is at 1");
        assert_eq!(looks.idle(&cris, 0b110, us(11)), 0b110);
        // Its own turns are nobody's.
        cris[2].count_progress(1);
        looks.made_a_turn(&cris, 2);
        assert_eq!(looks.idle(&cris, 0b100, us(16)), 0b100);
        cris[2].count_progress(1);
        assert_eq!(looks.idle(&cris, 0b100, us(21)), 0);
        assert_eq!(looks.idle(&cris, 0, us(26)), 0);
    }
}

#[cfg(all(test, loom))]
mod model;
