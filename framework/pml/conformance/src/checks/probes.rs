//! Probe shows a message, a matched probe takes it out of matching, and its receive gets that one.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

crate::check!(probes, ranks: 2, |job| {
    let c = job.world();
    let (sender, receiver) = (job.rank(0), job.rank(1));
    assert!(receiver.probe(c[1], ANY_SOURCE, ANY_TAG).is_none());
    for len in [8, 3000, 50_000] {
        let data: Vec<Vec<u8>> = (0..3).map(|n| pattern(len, n)).collect();
        let sends: Vec<_> = data.iter().map(|d| sender.isend(c[0], d, 1, 4, mode::STANDARD)).collect();
        job.settle();
        assert!(receiver.probe(c[1], 0, 5).is_none());
        for (src, tag) in [(0, 4), (ANY_SOURCE, 4), (0, ANY_TAG), (ANY_SOURCE, ANY_TAG)] {
            let status = receiver.probe(c[1], src, tag).expect("a message waits");
            assert_eq!((status.source, status.tag, status.bytes), (0, 4, len as u64));
        }
        let (status, message) = receiver.improbe(c[1], 0, ANY_TAG).expect("a message waits");
        assert_eq!((status.source, status.tag, status.bytes), (0, 4, len as u64));
        // The next receive does not get it.
        let (mut second, mut first, mut third) = (vec![0; len], vec![0; len], vec![0; len]);
        let r = receiver.irecv(c[1], &mut second, 0, 4);
        job.wait(r);
        let r = receiver.imrecv(c[1], message, &mut first);
        let status = job.wait(r);
        assert_eq!((status.source, status.tag, status.error, status.bytes), (0, 4, Status::OK, len as u64));
        let r = receiver.irecv(c[1], &mut third, 0, 4);
        job.wait(r);
        assert!([first, second, third] == data[..]);
        sends.into_iter().for_each(|s| assert_eq!(job.wait(s).error, Status::OK));
    }
});
