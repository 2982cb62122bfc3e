//! How many threads serve requests: a test of its own process, since it counts them all.

mod common;

use common::{Form, config, job};
use oxmpi_runtime::Level;

/// Threads of this process that serve requests.
fn helpers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("our threads");
    tasks
        .filter_map(Result::ok)
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .filter(|name| name.starts_with("oxmpi-service"))
        .count()
}

/// Ranks that share a node and open no service have no helper.
#[test]
fn no_service_no_helper() {
    job(
        3,
        || config(Form::LinkedIn, Level::Multiple, &[("btl", "shm,self")]),
        |instance| {
            let world = instance.world();
            for _ in 0..10 {
                assert_eq!(
                    world.barrier(instance.main_thread(), &oxmpi_coll::CollArgs::NONE),
                    oxmpi_mca::Status::OK
                );
            }
            assert_eq!(helpers(), 0);
            assert_eq!(instance.service_counts(), oxmpi_runtime::ServiceCounts::default());
        },
    );
}
