//! When the helper of a service context acts, naps or sleeps: a state machine without clock and without system calls.
//!
//! Asleep, the helper is announced to the transport (its bell is on) and is woken by the first request. Awake, its bell is off,
//! so requests that follow cost their senders nothing, and it looks by itself. It may act when no waiter has looked for
//! [`ALONE_AFTER`]; until then it naps, for waiters serve faster, and their looks are all it takes to keep it away. It
//! goes to sleep [`AWAKE_FOR`] after the last request that it saw, and never while one is there: **a request rings once**, so a
//! helper that slept again without having served it, because waiters were about, would leave it lying when they are gone.

use std::time::Duration;

/// Time without a look of a waiter after which waiters count as gone.
pub const ALONE_AFTER: Duration = Duration::from_micros(200);
/// Time after the last request for which the helper stays awake, with the bell off.
pub const AWAKE_FOR: Duration = Duration::from_millis(10);
/// Shortest nap while nobody else serves.
const FIRST_NAP: Duration = Duration::from_micros(20);
/// Longest nap while nobody else serves.
const LONGEST_NAP: Duration = Duration::from_micros(500);
/// Longest nap while waiters serve.
const LONGEST_ASIDE: Duration = Duration::from_millis(1);

/// The helper's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Serve, and tell [`Watch::served`].
    Act,
    Nap(Duration),
    /// Announce sleep, look once more, sleep.
    Sleep,
}

/// The state of a helper that is awake. All times are of one monotonic clock.
#[derive(Debug)]
pub struct Watch {
    /// The waiters' count of looks when it was last seen to change, and when.
    looks: u32,
    looked: Duration,
    /// When a request was last seen.
    request: Duration,
    nap: Duration,
    aside: Duration,
}

impl Watch {
    /// The state of a helper that was woken, or found a request when it was about to sleep. `looks`: the waiters'
    /// count of looks.
    pub fn woken(now: Duration, looks: u32) -> Watch {
        Watch { looks, looked: now, request: now, nap: FIRST_NAP, aside: ALONE_AFTER }
    }

    /// The helper's next step, by the clock, the waiters' count of looks, and whether requests may be there (`None`:
    /// one has to serve to find out).
    pub fn step(&mut self, now: Duration, looks: u32, pending: Option<bool>) -> Step {
        if looks != self.looks {
            (self.looks, self.looked) = (looks, now);
            self.aside = (self.aside * 2).min(LONGEST_ASIDE);
        }
        if pending == Some(true) {
            self.request = now;
        }
        let alone = now.saturating_sub(self.looked);
        let late = now.saturating_sub(self.request) >= AWAKE_FOR;
        match pending {
            Some(true) | None if alone >= ALONE_AFTER => {
                // A thread that has to serve to find out does so once more before sleeping, and `served` says when that is.
                if pending.is_none() && late { Step::Sleep } else { Step::Act }
            }
            None if late => Step::Sleep,
            Some(false) if late => Step::Sleep,
            Some(false) => self.next_nap(),
            _ => Step::Nap((ALONE_AFTER - alone.min(ALONE_AFTER)).max(self.aside / 2)),
        }
    }

    /// Notes that the helper has served `handled` requests. Returns its next step; `None`: it is to ask
    /// [`Watch::step`].
    pub fn served(&mut self, now: Duration, handled: i32) -> Option<Step> {
        if handled > 0 {
            (self.request, self.nap) = (now, FIRST_NAP);
            return None;
        }
        Some(self.next_nap())
    }

    /// A nap, twice as long as the one before, up to [`LONGEST_NAP`].
    fn next_nap(&mut self) -> Step {
        let nap = self.nap;
        self.nap = (nap * 2).min(LONGEST_NAP);
        Step::Nap(nap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn acts_when_nobody_has_looked_for_a_while() {
        let mut w = Watch::woken(us(1000), 5);
        assert!(matches!(w.step(us(1000), 5, Some(true)), Step::Nap(_)));
        assert!(matches!(w.step(us(1199), 5, Some(true)), Step::Nap(_)));
        assert_eq!(w.step(us(1200), 5, Some(true)), Step::Act);
        assert_eq!(w.served(us(1201), 1), None);
        // It stays awake for those that follow.
        assert_eq!(w.step(us(1201), 5, Some(false)), Step::Nap(FIRST_NAP));
        assert_eq!(w.step(us(1300), 5, Some(true)), Step::Act);
        assert_eq!(w.served(us(1301), 1), None);
        assert!(matches!(w.step(us(11_300), 5, Some(false)), Step::Nap(_)));
        assert_eq!(w.step(us(11_301), 5, Some(false)), Step::Sleep);
    }

    #[test]
    fn stays_aside_and_awake_while_others_look_and_something_is_there() {
        let mut w = Watch::woken(us(0), 0);
        for n in 1..1000 {
            let step = w.step(us(n * 100), n as u32, Some(true));
            assert!(matches!(step, Step::Nap(d) if d <= LONGEST_ASIDE), "{step:?}");
        }
        // They went without serving it.
        assert_eq!(w.step(us(99_900 + 200), 999, Some(true)), Step::Act);
    }

    #[test]
    fn sleeps_when_others_have_served() {
        let mut w = Watch::woken(us(0), 0);
        assert!(matches!(w.step(us(100), 1, Some(false)), Step::Nap(_)));
        assert_eq!(w.step(us(10_000), 2, Some(false)), Step::Sleep);
    }

    #[test]
    fn finds_out_by_serving_where_nothing_says_so() {
        let mut w = Watch::woken(us(0), 0);
        assert!(matches!(w.step(us(100), 0, None), Step::Nap(_)));
        assert_eq!(w.step(us(200), 0, None), Step::Act);
        assert_eq!(w.served(us(201), 0), Some(Step::Nap(FIRST_NAP)));
        assert_eq!(w.step(us(300), 0, None), Step::Act);
        assert_eq!(w.served(us(301), 2), None);
        assert_eq!(w.step(us(10_300), 0, None), Step::Act);
        assert!(w.served(us(10_301), 0).is_some());
        assert_eq!(w.step(us(10_301), 0, None), Step::Sleep);
        // Waiters that look now and then do not keep it awake for ever.
        let mut w = Watch::woken(us(0), 0);
        let step = (1..200).map(|n| w.step(us(n * 100), n as u32, None)).last();
        assert_eq!(step, Some(Step::Sleep));
    }
}
