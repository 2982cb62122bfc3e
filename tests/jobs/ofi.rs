//! Jobs over btl-ofi, by the library libfabric of this machine and its provider for TCP. The nodes are made up on this machine, and btl-shm is left out,
//! so every message between two processes goes over it. A machine without the library leaves these tests out.

use oxmpi_tests::{Job, in_path, leave_out, mpi};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The provider of the tests: every libfabric has it.
pub(crate) const PROVIDER: &str = "tcp;ofi_rxm";

/// The library of the tests, by name or path. `None`: the test is left out, and its reason was printed.
pub(crate) fn library(test: &str) -> Option<String> {
    if !mpi().is_ours() {
        leave_out(test, "about our own transports");
        return None;
    }
    let path = std::env::var("OXMPI_TEST_LIBFABRIC").unwrap_or_else(|_| "libfabric.so.1".into());
    let words = ["--ofi", "--mca", "btl_ofi_library", &path, "--mca", "btl_ofi_provider_include", PROVIDER];
    let told = Job::of({
        let mut command = Command::new(mpi().bin("mpi-info"));
        command.args(words);
        command
    })
    .run()
    .passed()
    .out;
    if !told.contains(": used") {
        leave_out(test, &format!("without libfabric and its provider {PROVIDER}: {}", told.trim()));
        return None;
    }
    Some(path)
}

/// Domains of the provider that stay as long as the tests. A bridge and its ports are of machines that another test has made (`machines`) and takes down when it ends; libfabric would name it
/// first, and a job over it would lose its network.
pub(crate) fn domains() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = std::env::var("OXMPI_TEST_LIBFABRIC").unwrap_or_else(|_| "libfabric.so.1".into());
        let mut command = Command::new(mpi().bin("mpi-info"));
        command.args(["--ofi", "--mca", "btl_ofi_library", &path]);
        let text = Job::of(command).run().passed().out;
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut found: Vec<String> = Vec::new();
        for three in
            words.windows(3).filter(|three| three[0] == format!("{PROVIDER},") && three[1] == "domain")
        {
            let name = three[2].trim_end_matches([':', ',']).to_owned();
            let of_bridge = |part| Path::new("/sys/class/net").join(&name).join(part).exists();
            let stays = !of_bridge("bridge") && !of_bridge("brport");
            if stays && !found.contains(&name) {
                found.push(name);
            }
        }
        found
    })
}

/// `mpirun` over the transport on two nodes, with parameters of it; over the first of [`domains`] unless they name others.
pub(crate) fn over(library: &str, ranks: usize, params: &[(&str, &str)]) -> Job {
    let hosts = format!("a:{},b:{}", ranks - ranks / 2, ranks / 2);
    let job = Job::of(Command::new(mpi().bin("mpirun"))).args(["--host", &hosts, "--mca", "plm", "local"]);
    let mut job = job.args(["--mca", "btl", "ofi,self", "--mca", "btl_ofi_library", library]);
    for (name, value) in [("provider_include", PROVIDER)].iter().chain(params) {
        job = job.args(["--mca", &format!("btl_ofi_{name}"), value]);
    }
    let named = params.iter().any(|(name, _)| matches!(*name, "domain" | "provider_include"));
    match domains().first().filter(|_| !named) {
        Some(first) => job.args(["--mca", "btl_ofi_domain", first]).limit(300),
        None => job.limit(300),
    }
}

#[test]
fn programs_over_ofi() {
    let Some(library) = library("programs over btl-ofi") else { return };
    for (program, ranks) in [
        ("ring", 2),
        ("ring", 4),
        ("requests", 2),
        ("datatypes", 4),
        ("wildcards", 3),
        ("protocols", 2),
        ("collectives", 4),
    ] {
        over(&library, ranks, &[]).program(program).run().all_ok(ranks);
    }
}

/// Several threads, a context each, in one domain and in a domain each, with an endpoint for each context and with fewer: the program's order
/// is kept.
#[test]
fn order_with_several_contexts_over_ofi() {
    let Some(library) = library("order over btl-ofi") else { return };
    for (domains, contexts) in [("1", "0"), ("4", "0"), ("1", "2")] {
        for assignment in ["dedicated", "round_robin"] {
            over(&library, 2, &[("virtual_device_count", domains), ("num_contexts", contexts)])
                .env("OXMPI_MCA_runtime_num_cris", "4")
                .env("OXMPI_MCA_runtime_cri_assignment", assignment)
                .program("order")
                .args(["4", "60"])
                .run()
                .all_ok(2);
        }
    }
}

/// Threads in every call that may block, with a context each, by each assignment.
#[test]
fn threads_with_contexts_over_ofi() {
    let Some(library) = library("threads over btl-ofi") else { return };
    for (domains, assignment) in [("1", "stream"), ("1", "dedicated"), ("4", "round_robin")] {
        let cris = ["--mca", "runtime_num_cris", "4", "--mca", "runtime_cri_assignment", assignment];
        let job = over(&library, 2, &[("virtual_device_count", domains)]).args(cris);
        job.program("threads").arg("4").run().all_ok(2);
    }
}

