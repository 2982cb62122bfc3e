//! Every send mode in every size, blocking and not, before its receive and after it.

use crate::data::pattern;
use crate::{Comm, Job};
use oxmpi_mca::Status;
use oxmpi_pml::mode;

const SIZES: [usize; 13] = [0, 1, 7, 8, 63, 64, 65, 1000, 4072, 4096, 8192, 50_000, 300_001];

crate::check!(modes_and_sizes, ranks: 2, |job| {
    let c = job.world();
    for len in SIZES {
        for mode in [mode::STANDARD, mode::SYNCHRONOUS, mode::READY, mode::BUFFERED] {
            for posted_first in [true, false] {
                // A ready send needs its receive.
                if posted_first || mode != mode::READY {
                    exchange(job, &c, len, mode, posted_first, false);
                    exchange(job, &c, len, mode, posted_first, true);
                }
            }
        }
    }
});

fn exchange(job: &Job, c: &[Comm], len: usize, mode: u32, posted_first: bool, blocking: bool) {
    let (data, mut buf) = (pattern(len, len as u64 + 1), vec![0; len]);
    let (sender, receiver) = (job.rank(0), job.rank(1));
    let send = || match blocking {
        true => sender.send(c[0], &data, 1, 5, mode).expect("send"),
        false => Some(sender.isend(c[0], &data, 1, 5, mode)),
    };
    let (sent, status);
    if posted_first {
        let req = receiver.irecv(c[1], &mut buf, 0, 5);
        sent = send();
        status = job.wait(req);
    } else {
        sent = send();
        job.settle();
        let done = sent.is_none_or(|req| req.is_complete());
        assert!(
            !done || mode != mode::SYNCHRONOUS,
            "a synchronous send of {len} bytes is over before its match"
        );
        status = match receiver.recv(c[1], &mut buf, 0, 5) {
            Ok(status) => status,
            Err(req) => job.wait(req),
        };
    }
    if let Some(req) = sent {
        assert_eq!(job.wait(req).error, Status::OK);
    }
    assert_eq!((status.source, status.tag, status.error, status.bytes), (0, 5, Status::OK, len as u64));
    assert!(buf == data, "{len} bytes in mode {mode} came as others");
}
