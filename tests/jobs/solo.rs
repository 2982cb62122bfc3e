//! MPI_THREAD_MULTIPLE with one thread, and how a second one finds it. Each situation is a job of its own, since
//! a process goes over to several threads once.

use oxmpi_tests::Job;

const SITUATIONS: [&str; 21] = [
    "computing",
    "calling",
    "polling",
    "waiting",
    "waiting-for-many",
    "waiting-in-a-probe",
    "waiting-for-a-rank",
    "in-delete",
    "in-copy",
    "in-error-handler",
    "in-reduction",
    "in-generalized-request",
    "ended",
    "crowd",
    "handing-on",
    "elsewhere",
    "sessions",
    "looking",
    "turns",
    "rising",
    "rising-in-turns",
];

#[test]
fn a_second_thread_gets_in() {
    for situation in SITUATIONS {
        Job::new(2).program("solo").arg(situation).run().all_ok(2);
    }
}

/// With more ranks than cores, and where waiting threads sleep at once.
#[test]
fn a_second_thread_finds_a_sleeper() {
    for situation in ["waiting", "waiting-for-many", "waiting-in-a-probe", "waiting-for-a-rank"] {
        let job = Job::new(2).program("solo").arg(situation);
        let job = job.env("OXMPI_MCA_mpi_yield_when_idle", "1").env("OXMPI_MCA_mpi_yield_count", "1");
        job.run().all_ok(2);
    }
}

/// Situations that depend on where exactly the first thread is.
#[test]
fn again_and_again() {
    for _ in 0..10 {
        for situation in ["calling", "rising", "rising-in-turns"] {
            Job::new(2).program("solo").arg(situation).run().all_ok(2);
        }
    }
}
