//! When to look for an answer.
//!
//! A sender that waits for the next message from that peer polls the line where it will start. Each look before
//! it is there does harm: it takes the line from the peer, who has just taken possession of it to write the answer, and
//! has to take it back. In a ping-pong of short messages that is a quarter of the time. So a receiver does not look at once: it
//! pauses for as long as the answers of this peer have been taking lately.
//!
//! **Adaptation.** An answer that was there at the first look: the pause may have been too long and gets a little
//! shorter. One that came a few looks later: longer, by as much as several of those, because a pause that is a bit too long costs that
//! bit, and one that is a bit too short, the line. So most answers are there at the first look. That holds only for answers that
//! come alike, a few in a row ([`ALIKE`]). Where they come sooner or later by chance, looks cost less than waiting for most of the
//! answers would, so the pause does not grow, and goes.
//!
//! **Its bounds.** One pause for what we have sent since the last look, of at most `btl_shm_answer_pause` steps; none where
//! more processes than cores run or several threads make calls (one may want the core or the lock that another pauses with), for rings
//! that are not watched, and in a turn that has found something. A pause
//! is in steps, not in nanoseconds, since no clock is as cheap: what a step takes is learned with it, about a nanosecond.

use core::hint::black_box;

/// Looks behind the first at which an answer was nearly met.
const NEAR: u64 = 2;
/// Looks behind the first after which an answer says nothing about when the next one comes.
const LATE: u64 = 40;
/// Answers in a row, each like the one before, after which the next one is expected to be so, too.
const ALIKE: u32 = 2;
/// Steps by which a pause grows that was nearly long enough.
const NEARLY: u32 = 5;
/// Steps by which a pause grows that was too short.
const LONGER: u32 = 2;
/// Steps by which a pause shrinks after an answer that was there at the first look.
const SHORTER: u32 = 1;

/// In `since`: no answer is waited for.
const NEVER: u64 = u64::MAX;

/// The pause before the first look for an answer of one peer.
pub struct Pace {
    /// How far our messages to the peer had come at the last look.
    sent: u64,
    /// The turn of the first look behind them, or [`NEVER`].
    since: u64,
    steps: u32,
    /// Looks that the last answer took that was not there at the first.
    missed_by: u64,
    /// Answers in a row that came as the one before.
    alike: u32,
}

impl Pace {
    /// A pace without a pause, for a peer that has answered nothing yet.
    pub const fn new() -> Pace {
        Pace { sent: 0, since: NEVER, steps: 0, missed_by: 0, alike: 0 }
    }

    /// Pauses before the first look at a ring after we have sent something to its sender. `sent`: the tail of our ring
    /// to it; `turn`: the turn of the look; `may`: whether a pause may be made.
    #[inline(always)]
    pub fn pause_before_look(&mut self, sent: u64, turn: u64, may: impl FnOnce() -> bool) {
        if self.sent != sent {
            self.sent = sent;
            self.since = turn;
            if self.steps > 0 && !may() {
                self.steps = 0;
            }
            (0..self.steps).for_each(|step| {
                black_box(step);
            });
        }
    }

    /// Learns from a look in `turn` that has found messages how long the peer takes to answer. No pause is longer than
    /// `most` steps.
    #[inline(always)]
    pub fn note_messages(&mut self, turn: u64, most: u32) {
        let since = core::mem::replace(&mut self.since, NEVER);
        if since != NEVER {
            self.learn(turn - since, most);
        }
    }

    /// Stops waiting for an answer and halves the pause, because the message found is long: the time until the next
    /// one is better used otherwise (`cooperative.rs`).
    pub fn note_long_message(&mut self) {
        self.since = NEVER;
        self.steps /= 2;
    }

    /// Whether a pause is made for this peer's answers: they come alike, and so, very likely, do ours.
    #[inline(always)]
    pub fn is_steady(&self) -> bool {
        self.steps > 0
    }

