//! Sums whose parts go to all ranks; reductions between groups.

use crate::data::{Buffer, Random};
use crate::operations::{Case, cases, expected, operand};
use crate::{Args, Rank};
use oxmpi_coll::{IN_PLACE, NO_ROOT, ROOT};
use oxmpi_mca::Status;

/// Counts of a reduce_scatter, some of them 0.
fn parts(n: u32, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed + 5);
    (0..n).map(|_| [0, 1, 3, 20][random.below(4) as usize]).collect()
}

/// One call of either; `counts`: elements per rank.
fn check_scatter(rank: &Rank, case: &Case, counts: &[u64], block: bool, in_place: bool, seed: u64) {
    let total = counts.iter().sum::<u64>();
    let own = counts[rank.rank as usize];
    let mine = operand(seed + 10 * rank.side as u64, rank.rank, case.dtype.packed * total);
    let mut send = Buffer::holding(&case.dtype, total, &mine);
    let mut recv = Buffer::new(&case.dtype, if in_place { total } else { own });
    let mut args = Args { op: Some(&case.op), ..Args::default() };
    args.send = (send.address(), 99, None);
    if in_place {
        recv.put(0, &mine);
        args.send = (IN_PLACE, 99, None);
    }
    args.recv = (recv.address(), own, Some(&*case.dtype));
    args.recv_blocks.counts = counts;
    let status = rank.call(|t| if block { t.reduce_scatter_block } else { t.reduce_scatter }, args);
    assert_eq!(status, Status::OK);
    assert!(send.read() == mine, "the operand was changed");
    // Between groups the sum is the other group's.
    let (from, n) = if rank.remote == 0 { (0, rank.n) } else { (1 - rank.side, rank.remote) };
    let sum = expected(case, n, seed + 10 * from as u64, total);
    let size = case.dtype.packed as usize;
    let before = counts[..rank.rank as usize].iter().sum::<u64>() as usize * size;
    let got = recv.read();
    assert!(got[..own as usize * size] == sum[before..][..own as usize * size], "a part of the sum");
    // In place, the rest of the buffer is the user's.
    assert!(!in_place || got[own as usize * size..] == mine[own as usize * size..]);
}

crate::check!(reduce_scatter, needs: [reduce_scatter, reduce_scatter_block], |job| {
    let cases = cases();
    job.groups(9, |rank| {
        let random = &mut Random::new(u64::from(rank.n));
        for _ in 0..4 {
            for case in &cases {
                let (seed, in_place) = (random.number(), random.below(2) == 0);
                check_scatter(rank, case, &parts(rank.n, seed), false, in_place, seed);
                let even = vec![random.below(20); rank.n as usize];
                check_scatter(rank, case, &even, true, in_place, seed);
            }
        }
    });
});

crate::check!(
    reductions_between_groups,
    needs: [reduce, allreduce, reduce_scatter, reduce_scatter_block],
    |job| {
        let cases = cases();
        for sizes in [[1, 1], [1, 4], [3, 2], [4, 4], [9, 5]] {
            job.between(sizes, |rank| {
                let mut random = Random::new(u64::from(sizes[0] * 10 + sizes[1]));
                for case in &cases {
                    let (seed, count) = (random.number(), random.below(30));
                    between_groups(rank, case, sizes, count, seed);
                    // Both sums have one length.
                    let common = u64::from(sizes[0] * sizes[1]) * random.below(3);
                    let even = vec![common / u64::from(rank.n); rank.n as usize];
                    check_scatter(rank, case, &even, true, false, seed);
                    let mut uneven = vec![0; rank.n as usize];
                    uneven[(seed % u64::from(rank.n)) as usize] = common;
                    check_scatter(rank, case, &uneven, false, false, seed);
                }
            });
        }
    }
);

/// Reduce to a root of each group, and allreduce.
fn between_groups(rank: &Rank, case: &Case, sizes: [u32; 2], count: u64, seed: u64) {
    let mine = operand(seed + 10 * rank.side as u64, rank.rank, case.dtype.packed * count);
    let theirs = expected(case, rank.remote, seed + 10 * (1 - rank.side) as u64, count);
    let mut send = Buffer::holding(&case.dtype, count, &mine);
    for (side, size) in sizes.into_iter().enumerate() {
        let root = (seed % size as u64) as u32;
        let is_root = side == rank.side && root == rank.rank;
        let given = match side == rank.side {
            true if is_root => ROOT as u32,
            true => NO_ROOT as u32,
            false => root,
        };
        let mut recv = Buffer::new(&case.dtype, count);
        let mut args = Args { op: Some(&case.op), root: given, ..Args::default() };
        let into = if is_root { recv.address() } else { std::ptr::null_mut() };
        let from = if is_root { std::ptr::null() } else { send.address().cast_const() };
        args.send = (from, 99, None);
        args.recv = (into, count, Some(&*case.dtype));
        assert_eq!(rank.call(|t| t.reduce, args), Status::OK);
        assert!(!is_root || recv.read() == theirs, "reduce");
    }
    let mut recv = Buffer::new(&case.dtype, count);
    let mut args = Args { op: Some(&case.op), ..Args::default() };
    args.send = (send.address(), 99, None);
    args.recv = (recv.address(), count, Some(&*case.dtype));
    assert_eq!(rank.call(|t| t.allreduce, args), Status::OK);
    assert!(recv.read() == theirs, "allreduce");
    assert!(send.read() == mine, "the operand was changed");
}
