//! How many threads serve requests: a test of its own process, since it counts them all.

mod common;

use common::{Form, Thread, config, job};
use oxmpi_btl::{BtlServices, access};
use oxmpi_mca::{SliceRef, Status};
use oxmpi_runtime::{Instance, Level};
use std::time::{Duration, Instant};

/// Threads of this process that serve requests.
fn helpers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("our threads");
    tasks
        .filter_map(Result::ok)
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .filter(|name| name.starts_with("oxmpi-service"))
        .count()
}

fn barrier(instance: &Instance) {
    assert_eq!(Thread::main(instance).barrier(&instance.world()), Status::OK);
}

/// One test, since it counts the threads of all ranks: a rank has a helper from its first registration with an emulated transport
/// until it ends, and none before.
#[test]
fn helpers_come_with_the_first_registration_and_go_at_the_end() {
    job(
        3,
        || config(Form::LinkedIn, Level::Multiple, &[("btl", "shm,self")]),
        |instance| {
            for _ in 0..10 {
                barrier(instance);
            }
            assert_eq!(instance.service_counts(), oxmpi_runtime::ServiceCounts::default());
            assert_eq!(helpers(), 0);
            barrier(instance);
            // SAFETY: valid as long as the instance.
            let services: &BtlServices = unsafe { &*instance.btl_services_for_rma() };
            let mut out = SliceRef { ptr: std::ptr::null(), len: 0 };
            for proc in 0..3 {
                assert_eq!((services.reach)(services.instance, proc, &mut out), Status::OK);
            }
            barrier(instance);
            assert_eq!(helpers(), 0, "nobody can be asked for anything");
            barrier(instance);
            let other = (instance.job().rank + 1) % 3;
            assert_eq!((services.reach)(services.instance, other, &mut out), Status::OK);
            // SAFETY: the host's list.
            let btl = unsafe { out.get() }[0].btl;
            let mut memory = [0u64; 4];
            let mut registration = std::ptr::null();
            for _ in 0..2 {
                let at = memory.as_mut_ptr().cast();
                let all = access::REMOTE_ATOMIC;
                let status = (services.register)(services.instance, btl, at, 32, all, &mut registration);
                assert_eq!(status, Status::OK);
                assert_eq!((services.deregister)(services.instance, btl, registration), Status::OK);
            }
            barrier(instance);
            // A thread gives itself its name after it has started.
            until("every rank has a helper", || helpers() == 3);
            barrier(instance);
        },
    );
    until("helpers are gone with their instances", || helpers() == 0);
}

fn until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited for a minute until {what}");
        std::thread::yield_now();
    }
}
