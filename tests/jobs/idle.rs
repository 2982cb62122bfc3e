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
