//! Several ranks of a communicator in one process, told apart by their endpoints, with and without a hint at their resource.

use crate::data::pattern;
use crate::{Comm, CommSpec};
use oxmpi_mca::Status;
use oxmpi_pml::{NO_HINT, mode};

crate::check!(endpoints, ranks: 2, |job| {
    for hint in [NO_HINT, 0] {
        let make = |rank: u32| -> Comm {
            job.rank(rank % 2).add_comm(&CommSpec {
                gid: [9, hint.into()],
                procs: &[0, 1, 0, 1],
                endpoints: &[0, 0, 1, 1],
                my_rank: rank.cast_signed(),
                my_endpoint: rank as u16 / 2,
                hint,
                ..CommSpec::default()
            })
        };
        let c: Vec<Comm> = (0..4).map(make).collect();
        for from in 0..4u32 {
            for to in 0..4u32 {
                for len in [8, 20_000] {
                    let (data, mut buf) = (pattern(len, from.into()), vec![0; len]);
                    let s = job.rank(from % 2).isend(c[from as usize], &data, to.cast_signed(), 1, mode::STANDARD);
                    let r = job.rank(to % 2).irecv(c[to as usize], &mut buf, from.cast_signed(), 1);
                    let status = job.wait(r);
                    assert_eq!((status.source, status.error), (from.cast_signed(), Status::OK));
                    assert_eq!(job.wait(s).error, Status::OK);
                    assert!(buf == data);
                }
            }
        }
    }
});
