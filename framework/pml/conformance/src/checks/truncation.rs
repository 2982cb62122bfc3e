//! A message longer than its buffer: what fits is there, nothing behind it, and the status says so.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

crate::check!(truncation, ranks: 2, |job| {
    let c = job.world();
    for (len, room) in [(8, 4), (3000, 100), (3000, 0), (50_000, 20_000), (50_000, 1), (50_000, 0)] {
        for posted_first in [true, false] {
            let (data, mut buf) = (pattern(len, 3), vec![0xAA; room + 64]);
            let early = (!posted_first).then(|| job.rank(0).isend(c[0], &data, 1, 1, mode::STANDARD));
            if !posted_first {
                job.settle();
            }
            let r = job.rank(1).irecv(c[1], &mut buf[..room], 0, 1);
            let s = early.unwrap_or_else(|| job.rank(0).isend(c[0], &data, 1, 1, mode::STANDARD));
            assert_eq!(job.wait(r).error, Status::TRUNCATED);
            assert_eq!(job.wait(s).error, Status::OK);
            assert!(buf[..room] == data[..room], "what fits of {len} bytes");
            assert!(buf[room..].iter().all(|&b| b == 0xAA), "written behind the buffer");
        }
    }
    job.ping(&c, 0, 1, 1);
});
