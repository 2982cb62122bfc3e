//! Jobs over btl-ofi where something is bad: a libfabric that refuses, is full, late, small, too old, or reports failures (`devices/ofi`), limits of the
//! system, and strangers who send to the processes.

use crate::ofi::{PROVIDER, library, over};
use oxmpi_tests::{Ended, Job, Process, leave_out, mpi, ofi_with_faults};
use std::collections::HashSet;
use std::io::Write;
use std::net::TcpStream;

/// `mpirun` over the transport on two nodes, on the library with faults before the one named.
fn with_faults(library: &str, ranks: usize, faults: &str, params: &[(&str, &str)]) -> Job {
    let path = ofi_with_faults();
    let job = over(&path.to_string_lossy(), ranks, params);
    job.env("OXMPI_OFI_FAULTS", format!("library={library},{faults}"))
}

/// Text in one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One paragraph of help says all of these.
#[track_caller]
fn says(ended: &Ended, words: &[&str]) {
    let text = flat(&ended.err);
    assert_eq!(text.matches(words[0]).count(), 1, "{:?} once in\n{}", words[0], ended.err);
    for word in words {
        assert!(text.contains(word), "no {word:?} in\n{}", ended.err);
    }
}

/// Full queues, refused posts, late answers, few slots and messages that overtake each other are the transport's own business.
#[test]
fn a_bad_provider_is_no_failure_of_the_job() {
    let Some(library) = library("a bad provider under btl-ofi") else { return };
    for faults in
        ["again=3", "queue=2,inject=0", "queue=3", "tx=2,rx=4,inject=16", "late=3", "late=1,overtaken=3"]
    {
        with_faults(&library, 2, faults, &[]).program("protocols").run().all_ok(2);
    }
    for faults in ["again=7", "queue=3,inject=0", "tx=2,rx=4", "late=1", "overtaken=5"] {
        with_faults(&library, 4, faults, &[]).program("collectives").run().all_ok(4);
        let job = with_faults(&library, 4, faults, &[]).env("OXMPI_MCA_osc", "rdma");
        job.program("rma").run().all_ok(4);
    }
    // Threads with a context each.
    for faults in ["again=5,queue=4", "late=1"] {
        let job = with_faults(&library, 2, faults, &[]).env("OXMPI_MCA_runtime_num_cris", "4");
        job.program("order").args(["4", "20"]).run().all_ok(2);
    }
}

/// A message that the provider reports as lost is the loss of its peer: one sentence says which and why, and nothing is left.
#[test]
fn failures_of_a_provider_are_named() {
    let Some(library) = library("failures of a provider under btl-ofi") else { return };
    for (faults, says) in [
        ("error=60,inject=0,code=104", "Connection reset by peer"),
        ("dead=60,inject=0,code=110", "Connection timed out"),
    ] {
        let job = with_faults(&library, 4, faults, &[]).program("collectives");
        let ended = job.start().wait_and_leave_nothing().failed();
        let text = flat(&ended.err);
        assert!(text.contains("has ended: a message is lost"), "{faults}: {}", ended.err);
        assert!(text.contains(says), "{faults}: no {says:?} in\n{}", ended.err);
    }
}

/// A provider that has too little of something is named with it, in one paragraph.
#[test]
fn limits_of_a_provider_are_named() {
    let Some(library) = library("limits of a provider under btl-ofi") else { return };
    let job = with_faults(&library, 2, "endpoints=1", &[]).program("ring");
    let ended = job.start().wait_and_leave_nothing().failed();
    let why = "btl_ofi cannot use provider tcp;ofi_rxm of libfabric";
    says(&ended, &[why, "an endpoint", "No space left", "lower btl_ofi_num_contexts"]);
}

/// Limits of the system: without locked memory the providers in software work, with few descriptors the sentence names the object that found none.
#[test]
fn low_limits_of_the_system() {
    let Some(library) = library("low limits under btl-ofi") else { return };
    let limited = |limit: &str| {
        let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        over(&library, 2, &[]).args(["sh", "-c", &script])
    };
    limited("-l 0").program("protocols").run().all_ok(2);
    for (limit, words) in
        [("-n 24", ["btl_ofi cannot", "Too many open files"]), ("-n 16", ["btl_ofi", "Too many open files"])]
    {
        let ended = limited(limit).program("ring").start().wait_and_leave_nothing().failed();
        for word in words {
            assert!(flat(&ended.err).contains(word), "{limit}: no {word:?} in\n{}", ended.err);
        }
    }
}

