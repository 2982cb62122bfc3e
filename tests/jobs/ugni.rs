//! Jobs over btl-ugni, on libugni in software. The nodes are made up on this machine, and btl-shm is left out, so every message between
//! two processes goes over it.

use oxmpi_tests::{Job, leave_out, mpi, ugni_library};
use rustix::process::Signal;
use std::collections::HashMap;
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

/// Operations that overlap take effect in the order of their calls.
#[test]
fn unlike_operations_over_ugni() {
    if !ours("order of unlike operations over btl-ugni") {
        return;
    }
    for component in ["rdma", "pt2pt"] {
        let job = |ranks| over(ranks, &[]).env("OXMPI_MCA_osc", component);
        job(2).program("rma_order").args(["1", "40", "2"]).run().all_ok(2);
        job(4).program("rma_patches").run().all_ok(4);
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
        over(3, &params).program("sends").arg("2").start().wait_and_leave_nothing().is_one_report(2, "b");
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
        running.until_up(4);
        running.rank(2).signal(Signal::KILL);
        running.wait_and_leave_nothing().is_one_report(2, "b");
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

/// Counts of each device of rank 0, by name: locks, waits, fast_puts, bulk_puts, other_posts, messages.
fn devices(err: &str) -> Vec<HashMap<String, u64>> {
    let words = |line: &str| -> HashMap<String, u64> {
        let pairs = line.split(' ').filter_map(|word| word.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.parse().expect("a number"))).collect()
    };
    let own = err.lines().filter(|line| line.contains("rank 0]"));
    own.filter_map(|line| line.split_once("btl:ugni: device ")?.1.split_once(": ").map(|(_, c)| words(c)))
        .collect()
}

const THREADS: &str = "16";

/// A program of 16 threads by the number of devices and the way in which threads get communication resources, with what rank 0's
/// devices counted. One resource is the seeds' base line; a put changes to the engine behind 16 KiB.
fn by_devices(
    smsg: &str,
    name: &str,
    options: &[&str],
    mut look: impl FnMut(usize, &str, &[HashMap<String, u64>]),
) {
    let folder = if name == "rmamt" { "rma" } else { name };
    let program = mpi().build(name, &[format!("bench/{folder}/{name}.c")], &["-O2", "-pthread"]);
    for count in [1usize, 4, 16] {
        for assignment in ["one", "round_robin", "dedicated"] {
            let text = count.to_string();
            let params =
                [("virtual_device_count", text.as_str()), ("smsg_devices", smsg), ("fma_put_limit", "16384")];
            let mut job =
                over(2, &params).env("OXMPI_MCA_btl_base_verbose", "debug").env("OXMPI_MCA_osc", "rdma");
            // Puts one by one, as in the paper: small ones would go together.
            job = job.env("OXMPI_MCA_osc_rdma_aggregation_limit", "0");
            job = match assignment {
                "one" => job.env("OXMPI_MCA_runtime_num_cris", "1"),
                _ => job
                    .env("OXMPI_MCA_runtime_num_cris", THREADS)
                    .env("OXMPI_MCA_runtime_cri_assignment", assignment),
            };
            let ended = job.arg(&program).args(options).run().passed();
            let counted = devices(&ended.err);
            assert_eq!(counted.len(), count, "{}", ended.err);
            let sum = |what: &str| counted.iter().map(|d| d[what]).sum::<u64>();
            let most = |what: &str| counted.iter().map(|d| d[what]).max().unwrap_or(0);
            println!(
                "{name}, smsg {smsg}, {count} devices, {assignment}: puts {} fast and {} bulk, most of a device {}; messages {}, most {}; locks {}, most {}, waits {}",
                sum("fast_puts"),
                sum("bulk_puts"),
                most("fast_puts") + most("bulk_puts"),
                sum("messages"),
                most("messages"),
                sum("locks"),
                most("locks"),
                sum("waits"),
            );
            look(count, assignment, &counted);
        }
    }
}

/// Puts of 16 threads (RMA-MT) over 1, 4 and 16 devices: the number of puts and the path of each are the program's and the limit's, a put takes a
/// lock to be posted and at most one more for its completion, and devices share them where threads have resources of their own.
#[test]
fn threads_put_over_devices() {
    if !ours("RMA-MT over btl-ugni") {
        return;
    }
    // 8 bytes and 32 KiB of each thread, in four epochs of 8 puts, and four of one put.
    let options = [
        "-o",
        "put",
        "-s",
        "flush",
        "-t",
        THREADS,
        "-l",
        "128,524288",
        "-i",
        "4",
        "-m",
        "1000000",
        "-d",
        "8",
    ];
    let mut puts = None;
    by_devices("first", "rmamt", &options, |count, assignment, counted| {
        let sum = |what: &str| counted.iter().map(|d| d[what]).sum::<u64>();
        let all = (sum("fast_puts"), sum("bulk_puts"));
        assert_eq!(*puts.get_or_insert(all), all, "{count} devices, {assignment}");
        assert!(all.1 >= 16 * 4 * 8 && all.0 >= all.1, "{all:?}");
        let shares: Vec<u64> = counted.iter().map(|d| d["fast_puts"] + d["bulk_puts"]).collect();
        spread(count, assignment, &shares);
        // The first one has the messages and idle turns besides.
        for (device, puts) in counted.iter().zip(&shares).skip(1) {
            assert!(device["locks"] <= 2 * puts + 64, "{count} devices, {assignment}: {device:?}");
        }
    });
}

/// Messages of 16 pairs of threads (Multirate): with a lane on the first device alone all of them meet there, with one on each they do not.
#[test]
fn threads_send_over_devices() {
    if !ours("Multirate over btl-ugni") {
        return;
    }
    let options = ["-t", THREADS, "-s", "8", "-w", "16", "-i", "8"];
    for smsg in ["first", "each"] {
        by_devices(smsg, "multirate", &options, |count, assignment, counted| {
            let shares: Vec<u64> = counted.iter().map(|d| d["messages"]).collect();
            match smsg {
                "first" => assert!(shares[1..].iter().all(|n| *n == 0), "{shares:?}"),
                _ => spread(count, assignment, &shares),
            }
        });
    }
}

/// With one resource all goes over one device; with one for each thread no device has more than twice its share.
fn spread(count: usize, assignment: &str, shares: &[u64]) {
    let (all, most) = (shares.iter().sum::<u64>(), shares.iter().copied().max().unwrap_or(0));
    match assignment {
        "one" => assert!(most * 10 >= all * 9, "{shares:?}"),
        _ => assert!(most * count as u64 <= all * 2 + 64, "{assignment}: {shares:?}"),
    }
}
