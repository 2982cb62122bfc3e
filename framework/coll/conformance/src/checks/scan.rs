//! Prefix reductions.

use crate::Args;
use crate::data::{Buffer, Random};
use crate::operations::{Case, cases, expected, operand};
use oxmpi_coll::IN_PLACE;
use oxmpi_mca::Status;

/// The sum of the operands of ranks 0 to `last`.
fn sum_to(case: &Case, last: u32, seed: u64, count: u64) -> Vec<u8> {
    expected(case, last + 1, seed, count)
}

crate::check!(scan_and_exscan, needs: [scan, exscan], |job| {
    let cases = cases();
    job.groups(u32::MAX, |rank| {
        let random = &mut Random::new(u64::from(rank.n));
        for exclusive in [false, true] {
            for case in &cases {
                let count = [0, 1, 5, 40][random.below(4) as usize];
                let (in_place, seed) = (random.below(2) == 0, random.number());
                let mine = operand(seed, rank.rank, case.dtype.packed * count);
                let mut send = Buffer::holding(&case.dtype, count, &mine);
                let mut recv = Buffer::new(&case.dtype, count);
                let mut args = Args { op: Some(&case.op), ..Args::default() };
                args.send = (send.address(), 99, None);
                if in_place {
                    recv.put(0, &mine);
                    args.send = (IN_PLACE, 99, None);
                }
                args.recv = (recv.address(), count, Some(&*case.dtype));
                let status = rank.call(|t| if exclusive { t.exscan } else { t.scan }, args);
                assert_eq!(status, Status::OK);
                assert!(send.read() == mine, "the operand was changed");
                // The exclusive one of rank 0 is not defined.
                match (exclusive, rank.rank) {
                    (false, me) => assert!(recv.read() == sum_to(case, me, seed, count), "scan"),
                    (true, 0) => {}
                    (true, me) => assert!(recv.read() == sum_to(case, me - 1, seed, count), "exscan"),
                }
            }
        }
    });
});
