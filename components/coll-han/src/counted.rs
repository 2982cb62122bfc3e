//! The two ways of each collective, as tools see them in counters.

use crate::params::Op;
use oxmpi_mca::StrRef;

macro_rules! names {
    ($($name:literal)*) => {
        /// Names, two for each of [`Op`]: in levels, and left to the components below.
        pub const NAMES: &[StrRef] = &[$(StrRef::new(concat!($name, "_levels")), StrRef::new(concat!($name, "_below"))),*];
    };
}

names! { "allgather" "allgatherv" "allreduce" "barrier" "bcast" "gather" "reduce" "scatter" }

/// The number in [`NAMES`] of a collective, `is_below`: of the components below.
pub fn number(op: Op, is_below: bool) -> u32 {
    2 * op as u32 + u32::from(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        // SAFETY: static text.
        let name = |op, is_below| unsafe { NAMES[number(op, is_below) as usize].get() };
        assert_eq!(name(Op::Allgather, false), Some("allgather_levels"));
        assert_eq!(name(Op::Bcast, true), Some("bcast_below"));
        assert_eq!(name(Op::Scatter, true), Some("scatter_below"));
        assert_eq!(NAMES.len() as u32, number(Op::Scatter, true) + 1);
    }
}
