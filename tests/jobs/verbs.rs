//! Jobs over btl-verbs, on the device in software: on this node, and on nodes that are made up on this machine. btl-shm is left out, so every message
//! between two ranks goes over it.

use oxmpi_tests::{Job, leave_out, mpi, verbs_device};
use rustix::process::Signal;
use std::process::Command;

/// Arrangements of endpoints, from one that shares nothing to one that shares all.
pub(crate) const CATEGORIES: [&str; 6] =
    ["mpi_everywhere", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"];

pub(crate) fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
    }
    mpi().is_ours()
}

/// `mpirun` over the transport, with parameters of it.
fn over(ranks: usize, params: &[(&str, &str)]) -> Job {
    with(Job::new(ranks), params)
}

/// The same between nodes.
pub(crate) fn over_nodes(hosts: &str, params: &[(&str, &str)]) -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    with(job.args(["--host", hosts, "--mca", "plm", "local"]), params)
}

fn with(job: Job, params: &[(&str, &str)]) -> Job {
    let job = job.args(["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library"]);
    let mut job = job.arg(verbs_device());
    for (name, value) in params {
        job = job.args(["--mca", &format!("btl_verbs_{name}"), value]);
    }
    job.limit(300)
}

/// A rank that waits for a connection leaves its core to others: the peer may need it.
#[test]
fn operations_without_a_connection_leave_the_core() {
    if !ours("operations that wait for a connection of btl-verbs") {
        return;
    }
    over_nodes("a:1,b:1", &[]).args(["--mca", "osc", "rdma"]).program("rma_connecting").run().all_ok(2);
}

/// Operations that overlap take effect in the order of their calls.
#[test]
fn unlike_operations_over_verbs() {
    if !ours("order of unlike operations over btl-verbs") {
        return;
    }
    for component in ["rdma", "pt2pt"] {
        let job = |job: Job| job.args(["--mca", "osc", component]);
        job(over(2, &[])).program("rma_order").args(["1", "40", "2"]).run().all_ok(2);
        job(over_nodes("a:2,b:2", &[])).program("rma_patches").run().all_ok(4);
    }
}

#[test]
fn programs_over_verbs() {
    if !ours("programs over btl-verbs") {
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

/// Several threads, a context each, in every arrangement of endpoints and every assignment: the program's order is kept.
#[test]
fn order_with_several_contexts() {
    if !ours("order over btl-verbs") {
        return;
    }
    for category in ["mpi_everywhere", "2xdynamic", "shared_dynamic", "static", "mpi_threads"] {
        let options = ["--mca", "runtime_num_cris", "4"];
        over(2, &[("endpoint_category", category)])
            .args(options)
            .program("order")
            .args(["4", "60"])
            .run()
            .all_ok(2);
    }
    for assignment in ["dedicated", "round_robin"] {
        let options = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment", assignment];
        over(2, &[]).args(options).program("order").args(["4", "60"]).run().all_ok(2);
    }
}

/// Few credits, small pieces, no data inside requests, collected operations.
#[test]
fn rendezvous_in_every_shape() {
    if !ours("rendezvous over btl-verbs") {
        return;
    }
    let shapes: [&[(&str, &str)]; 4] = [
        &[("credits", "4"), ("send_buffers", "8"), ("queue_depth", "16")],
        &[("max_inline", "0"), ("signal_period", "1")],
        &[("postlist", "8"), ("min_rma_size", "1k")],
        &[("eager_limit", "512"), ("rndv_eager_limit", "512"), ("max_send_size", "1k")],
    ];
    for params in shapes {
        over(2, params).program("protocols").run().all_ok(2);
    }
}

#[test]
fn programs_over_verbs_between_nodes() {
    if !ours("programs over btl-verbs between nodes") {
        return;
    }
    for program in ["ring", "protocols", "datatypes", "threads", "collectives", "collectives_v", "later"] {
        over_nodes("a:2,b:2", &[]).program(program).run().all_ok(4);
    }
    over_nodes("a:3,b:2", &[]).program("intercomm").run().all_ok(5);
}

/// Threads of ranks on two nodes, in every arrangement of endpoints and every assignment.
#[test]
fn threads_over_verbs_between_nodes() {
    if !ours("threads over btl-verbs between nodes") {
        return;
    }
    let cris = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment"];
    for category in CATEGORIES {
        for assignment in ["stream", "dedicated", "round_robin"] {
            let job = || {
                let job = over_nodes("a:1,b:1", &[("endpoint_category", category)]);
                job.args(cris).arg(assignment)
            };
            job().program("order").args(["4", "40"]).run().all_ok(2);
            job().program("threads").run().all_ok(2);
        }
    }
}

/// Objects shared one by one among four contexts: a completion queue, send buffers of which there are few, registrations, all of them, and three
/// queues of four contexts with a queue pair each for two.
#[test]
fn contexts_that_share_objects_between_nodes() {
    if !ours("shared objects of btl-verbs") {
        return;
    }
    let shared: [&[(&str, &str)]; 5] = [
        &[("share_queues", "4"), ("completion_depth", "256")],
        &[("share_buffers", "4"), ("send_buffers", "8"), ("max_inline", "0")],
        &[("share_registrations", "4")],
        &[("share_queues", "3"), ("share_buffers", "2"), ("share_registrations", "4")],
        &[("share_queues", "2"), ("virtual_device_count", "2"), ("share_buffers", "2")],
    ];
    for params in shared {
        for assignment in ["stream", "dedicated", "round_robin"] {
            let cris = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment", assignment];
            let job = || over_nodes("a:1,b:1", params).args(cris);
            job().program("order").args(["4", "40"]).run().all_ok(2);
            job().program("threads").run().all_ok(2);
        }
        let cris = ["--mca", "runtime_num_cris", "4", "--mca", "osc", "rdma"];
        over_nodes("a:2,b:2", params).args(cris).program("rma_threads").run().all_ok(4);
    }
}

/// Bytes that two devices have carried for a rank, out of the line that begins so.
fn carried(out: &str, what: &str) -> Vec<[u64; 2]> {
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|n| n.parse().expect("a number"));
        [numbers.next().expect("two"), numbers.next().expect("two")]
    };
    out.lines().filter_map(|line| line.strip_prefix(what)).map(pair).collect()
}

