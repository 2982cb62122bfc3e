//! Cancelled receives and sends end, and all others match as if they had never been.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

crate::check!(cancel, ranks: 2, |job| {
    let c = job.world();
    // A posted receive.
    let (mut lost, mut buf) = (vec![0xAA; 8], vec![0; 8]);
    let first = job.rank(1).irecv(c[1], &mut lost, 0, 1);
    let second = job.rank(1).irecv(c[1], &mut buf, 0, 1);
    first.cancel();
    let status = job.wait(first);
    assert_eq!(status.cancelled, 1);
    job.rank(0).send(c[0], &[5; 8], 1, 1, mode::STANDARD).expect("send");
    assert_eq!(job.wait(second).cancelled, 0);
    assert!(buf == [5; 8] && lost == [0xAA; 8]);
    // A send that nobody has received: it ends without a receive, with or without success.
    for len in [8, 50_000] {
        let (data, other) = (pattern(len, 1), pattern(len, 2));
        let s = job.rank(0).isend(c[0], &data, 1, 2, mode::SYNCHRONOUS);
        job.settle();
        s.cancel();
        let status = job.wait(s);
        assert_eq!(status.cancelled, 1, "nobody received it");
        let after = job.rank(0).isend(c[0], &other, 1, 2, mode::STANDARD);
        let mut buf = vec![0; len];
        let r = job.rank(1).irecv(c[1], &mut buf, 0, 2);
        assert_eq!(job.wait(r).error, Status::OK);
        assert!(buf == other);
        job.wait(after);
    }
    // One that was received: cancelling it changes nothing.
    let data = pattern(50_000, 3);
    let mut buf = vec![0; 50_000];
    let r = job.rank(1).irecv(c[1], &mut buf, 0, 3);
    let s = job.rank(0).isend(c[0], &data, 1, 3, mode::STANDARD);
    job.wait(r);
    s.cancel();
    assert_eq!(job.wait(s).cancelled, 0);
    assert!(buf == data);
});
