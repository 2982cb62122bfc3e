//! A revoked communicator: what is under way ends with PEER_FAILED or as it would have, later operations fail, others go on.

use crate::CommSpec;
use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

crate::check!(revoke, ranks: 2, |job| {
    let world = job.world();
    let supported = {
        let (table, state) = job.rank(0).pml();
        let spare = job.rank(0).add_comm(&CommSpec { gid: [99, 99], ..CommSpec::default() });
        (table.revoke)(state, spare.0)
    };
    if supported == Status::NOT_SUPPORTED {
        return;
    }
    assert_eq!(supported, Status::OK);
    for turns in 0..10u64 {
        let c = job.comms(&CommSpec { gid: [turns, 8], ..CommSpec::default() });
        job.ping(&c, 0, 1, 1);
        let data = pattern(60_000, 1);
        let mut bufs = vec![vec![0; 60_000]; 3];
        let mut into = bufs.iter_mut();
        let mut recv = |src, tag| job.rank(1).irecv(c[1], into.next().expect("a buffer"), src, tag);
        let mut reqs = vec![recv(0, 1), recv(ANY_SOURCE, 2), recv(0, ANY_TAG)];
        for (len, tag, mode) in [(60_000, 1, mode::STANDARD), (8, 7, mode::SYNCHRONOUS), (60_000, 8, mode::STANDARD)] {
            reqs.push(job.rank(0).isend(c[0], &data[..len], 1, tag, mode));
        }
        for _ in 0..turns {
            job.turn();
        }
        for rank in [1, 0] {
            let (table, state) = job.rank(rank).pml();
            assert_eq!((table.revoke)(state, c[rank as usize].0), Status::OK);
            job.turn();
        }
        for req in reqs {
            let error = job.wait(req).error;
            assert!(error == Status::PEER_FAILED || error == Status::OK, "{error}");
        }
        for rank in [0, 1u32] {
            let peer = 1 - rank.cast_signed();
            let late = job.rank(rank).irecv(c[rank as usize], &mut [0; 8], peer, 1);
            assert_eq!(job.wait(late).error, Status::PEER_FAILED);
            let sent = job.rank(rank).send(c[rank as usize], &[0; 8], peer, 1, mode::STANDARD);
            assert!(matches!(sent, Err(Status::PEER_FAILED)), "a send on a revoked communicator");
        }
        job.ping(&world, 0, 1, 1);
        job.ping(&world, 1, 0, 1);
    }
});
