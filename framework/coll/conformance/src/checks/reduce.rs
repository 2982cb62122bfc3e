//! Reductions to a root and to all, against a fold in the order of ranks.

use crate::data::{Buffer, Random};
use crate::operations::{Case, cases, expected, operand};
use crate::{Args, Rank};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

/// One call in all ranks; `root` none: allreduce.
fn check(rank: &Rank, case: &Case, root: Option<u32>, count: u64, in_place: bool, seed: u64) {
    let mine = operand(seed, rank.rank, case.dtype.packed * count);
    let has_result = root.is_none_or(|root| root == rank.rank);
    let mut send = Buffer::holding(&case.dtype, count, &mine);
    let mut recv = Buffer::new(&case.dtype, count);
    let mut args = Args { op: Some(&case.op), root: root.unwrap_or(0), ..Args::default() };
    args.send = (send.address(), 99, None);
    if in_place && has_result {
        recv.put(0, &mine);
        args.send = (IN_PLACE, 99, None);
    }
    // At other ranks than the root only its count and type are significant.
    let into = if has_result { recv.address() } else { std::ptr::null_mut() };
    args.recv = (into, count, Some(&*case.dtype));
    let status = match root {
        Some(_) => rank.call(|t| t.reduce, args),
        None => rank.call(|t| t.allreduce, args),
    };
    assert_eq!(status, Status::OK);
    assert!(send.read() == mine, "the operand was changed");
    if has_result {
        let sum = expected(case, rank.n, seed, count);
        assert!(
            recv.read() == sum,
            "{count} of {:?}, operation {}, root {root:?}, in place {in_place}, rank {} of {}",
            case.dtype.base,
            case.op.code,
            rank.rank,
            rank.n
        );
    }
}

crate::check!(reduce, needs: [reduce], |job| {
    let cases = cases();
    job.groups(u32::MAX, |rank| {
        let random = &mut Random::new(u64::from(rank.n));
        for root in 0..rank.n {
            for case in &cases {
                let count = [0, 1, 5, 16, 17, 40][random.below(6) as usize];
                check(rank, case, Some(root), count, random.below(2) == 0, random.number());
            }
        }
    });
});

crate::check!(allreduce, needs: [allreduce], |job| {
    let cases = cases();
    job.groups(u32::MAX, |rank| {
        let random = &mut Random::new(u64::from(rank.n));
        for _ in 0..8 {
            for case in &cases {
                let count = [0, 1, 3, 16, 17, 50][random.below(6) as usize];
                check(rank, case, None, count, random.below(2) == 0, random.number());
            }
        }
    });
});

// Large enough for the limits that components have by default.
crate::check!(large_operands, needs: [reduce, allreduce], |job| {
    let cases = cases();
    for n in [2, 3, 8, 13] {
        job.group(n, |rank| {
            let random = &mut Random::new(u64::from(n));
            for case in &cases {
                let count = 4096 * (u64::from(n) + 1) / case.dtype.packed + random.below(100);
                let in_place = random.below(2) == 0;
                check(rank, case, None, count, in_place, random.number());
                let root = random.below(u64::from(n)) as u32;
                check(rank, case, Some(root), count, !in_place, random.number());
            }
        });
    }
});
