//! Messages match in the order of their sends, whatever way each takes.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

const LENGTHS: [usize; 6] = [8, 20_000, 0, 3000, 64, 9000];

crate::check!(order, ranks: 2, |job| {
    let c = job.world();
    for (src, tag) in [(0, 3), (ANY_SOURCE, 3), (0, ANY_TAG), (ANY_SOURCE, ANY_TAG)] {
        for posted_first in [true, false] {
            let data: Vec<Vec<u8>> = (0..60).map(|n| pattern(LENGTHS[n % LENGTHS.len()], n as u64)).collect();
            let mut bufs: Vec<Vec<u8>> = data.iter().map(|d| vec![0; d.len()]).collect();
            let send = || data.iter().map(|d| job.rank(0).isend(c[0], d, 1, 3, mode::STANDARD)).collect::<Vec<_>>();
            let early = (!posted_first).then(send);
            if !posted_first {
                job.settle();
            }
            let recvs: Vec<_> = bufs.iter_mut().map(|b| job.rank(1).irecv(c[1], b, src, tag)).collect();
            let sends = early.unwrap_or_else(send);
            for (n, req) in recvs.into_iter().enumerate() {
                let status = job.wait(req);
                assert_eq!((status.error, status.bytes), (Status::OK, data[n].len() as u64), "message {n}");
            }
            assert!(bufs == data);
            sends.into_iter().for_each(|req| assert_eq!(job.wait(req).error, Status::OK));
        }
    }
});
