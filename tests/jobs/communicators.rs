//! Communicators of all kinds: the same programs run on any MPI (`MPI_UNDER_TEST`).

use crate::messages::free_gib;
use oxmpi_tests::{Job, leave_out, mpi};

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
    for (ranks, rounds) in [(1, "200000"), (3, "20000")] {
        let job = Job::new(ranks).program("communicators").arg(rounds).arg(hints);
        job.limit(300).run().all_ok(ranks);
    }
}

#[test]
fn more_than_there_is_room_for() {
    let free = free_gib();
    if !mpi().is_ours() || free < 4 {
        return leave_out(
            "as many communicators as there is room for",
            "ours takes 0.6 GiB for them, others more",
        );
    }
    Job::new(1).program("limits").limit(300).run().all_ok(1);
}

#[test]
fn collectives_with_blocks_of_different_lengths() {
    for ranks in [1, 2, 5] {
        Job::new(ranks).program("collectives_v").limit(300).run().all_ok(ranks);
    }
}
