//! Whether nothing comes any more: what a call asks before it says that there is no room.
//!
//! **With one thread** a few turns of progress that bring nothing tell. **With several** they tell nothing: a turn leaves a
//! resource instance alone whose lock somebody else has, and that thread may just be about to take what this one
//! needs, or have lost its core there. The proof is a whole turn that somebody made behind our question. The lock's holder counts
//! turns at their end, so one of two more may have begun before we asked and the other has not; if meanwhile no event was counted,
//! nothing was there. A thread that completed something did so before it counted its turn, which we see, so the completion is seen, too.

use crate::layer::{Layer, Waiter};
use oxmpi_mca::Cri;
use oxmpi_mca::sync::unmodelled::Ordering;

/// Turns without an event that tell a thread alone that nothing comes.
const TURNS: u32 = 4;
/// Most turns where there are several threads, for a PML that does not count its turns. So many yields are longer than
/// any thread is kept from a core.
const MOST_TURNS: u32 = 1 << 16;

impl<L: Layer> Waiter<'_, L> {
    /// Makes turns of progress until one brings an event (false), or until every CRI in use has been looked at and
    /// there was nothing (true). The caller holds no lock.
    pub fn is_quiescent(mut self) -> bool {
        if !self.are_several() {
            return (0..TURNS).all(|_| self.turn() == 0);
        }
        nothing_comes(self.layer.cris(), || {
            let events = self.turn();
            if events == 0 {
                std::thread::yield_now();
            }
            events
        })
    }
}

/// Counts of a resource instance.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    turns: u64,
    events: u64,
}

/// Reads the counts of turns and events of a CRI.
fn look(cri: &Cri) -> Seen {
    Seen {
        // SYNC POINT with `Cri::count_progress`: what was completed in those turns is seen. Read first, so that the
        // events of those turns are seen, too.
        turns: cri.progress_calls.load(Ordering::Acquire),
        events: cri.completions.load(Ordering::Relaxed),
    }
}

/// The CRIs on which messages may come, by number; the first one always.
fn used(cris: &[Cri]) -> impl Iterator<Item = (usize, &Cri)> {
    cris.iter().enumerate().filter(|(i, cri)| *i == 0 || cri.active.load(Ordering::Relaxed) != 0)
}

/// Makes turns with `turn` until an event is counted (false), or until each CRI in use has had two more turns without
/// one (true).
fn nothing_comes(cris: &[Cri], mut turn: impl FnMut() -> i32) -> bool {
    let asked: Vec<Seen> = cris.iter().map(look).collect();
    for _ in 0..MOST_TURNS {
        if turn() > 0 || used(cris).any(|(i, cri)| look(cri).events != asked[i].events) {
            return false;
        }
        if used(cris).all(|(i, cri)| look(cri).turns >= asked[i].turns + 2) {
            break;
        }
    }
    // An event of a turn that ended between the two looks above is seen now.
    used(cris).all(|(i, cri)| look(cri).events == asked[i].events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_mca::LockServices;

    fn cris(active: usize) -> Vec<Cri> {
        let cris: Vec<Cri> = (0..3).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect();
        cris[..active].iter().for_each(|cri| cri.active.store(1, Ordering::Relaxed));
        cris
    }

    /// Another thread has one of the locks for long, so that our turns there find nothing: that is no answer.
    #[test]
    fn a_lock_that_is_taken_is_no_answer() {
        let cris = cris(2);
        let mut turns = 0;
        let quiet = nothing_comes(&cris, || {
            turns += 1;
            cris[0].count_progress(0);
            if turns == 50 {
                cris[1].count_progress(1);
            }
            0
        });
        assert!(!quiet && turns == 50, "{turns}");
    }

    /// The turn that was under way when we asked may have passed by what came since.
    #[test]
    fn a_turn_that_had_begun_is_no_answer() {
        let cris = cris(0);
        let mut turns = 0;
        let quiet = nothing_comes(&cris, || {
            turns += 1;
            if turns == 3 || turns == 9 {
                cris[0].count_progress(0);
            }
            0
        });
        assert!(quiet && turns == 9, "{turns}");
    }

    #[test]
    fn an_event_of_our_own_is_one() {
        let cris = cris(1);
        assert!(!nothing_comes(&cris, || 1));
    }

    #[test]
    fn instances_without_messages_are_not_waited_for() {
        let cris = cris(1);
        assert!(nothing_comes(&cris, || {
            cris[0].count_progress(0);
            0
        }));
    }

    #[test]
    fn who_does_not_count_is_not_waited_for_without_end() {
        assert!(nothing_comes(&cris(0), || 0));
    }
}
