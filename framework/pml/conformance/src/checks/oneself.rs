//! Messages to oneself.

use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, mode};

crate::check!(oneself, ranks: 1, |job| {
    let c = job.comms(&crate::CommSpec { gid: [1, 1], fixed: Some(0), ..crate::CommSpec::default() });
    job.ping(&c, 0, 0, 3);
    let mut buf = [0; 8];
    let r = job.rank(0).irecv(c[0], &mut buf, ANY_SOURCE, 1);
    let s = job.rank(0).isend(c[0], &[3; 8], 0, 1, mode::SYNCHRONOUS);
    assert_eq!((job.wait(r).error, job.wait(s).error), (Status::OK, Status::OK));
    assert_eq!(buf, [3; 8]);
});
