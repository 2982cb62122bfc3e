//! Communicators of all kinds: the same programs run on any MPI (`MPI_UNDER_TEST`).

use oxmpi_tests::{Job, mpi};

#[test]
fn inter_communicators() {
    for ranks in [2, 3, 5] {
        Job::new(ranks).program("intercomm").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn made_and_freed() {
    // Ours gives back all hints; others may forget what they do not know.
    let hints = if mpi().is_ours() { "echo" } else { "-" };
    for ranks in [1, 3] {
        let job = Job::new(ranks).program("communicators").arg("20000").arg(hints);
        job.limit(300).run().all_ok(ranks);
    }
}

#[test]
fn collectives_with_blocks_of_different_lengths() {
    for ranks in [1, 2, 5] {
        Job::new(ranks).program("collectives_v").limit(300).run().all_ok(ranks);
    }
}
