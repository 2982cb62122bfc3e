//! Whole jobs over a transport that is loaded: `btl-fabric`, a NIC in software whose one-sided verbs want registered memory. All ranks are
//! on this node, and btl-shm is left out, so every message between two of them goes over it.

use oxmpi_tests::{Job, btl_fabric, leave_out, mpi};

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own component interface");
    }
    mpi().is_ours()
}

/// `mpirun` over the transport, with parameters of it.
fn over(ranks: usize, params: &[(&str, &str)]) -> Job {
    let folder = btl_fabric().parent().expect("a folder");
    let mut job =
        Job::new(ranks).args(["--mca", "btl", "fabric,self", "--mca", "mca_base_component_path"]).arg(folder);
    for (name, value) in params {
        job = job.args(["--mca", &format!("btl_fabric_{name}"), value]);
    }
    job
}

#[test]
fn point_to_point_over_the_fabric() {
    if !ours("messages over btl-fabric") {
        return;
    }
    for (program, ranks) in [
        ("ring", 2),
        ("ring", 4),
        ("requests", 2),
        ("requests", 4),
        ("datatypes", 2),
        ("datatypes", 4),
        ("protocols", 4),
        ("wildcards", 4),
        ("partitioned", 2),
    ] {
        over(ranks, &[]).program(program).run().all_ok(ranks);
    }
}

/// A job of one process has nobody to talk to, and may name the transport without harm.
#[test]
fn one_process_may_name_the_fabric() {
    if ours("btl-fabric in a job of one process") {
        over(1, &[]).program("start_stop").run().passed();
    }
}

/// Long messages by what the device has: `get`, `put`, neither; in short operations that overtake each other and complete late.
#[test]
fn rendezvous_over_registered_memory() {
    if !ours("rendezvous over btl-fabric") {
        return;
    }
    let shapes: [&[(&str, &str)]; 6] = [
        &[("verbs", "get")],
        &[("verbs", "put")],
        &[("verbs", "none")],
        &[("seed", "7"), ("shared_queue", "1")],
        &[("verbs", "get"), ("rma_limit", "60000"), ("outstanding", "2"), ("completion", "late")],
        &[("verbs", "put"), ("rma_limit", "60000"), ("outstanding", "2"), ("put_done_is_remote", "1")],
    ];
    for params in shapes {
        for ranks in [2, 4] {
            over(ranks, params).program("protocols").run().all_ok(ranks);
        }
    }
}

#[test]
fn collectives_over_the_fabric() {
    if !ours("collectives over btl-fabric") {
        return;
    }
    for program in ["collectives", "collectives_v", "later", "neighbors"] {
        for ranks in [2, 4] {
            over(ranks, &[]).program(program).run().all_ok(ranks);
        }
    }
    over(5, &[]).program("intercomm").run().all_ok(5);
}

#[test]
fn threads_over_the_fabric() {
    if !ours("threads over btl-fabric") {
        return;
    }
    for params in [&[][..], &[("contexts", "1")], &[("verbs", "put"), ("seed", "3")]] {
        for ranks in [2, 4] {
            let job = over(ranks, params).args(["--mca", "runtime_num_cris", "4"]);
            job.program("threads").run().all_ok(ranks);
        }
    }
}

/// A message that the device cannot carry any more ends the job, so it was the device that carried the messages.
#[test]
fn a_connection_that_is_lost_ends_the_job() {
    if !ours("a connection of btl-fabric that is lost") {
        return;
    }
    let job = over(2, &[("fail_after", "20")]);
    let ended = job.program("protocols").start().wait_and_leave_nothing().failed();
    assert!(ended.err.contains("fabric") && ended.err.contains("lost its connection"), "{}", ended.err);
}

/// Two ranks with threads over pinned memory: what is registered goes by pages, so a registration that outlives them shows.
fn unmaps(name: &str, value: &str, kept: &str) -> Job {
    over(2, &[("pinned", "1")])
        .args(["--mca", "osc", "rdma", "--mca", name, value])
        .program("unmaps")
        .args(["0", "2", kept])
}

/// Whether this system tells of changes of memory, and pins it for io_uring.
fn can_unmap(test: &str) -> bool {
    let (userfaultfd, io_uring) = (oxmpi_tests::has_userfaultfd(), oxmpi_tests::has_io_uring());
    if !userfaultfd || !io_uring {
        leave_out(test, "about a system with userfaultfd and io_uring");
    }
    ours(test) && userfaultfd && io_uring
}

#[test]
fn memory_that_changes_is_registered_anew() {
    if can_unmap("a registration cache under unmaps") {
        unmaps("rcache_base_watch", "userfaultfd", "kept").run().all_ok(2);
    }
}

/// The same without the watcher fails, so the test above is able to.
#[test]
fn memory_that_is_trusted_and_changes_gives_stale_data() {
    if can_unmap("a registration cache without invalidation") {
        let ended = unmaps("rcache_base_watch", "trusted", "").start().wait_and_leave_nothing().failed();
        assert!(ended.err.contains("stale memory"), "{}", ended.err);
    }
}

/// Little may be registered at once, or kept, and nothing kept.
#[test]
fn registrations_make_room_for_others() {
    if !can_unmap("a registration cache with limits") {
        return;
    }
    for (name, value) in [
        ("btl_fabric_registration_limit", "2m"),
        ("rcache_base_max_entries", "2"),
        ("rcache_base_max_bytes", "300k"),
        ("mpi_leave_pinned", "0"),
    ] {
        unmaps(name, value, "").run().all_ok(2);
    }
}
