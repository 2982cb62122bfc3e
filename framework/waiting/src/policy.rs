//! One state machine decides how every waiter waits: at full speed, by looks between yields, by yields, or asleep.
//!
//! A waiter makes a turn of progress, or looks at its own word. A turn that brought something is an *event*, after which it begins anew. After
//! any other it asks its [`Policy`] what it does before the next one:
//!
//! ```text
//!  a core for each        event ──► SPIN ── spins turns ──► YIELD ── yields ──► SLEEP
//!  crowded                event ──► LOOK ── looks ──► YIELD ── yields ──► SLEEP
//!                                    ▲                 │
//!                                    └── while passing ┘
//!  parked                 event ──► LOOK ── looks ──► SLEEP
//! ```
//!
//! * **Spin**: the next turn follows at once. There are none where ranks share cores, since the process waited for may need this one
//!   (`mpi_spin_count`, `mpi_yield_when_idle`, oversubscribed nodes).
//! * **Look**: the same, but few: about as many as an answer takes from a thread that runs on another core. It stands in place of Spin where more
//!   threads of the process wait than it has cores (`Waiters::crowd`). A thread that is *passing*, because it has not yet entered the list of
//!   waiters, leaves its core to the others between such rows, as a process would, which costs less than being put to sleep and woken
//!   for every few messages. A parked thread looks at its own word.
//! * **Yield**: the core is given away once between two turns (`mpi_yield_count`). Where that is *in vain*, because others than the job's
//!   ranks have the cores (`yield_limit`), the thread sleeps before this turn instead.
//! * **Sleep**: until something comes (`sleep`); where nothing wakes a sleeper, for times that grow to [`LONGEST_NAP`]. The waiter stays in
//!   this state until an event: a wake-up in vain is no reason to take a core for long. Where something waits for room the thread gives its
//!   core away [`ROOM_YIELDS`] times, and naps from then on: a connection that is being made may take seconds, and millions of yields put off
//!   every thread of the machine (a yield counts as a whole slice on kernels that schedule by deadlines).
//!
//! **Counts.** A policy adds up what it did in its own memory, and the wait adds that to the words of its thread when it ends. So nothing
//! shared is written, and a wait that ends in its first turns, before it has a policy, counts nothing.

use crate::patience::Patience;
use crate::states::{Counts, Role, STATES, State};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_progress::thread::Slot;
use std::time::Duration;

/// Longest sleep on doorbells.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_millis(10);
/// Longest nap where a transport cannot wake a sleeper.
pub(crate) const LONGEST_NAP: Duration = Duration::from_micros(500);
/// Yields since the last event in place of sleeps, where something waits for room.
const ROOM_YIELDS: u32 = 64;
/// First nap of a wait; each further one is twice as long.
const FIRST_NAP: Duration = Duration::from_micros(5);

/// The state of one wait, of which a waiter has one for each role that it takes.
pub(crate) struct Policy<'a> {
    state: State,
    role: Role,
    /// More threads wait than there are cores for.
    crowded: bool,
    /// Turns in this state.
    turns: u32,
    /// Yields since the last event.
    yields: u32,
    /// Yields for room since the last event, which are not among those.
    room_yields: u32,
    nap: Duration,
    /// No sleep is longer.
    pub(crate) longest: Duration,
    /// The news that the waiter has looked at (`words`).
    pub(crate) seen: u32,
    did: [u32; STATES],
    counts: Option<&'a Counts>,
}

