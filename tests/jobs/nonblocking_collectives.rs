//! Nonblocking and persistent collectives: with what the blocking ones are tested with, and with what only they can do.
//! The same programs run on any MPI 4 (`MPI_UNDER_TEST`).

use oxmpi_tests::{Job, mpi};

#[test]
fn they_do_what_the_blocking_ones_do() {
    for program in ["collectives", "collectives_v", "intercomm", "neighbors"] {
        for form in ["NONBLOCKING", "PERSISTENT"] {
            let name = format!("{program}_{}", form.to_lowercase());
            let source = [format!("tests/programs/{program}.c")];
            let built = mpi().build(&name, &source, &["-O2", "-pthread", &format!("-DFORM_{form}")]);
            for ranks in [2, 5] {
                Job::new(ranks).arg(&built).limit(300).run().all_ok(ranks);
            }
        }
    }
}

#[test]
fn many_at_once_started_often_freed_early() {
    for ranks in [1, 2, 4, 7] {
        strictly(Job::new(ranks).program("later")).limit(300).run().all_ok(ranks);
    }
}

/// Ours does more than the standard asks for.
fn strictly(job: Job) -> Job {
    if mpi().is_ours() { job.arg("strict") } else { job }
}

#[test]
fn by_several_threads() {
    for (ranks, threads) in [(1, "2"), (2, "4"), (4, "3")] {
        Job::new(ranks).program("later").arg(threads).limit(300).run().all_ok(ranks);
    }
}

/// Large operands take other algorithms; here they are used for small ones, too.
#[test]
fn by_every_algorithm() {
    if !mpi().is_ours() {
        return oxmpi_tests::leave_out("every algorithm", "the parameters are ours");
    }
    let small = ["reduce_small_msg", "allgather_small_msg", "gather_small_msg", "alltoall_small_msg"];
    let mut job = Job::new(5).args(["--mca", "coll_basic_bcast_segment_size", "64"]);
    for name in small {
        job = job.args(["--mca", &format!("coll_basic_{name}"), "0"]);
    }
    strictly(job.program("later")).limit(300).run().all_ok(5);
}
