//! The numbers of one source's messages on one communicator: which is due, and what came before its turn.
//!
//! Numbers count from 1 without holes: a number that was given out and will not be used is told
//! ([`Sequence::keep`] of `None`). Numbers come from a peer, so none is believed: one that was there already,
//! or that is further ahead than any sender gets, is refused. Memory is what was sent, never what a number
//! says.

use std::collections::BTreeMap;

/// No sender is so far ahead of what it has sent before.
const MOST_AHEAD: u64 = 1 << 31;

/// The next step for a message of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It is this one's turn: match it, then [`Sequence::pass`].
    Due,
    /// One sent earlier is not there yet: [`Sequence::keep`] it.
    Early,
    /// The number cannot be: why.
    Wrong(&'static str),
}

/// Counts of messages that were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptCounts {
    /// So far.
    pub all: u64,
    /// At present.
    pub now: u64,
    /// At once, at most.
    pub most: u64,
}

/// See the module's head.
pub struct Sequence<T> {
    due: u64,
    early: BTreeMap<u64, Option<T>>,
    kept: KeptCounts,
}

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence { due: 1, early: BTreeMap::new(), kept: KeptCounts::default() }
    }
}

impl<T> Sequence<T> {
    /// Says whether a message with this number is due, early or wrong. Changes nothing.
    pub fn look(&self, number: u64) -> Turn {
        if number == self.due {
            Turn::Due
        } else if number < self.due || self.early.contains_key(&number) {
            Turn::Wrong("a message number that it has used before")
        } else if number - self.due > MOST_AHEAD {
            Turn::Wrong("a message number that no sender has reached")
        } else {
            Turn::Early
        }
    }

    /// Keeps an early message under its number. `None`: no message will come under this number.
    pub fn keep(&mut self, number: u64, message: Option<T>) {
        if message.is_some() {
            self.kept.all += 1;
            self.kept.now += 1;
            self.kept.most = self.kept.most.max(self.kept.now);
        }
        self.early.insert(number, message);
    }

    /// Passes the due number, whose message has been matched or skipped. `true`: the next number is here already
    /// ([`Sequence::take_due`]).
    pub fn pass(&mut self) -> bool {
        self.due += 1;
        self.early.first_key_value().is_some_and(|(&number, _)| number == self.due)
    }

    /// Takes the kept message with the due number and passes that number; numbers that will not be used are passed on
    /// the way. `None`: the due number has not come.
    pub fn take_due(&mut self) -> Option<T> {
        while let Some(first) = self.early.first_entry().filter(|e| *e.key() == self.due) {
            let message = first.remove();
            self.due += 1;
            if message.is_some() {
                self.kept.now -= 1;
                return message;
            }
        }
        None
    }

    /// Takes the first kept message for which `fits` is true; its number counts as one that will not be used.
    pub fn withdraw(&mut self, fits: impl Fn(&T) -> bool) -> Option<T> {
        let message = self.early.values_mut().find(|m| m.as_ref().is_some_and(&fits))?.take();
        self.kept.now -= 1;
        message
    }

    /// Takes all kept messages, whose turn never came.
    pub fn clear(&mut self) -> impl Iterator<Item = T> {
        self.kept.now = 0;
        core::mem::take(&mut self.early).into_values().flatten()
    }

    /// The counts of messages that were kept because they were early.
    pub fn kept(&self) -> KeptCounts {
        self.kept
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A receiver's use of a number, as `numbered.rs` does it.
    fn arrive(sequence: &mut Sequence<u64>, number: u64, used: bool, out: &mut Vec<u64>) -> Turn {
        let turn = sequence.look(number);
        match turn {
            Turn::Due => {
                if used {
                    out.push(number);
                }
                if sequence.pass() {
                    while let Some(next) = sequence.take_due() {
                        out.push(next);
                    }
                }
            }
            Turn::Early => sequence.keep(number, used.then_some(number)),
            Turn::Wrong(_) => {}
        }
        turn
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// The next that has not been sent yet but for so many.
        Send(usize),
        /// Something that was sent already, or is beyond reason.
        Again(usize),
        Beyond(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => (0..12usize).prop_map(Step::Send),
            1 => any::<usize>().prop_map(Step::Again),
            1 => (1..u64::MAX / 2).prop_map(Step::Beyond),
        ];
        prop::collection::vec(step, 0..300)
    }

    proptest! {
        /// Against a plain model: all numbers that have come, from which those without a gap before them have
        /// had their turn, in order.
        #[test]
        fn like_a_plain_model(steps in steps(), holes in prop::collection::hash_set(1..400u64, 0..40)) {
            let mut sequence = Sequence::default();
            let (mut out, mut came) = (Vec::new(), Vec::new());
            let mut to_come: Vec<u64> = (1..400).collect();
            for step in steps {
                match step {
                    Step::Send(skip) if skip < to_come.len() => {
                        let number = to_come.remove(skip);
                        came.push(number);
                        let turn = arrive(&mut sequence, number, !holes.contains(&number), &mut out);
                        prop_assert!(matches!(turn, Turn::Due | Turn::Early));
                    }
                    Step::Again(which) if !came.is_empty() => {
                        let turn = arrive(&mut sequence, came[which % came.len()], true, &mut out);
                        prop_assert!(matches!(turn, Turn::Wrong(_)));
                    }
                    Step::Beyond(by) => {
                        let number = 500 + MOST_AHEAD + by;
                        prop_assert!(matches!(arrive(&mut sequence, number, true, &mut out), Turn::Wrong(_)));
                    }
                    _ => {}
                }
                let without_gap = (1u64..).take_while(|n| came.contains(n));
                let expected: Vec<u64> = without_gap.filter(|n| !holes.contains(n)).collect();
                prop_assert_eq!(&out, &expected);
                let used = came.iter().filter(|n| !holes.contains(n)).count();
                prop_assert_eq!(sequence.kept().now as usize, used - out.len());
                prop_assert!(sequence.kept().most >= sequence.kept().now);
                prop_assert!(sequence.kept().all >= sequence.kept().most);
            }
            let left: Vec<u64> = sequence.clear().collect();
            let used = came.iter().filter(|n| !holes.contains(n));
            let mut expected: Vec<u64> = used.filter(|n| !out.contains(n)).copied().collect();
            expected.sort_unstable();
            prop_assert_eq!(left, expected);
            prop_assert_eq!(sequence.kept().now, 0);
        }
    }

    #[test]
    fn what_is_taken_back_is_passed_over() {
        let mut s = Sequence::default();
        for number in [2, 3, 4] {
            s.keep(number, Some(10 * number));
        }
        assert_eq!((s.withdraw(|n| *n == 30), s.withdraw(|n| *n == 30)), (Some(30), None));
        assert!(s.pass());
        assert_eq!((s.take_due(), s.take_due(), s.take_due()), (Some(20), Some(40), None));
        assert_eq!((s.kept().now, s.look(3), s.look(5)), (0, s.look(1), Turn::Due));
    }

    #[test]
    fn numbers_start_at_one() {
        let sequence = Sequence::<()>::default();
        assert!(matches!(sequence.look(0), Turn::Wrong(_)));
        assert_eq!(sequence.look(1), Turn::Due);
        assert_eq!(sequence.look(1 + MOST_AHEAD), Turn::Early);
        assert!(matches!(sequence.look(2 + MOST_AHEAD), Turn::Wrong(_)));
        assert!(matches!(sequence.look(u64::MAX), Turn::Wrong(_)));
    }
}
