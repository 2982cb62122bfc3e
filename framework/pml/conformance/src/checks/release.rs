//! Requests that are released while they are pending do what they were started for.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

crate::check!(release, ranks: 2, |job| {
    let c = job.world();
    for len in [8, 3000, 50_000] {
        let data = pattern(len, 1);
        let mut buf = vec![0; len];
        let s = job.rank(0).isend(c[0], &data, 1, 1, mode::SYNCHRONOUS);
        s.release();
        job.settle();
        let r = job.rank(1).irecv(c[1], &mut buf, 0, 1);
        assert_eq!(job.wait(r).error, Status::OK);
        assert!(buf == data);
        job.settle();
        // A receive: the next message shows that the one before was taken.
        let mut other = vec![0; len];
        let r = job.rank(1).irecv(c[1], &mut other, 0, 2);
        r.release();
        job.rank(0).isend(c[0], &data, 1, 2, mode::STANDARD).release();
        job.settle();
        assert!(other == data);
        assert!(job.rank(1).probe(c[1], 0, 2).is_none());
    }
});
