//! Persistent requests, started again and again, and released while inactive.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::mode;

crate::check!(persistent, ranks: 2, |job| {
    let c = job.world();
    for len in [8, 3000, 50_000] {
        for mode in [mode::STANDARD, mode::SYNCHRONOUS] {
            let (data, mut buf) = (pattern(len, 7), vec![0; len]);
            let into = buf.as_mut_ptr();
            let s = job.rank(0).send_init(c[0], &data, 1, 1, mode);
            let r = job.rank(1).recv_init(c[1], &mut buf, 0, 1);
            for round in 0..4 {
                // SAFETY: the receive is inactive.
                unsafe { into.write_bytes(0, len) };
                let (first, second) = if round % 2 == 0 { (s, r) } else { (r, s) };
                assert!(!first.start().is_err());
                job.settle();
                assert!(!second.start().is_err());
                job.settle();
                assert!(s.is_complete() && r.is_complete(), "round {round} of {len} bytes");
                let status = r.status();
                assert_eq!((status.source, status.tag, status.error, status.bytes), (0, 1, Status::OK, len as u64));
                // SAFETY: as above.
                assert!(unsafe { core::slice::from_raw_parts(into, len) } == data);
            }
            s.release();
            r.release();
        }
    }
});
