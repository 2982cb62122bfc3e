//! Threads that wait among others: by sync objects and by racing for progress.

use oxmpi_tests::{Job, leave_out, mpi};

/// Every kind of wait ends in both ways; threads are parked in one of them alone.
#[test]
fn waiters_are_parked_or_race() {
    if !mpi().is_ours() {
        return leave_out("waiters_are_parked_or_race", "about our own ways of waiting");
    }
    for way in ["sync", "race"] {
        for cris in ["1", "4"] {
            let job = Job::new(2).args(["--mca", "runtime_wait", way, "--mca", "runtime_num_cris", cris]);
            job.program("parked").arg(way).limit(300).run().all_ok(2);
        }
    }
}

/// A blocking probe beside other threads sleeps until something comes.
#[test]
fn probes_wait_for_messages() {
    if !mpi().is_ours() {
        return leave_out("probes_wait_for_messages", "counts naps by our own variable");
    }
    for cris in ["1", "4"] {
        Job::new(2).args(["--mca", "runtime_num_cris", cris]).program("probing").limit(300).run().all_ok(2);
    }
}