/// A library that is too old, or none at all where the linker looks: one paragraph where the component is named, and not a word elsewhere.
#[test]
fn libraries_that_will_not_do() {
    if !mpi().is_ours() {
        return leave_out("libraries that btl-ofi does not take", "about our own transports");
    }
    let job = || Job::new(2).limit(120);
    let named = ["--mca", "btl", "ofi,self"];
    // A file that is no library comes first on the linker's path.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("libfabric.so.1"), "none").expect("the folder is ours");
    let ended = job().env("LD_LIBRARY_PATH", folder.path()).args(named).program("ring").run().failed();
    says(&ended, &["btl_ofi cannot use the library libfabric.so.1:", "libfabric1", "btl_ofi_library"]);
    let ended = job().env("LD_LIBRARY_PATH", folder.path()).program("ring").run();
    assert!(!ended.err.contains("fabric"), "{}", ended.err);
    ended.all_ok(2);
    let Some(library) = library("a libfabric that is too old") else { return };
    let old = |job: Job| job.env("OXMPI_OFI_FAULTS", format!("library={library},version=1.10"));
    let ended = old(job()).args(named).args(["--mca", "btl_ofi_library"]).arg(ofi_with_faults());
    let ended = ended.program("ring").run().failed();
    says(
        &ended,
        &["btl_ofi cannot use the library", "it is version 1.10, and 1.17 is the oldest one that will do"],
    );
}

/// Bytes that nobody of the job means are dropped and told once, and the job goes on.
#[test]
fn garbage_is_dropped_and_told_once() {
    let Some(library) = library("garbage under btl-ofi") else { return };
    for (ranks, program) in [(2, "protocols"), (4, "collectives")] {
        let job = with_faults(&library, ranks, "garbage=20", &[]);
        let ended = job.program(program).start().wait_and_leave_nothing();
        says(
            &ended,
            &["was sent bytes that are no message of this version", "It is dropped, and the job goes on"],
        );
        ended.all_ok(ranks);
    }
}

/// TCP ports that processes of a job listen on, by the kernel's lists.
fn ports(processes: &[Process]) -> HashSet<u16> {
    let sockets: HashSet<String> = processes
        .iter()
        .flat_map(|process| std::fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten())
        .flatten()
        .filter_map(|fd| std::fs::read_link(fd.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let listening = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let socket = format!("socket:[{}]", words.get(9)?);
        let port = words[1].rsplit_once(':')?.1;
        (words[3] == "0A" && sockets.contains(&socket)).then(|| u16::from_str_radix(port, 16).ok())?
    };
    let lists =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    lists.iter().flat_map(|list| list.lines().skip(1).filter_map(listening)).collect()
}

/// Somebody calls all ports of the job, says nothing, too little, or what makes no sense: messages go on meanwhile, and nothing is left.
#[test]
fn strangers_at_the_ports_of_a_job() {
    let Some(library) = library("strangers under btl-ofi") else { return };
    let job = over(&library, 2, &[]).limit(200);
    let [begun, over] = ["begun", "over"].map(|name| job.folder().join(name));
    let mut running = job.program("rails").arg(&begun).arg(&over).start();
    running.until("messages", || begun.exists());
    let ranks = running.processes().into_iter().filter(|process| process.name.starts_with("rails"));
    let ports = ports(&ranks.collect::<Vec<_>>());
    assert!(ports.len() >= 2, "{PROVIDER} listens at {ports:?}");
    let mut held = Vec::new();
    let address = own_address();
    for port in ports {
        for said in [&b""[..], b"GET / HTTP/1.0\r\n\r\n", &[0xff; 4096], &[0; 4096]] {
            let Ok(mut call) = TcpStream::connect((address.as_str(), port)) else { continue };
            // The other side may end the call at once.
            let _ = call.write_all(said);
            held.push(call);
        }
    }
    assert!(!held.is_empty(), "no port takes calls");
    // Half of them end before the job does.
    held.truncate(held.len() / 2);
    std::fs::write(&over, "").expect("the folder is ours");
    let ended = running.wait_and_leave_nothing();
    ended.all_ok(2);
}

/// An address of this machine, as its own network has it.
fn own_address() -> String {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    // Sends nothing.
    let named = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    named.map_or("127.0.0.1".into(), |address| address.ip().to_string())
}
