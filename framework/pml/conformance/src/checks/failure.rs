//! A process that failed: what is under way with it ends with PEER_FAILED, and what is started later; the others go on.

use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, mode};

crate::check!(a_process_that_failed, ranks: 3, |job| {
    let c = job.world();
    job.ping(&c, 0, 1, 1);
    job.ping(&c, 0, 2, 1);
    job.ping(&c, 1, 2, 1);
    let data = pattern(60_000, 1);
    let (mut a, mut b, mut any) = (vec![0; 8], vec![0; 60_000], vec![0; 8]);
    let dead = vec![
        job.rank(0).irecv(c[0], &mut a, 2, 1),
        job.rank(0).isend(c[0], &data, 2, 9, mode::STANDARD),
        job.rank(0).isend(c[0], &data[..8], 2, 9, mode::SYNCHRONOUS),
    ];
    let alive = [job.rank(0).irecv(c[0], &mut b, 1, 1), job.rank(0).irecv(c[0], &mut any, ANY_SOURCE, 2)];
    job.turn();
    job.fail(2);
    let (table, state) = job.rank(0).pml();
    assert_eq!((table.peer_failed)(state, 2), Status::OK);
    let two = |req: crate::Req| {
        for _ in 0..100_000 {
            if req.is_complete() {
                break;
            }
            job.rank(0).progress();
            job.rank(1).progress();
        }
        assert!(req.is_complete(), "a request does not complete");
        let status = req.status();
        req.release();
        status
    };
    for req in dead {
        assert_eq!(two(req).error, Status::PEER_FAILED);
    }
    let late = job.rank(0).irecv(c[0], &mut [0; 8], 2, 1);
    assert_eq!(two(late).error, Status::PEER_FAILED);
    match job.rank(0).send(c[0], &data[..8], 2, 1, mode::STANDARD) {
        Err(error) => assert_eq!(error, Status::PEER_FAILED),
        Ok(req) => assert_eq!(two(req.expect("a send to nobody is not over")).error, Status::PEER_FAILED),
    }
    assert!(alive.iter().all(|req| !req.is_complete()));
    for (len, tag) in [(60_000, 1), (8, 2)] {
        let s = job.rank(1).isend(c[1], &data[..len], 0, tag, mode::STANDARD);
        assert_eq!(two(s).error, Status::OK);
    }
    alive.into_iter().for_each(|req| assert_eq!(two(req).error, Status::OK));
    assert!(b == data);
});
