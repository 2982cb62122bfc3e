//! Counts of a communicator, where anything is counted.

use oxmpi_mca::Status;
use oxmpi_pml::{Counts, mode};

crate::check!(counts, ranks: 2, |job| {
    let c = job.world();
    let (table, state) = job.rank(1).pml();
    let look = || {
        let mut counts = Counts { size: size_of::<Counts>() as u32, ..Counts::default() };
        let status = (table.counts)(state, c[1].0, &mut counts);
        (status == Status::OK).then_some(counts)
    };
    if look().is_none() {
        assert_eq!((table.counts)(state, c[1].0, &mut Counts::default()), Status::NOT_SUPPORTED);
        return;
    }
    let sends: Vec<_> = (0..5).map(|n| job.rank(0).isend(c[0], &[n; 8], 1, 1, mode::STANDARD)).collect();
    job.settle();
    let seen = look().expect("counts");
    assert_eq!((seen.waiting, seen.posted_now), (5, 0));
    let mut bufs = [[0; 8]; 6];
    let recvs: Vec<_> = bufs.iter_mut().map(|b| job.rank(1).irecv(c[1], b, 0, 1)).collect();
    job.settle();
    let seen = look().expect("counts");
    assert_eq!((seen.waiting, seen.posted_now, seen.unexpected >= 5), (0, 1, true));
    recvs[5].cancel();
    for req in recvs.into_iter().chain(sends) {
        assert_eq!(job.wait(req).error, Status::OK);
    }
    assert_eq!(look().expect("counts").posted_now, 0);
});