    /// Adapts the pause to an answer that came `looks` looks after the first.
    #[inline(never)]
    fn learn(&mut self, looks: u64, most: u32) {
        let before = if looks > 0 { core::mem::replace(&mut self.missed_by, looks) } else { 0 };
        let is_alike = looks <= NEAR || looks <= LATE && looks.abs_diff(before) <= NEAR + looks / 8;
        self.alike = if is_alike { self.alike.saturating_add(1) } else { 0 };
        self.steps = match looks {
            0 => self.steps.saturating_sub(SHORTER),
            _ if self.alike <= ALIKE => self.steps,
            1..=NEAR => (self.steps + NEARLY).min(most),
            _ => (self.steps + LONGER).min(most),
        };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOST: u32 = 1000;
    /// Steps between two looks.
    const LOOK: u32 = 25;

    /// One message and its answer, which is there `after` steps; returns the steps until it was seen.
    fn round(pace: &mut Pace, turn: &mut u64, sent: u64, after: u32) -> u32 {
        *turn += 1;
        pace.pause_before_look(sent, *turn, || true);
        let mut now = pace.steps;
        while now < after {
            *turn += 1;
            now += LOOK;
            pace.pause_before_look(sent, *turn, || true);
        }
        pace.note_messages(*turn, MOST);
        now
    }

    /// The mean of what 2,000 answers took, after 2,000 others.
    fn mean(after: impl FnMut() -> u32) -> f64 {
        let (mut pace, mut turn, mut after) = (Pace::new(), 0, after);
        let mut all =
            |from: u64| -> u32 { (from..from + 2000).map(|n| round(&mut pace, &mut turn, n, after())).sum() };
        all(1);
        f64::from(all(2001)) / 2000.0
    }

    #[test]
    fn answers_that_come_alike_are_there_at_the_first_look() {
        for after in [10, 200, 700, 950] {
            let (mut pace, mut turn) = (Pace::new(), 0);
            (1..2000).for_each(|n| _ = round(&mut pace, &mut turn, n, after));
            let at_first =
                (2000..3000).filter(|&n| round(&mut pace, &mut turn, n, after) < after + 6).count();
            assert!(at_first > 750 && pace.steps <= after + NEARLY, "{after}: {at_first}");
        }
    }

    /// An answer that chance decides is not waited for, unless within about the time for which a line taken away is worth it.
    #[test]
    fn answers_that_come_by_chance_are_not_waited_for() {
        let mut seed = 1_u64;
        let mut chance = |most: u32| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % u64::from(most)) as u32
        };
        for most in [100, 1000, 3000, 10_000] {
            let mean = mean(|| chance(most));
            assert!(mean < f64::from(most) * 0.55 + f64::from(2 * LOOK), "{most}: {mean}");
        }
    }

    #[test]
    fn a_pause_that_is_not_needed_any_more_ends() {
        let (mut pace, mut turn) = (Pace::new(), 0);
        (1..2000).for_each(|n| _ = round(&mut pace, &mut turn, n, 300));
        assert!(pace.is_steady());
        (2000..3000).for_each(|n| _ = round(&mut pace, &mut turn, n, 0));
        assert!(!pace.is_steady());
        (3000..5000).for_each(|n| _ = round(&mut pace, &mut turn, n, 300));
        assert!(pace.is_steady());
        pace.pause_before_look(5000, turn + 1, || false);
        assert!(!pace.is_steady(), "at once where none may be made");
    }

    proptest! {
        /// In any order of events: no pause beyond the bound, none where it is 0, and one for what was sent, not for each look.
        #[test]
        fn pauses_are_bounded(all in prop::collection::vec((0_u64..300, any::<bool>()), 0..500), most in 0_u32..20) {
            let (mut pace, mut turn, mut sent) = (Pace::new(), 0, 0);
            for (looks, sends) in all {
                sent += u64::from(sends);
                turn += 1;
                pace.pause_before_look(sent, turn, || true);
                prop_assert!(pace.steps <= most);
                turn += looks;
                pace.pause_before_look(sent, turn, || true);
                prop_assert!(pace.since == NEVER || pace.since <= turn - looks);
                pace.note_messages(turn, most);
                prop_assert_eq!(pace.since, NEVER);
            }
        }
    }
}
