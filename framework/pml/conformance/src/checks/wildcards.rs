//! MPI_ANY_SOURCE and MPI_ANY_TAG: who gets what, in the order of the receives and of the messages.

use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

crate::check!(wildcards, ranks: 3, |job| {
    let c = job.world();
    let mut bufs = [[0u8; 4]; 6];
    // Posted: the oldest that fits takes the message.
    let patterns = [(1, 7), (ANY_SOURCE, 7), (2, ANY_TAG), (ANY_SOURCE, ANY_TAG), (1, 7), (2, 9)];
    let recvs: Vec<_> =
        bufs.iter_mut().zip(patterns).map(|(b, (src, tag))| job.rank(0).irecv(c[0], b, src, tag)).collect();
    let send = |from: u32, tag: i32| {
        let data = [from as u8, tag as u8, 0, 0];
        if let Some(req) = job.rank(from).send(c[from as usize], &data, 0, tag, mode::STANDARD).expect("send") {
            job.wait(req);
        }
        job.settle();
    };
    // Each message, and the receive that gets it.
    for (from, tag, takes) in [(2, 7, 1), (1, 7, 0), (2, 9, 2), (1, 7, 3), (1, 7, 4), (2, 9, 5)] {
        send(from, tag);
        assert!(recvs[takes].is_complete(), "tag {tag} of rank {from} went elsewhere");
        let status = job.wait(recvs[takes]);
        assert_eq!((status.source, status.tag, status.error), (from.cast_signed(), tag, Status::OK));
    }
    assert!(bufs[1] == [2, 7, 0, 0] && bufs[3] == [1, 7, 0, 0]);
    // Waiting: the oldest of a source that fits.
    [(1, 1), (1, 2), (2, 2), (1, 1)].into_iter().for_each(|(from, tag)| send(from, tag));
    for (src, tag, got) in [(ANY_SOURCE, 2, None), (1, ANY_TAG, Some((1, 1))), (2, 2, None), (1, 1, Some((1, 1)))] {
        if src == 2 && job.rank(0).probe(c[0], 2, 2).is_none() {
            // The first took it: either may.
            continue;
        }
        let mut buf = [0; 4];
        let req = job.rank(0).irecv(c[0], &mut buf, src, tag);
        let status = job.wait(req);
        assert!(got.is_none_or(|(source, tag)| (status.source, status.tag) == (source, tag)));
    }
    let mut left = 0;
    while job.rank(0).probe(c[0], ANY_SOURCE, ANY_TAG).is_some() {
        let req = job.rank(0).irecv(c[0], &mut [0; 4], ANY_SOURCE, ANY_TAG);
        job.wait(req);
        left += 1;
    }
    assert!(left <= 1, "{left} messages too many");
});
