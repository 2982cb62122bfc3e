//! Hints of a window: from info keys to the bits of the contract and back (MPI 5.0 §12.2.1), and what is in force where ranks differ.
//!
//! A value that the key does not have is no hint: what was in force stays. A hint that says what ranks do holds if all of them gave it, and so
//! does what they must give alike; of orders every one that any rank asks for is kept. So nobody relies on what another has not promised.

use crate::info::Info;
use oxmpi_osc::{hint, ordering};

/// Hints in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Bits of [`hint`].
    pub hints: u32,
    /// Bits of [`ordering`].
    pub ordering: u32,
    pub granularity: u64,
    pub num_notify: u32,
}

/// Counters of notifications that a window may have: each costs a word at each rank.
const MOST_NOTIFY: u32 = 1 << 16;

/// Info keys that are true or false, with their bits.
const FLAGS: [(&str, u32); 4] = [
    ("no_locks", hint::NO_LOCKS),
    ("same_size", hint::SAME_SIZE),
    ("same_disp_unit", hint::SAME_DISP_UNIT),
    ("mpix_unordered", hint::UNORDERED),
];
/// Words of `accumulate_ordering`, with their bits.
const ORDERS: [(&str, u32); 4] =
    [("rar", ordering::RAR), ("raw", ordering::RAW), ("war", ordering::WAR), ("waw", ordering::WAW)];

impl Default for Hints {
    fn default() -> Hints {
        Hints { hints: hint::SAME_OP_NO_OP, ordering: ordering::ALL, granularity: 0, num_notify: 1 }
    }
}

impl Hints {
    /// How many words tell them to other ranks.
    pub const WORDS: usize = 3;

    /// The hints of a new window: the defaults, changed by what the info object says.
    pub fn of(info: &Info) -> Hints {
        Hints::default().with(info)
    }

    /// These hints, changed by every key of the info object whose value makes sense.
    pub fn with(mut self, info: &Info) -> Hints {
        for (key, bit) in FLAGS {
            match info.get(key).map(str::trim) {
                Some(value) if value.eq_ignore_ascii_case("true") => self.hints |= bit,
                Some(value) if value.eq_ignore_ascii_case("false") => self.hints &= !bit,
                _ => {}
            }
        }
        match info.get("accumulate_ops").map(str::trim) {
            Some("same_op") => self.set_same_op(true),
            Some("same_op_no_op") => self.set_same_op(false),
            _ => {}
        }
        if let Some(bits) = info.get("accumulate_ordering").and_then(order) {
            self.ordering = bits;
        }
        let number = |key| info.get(key).and_then(|text| text.trim().parse::<u64>().ok());
        if let Some(bytes) = number("mpi_accumulate_granularity") {
            self.granularity = bytes;
        }
        if let Some(counters) = number("mpi_num_notify") {
            self.num_notify = u32::try_from(counters).unwrap_or(MOST_NOTIFY).min(MOST_NOTIFY);
        }
        self
    }

    /// These hints, changed by the keys that may change while the window exists; the others stay as it was made.
    pub fn changed(self, info: &Info) -> Hints {
        let wanted = self.with(info);
        Hints { hints: wanted.hints, ordering: wanted.ordering, ..self }
    }

    /// The hints of a second window on the memory of one with hints `made`: what its memory and its accumulates were
    /// made with stays.
    pub fn of_duplicate(made: Hints, info: &Info) -> Hints {
        const MADE: u32 = hint::SAME_SIZE | hint::SAME_DISP_UNIT;
        let changed = made.changed(info);
        let hints = (made.hints & MADE) | (changed.hints & !MADE);
        Hints { hints, num_notify: made.with(info).num_notify, ..changed }
    }

    /// Sets the bit of `same_op` and clears that of `same_op_no_op`, or the other way round.
    fn set_same_op(&mut self, same: bool) {
        let (on, off) = match same {
            true => (hint::SAME_OP, hint::SAME_OP_NO_OP),
            false => (hint::SAME_OP_NO_OP, hint::SAME_OP),
        };
        self.hints = (self.hints & !off) | on;
    }

    /// The hints as little-endian words, for other ranks.
    pub fn words(&self) -> [u64; Hints::WORDS] {
        let bits = u64::from(self.hints) | u64::from(self.ordering) << 32;
        [bits.to_le(), self.granularity.to_le(), u64::from(self.num_notify).to_le()]
    }

