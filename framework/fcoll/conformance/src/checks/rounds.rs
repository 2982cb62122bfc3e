//! Data that is much larger than the buffer, and memory that does not grow with it.

use super::{BOTH, case, check};
use crate::{Access, Case, byte, listed};
use oxmpi_fcoll::want;

/// Each of `n` ranks has every `n`-th block of 8 bytes, `blocks` times.
fn dealt(n: u32, blocks: u64) -> Vec<Access> {
    let part = |rank: u32| {
        let filetype = listed(&[(rank as u64 * 8, 8)], n as u64 * 8);
        Access::new(rank, 0, filetype, 0, blocks * 8, byte())
    };
    (0..n).map(part).collect()
}

fn large(what: u32, blocks: u64) -> Case {
    let mut case = case(blocks, what, (blocks * 32) as usize, dealt(4, blocks));
    (case.aggregators, case.unit, case.buffer, case.want) = (vec![2, 0], 128, 1024, want::AUTOMATIC);
    case
}

crate::check!(many_rounds, |setup| {
    for what in BOTH {
        check(setup, large(what, 2000));
    }
});

crate::check!(memory_does_not_grow_with_the_data, |setup| {
    for what in BOTH {
        let asked = |blocks| check(setup, large(what, blocks)).asked;
        let (few, many) = (asked(200), asked(4000));
        for (rank, (few, many)) in few.iter().zip(&many).enumerate() {
            assert_eq!(few, many, "bytes of plan memory of rank {rank} with 20 times the data");
            assert!(*many <= 8 * 1024 + 4 * 1024, "rank {rank} asks for {many} bytes with a buffer of 1024");
        }
    }
});

crate::check!(few_bytes_take_little_memory, |setup| {
    for what in BOTH {
        let mut case = case(9, what, 4096, dealt(4, 10));
        (case.aggregators, case.unit, case.buffer, case.want) = (vec![2, 0], 1 << 20, 16 << 20, want::ALWAYS);
        for (rank, asked) in check(setup, case).asked.iter().enumerate() {
            assert!(*asked <= 16 * 1024, "rank {rank} asks for {asked} bytes to access 80");
        }
    }
});

crate::check!(holes_of_any_size_cost_nothing, |setup| {
    // Two ranks at both ends of a range of 2^50 bytes, which interleave: rounds without data are left out. Reads, since the file has no such bytes.
    let far = 1 << 50;
    let part = |rank: u32| {
        let filetype = listed(&[(rank as u64 * 100, 50), (far + rank as u64 * 100, 50)], far + 1000);
        Access::new(rank, 0, filetype, 0, 100, byte())
    };
    let mut case = case(1, oxmpi_fbtl::transfer::READ, 120, (0..2).map(part).collect());
    (case.aggregators, case.unit, case.buffer, case.want) = (vec![1], 64, 4096, want::ALWAYS);
    let ended = check(setup, case);
    assert!(ended.messages < 200, "{} messages", ended.messages);
});
