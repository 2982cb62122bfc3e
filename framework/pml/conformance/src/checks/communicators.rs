//! Several communicators and ids: messages stay in theirs, also those that come before the receiver has it.

use crate::CommSpec;
use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

crate::check!(communicators, ranks: 2, |job| {
    let world = job.world();
    let others: Vec<_> = (0..20).map(|n| job.comms(&CommSpec { gid: [n, 3], ..CommSpec::default() })).collect();
    let mut sends = Vec::new();
    let data: Vec<Vec<u8>> = (0..others.len()).map(|n| pattern(if n % 3 == 0 { 20_000 } else { 16 }, n as u64)).collect();
    for (c, d) in others.iter().zip(&data) {
        sends.push(job.rank(0).isend(c[0], d, 1, 1, mode::STANDARD));
    }
    job.settle();
    assert!(job.rank(1).probe(world[1], ANY_SOURCE, ANY_TAG).is_none());
    // Those sent last first.
    for (c, d) in others.iter().zip(&data).rev() {
        let mut buf = vec![0; d.len()];
        let req = job.rank(1).irecv(c[1], &mut buf, ANY_SOURCE, ANY_TAG);
        assert_eq!(job.wait(req).error, Status::OK);
        assert!(buf == *d);
    }
    sends.drain(..).for_each(|req| assert_eq!(job.wait(req).error, Status::OK));
    for c in &others {
        job.rank(0).del_comm(c[0]);
        job.rank(1).del_comm(c[1]);
    }
    // One side is through with making it before the other.
    for gid in [[50, 4], [51, 4]] {
        let early = job.rank(0).add_comm(&CommSpec { gid, ..CommSpec::default() });
        let d = pattern(20_000, 1);
        for len in [8, 3000, 20_000] {
            sends.push(job.rank(0).isend(early, &d[..len], 1, 1, mode::STANDARD));
        }
        job.settle();
        let late = job.rank(1).add_comm(&CommSpec { gid, my_rank: 1, ..CommSpec::default() });
        for len in [8, 3000, 20_000] {
            let mut buf = vec![0; len];
            let req = job.rank(1).irecv(late, &mut buf, 0, 1);
            assert_eq!(job.wait(req).bytes, len as u64);
            assert!(buf == d[..len]);
        }
        sends.drain(..).for_each(|req| assert_eq!(job.wait(req).error, Status::OK));
        job.ping(&[early, late], 1, 0, 2);
    }
});
