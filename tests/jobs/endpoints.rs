//! Endpoints of the library's own (MPIX_Comm_create_endpoints): ranks that threads of one process drive, with the same and with different numbers in
//! each process, on one node, over TCP, and by a transport that reorders.

use oxmpi_tests::{Job, leave_out, mpi, root};
use std::process::Command;

/// Endpoints of the processes in turn: alike, more than cores, different, with processes that have none.
const COUNTS: [(usize, &str); 6] = [(1, "1"), (2, "1"), (1, "8"), (2, "3"), (3, "204"), (4, "12")];

fn ours(what: &str) -> bool {
    let ours = mpi().is_ours();
    if !ours {
        leave_out(what, "MPIX_Comm_create_endpoints is ours");
    }
    ours
}

fn over_tcp() -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    job.args(["--host", "a:1,b:1", "--mca", "plm", "local", "--mca", "btl", "self,tcp"])
}

fn everywhere(what: &str) {
    if !ours(what) {
        return;
    }
    for (ranks, counts) in COUNTS {
        Job::new(ranks).limit(240).program("endpoint_ranks").arg(what).arg(counts).run().all_ok(ranks);
    }
    over_tcp().limit(240).program("endpoint_ranks").arg(what).arg("23").run().all_ok(2);
}

#[test]
fn they_are_numbered_and_refused() {
    everywhere("made");
}

#[test]
fn messages() {
    everywhere("messages");
}

#[test]
fn collectives() {
    everywhere("collectives");
}

#[test]
fn communicators_of_endpoints() {
    everywhere("communicators");
}

#[test]
fn windows_of_endpoints() {
    everywhere("windows");
}

/// Started four times by new threads, more of them than cores.
#[test]
fn thread_communicators() {
    if !ours("thread communicators") {
        return;
    }
    let sources = ["tests/programs/threadcomm.c".to_owned()];
    let program = mpi().build("threadcomm", &sources, &["-O2", "-fopenmp", "-pthread"]);
    for (ranks, threads) in [(1, "1"), (1, "6"), (2, "3"), (3, "1")] {
        for order in ["arrival", "omp"] {
            Job::new(ranks).limit(240).arg(&program).arg(threads).arg(order).run().all_ok(ranks);
        }
    }
    over_tcp().limit(240).arg(&program).arg("2").arg("omp").run().all_ok(2);
}

const PAGE: &str = "docs/endpoints.md";

/// The pieces of a page in one language.
fn examples<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&*fence).skip(1).map(|rest| rest.split("```").next().unwrap_or(rest)).collect()
}

#[test]
fn examples_of_the_page_run() {
    if !ours("examples of endpoints") {
        return;
    }
    let page = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let room = tempfile::tempdir().expect("a folder");
    let in_c = examples(&page, "c");
    assert_eq!(in_c.len(), 2);
    for (i, example) in in_c.iter().enumerate() {
        let name = format!("endpoints_example_{i}");
        let source = room.path().join(format!("{name}.c"));
        std::fs::write(&source, example).expect("the folder can be written");
        let program = mpi().build(&name, &[source.display().to_string()], &["-O2", "-fopenmp", "-pthread"]);
        for ranks in [1, 2] {
            Job::new(ranks).arg(&program).run().all_ok(ranks);
        }
    }
}
