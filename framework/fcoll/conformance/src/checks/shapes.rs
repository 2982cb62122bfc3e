//! Accesses of every shape: random views, arrays of several dimensions, data in one place or nowhere.

use super::{BOTH, case, check, circumstances, ranks};
use crate::{Access, Case, Random, Setup, byte, interleaved};
use oxmpi_datatype::array::{Order, Slice, subarray};
use oxmpi_fbtl::transfer::READ;
use oxmpi_fcoll::want;

crate::check!(random_writes_do_not_touch_other_bytes, |setup| {
    for seed in setup.seeds() {
        let mut random = Random::new(seed);
        let n = ranks(&mut random);
        let parts = interleaved(&mut random, n, false);
        let len = random.below(900) as usize;
        let mut case = case(seed, oxmpi_fbtl::transfer::WRITE, len, parts);
        circumstances(&mut case, &mut random);
        check(setup, case);
    }
});

crate::check!(random_reads_may_overlap, |setup| {
    for seed in setup.seeds() {
        let mut random = Random::new(seed);
        let (n, overlap) = (ranks(&mut random), random.one_in(2));
        let parts = interleaved(&mut random, n, overlap);
        let mut case = case(seed, READ, 4000, parts);
        circumstances(&mut case, &mut random);
        check(setup, case);
    }
});

/// A block of an array of four dimensions for each of 8 ranks.
fn blocks_of_four_dimensions() -> Vec<Access> {
    (0..8u32)
        .map(|rank| {
            let slice = |bit: u32, whole: u64| Slice {
                whole,
                part: whole / 2,
                start: (rank >> bit & 1) as u64 * whole / 2,
            };
            let slices = [slice(0, 4), slice(1, 6), slice(2, 4), Slice { whole: 5, part: 5, start: 0 }];
            let filetype =
                subarray(&slices, Order::C, &byte()).unwrap_or_else(|status| panic!("a subarray: {status}"));
            let len = filetype.packed;
            Access::new(rank, 3, filetype, 0, len * 2, byte())
        })
        .collect()
}

crate::check!(arrays_of_four_dimensions, |setup| {
    for (seed, what) in (1..).zip(BOTH) {
        let mut case = case(seed, what, 2000, blocks_of_four_dimensions());
        (case.aggregators, case.unit, case.buffer) = (vec![1, 6], 100, 256);
        check(setup, case);
    }
});

crate::check!(ranks_without_data_take_part, |setup| {
    for what in BOTH {
        for who in 0..4u32 {
            let part = |rank| {
                if rank == who { Access::new(rank, 9, byte(), 5, 300, byte()) } else { Access::nothing(rank) }
            };
            for want in [want::AUTOMATIC, want::ALWAYS, want::NEVER] {
                let mut case = case(who as u64, what, 200, (0..4).map(part).collect());
                (case.want, case.aggregators) = (want, vec![3, 0]);
                check(setup, case);
            }
        }
    }
});

crate::check!(nobody_has_data, |setup| {
    for what in BOTH {
        for n in [1, 2, 5] {
            let mut case = case(n, what, 10, (0..n as u32).map(Access::nothing).collect());
            case.want = want::ALWAYS;
            check(setup, case);
        }
    }
});

/// Each rank's bytes lie behind those of the ranks below.
fn one_behind_the_other(setup: &Setup, what: u32) -> u64 {
    let part = |rank: u32| Access::new(rank, 0, byte(), rank as u64 * 1000, 1000, byte());
    let case: Case = case(1, what, 8000, (0..8).map(part).collect());
    check(setup, case).transfers
}

crate::check!(what_does_not_interleave_takes_a_transfer_a_rank, |setup| {
    for what in BOTH {
        assert_eq!(one_behind_the_other(setup, what), 8, "transfers of ranks that have one block each");
    }
});
