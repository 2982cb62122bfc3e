//! Table of what the ranks of a window have: bytes and units of displacement, one of each where the window's info says that all ranks have the same.

use oxmpi_osc::{WinDesc, hint};

/// A number of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    Same(u64),
    ByRank(Box<[u64]>),
}

impl Column {
    fn get(&self, rank: u32) -> u64 {
        match self {
            Column::Same(value) => *value,
            Column::ByRank(all) => all.get(rank as usize).copied().unwrap_or(0),
        }
    }
}

/// Shared by windows on the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    bytes: Column,
    units: Column,
}

impl Sizes {
    /// The numbers that this rank tells the others: those that are not the same everywhere.
    pub fn differing(desc: &WinDesc) -> Vec<u64> {
        let has = |bit| desc.hints & bit != 0;
        let bytes = (!has(hint::SAME_SIZE)).then_some(desc.bytes);
        let unit = (!has(hint::SAME_DISP_UNIT)).then_some(desc.disp_unit.cast_unsigned());
        bytes.into_iter().chain(unit).collect()
    }

    /// From what all ranks have told, `stride` numbers each, of which the first are those of [`Sizes::differing`].
    pub fn of(desc: &WinDesc, all: &[u64], stride: usize) -> Sizes {
        let mut column = 0;
        let mut next = |bit, own| {
            if desc.hints & bit != 0 {
                return Column::Same(own);
            }
            let values = all.iter().skip(column).step_by(stride).copied().collect();
            column += 1;
            Column::ByRank(values)
        };
        let bytes = next(hint::SAME_SIZE, desc.bytes);
        let units = next(hint::SAME_DISP_UNIT, desc.disp_unit.cast_unsigned());
        Sizes { bytes, units }
    }

    pub fn bytes(&self, rank: u32) -> u64 {
        self.bytes.get(rank)
    }
    pub fn disp_unit(&self, rank: u32) -> i64 {
        self.units.get(rank).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::{null, null_mut};

    fn desc(hints: u32) -> WinDesc {
        WinDesc {
            size: size_of::<WinDesc>() as u32,
            flavor: 0,
            comm: null(),
            base: null_mut(),
            bytes: 80,
            disp_unit: 8,
            hints,
            ordering: 0,
            granularity: 0,
            host_win: null_mut(),
            num_notify: 0,
            reserved: 0,
        }
    }

    #[test]
    fn what_is_the_same_is_neither_told_nor_kept() {
        let none = desc(0);
        assert_eq!(Sizes::differing(&none), [80, 8]);
        let sizes = Sizes::of(&none, &[80, 8, 9, 40, 2, 9], 3);
        assert_eq!([0, 1].map(|rank| (sizes.bytes(rank), sizes.disp_unit(rank))), [(80, 8), (40, 2)]);
        let size = desc(hint::SAME_SIZE);
        assert_eq!(Sizes::differing(&size), [8]);
        let sizes = Sizes::of(&size, &[8, 9, 2, 9], 2);
        assert_eq!([0, 1].map(|rank| (sizes.bytes(rank), sizes.disp_unit(rank))), [(80, 8), (80, 2)]);
        assert_eq!(sizes.bytes, Column::Same(80));
        let both = desc(hint::SAME_SIZE | hint::SAME_DISP_UNIT);
        assert_eq!(Sizes::differing(&both), []);
        let same = Sizes { bytes: Column::Same(80), units: Column::Same(8) };
        assert_eq!(Sizes::of(&both, &[9, 9], 1), same);
    }
}