/// Windows whose puts and gets are the provider's, and whose atomics the host carries out at the target.
#[test]
fn windows_over_ofi() {
    let Some(library) = library("windows over btl-ofi") else { return };
    let job = |ranks| over(&library, ranks, &[]).env("OXMPI_MCA_osc", "rdma");
    for program in ["rma", "rma_passive", "rma_errors"] {
        job(4).program(program).run().all_ok(4);
    }
    job(4).program("rma_random").args(["60", "12", "3", "2"]).run().all_ok(4);
    job(2).env("OXMPI_MCA_runtime_num_cris", "4").program("rma_threads").run().all_ok(2);
    for component in ["rdma", "pt2pt"] {
        let job = over(&library, 2, &[]).env("OXMPI_MCA_osc", component);
        job.program("rma_order").args(["1", "40", "2"]).run().all_ok(2);
    }
}

/// Few buffers and small messages.
#[test]
fn rendezvous_over_ofi() {
    let Some(library) = library("rendezvous over btl-ofi") else { return };
    let shapes: [&[(&str, &str)]; 3] = [
        &[("rd_num", "4"), ("send_buffers", "2"), ("credits", "2")],
        &[("max_send_size", "512"), ("num_cq_read", "1")],
        &[("eager_limit", "512"), ("rndv_eager_limit", "512"), ("min_rma_size", "1k")],
    ];
    for params in shapes {
        over(&library, 2, params).program("protocols").run().all_ok(2);
    }
}

/// A rank is killed while others send to it: one report, which is of that rank and not of the failures that its peers see.
#[test]
fn a_rank_that_is_killed_under_ofi_ends_the_job() {
    let Some(library) = library("a killed rank under btl-ofi") else { return };
    over(&library, 3, &[]).program("sends").arg("2").start().wait_and_leave_nothing().is_one_report(2, "b");
    let job = over(&library, 4, &[]).env("OXMPI_MCA_osc", "rdma");
    let folder = job.folder();
    let mut running = job.program("hang").arg(&folder).arg("window").start();
    running.until_up(4);
    running.rank(2).signal(Signal::KILL);
    running.wait_and_leave_nothing().is_one_report(2, "b");
}

/// libfabric's own ping-pong talks over the provider and domain that a job would use, so a failure of the jobs here is ours.
#[test]
fn libfabric_talks_to_itself() {
    const TEST: &str = "libfabric's own ping-pong";
    let Some(library) = library(TEST) else { return };
    if !in_path("fi_pingpong") {
        return leave_out(TEST, "fi_pingpong is missing (Debian package libfabric-bin)");
    }
    // Below those that the kernel gives away, and another one in each process of tests.
    let port = 20_000 + std::process::id() % 10_000;
    let end = |words: &[&str]| {
        let mut command = Command::new("fi_pingpong");
        command.args(["-p", PROVIDER, "-e", "rdm", "-I", "10", "-S", "4096", "-c"]).args(words);
        // The library under test, where that is another one.
        if let Some((folder, _)) = library.rsplit_once('/') {
            command.env("LD_LIBRARY_PATH", folder);
        }
        Job::of(command).weighs(1).limit(120)
    };
    let mut server = end(&["-B", &port.to_string()]).start();
    let path = format!("/proc/{}/net/tcp", server.launcher().pid);
    let listening = format!(":{port:04X} 00000000:0000 0A");
    server.until("the server to listen", || {
        std::fs::read_to_string(&path).is_ok_and(|list| list.contains(&listening))
    });
    let client = end(&["-P", &port.to_string(), "127.0.0.1"]).run().passed();
    assert!(client.out.contains("4k"), "{}", client.out);
    server.wait_and_leave_nothing().passed();
    over(&library, 2, &[]).program("ring").run().all_ok(2);
}

/// A missing library or provider is told where somebody has named it, and nowhere else.
#[test]
fn what_is_missing_is_named() {
    if !mpi().is_ours() {
        return leave_out("btl-ofi without a library", "about our own transports");
    }
    let named = ["--mca", "btl", "ofi,self", "--mca", "btl_ofi_library"];
    let ended = Job::new(2).args(named).arg("/no/such/libfabric.so").program("ring").run().failed();
    assert!(ended.err.contains("btl_ofi cannot use the library /no/such/libfabric.so"), "{}", ended.err);
    // Nobody has asked for it: not a word.
    let ended = Job::new(2).program("ring").run();
    assert!(!ended.err.contains("ofi"), "{}", ended.err);
    ended.all_ok(2);
    let Some(library) = library("a provider that is missing") else { return };
    let none = ["--mca", "btl_ofi_provider_include", "no-such-provider"];
    let ended = Job::new(2).args(named).arg(&library).args(none).program("ring").run().failed();
    let words = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("btl_ofi uses no provider of libfabric"), "{}", ended.err);
    assert!(words.contains("btl_ofi_provider_include does not name it"), "{}", ended.err);
}

/// `mpi-info --ofi` tells the providers, the one that would be used, and why not the others.
#[test]
fn providers_are_told() {
    let Some(library) = library("mpi-info --ofi") else { return };
    let info = |library: &str, words: &[&str]| {
        let mut command = Command::new(mpi().bin("mpi-info"));
        command.args(["--ofi", "--mca", "btl_ofi_library", library]).args(words);
        Job::of(command).run().passed().out
    };
    let text = info(&library, &[]);
    assert!(text.starts_with("libfabric ") && text.contains(PROVIDER), "{text}");
    assert!(text.contains("only where --mca btl or btl_ofi_provider_include names it"), "{text}");
    let text = info(&library, &["--mca", "btl_ofi_provider_exclude", "tcp"]);
    assert!(text.contains("btl_ofi_provider_exclude names it"), "{text}");
    let text = info("/no/such/libfabric.so", &[]);
    assert!(text.contains("/no/such/libfabric.so cannot be used"), "{text}");
}
