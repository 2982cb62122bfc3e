//! Endpoints by proxy processes (`liboxmpi_ep.so`, `oxmpi-ep-server`) over our library and over MPICH: the same binaries.
//!
//! `peers` (the libraries, and jobs with proxies) · `functions` (nothing that is offered goes untested). Programs that were written for other rooms run here with MPI_COMM_WORLD made of
//! endpoints, which tries most functions of the client and the proxy.

mod functions;
mod peers;

use oxmpi_tests::{Ended, Job, Running, mpi};
use peers::{Peer, peers};
use rustix::process::Signal;

/// Every process said "ok". Not every launcher keeps two processes' lines apart.
#[track_caller]
fn all_ok(ended: Ended, ranks: usize) {
    let ended = ended.passed();
    assert_eq!(ended.out.matches("ok").count(), ranks, "{}: who said ok\n{}", ended.shown, ended.out);
}

fn on_all(test: &str, ranks: usize, job: impl Fn(&Peer) -> Job) {
    for peer in peers(test) {
        all_ok(job(&peer).run(), ranks);
    }
}

/// 1 to 8 endpoints of a process, more of them than cores; world is the application's ranks.
#[test]
fn several_endpoints_of_each_process() {
    for (ranks, endpoints) in [(1, 1), (2, 1), (2, 2), (3, 1), (1, 8), (2, 4)] {
        on_all("several endpoints", ranks, |peer| peer.endpoints(ranks, endpoints, "all"));
    }
}

/// Threads of one process make communicators of the same endpoints at once, in any order, while others are late.
#[test]
fn communicators_made_by_several_threads() {
    for (ranks, endpoints) in [(2, 1), (2, 2), (1, 4), (2, 4)] {
        on_all("communicators at once", ranks, |peer| peer.linked("creations", ranks, endpoints, &["2"]));
    }
}

/// Each way to a buffer, progress in calls only, and no spinning.
#[test]
fn every_setting() {
    for (name, value) in [
        ("OXMPI_EP_PROGRESS", "call"),
        ("OXMPI_EP_MALLOC_MIN", "4096"),
        ("OXMPI_EP_CMA", "0"),
        ("OXMPI_EP_CMA_MIN", "1"),
        ("OXMPI_EP_SPIN", "0"),
        ("OXMPI_EP_PROXY_CPUS", "0"),
    ] {
        on_all(name, 2, |peer| peer.endpoints(2, 2, "all").env(name, value));
    }
}

#[test]
fn a_wrong_setting_ends_the_job_and_is_named() {
    for peer in peers("a wrong setting") {
        let ended = peer.endpoints(2, 1, "all").env("OXMPI_EP_PROGRESS", "never").run().failed();
        // MPICH's launcher, ended by MPI_Abort, may end before it has passed on what the processes wrote.
        let lost = !peer.is_ours() && ended.err.is_empty();
        assert!(lost || ended.err.contains("OXMPI_EP_PROGRESS"), "{ended:?}");
    }
}

#[test]
fn what_is_counted_is_printed() {
    for peer in peers("the report") {
        let ended = peer.endpoints(2, 1, "all").env("OXMPI_EP_REPORT", "1").run();
        for word in ["commands", "mapped", "bounced", "copied by the proxy"] {
            assert!(ended.err.contains(word), "{word}: {}", ended.err);
        }
        all_ok(ended, 2);
    }
}

/// Programs that know nothing of endpoints.
#[test]
fn unmodified_programs() {
    for (name, ranks, arguments) in functions::UNMODIFIED {
        for peer in peers(name) {
            if peer.is_ours() || !functions::OURS_ONLY.contains(&name) {
                all_ok(peer.unmodified(ranks, name, arguments).run(), ranks);
            }
        }
    }
    // Nonblocking and persistent ones, also with operations of the program's. MPICH itself does not pass.
    let ours = peers("later").into_iter().next();
    if let Some(ours) = ours {
        ours.unmodified(4, "later", &[]).run().all_ok(4);
    }
}

