//! Ranks that wait for long: they sleep, on whatever their transports have to sleep on, and are woken by each.

use oxmpi_tests::{Job, leave_out, mpi};
use std::process::Command;

/// btl-shm is slept on as a word, btl-template as descriptors, which a thread of the library watches.
#[test]
fn an_idle_rank_sleeps_and_wakes_for_either_transport() {
    if !mpi().is_ours() {
        return leave_out("a rank that idles over two transports", "about our own transports");
    }
    let components = mpi().component("btl-template");
    let over = || {
        Job::of(Command::new(mpi().bin("mpirun")))
            .args(["--host", "a:2,b:1", "--mca", "plm", "local", "--mca", "btl", "template,shm,self"])
            .args(["--mca", "mca_base_component_path"])
            .arg(&components)
    };
    over().program("idle").arg("2").run().all_ok(3);
    // A thread that has no patience goes to sleep at once.
    over().args(["--mca", "mpi_spin_count", "1"]).program("idle").arg("2").run().all_ok(3);
}

/// No thread of the library's where shared memory is all there is.
#[test]
fn an_idle_rank_over_shared_memory_has_one_thread() {
    if !mpi().is_ours() {
        return leave_out("the threads of a rank over shared memory", "other libraries may have some");
    }
    Job::new(2).program("idle").arg("1").run().all_ok(2);
}

/// Transports that bring nothing and layers without work wake nobody: a rank with every component and a live window sleeps as one over
/// shared memory alone.
#[test]
fn an_idle_rank_with_every_component_sleeps_as_long() {
    if !mpi().is_ours() {
        return leave_out("how often a rank sleeps beside idle layers", "about our own layers");
    }
    Job::new(2).args(["--mca", "btl", "shm,self"]).program("asleep_idle").run().all_ok(2);
    for osc in ["pt2pt", "rdma"] {
        let every = Job::new(2).args(["--mca", "btl", "shm,tcp,self", "--mca", "osc", osc]);
        every.program("asleep_idle").arg("window").run().all_ok(2);
    }
}