/// Long messages go over two devices, each of which carries a fair part of the bytes, also with pieces in disorder; with one all goes over
/// that. Windows are right as well.
#[test]
fn two_devices_share_long_messages() {
    if !ours("two devices under btl-verbs") {
        return;
    }
    // By get and by fragments.
    let ways: [&[(&str, &str)]; 2] = [&[], &[("min_rma_size", "1g")]];
    for (device, both) in [
        ("devices=2", true),
        ("devices=2,delay_every=300,delay_us=500", true),
        ("devices=2,drop=997", true),
        ("devices=1", false),
    ] {
        for params in &ways {
            let job = over_nodes("a:1,b:1", params).args(["--mca", "osc", "rdma"]);
            let job = job.env("OXMPI_FAKE_VERBS", device);
            let ended = job.program("stripes").arg(verbs_device()).run().all_ok(2);
            let all = carried(&ended.out, "messages: ");
            assert_eq!(all.len(), 2, "{}", ended.out);
            // A rank counts what it sends and what it gets.
            for [first, second] in all {
                let said = format!("{device}, {params:?}: {first} and {second}");
                assert!(first + second > 8 * (8 << 20), "{said}");
                assert_eq!(first.min(second) * 3 > first + second, both, "{said}");
            }
        }
    }
}

/// Windows of osc-rdma. Put, get and flush are the device's; its atomics are those of windows if it says that they are atomic to processors,
/// and where it leaves time between reading and writing, a window that used them all the same would lose updates.
#[test]
fn windows_over_verbs_between_nodes() {
    if !ours("windows over btl-verbs") {
        return;
    }
    // Each two of device, category and program meet once.
    for (i, device) in ["atomics=glob", "atomics=hca,tear=1", "atomics=none"].into_iter().enumerate() {
        for (j, category) in ["dynamic", "mpi_everywhere", "mpi_threads"].into_iter().enumerate() {
            let job = over_nodes("a:2,b:2", &[("endpoint_category", category)]);
            let job = job.args(["--mca", "osc", "rdma"]).env("OXMPI_FAKE_VERBS", device);
            job.program(["rma", "rma_passive", "rma_threads"][(i + j) % 3]).run().all_ok(4);
        }
    }
}

