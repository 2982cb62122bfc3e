//! Reads that come to the end of the file: each rank is told what it got.

use super::{case, check_read, circumstances, ranks};
use crate::{Access, Random, byte, interleaved, listed};
use oxmpi_fbtl::transfer::READ;
use oxmpi_fcoll::want;

crate::check!(counts_at_the_end_of_the_file, |setup| {
    for seed in setup.seeds() {
        let mut random = Random::new(seed);
        let (n, overlap) = (ranks(&mut random), random.one_in(2));
        let parts = interleaved(&mut random, n, overlap);
        let ends = parts.iter().flat_map(|part| part.offsets().last().copied()).max().unwrap_or(0);
        let len = random.below(ends + 30) as usize;
        let mut case = case(seed, READ, len, parts);
        circumstances(&mut case, &mut random);
        check_read(setup, case);
    }
});

crate::check!(a_file_of_no_bytes, |setup| {
    let part = |rank: u32| Access::new(rank, 0, listed(&[(rank as u64 * 4, 4)], 16), 0, 20, byte());
    for want in [want::AUTOMATIC, want::ALWAYS, want::NEVER] {
        let mut case = case(1, READ, 0, (0..4).map(part).collect());
        case.want = want;
        check_read(setup, case);
    }
});

crate::check!(views_that_overlap_themselves_are_read, |setup| {
    // Bytes 0 to 7, then 4 to 11: displacements of elements rise, and bytes come twice.
    let twice = || listed(&[(0, 8), (4, 8)], 32);
    let part = |rank: u32| match rank % 2 {
        0 => Access::new(rank, 0, twice(), 3, 40, byte()),
        _ => Access::new(rank, 2, listed(&[(1, 3), (9, 2)], 20), 0, 15, byte()),
    };
    for want in [want::AUTOMATIC, want::ALWAYS] {
        let mut case = case(1, READ, 300, (0..4).map(part).collect());
        (case.want, case.aggregators, case.unit, case.buffer) = (want, vec![2, 1], 16, 48);
        check_read(setup, case);
    }
});
