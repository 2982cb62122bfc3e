//! Hints of a window, from info keys to the bits of the contract (MPI 5.0 §12.2.1). A value that is none of the standard's is
//! no hint: the default stays.

use crate::info::Info;
use oxmpi_osc::{hint, ordering};

/// What an info object says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hints {
    /// Bits of [`hint`].
    pub hints: u32,
    /// Bits of [`ordering`].
    pub ordering: u32,
    pub granularity: u64,
}

impl Hints {
    pub fn of(info: &Info) -> Hints {
        let flags = [
            ("no_locks", hint::NO_LOCKS),
            ("same_size", hint::SAME_SIZE),
            ("same_disp_unit", hint::SAME_DISP_UNIT),
        ];
        let set = flags.iter().filter(|(key, _)| info.is_true(key)).fold(0, |all, (_, bit)| all | bit);
        let ops = match info.get("accumulate_ops") {
            Some("same_op") => hint::SAME_OP,
            _ => hint::SAME_OP_NO_OP,
        };
        Hints {
            hints: set | ops,
            ordering: info.get("accumulate_ordering").and_then(order).unwrap_or(ordering::ALL),
            granularity: info
                .get("mpi_accumulate_granularity")
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(0),
        }
    }
}

/// `rar,waw` and the like, or `none`.
fn order(text: &str) -> Option<u32> {
    if text.trim() == "none" {
        return Some(0);
    }
    text.split(',').try_fold(0, |bits, word| {
        Some(
            bits | match word.trim() {
                "rar" => ordering::RAR,
                "raw" => ordering::RAW,
                "war" => ordering::WAR,
                "waw" => ordering::WAW,
                _ => return None,
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Hints {
        let mut info = Info::new();
        for (key, value) in pairs {
            info.set(key, value);
        }
        Hints::of(&info)
    }

    #[test]
    fn keys_become_bits() {
        assert_eq!(of(&[]), Hints { hints: hint::SAME_OP_NO_OP, ordering: ordering::ALL, granularity: 0 });
        let all = of(&[
            ("no_locks", "true"),
            ("same_size", "true"),
            ("same_disp_unit", "true"),
            ("accumulate_ops", "same_op"),
            ("accumulate_ordering", "rar, waw"),
            ("mpi_accumulate_granularity", "64"),
        ]);
        let hints = hint::NO_LOCKS | hint::SAME_SIZE | hint::SAME_DISP_UNIT | hint::SAME_OP;
        assert_eq!(all, Hints { hints, ordering: ordering::RAR | ordering::WAW, granularity: 64 });
        assert_eq!(of(&[("accumulate_ordering", "none")]).ordering, 0);
    }

    #[test]
    fn what_is_no_value_is_no_hint() {
        let odd = of(&[("no_locks", "maybe"), ("accumulate_ordering", "rar,wrong"), ("accumulate_ops", "?")]);
        assert_eq!(odd, of(&[]));
    }
}
