//! Jobs over btl-ugni, on libugni in software. The nodes are made up on this machine, and btl-shm is left out, so every message between
//! two processes goes over it.

use oxmpi_tests::{Job, Process, leave_out, mpi, ugni_library};
use rustix::process::Signal;
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
    }
    mpi().is_ours()
}

/// `mpirun` over the transport on two nodes of two processes each, with parameters of it. The library knows the nodes, too: what their
/// manager would tell.
fn over(ranks: usize, params: &[(&str, &str)]) -> Job {
    let hosts = format!("a:{},b:{}", ranks - ranks / 2, ranks / 2);
    let job = Job::of(Command::new(mpi().bin("mpirun"))).args(["--host", &hosts, "--mca", "plm", "local"]);
    let mut job = job.args(["--mca", "btl", "ugni,self", "--mca", "btl_ugni_library"]).arg(ugni_library());
    for (name, value) in params {
        job = job.args(["--mca", &format!("btl_ugni_{name}"), value]);
    }
    let fabric = format!("fabric=job{}", std::process::id());
    let here = r#"PMI_GNI_LOC_ADDR=$((1 + OMPI_COMM_WORLD_RANK / PER_NODE)) exec "$0" "$@""#;
    let here = here.replace("PER_NODE", &(ranks - ranks / 2).to_string());
    job.env("OXMPI_UGNI", fabric).limit(300).args(["sh", "-c", &here])
}

#[test]
fn programs_over_ugni() {
    if !ours("programs over btl-ugni") {
        return;
    }
    for (program, ranks) in [
        ("ring", 2),
        ("ring", 4),
        ("requests", 2),
        ("datatypes", 4),
        ("wildcards", 3),
        ("protocols", 2),
        ("collectives", 4),
    ] {
        over(ranks, &[]).program(program).run().all_ok(ranks);
    }
}

/// Several threads, a context each, over one device and over a device each, in every assignment: the program's order is kept.
#[test]
fn order_with_several_contexts() {
    if !ours("order over btl-ugni") {
        return;
    }
    for (devices, smsg) in [("1", "first"), ("4", "first"), ("4", "each")] {
        for assignment in ["dedicated", "round_robin"] {
            over(2, &[("virtual_device_count", devices), ("smsg_devices", smsg)])
                .env("OXMPI_MCA_runtime_num_cris", "4")
                .env("OXMPI_MCA_runtime_cri_assignment", assignment)
                .program("order")
                .args(["4", "60"])
                .run()
                .all_ok(2);
        }
    }
}

/// Windows whose puts and gets are the device's, and whose atomics the host carries out at the target, in both locking modes.
#[test]
fn windows_over_ugni() {
    if !ours("windows over btl-ugni") {
        return;
    }
    for mode in ["two_level", "on_demand"] {
        let job = |ranks| {
            over(ranks, &[("virtual_device_count", "4")])
                .env("OXMPI_MCA_osc", "rdma")
                .env("OXMPI_MCA_osc_rdma_locking_mode", mode)
        };
        for program in ["rma", "rma_passive", "rma_errors"] {
            job(4).program(program).run().all_ok(4);
        }
        job(4).program("rma_random").args(["100", "12", "3", "2"]).run().all_ok(4);
        job(2).env("OXMPI_MCA_runtime_num_cris", "4").program("rma_threads").run().all_ok(2);
    }
}

/// Few credits and small messages.
#[test]
fn rendezvous_in_every_shape() {
    if !ours("rendezvous over btl-ugni") {
        return;
    }
    let shapes: [&[(&str, &str)]; 3] = [
        &[("smsg_max_credits", "2"), ("free_list_max", "2")],
        &[("smsg_limit", "512"), ("local_cq_size", "16")],
        &[("eager_limit", "512"), ("rndv_eager_limit", "512"), ("smsg_limit", "2k")],
    ];
    for params in shapes {
        over(2, params).program("protocols").run().all_ok(2);
    }
}

/// A rank is killed while others send to it, over one device and a device for each context: one report, which is of that rank and not of
/// the failures that its peers see, and nothing is left, in /dev/shm or elsewhere.
#[test]
fn a_rank_that_is_killed_ends_the_job() {
    if !ours("a killed rank under btl-ugni") {
        return;
    }
    for (devices, smsg) in [("1", "first"), ("4", "each")] {
        let params = [("virtual_device_count", devices), ("smsg_devices", smsg)];
        let ended = over(3, &params).program("sends").arg("2").start().wait_and_leave_nothing();
        let ended = ended.ended_with(137);
        assert!(ended.err.contains("Rank 2 on node b"), "{}", ended.err);
        let reports = ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2;
        assert_eq!(reports, 1, "{}", ended.err);
    }
}

/// The same in an epoch of a window, in both locking modes: what is under way to the dead process is the network's failure.
#[test]
fn a_rank_that_is_killed_in_an_epoch_ends_the_job() {
    if !ours("a rank killed in an epoch under btl-ugni") {
        return;
    }
    for mode in ["two_level", "on_demand"] {
        let job = over(4, &[]).env("OXMPI_MCA_osc", "rdma").env("OXMPI_MCA_osc_rdma_locking_mode", mode);
        let folder = job.folder();
        let mut running = job.program("hang").arg(&folder).arg("window").start();
        running.until("all ranks are up", || (0..4).all(|r| folder.join(format!("rank{r}")).exists()));
        let pid = std::fs::read_to_string(folder.join("rank2")).expect("it is up");
        let pid = pid.trim().parse().expect("a number");
        Process { pid, name: "rank 2".into(), state: '?' }.signal(Signal::KILL);
        let ended = running.wait_and_leave_nothing().ended_with(137);
        let reports = ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2;
        assert!(reports == 1 && ended.err.contains("Rank 2 on node b"), "{}", ended.err);
    }
}

/// Without the library there is a sentence that says what is missing.
#[test]
fn a_library_that_is_missing_is_named() {
    if !ours("btl-ugni without a library") {
        return;
    }
    let named = ["--mca", "btl", "ugni,self", "--mca", "btl_ugni_library", "/no/such/libugni.so"];
    let ended = Job::new(2).args(named).program("ring").run().failed();
    assert!(ended.err.contains("/no/such/libugni.so"), "{}", ended.err);
    // Nobody has asked for it: not a word.
    let ended = Job::new(2).program("ring").run();
    assert!(!ended.err.contains("ugni"), "{}", ended.err);
    ended.all_ok(2);
}
