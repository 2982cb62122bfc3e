//! Counts the turns of a waiter that brought nothing, by which it spins, yields or sleeps.

use crate::patience::Patience;
use std::time::Duration;

/// Longest sleep on doorbells.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_millis(10);
/// Longest nap where a transport cannot wake a sleeper.
pub(crate) const LONGEST_NAP: Duration = Duration::from_micros(500);
/// First nap of a wait; each further one is twice as long.
pub(crate) const FIRST_NAP: Duration = Duration::from_micros(5);
/// A waiter's next step after a turn that brought nothing.
pub(crate) enum Step {
    Spin,
    Yield,
    Sleep,
}

/// The turns of a waiter since its last event, and its next nap.
pub(crate) struct Idle {
    turns: u32,
    nap: Duration,
    /// No sleep is longer.
    pub(crate) longest: Duration,
    /// The news that the waiter has looked at (`words`).
    pub(crate) seen: u32,
}

impl Idle {
    /// The count of a waiter at the beginning of a wait.
    pub(crate) fn new() -> Idle {
        Idle { turns: 0, nap: FIRST_NAP, longest: LONGEST_SLEEP, seen: 0 }
    }
    /// Starts the count again, after an event.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        self.turns = 0;
        self.nap = FIRST_NAP;
    }
    /// Counts a turn without an event, and says what the waiter does next. `crowded`: more threads wait than there are
    /// cores.
    #[inline(always)]
    pub(crate) fn step(&mut self, patience: &Patience, crowded: bool) -> Step {
        self.turns = self.turns.saturating_add(1);
        let spins = if crowded { patience.crowd_turns() } else { patience.spins() };
        if self.turns < spins {
            Step::Spin
        } else if self.turns < spins.saturating_add(patience.yields()) {
            Step::Yield
        } else {
            Step::Sleep
        }
    }
    /// The length of the next nap; doubles each time, up to [`LONGEST_NAP`].
    pub(crate) fn next_nap(&mut self) -> Duration {
        let nap = self.nap;
        self.nap = (nap * 2).min(LONGEST_NAP);
        nap
    }
}