impl<'a> Policy<'a> {
    /// The policy of a wait that begins, of the thread of that slot. `crowded`: more threads wait than there are cores for.
    pub(crate) fn new(role: Role, crowded: bool, slot: Option<&'a Slot>) -> Policy<'a> {
        let counts = slot.map(|slot| &slot.waits);
        Policy {
            state: first_state(role, crowded),
            role,
            crowded,
            turns: 0,
            yields: 0,
            room_yields: 0,
            nap: FIRST_NAP,
            longest: LONGEST_SLEEP,
            seen: 0,
            did: [0; STATES],
            counts,
        }
    }

    /// Begins anew, after an event.
    #[inline(always)]
    pub(crate) fn event(&mut self) {
        if self.turns | self.yields != 0 || self.state == State::Sleep {
            self.begin_anew();
        }
    }

    /// Yields since the last event, if the last turn was the one behind a yield; 0: the waiter looked since.
    pub(crate) fn yields_before_this_turn(&self) -> u32 {
        if self.state == State::Yield { self.yields } else { 0 }
    }

    /// Counts a turn without an event, and says what the waiter does before the next. `in_vain`: whether yields are, asked where it would
    /// yield. `None`: the patience of a thread that is passing is at an end.
    #[inline(always)]
    pub(crate) fn next(&mut self, patience: &Patience, in_vain: impl FnOnce() -> bool) -> Option<State> {
        self.turns = self.turns.saturating_add(1);
        if self.turns < patience.turns(self.state, self.role, self.crowded) {
            return Some(self.state);
        }
        self.change(patience, in_vain)
    }

    /// Goes over to the next state: all transitions but the one behind an event.
    fn change(&mut self, patience: &Patience, in_vain: impl FnOnce() -> bool) -> Option<State> {
        use State::{Look, Sleep, Spin, Yield};
        let may_yield = self.role == Role::Racing
            || self.role != Role::Parked && self.yields < patience.yields_of(self.role, self.crowded);
        let next = match self.state {
            Sleep => Sleep,
            Yield if may_yield && self.role == Role::Passing && self.crowded => Look,
            Spin | Look | Yield if may_yield => Yield,
            _ if self.role == Role::Passing => return None,
            Spin | Look | Yield => Sleep,
        };
        self.enter(next);
        if next == Look {
            return Some(Look);
        }
        let slept = next == Yield && in_vain();
        self.yields = self.yields.saturating_add(u32::from(next == Yield));
        let does = if slept { Sleep } else { next };
        self.did[does as usize] += 1;
        Some(does)
    }

    /// Enters a state, with the turns of the last one counted.
    fn enter(&mut self, state: State) {
        if matches!(self.state, State::Spin | State::Look) {
            self.did[self.state as usize] += self.turns;
        }
        (self.state, self.turns) = (state, 0);
    }

    #[inline(never)]
    fn begin_anew(&mut self) {
        self.enter(first_state(self.role, self.crowded));
        (self.yields, self.room_yields, self.nap) = (0, 0, FIRST_NAP);
    }

    /// Whether a sleep that cannot be, since something waits for room, is a yield; otherwise it is a nap.
    pub(crate) fn yields_for_room(&mut self) -> bool {
        let yields = self.room_yields < ROOM_YIELDS;
        self.room_yields += u32::from(yields);
        yields
    }

    /// The length of the next nap; doubles each time, up to [`LONGEST_NAP`].
    pub(crate) fn next_nap(&mut self) -> Duration {
        let nap = self.nap;
        self.nap = (nap * 2).min(LONGEST_NAP);
        nap
    }
}

/// The state behind an event.
fn first_state(role: Role, crowded: bool) -> State {
    if crowded || role == Role::Parked { State::Look } else { State::Spin }
}

impl Drop for Policy<'_> {
    fn drop(&mut self) {
        if self.turns | self.yields == 0 && self.state != State::Sleep && self.did == [0; STATES] {
            return;
        }
        self.enter(self.state);
        let Some(counts) = self.counts else { return };
        for (count, did) in counts.iter().zip(self.did) {
            // Only this thread writes its counts.
            count.store(count.load(Ordering::Relaxed) + u64::from(did), Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use State::{Look, Sleep, Spin, Yield};

    /// The acts of a waiter in so many turns without an event, in rows of the same.
    fn rows(policy: &mut Policy, patience: &Patience, turns: u32, vain: bool) -> Vec<(Option<State>, u32)> {
        let mut rows: Vec<(Option<State>, u32)> = Vec::new();
        for _ in 0..turns {
            let does = policy.next(patience, || vain);
            match rows.last_mut() {
                Some((last, n)) if *last == does => *n += 1,
                _ => rows.push((does, 1)),
            }
        }
        rows
    }

    fn of(role: Role, crowded: bool) -> Policy<'static> {
        Policy::new(role, crowded, None)
    }

    #[test]
    fn an_owner_spins_then_yields_then_sleeps() {
        let patience = Patience::new(100, 5, false);
        let mut policy = of(Role::Owner, false);
        let expected = [(Some(Spin), 99), (Some(Yield), 5), (Some(Sleep), 96)];
        assert_eq!(rows(&mut policy, &patience, 200, false), expected);
        policy.event();
        assert_eq!(rows(&mut policy, &patience, 200, false), expected);
        assert_eq!(policy.did, [200, 0, 10, 192]);
    }

    #[test]
    fn yields_for_room_are_bounded() {
        let patience = Patience::new(1, 0, true);
        let mut policy = of(Role::Owner, false);
        for _ in 0..2 {
            assert_eq!(policy.next(&patience, || false), Some(Sleep));
            let yields = (0..1000).filter(|_| policy.yields_for_room()).count();
            assert_eq!(yields, ROOM_YIELDS as usize);
            policy.event();
        }
    }

    #[test]
    fn nobody_spins_where_cores_are_shared() {
        let patience = Patience::new(100, 5, true);
        assert_eq!(
            rows(&mut of(Role::Owner, false), &patience, 9, false),
            [(Some(Yield), 5), (Some(Sleep), 4)]
        );
        patience.set(100, 0, true);
        assert_eq!(rows(&mut of(Role::Owner, false), &patience, 9, false), [(Some(Sleep), 9)]);
    }

    #[test]
    fn sleeps_stand_in_for_yields_in_vain() {
        let patience = Patience::new(100, 5, true);
        let mut policy = of(Role::Owner, false);
        assert_eq!(rows(&mut policy, &patience, 3, true), [(Some(Sleep), 3)]);
        assert_eq!(rows(&mut policy, &patience, 3, false), [(Some(Yield), 2), (Some(Sleep), 1)]);
    }

    #[test]
    fn a_passing_thread_of_a_crowd_looks_between_its_yields() {
        let patience = Patience::new(100, 3, false);
        let mut policy = of(Role::Passing, true);
        let row = [(Some(Look), 29), (Some(Yield), 1)];
        let mut expected = row.to_vec();
        for _ in 0..2 {
            expected.extend([(Some(Look), 30), (Some(Yield), 1)]);
        }
        expected.push((None, 5));
        assert_eq!(rows(&mut policy, &patience, 97, false), expected);
        policy.event();
        assert_eq!(rows(&mut policy, &patience, 30, false), row, "as in the beginning");
    }

    #[test]
    fn parked_threads_look_and_sleep() {
        let patience = Patience::new(10, 500, false);
        assert_eq!(
            rows(&mut of(Role::Parked, false), &patience, 15, false),
            [(Some(Look), 9), (Some(Sleep), 6)]
        );
        assert_eq!(rows(&mut of(Role::Parked, true), &patience, 5, false), [(Some(Sleep), 5)]);
    }

    #[test]
    fn racing_threads_never_sleep() {
        let patience = Patience::new(10, 5, false);
        assert_eq!(
            rows(&mut of(Role::Racing, false), &patience, 99, false),
            [(Some(Spin), 9), (Some(Yield), 90)]
        );
    }

    #[test]
    fn naps_grow_until_an_event() {
        let patience = Patience::new(1, 0, false);
        let mut policy = of(Role::Owner, false);
        let _ = policy.next(&patience, || false);
        assert_eq!((policy.next_nap(), policy.next_nap()), (FIRST_NAP, 2 * FIRST_NAP));
        (0..20).for_each(|_| _ = policy.next_nap());
        assert_eq!(policy.next_nap(), LONGEST_NAP);
        policy.event();
        assert_eq!(policy.next_nap(), FIRST_NAP);
    }
}