    /// The hints in force, from the words of all ranks.
    pub fn agreed<'a>(all: impl Iterator<Item = &'a [u64]>) -> Hints {
        let read = |words: &[u64]| {
            let at = |i: usize| words.get(i).copied().map_or(0, u64::from_le);
            let (hints, ordering) = (at(0) as u32, (at(0) >> 32) as u32);
            Hints { hints, ordering, granularity: at(1), num_notify: at(2) as u32 }
        };
        let both = |a: Hints, b: Hints| Hints {
            hints: a.hints & b.hints,
            ordering: a.ordering | b.ordering,
            granularity: if a.granularity == b.granularity { a.granularity } else { 0 },
            num_notify: a.num_notify.max(b.num_notify),
        };
        let mut agreed = all.map(read).reduce(both).unwrap_or_default();
        agreed.set_same_op(agreed.hints & hint::SAME_OP != 0);
        agreed
    }

    /// Writes the hints into an info object, as MPI_Win_get_info returns them.
    pub fn told(&self) -> Info {
        let mut info = Info::new();
        for (key, bit) in FLAGS {
            info.set(key, if self.hints & bit != 0 { "true" } else { "false" });
        }
        let ops = if self.hints & hint::SAME_OP != 0 { "same_op" } else { "same_op_no_op" };
        info.set("accumulate_ops", ops);
        let orders: Vec<&str> =
            ORDERS.iter().filter(|(_, bit)| self.ordering & bit != 0).map(|(word, _)| *word).collect();
        info.set("accumulate_ordering", &if orders.is_empty() { "none".into() } else { orders.join(",") });
        info.set("mpi_accumulate_granularity", &self.granularity.to_string());
        info.set("mpi_num_notify", &self.num_notify.to_string());
        info
    }
}

/// Reads the value of `accumulate_ordering` (`none`, or words as in `rar,waw`) as bits; `None`: it has an unknown word.
fn order(text: &str) -> Option<u32> {
    if text.trim() == "none" {
        return Some(0);
    }
    text.split(',').try_fold(0, |bits, word| {
        let known = ORDERS.iter().find(|(name, _)| *name == word.trim());
        known.map(|(_, bit)| bits | bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let mut info = Info::new();
        for (key, value) in pairs {
            info.set(key, value);
        }
        info
    }

    fn of(pairs: &[(&str, &str)]) -> Hints {
        Hints::of(&info(pairs))
    }

    fn agreed(all: &[Hints]) -> Hints {
        let words: Vec<_> = all.iter().map(Hints::words).collect();
        Hints::agreed(words.iter().map(|words| &words[..]))
    }

    const ALL: [(&str, &str); 8] = [
        ("no_locks", "true"),
        ("same_size", "true"),
        ("same_disp_unit", "true"),
        ("accumulate_ops", "same_op"),
        ("accumulate_ordering", "rar, waw"),
        ("mpi_accumulate_granularity", "64"),
        ("mpi_num_notify", "5"),
        ("mpix_unordered", "true"),
    ];

    #[test]
    fn keys_become_bits() {
        assert_eq!(of(&[]), Hints::default());
        let hints = hint::NO_LOCKS | hint::SAME_SIZE | hint::SAME_DISP_UNIT | hint::SAME_OP | hint::UNORDERED;
        let ordering = ordering::RAR | ordering::WAW;
        assert_eq!(of(&ALL), Hints { hints, ordering, granularity: 64, num_notify: 5 });
        assert_eq!(of(&[("accumulate_ordering", "none")]).ordering, 0);
    }

    #[test]
    fn what_is_no_value_is_no_hint() {
        let odd = [
            ("no_locks", "maybe"),
            ("accumulate_ordering", "rar,wrong"),
            ("accumulate_ops", "?"),
            ("mpi_accumulate_granularity", "-8"),
            ("mpi_num_notify", "many"),
        ];
        assert_eq!(of(&odd), of(&[]));
        assert_eq!(of(&ALL).with(&info(&odd)), of(&ALL));
        assert_eq!(of(&[("mpi_num_notify", "99999999999")]).num_notify, MOST_NOTIFY);
    }

    #[test]
    fn what_is_told_is_what_is_in_force() {
        assert_eq!(Hints::of(&of(&ALL).told()), of(&ALL));
        let told = of(&[("no_locks", "maybe")]).told();
        assert_eq!(
            (told.get("no_locks"), told.get("accumulate_ordering")),
            (Some("false"), Some("rar,raw,war,waw"))
        );
    }

    #[test]
    fn ranks_rely_on_what_all_promise() {
        assert_eq!(agreed(&[of(&ALL), of(&ALL)]), of(&ALL));
        let mixed = agreed(&[of(&ALL), of(&[("accumulate_ordering", "raw")]), of(&ALL)]);
        let ordering = ordering::RAR | ordering::RAW | ordering::WAW;
        assert_eq!(mixed, Hints { ordering, num_notify: 5, ..Hints::default() });
    }

    #[test]
    fn some_hints_stay_as_the_window_was_made() {
        let made = of(&[("same_size", "true"), ("mpi_accumulate_granularity", "16")]);
        let ordering = ordering::RAR | ordering::WAW;
        let hints = hint::SAME_SIZE | hint::NO_LOCKS | hint::SAME_OP | hint::UNORDERED;
        assert_eq!(
            made.changed(&info(&ALL)),
            Hints { hints: hints | hint::SAME_DISP_UNIT, ordering, ..made }
        );
        assert_eq!(Hints::of_duplicate(made, &info(&ALL)).hints, hints);
        assert_eq!(Hints::of_duplicate(made, &info(&ALL)).num_notify, 5);
        assert_eq!(Hints::of_duplicate(made, &info(&[])), made);
    }
}
