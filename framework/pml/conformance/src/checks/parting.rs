//! A process that has parted for good is forgotten, or the layer cannot; the others go on in any case.

use crate::CommSpec;
use crate::job::{Comm, Job};
use oxmpi_mca::Status;

/// A communicator of two ranks, at each of them.
fn pair(job: &Job, a: u32, b: u32) -> [Comm; 2] {
    let procs = [a, b];
    [(a, 0), (b, 1)].map(|(rank, my_rank)| {
        let gid = [a.into(), b.into()];
        job.rank(rank).add_comm(&CommSpec { gid, procs: &procs, my_rank, ..CommSpec::default() })
    })
}

fn talk(job: &Job, (a, b): (u32, u32), c: [Comm; 2]) {
    let data = crate::data::pattern(60_000, 1);
    for len in [8, 5000, 60_000] {
        let mut buf = vec![0; len];
        let s = job.rank(a).isend(c[0], &data[..len], 1, 3, oxmpi_pml::mode::STANDARD);
        let r = job.rank(b).irecv(c[1], &mut buf, 0, 3);
        assert_eq!((job.wait(s).error, job.wait(r).error), (Status::OK, Status::OK));
        assert!(buf == data[..len]);
    }
}

crate::check!(a_process_that_parted, ranks: 3, |job| {
    let (gone, stays) = (pair(job, 0, 1), pair(job, 0, 2));
    talk(job, (0, 1), gone);
    talk(job, (0, 2), stays);
    job.settle();
    for (rank, comm, other) in [(0, gone[0], 1), (1, gone[1], 0)] {
        let (table, state) = job.rank(rank).pml();
        assert_eq!((table.del_comm)(state, comm.0), Status::OK);
        let told = (table.peer_parted)(state, other);
        assert!(matches!(told, Status::OK | Status::NOT_SUPPORTED), "{told}");
    }
    job.settle();
    talk(job, (0, 2), stays);
    let later = pair(job, 1, 2);
    talk(job, (1, 2), later);
});