/// An operation that the device refuses or loses ends the job with a sentence that names it, and nothing is left.
#[test]
fn failures_are_named() {
    if !ours("failures of btl-verbs") {
        return;
    }
    let soon: &[(&str, &str)] = &[("timeout", "8"), ("retry_count", "2"), ("connect_timeout", "2000")];
    for (device, params, says) in [
        ("max_qp=3", &[][..], "no queue pairs or memory left"),
        ("max_cq=2", &[], "cannot make a completion queue"),
        ("max_mr=2", &[], "cannot register"),
        ("rnr=2", &[("rnr_retry", "0")], "RNR retry counter exceeded"),
        ("error_at=40", &[], "general error"),
        ("cq_full_at=60", &[], "completion queue"),
        ("down_at=120", soon, "has ended"),
    ] {
        let job = over_nodes("a:2,b:2", params).env("OXMPI_FAKE_VERBS", device).program("collectives");
        let ended = job.start().wait_and_leave_nothing().failed();
        assert!(ended.err.contains(says), "{device}: no {says:?} in\n{}", ended.err);
    }
}

/// Lost packets, receivers without buffers, and few registrations are the device's and the transport's own business.
#[test]
fn what_can_be_mended_is_no_failure() {
    if !ours("a bad network under btl-verbs") {
        return;
    }
    for device in ["drop=997", "rnr=5", "delay_every=400,delay_us=2000", "max_mr=7"] {
        over_nodes("a:1,b:1", &[]).env("OXMPI_FAKE_VERBS", device).program("protocols").run().all_ok(2);
    }
}

/// A rank is killed while others send to it, on its node and on another: one report, which is of that rank and not of the failures that
/// its peers see, and nothing is left, in /dev/shm or elsewhere.
#[test]
fn a_rank_that_is_killed_ends_the_job() {
    if !ours("a killed rank under btl-verbs") {
        return;
    }
    for hosts in ["a:2,b:1", "a:3"] {
        let job = over_nodes(hosts, &[]).program("sends").arg("2");
        let node = if hosts == "a:3" { "a" } else { "b" };
        job.start().wait_and_leave_nothing().is_one_report(2, node);
    }
}

/// The same in an epoch of a window, in both locking modes: what is under way to the dead process is the device's failure.
#[test]
fn a_rank_that_is_killed_in_an_epoch_ends_the_job() {
    if !ours("a rank killed in an epoch under btl-verbs") {
        return;
    }
    for mode in ["two_level", "on_demand"] {
        let soon: &[(&str, &str)] = &[("timeout", "8"), ("retry_count", "2")];
        let job = over_nodes("a:2,b:2", soon);
        let job = job.env("OXMPI_MCA_osc", "rdma").env("OXMPI_MCA_osc_rdma_locking_mode", mode);
        let folder = job.folder();
        let mut running = job.program("hang").arg(&folder).arg("window").start();
        running.until_up(4);
        running.rank(2).signal(Signal::KILL);
        running.wait_and_leave_nothing().is_one_report(2, "b");
    }
}

/// Without the device there is a sentence that says what is missing.
#[test]
fn a_library_that_is_missing_is_named() {
    if !ours("btl-verbs without a library") {
        return;
    }
    let named = ["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library", "/no/such/libibverbs.so"];
    let ended = Job::new(2).args(named).program("ring").run().failed();
    assert!(ended.err.contains("/no/such/libibverbs.so"), "{}", ended.err);
    // Nobody has asked for it: not a word.
    let ended = Job::new(2).program("ring").run();
    assert!(!ended.err.contains("verbs"), "{}", ended.err);
    ended.all_ok(2);
}

fn info(device: &str, words: &[&str]) -> String {
    let mut command = Command::new(mpi().bin("mpi-info"));
    command
        .args(words)
        .arg("--mca")
        .arg("btl_verbs_library")
        .arg(verbs_device())
        .env("OXMPI_FAKE_VERBS", device);
    Job::of(command).run().passed().out
}

