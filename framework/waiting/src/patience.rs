//! Numbers of turns and yields that a policy allows in each state (`policy`).

use crate::states::{Role, State};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// Turns at the beginning of a wait in which nobody looks whether the level rises.
const FIRST_TURNS: u32 = 256;

/// Yields of a thread in a crowd before it is put to sleep.
const CROWD_YIELDS: u32 = 64;

/// Turns without an event before each of those yields: about as long as an answer takes from a thread that runs on another
/// core. With a yield behind every turn, threads of two processes that exchange messages lose their cores between a
/// message and its answer; with many more turns, the thread that an answer comes from waits for this core.
const CROWD_TURNS: u32 = 30;

/// A parked thread looks at its state so often before it sleeps.
const PARKED_SPINS: u32 = 1000;

/// How long a waiter polls, and how long it yields. Tools may change it while ranks wait: each number is
/// good on its own, so they are read and written without order.
#[derive(Debug, Default)]
pub struct Patience {
    spins: AtomicU32,
    yields: AtomicU32,
    parked_spins: AtomicU32,
}

impl Patience {
    /// Patience of `spins` turns at full speed and `yields` with a yield behind each. `oversubscribed`: none at full
    /// speed, since the process waited for may need this core.
    pub fn new(spins: u32, yields: u32, oversubscribed: bool) -> Patience {
        let patience = Patience::default();
        patience.set(spins, yields, oversubscribed);
        patience
    }

    /// Turns at full speed at the beginning of a wait, in which nobody looks whether the level rises.
    #[inline(always)]
    pub fn first_turns(&self) -> u32 {
        self.spins.load(Ordering::Relaxed).min(FIRST_TURNS)
    }

    /// Turns in a row without an event before a waiter leaves a state.
    #[inline(always)]
    pub(crate) fn turns(&self, state: State, role: Role, crowded: bool) -> u32 {
        match (state, role) {
            (State::Spin, _) => self.spins.load(Ordering::Relaxed),
            (State::Look, Role::Parked) if crowded => 1,
            (State::Look, Role::Parked) => self.parked_spins.load(Ordering::Relaxed),
            (State::Look, _) => self.spins.load(Ordering::Relaxed).min(CROWD_TURNS),
            (State::Yield | State::Sleep, _) => 0,
        }
    }

    /// Yields since the last event before a waiter sleeps or, if it is passing, enters the list of waiters.
    pub(crate) fn yields_of(&self, role: Role, crowded: bool) -> u32 {
        let yields = self.yields.load(Ordering::Relaxed);
        if role == Role::Passing && crowded { yields.clamp(1, CROWD_YIELDS) } else { yields }
    }

    /// Whether a waiter has no turns at full speed, so that it gives its core away at once.
    pub fn has_none(&self) -> bool {
        self.spins.load(Ordering::Relaxed) <= 1
    }

    /// Changes the numbers of turns; takes effect with a waiter's next turn without an event.
    pub fn set(&self, spins: u32, yields: u32, oversubscribed: bool) {
        let spins = if oversubscribed { 1 } else { spins.max(1) };
        self.spins.store(spins, Ordering::Relaxed);
        self.yields.store(yields, Ordering::Relaxed);
        self.parked_spins.store(PARKED_SPINS.min(spins), Ordering::Relaxed);
    }
}