/// Without proxies the library is in nobody's way.
#[test]
fn a_job_without_proxies() {
    if mpi().is_ours() {
        let library = mpi().prefix.join("lib/liboxmpi_ep.so");
        Job::new(3).env("LD_PRELOAD", &library).program("requests").run().all_ok(3);
    }
}

fn kernel(name: &str) -> String {
    let sources = [format!("bench/endpoints/{name}.c")];
    mpi().build(name, &sources, &["-O2", "-pthread", "-loxmpi_ep", "-lm"]).display().to_string()
}

fn run_kernel(peer: &Peer, name: &str, ranks: usize, proxies: usize, arguments: &str) -> String {
    let list: Vec<String> =
        std::iter::once(kernel(name)).chain(arguments.split(' ').map(str::to_owned)).collect();
    let ended = peer.job(ranks, &list, proxies).run().passed();
    assert!(ended.out.contains("results right"), "{}: {}", ended.shown, ended.out);
    ended.out
}

/// Wilson Dslash: the same norm by one process and by several, with and without endpoints, in every direction.
#[test]
fn dslash_gives_the_norm_of_one_process() {
    for peer in peers("dslash") {
        let norm = |ranks, proxies, arguments: &str| {
            let out = run_kernel(&peer, "dslash", ranks, proxies, arguments);
            let at = out.find("norm ").expect("it prints the norm") + 5;
            out[at..].split(',').next().map(str::to_owned)
        };
        let alone = norm(1, 1, "-k 2 -l 4,4,4,8");
        for (ranks, proxies, arguments) in [
            (2, 2, "-k 2 -l 4,4,4,4"),
            (2, 2, "-k 2 -l 4,4,4,4 -m 2"),
            (2, 4, "-k 2 -l 4,4,4,4 -e 2"),
            (2, 16, "-k 2 -l 2,4,4,8 -p 2,1,1,1 -e 8"),
            (4, 12, "-k 2 -l 4,2,2,8 -p 1,2,2,1 -e 3"),
        ] {
            assert_eq!(norm(ranks, proxies, arguments), alone, "{arguments}");
        }
    }
}

/// The low-communication transform checks itself against direct sums.
#[test]
fn fft_is_a_direct_transform() {
    for peer in peers("fft") {
        for (ranks, proxies, arguments) in [
            (1, 1, "-k 2 -n 6"),
            (2, 2, "-k 2 -b 2"),
            (4, 4, "-k 2 -g 2 -m"),
            (2, 4, "-k 2 -g 2 -e -b 3 -t 3"),
            (4, 8, "-k 2 -g 2 -e -n 12"),
        ] {
            run_kernel(&peer, "fft", ranks, proxies, arguments);
        }
    }
}

#[test]
fn the_cost_of_a_command_is_printed() {
    for peer in peers("the cost of a command") {
        let sources = ["bench/endpoints/command.c".to_owned()];
        let program = mpi().build("command", &sources, &["-O2", "-loxmpi_ep"]);
        let ended = peer.job(1, &[program.display().to_string(), "1000".into()], 1).run().passed();
        assert!(ended.out.contains("ns by a proxy"), "{}", ended.out);
    }
}

fn idle(peer: &Peer) -> Running {
    let mut job = peer.endpoints(2, 1, "idle").limit(120).start();
    let out = job.folder().join("out");
    job.until("both processes are idle", || {
        std::fs::read_to_string(&out).is_ok_and(|text| text.matches("idle").count() == 2)
    });
    job
}

/// A client or a proxy that is killed ends the job, and nothing is left.
#[test]
fn killed_processes_end_the_job() {
    for peer in peers("killed processes") {
        for name in ["oxmpi-ep-server", "endpoints"] {
            let job = idle(&peer);
            let victim =
                job.processes().into_iter().find(|p| p.name == name).expect("a process of that name");
            victim.signal(Signal::KILL);
            job.wait_and_leave_nothing().failed();
        }
    }
}