/// The tool's figures for sixteen threads are those of the paper, by the rules of each library.
#[test]
fn categories_are_told() {
    if !ours("mpi-info --verbs") {
        return;
    }
    let pages = |n: u32| format!("{n} pages of doorbell registers");
    for (device, tds) in [("patched=1,uar=static", [16, 32]), ("devices=2", [32, 64])] {
        let text = info(device, &["--verbs", "16"]);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for due in [
            "mpi_everywhere 16 contexts on each port: 16 device contexts, 16 queue pairs".to_owned(),
            format!("32 queue pairs, 32 completion queues, {} thread domains, {}", tds[1], pages(32)),
            format!("16 queue pairs, 16 completion queues, {} thread domains, {}", tds[0], pages(16)),
            format!("16 thread domains, {}", pages(8)),
            "static 16 contexts on each port: 1 device context, 16 queue pairs".to_owned(),
            "mpi_threads 16 contexts on each port: 1 device context, 1 queue pair, 1 completion queue"
                .to_owned(),
        ] {
            assert!(flat.contains(&due), "{device}: no {due:?} in\n{text}");
        }
        let ports = if device.contains("devices") { "ports: fake0:1,fake1:1" } else { "ports: fake0:1\n" };
        assert!(text.contains(ports) && text.contains("category: dynamic"), "{text}");
    }
    let shared =
        ["--verbs", "16", "--mca", "btl_verbs_share_queues", "4", "--mca", "btl_verbs_share_buffers", "2"];
    let shared = info("devices=1", &shared).split_whitespace().collect::<Vec<_>>().join(" ");
    for due in
        ["16 queue pairs, 4 completion queues, 32 thread domains", "16 registrations of memory for messages"]
    {
        assert!(shared.contains(due), "no {due:?} in\n{shared}");
    }
    let none = info("domains=0", &["--verbs"]);
    assert!(none.contains("category: static (auto: the library has no thread domains)"), "{none}");
    let none = info("devices=0", &["--verbs"]);
    assert!(none.contains("not used in this process: the verbs library finds no device"), "{none}");
    let one = info("domains=1", &["--explain", "btl_verbs_share_registers"]);
    assert!(one.contains("page"), "{one}");
}

/// Of four threads with a communicator and a context each, none takes a lock of another's in the categories with thread domains, over a device
/// that promises no more than one thread at a time there; with one queue pair for all they share the lock around it.
#[test]
fn threads_share_no_lock_with_domains_of_their_own() {
    const TEST: &str = "no lock shared by threads over btl-verbs";
    if !ours(TEST) {
        return;
    }
    for (category, some) in
        [("dynamic", false), ("2xdynamic", false), ("shared_dynamic", false), ("mpi_threads", true)]
    {
        let settings =
            ["--bind-to", "none", "--mca", "runtime_num_cris", "4", "--mca", "pml_ob1_fork_turns", "1"];
        let job = over(2, &[("endpoint_category", category)]).args(settings);
        let job = job.env("OXMPI_TEST_DEVICE", "liboxmpi_verbs_fake");
        let ended = job.program("apart").arg("4").run();
        if ended.status == 77 {
            return leave_out(TEST, ended.err.trim());
        }
        let ended = ended.all_ok(2);
        let found = ended.out.lines().find_map(|line| line.strip_prefix("shared: ")?.parse::<u32>().ok());
        let found = found.unwrap_or_else(|| panic!("nothing was counted: {}", ended.out));
        assert_eq!(found > 0, some, "{category}: {}", ended.out);
    }
}

/// Eager messages by memory that the receiver polls, in rings that are small and offered soon.
#[test]
fn eager_messages_by_memory() {
    if !ours("eager messages by memory") {
        return;
    }
    let rings = [("use_eager_rdma", "true"), ("eager_rdma_threshold", "2"), ("eager_rdma_num", "4")];
    for program in ["ring", "protocols", "wildcards", "collectives"] {
        over_nodes("a:2,b:2", &rings).program(program).run().all_ok(4);
    }
    let cris = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment"];
    for assignment in ["dedicated", "round_robin"] {
        over(2, &rings).args(cris).arg(assignment).program("order").args(["4", "60"]).run().all_ok(2);
    }
}

/// Ranks that send in turn to one, which answers each: nobody's message or credit is overlooked.
#[test]
fn a_star_of_ranks_does_not_stall() {
    if !ours("a star of ranks over btl-verbs") {
        return;
    }
    let job = over_nodes("a:8,b:8", &[]).args(["-n", "8", "--map-by", "node:oversubscribe"]);
    job.program("star").arg("400").run().all_ok(8);
}
