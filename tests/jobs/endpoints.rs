//! Endpoints of the library's own (MPIX_Comm_create_endpoints): ranks that threads of one process drive, with the same and with different numbers in
//! each process, on one node, over TCP, and by a transport that reorders.

use crate::messages::words_shared;
use oxmpi_tests::{Job, leave_out, mpi, root};
use std::collections::BTreeSet;
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
fn counters_of_endpoints() {
    if ours("counters of endpoints") {
        Job::new(3).limit(120).program("endpoint_counts").run().all_ok(3);
    }
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
        for order in ["arrival", "omp", "keys"] {
            Job::new(ranks).limit(240).arg(&program).arg(threads).arg(order).run().all_ok(ranks);
        }
    }
    over_tcp().limit(240).arg(&program).arg("2").arg("omp").run().all_ok(2);
}

/// The cases that MPICH has tests for, on 1 and 4 processes, and more threads than its 64.
#[test]
fn thread_communicators_case_by_case() {
    if !ours("thread communicators") {
        return;
    }
    for (case, starts) in
        [("blocking", "1"), ("restart", "4"), ("commdup", "1"), ("attributes", "2"), ("collectives", "1")]
    {
        for (ranks, threads) in [(1, "4"), (4, "4")] {
            let job = Job::new(ranks).limit(240).program("threadcomm_cases");
            job.args([case, threads, starts]).run().all_ok(ranks);
        }
    }
    Job::new(1).limit(240).program("threadcomm_cases").args(["collectives", "70", "1"]).run().all_ok(1);
}

/// The kernels of bench/endpoints/ over the library's own endpoints: the norm of the lattice is that of one process, the frequencies are those of a
/// direct sum, and messages have the right data; by the first thread, by threads that share the world, and by endpoints.
#[test]
fn kernels_have_right_results() {
    if !ours("kernels over endpoints") {
        return;
    }
    let build = |name: &str| {
        let sources = [format!("bench/endpoints/{name}.c")];
        mpi().build(&format!("native_{name}"), &sources, &["-O2", "-pthread", "-lm"])
    };
    let (dslash, fft, streams) = (build("dslash"), build("fft"), build("streams"));
    let run = |program: &std::path::Path, ranks: usize, arguments: &str, says: &str| {
        let ended = Job::new(ranks).limit(240).arg(program).args(arguments.split(' ')).run().passed();
        assert!(ended.out.contains(says), "{arguments}: {}", ended.out);
    };
    for (ranks, lattice) in [(1, "-l 4,4,4,4"), (2, "-l 4,4,2,4"), (4, "-l 2,4,2,4 -p 2,1,1,2")] {
        for how in ["-t 2 -c master", "-t 2 -c funneled", "-t 2 -m 1", "-m 2", "-e 2", "-e 8"] {
            run(&dslash, ranks, &format!("{lattice} {how} -k 2"), "results right");
        }
    }
    for (ranks, groups) in [(2, "2"), (4, "2"), (4, "4")] {
        for how in ["-t 2", "-m", "-e"] {
            let arguments = match how {
                "-t 2" => format!("-n 8 -b 2 -k 2 {how}"),
                _ => format!("-n 8 -b 2 -k 2 -g {groups} {how}"),
            };
            run(&fft, ranks, &arguments, "results right");
        }
    }
    for arguments in ["latency -b 8 -k 20", "latency -b 70000 -k 5", "rate -b 100 -k 5 -w 3"] {
        run(&streams, 2, &format!("{arguments} -e"), "endpoints");
        run(&streams, 2, arguments, arguments.split(' ').next().unwrap_or_default());
    }
}

/// The page's table of functions on communicators: name and program.
fn functions(page: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let section = page.split("## Every function").nth(1).unwrap_or_default();
    for line in section.lines().filter(|line| line.starts_with("| `MPI_")) {
        let mut cells = line.split('|').skip(1).map(str::trim);
        let (names, program) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let names = names.split(", ").map(|name| name.trim_matches('`').to_owned());
        all.extend(names.map(|name| (name, program.trim_matches('`').to_owned())));
    }
    all
}

/// Functions of `mpi.h` whose arguments include a communicator.
fn on_communicators(header: &str) -> BTreeSet<String> {
    let declared =
        header.split(';').filter_map(|one| one.trim().rsplit_once("int MPI_").map(|(_, rest)| rest));
    let named = declared.filter_map(|one| one.split_once('('));
    let takes = |arguments: &str| arguments.split([' ', '*', ',', '(', ')']).any(|word| word == "MPI_Comm");
    named.filter(|(_, arguments)| takes(arguments)).map(|(name, _)| format!("MPI_{name}")).collect()
}

/// The table has every function, and the program that it names calls it.
#[test]
fn the_table_of_functions_is_whole() {
    if !ours("functions on endpoints") {
        return;
    }
    let page = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let header = std::fs::read_to_string(mpi().prefix.join("include/mpi.h")).expect("an install has mpi.h");
    let table = functions(&page);
    let named: BTreeSet<String> = table.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(named, on_communicators(&header));
    for program in ["every_form", "endpoint_functions"] {
        let nm = Command::new("nm").args(["-D", "--undefined-only"]).arg(mpi().program(program)).output();
        let text = String::from_utf8_lossy(&nm.expect("binutils come with gcc").stdout).into_owned();
        let called: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).collect();
        let left: Vec<_> =
            table.iter().filter(|(name, by)| by == program && !called.contains(&**name)).collect();
        assert!(left.is_empty(), "{program} does not call {left:?}");
    }
}

#[test]
fn every_function() {
    if !ours("functions on endpoints") {
        return;
    }
    for (ranks, digits) in [(1, "5"), (2, "2"), (3, "204")] {
        Job::new(ranks).limit(240).program("every_form").arg(digits).run().all_ok(ranks);
        Job::new(ranks).limit(240).program("endpoint_functions").arg(digits).run().all_ok(ranks);
    }
    over_tcp().limit(240).program("every_form").arg("3").run().all_ok(2);
    over_tcp().limit(240).program("endpoint_functions").arg("3").run().all_ok(2);
    let ended = Job::new(2).limit(60).program("endpoint_functions").arg("abort").run();
    assert_eq!(ended.status, 7, "{}", ended.err);
}

/// Random programs, the same each time: as many endpoints everywhere, and different numbers. Longer by hand: `endpoint_random 213 1 100000`.
#[test]
fn random_programs() {
    if !ours("random programs over endpoints") {
        return;
    }
    for (ranks, digits, seed) in [(1, "4", "1"), (2, "3", "100"), (3, "204", "200"), (4, "12", "300")] {
        Job::new(ranks).limit(240).program("endpoint_random").args([digits, seed, "6"]).run().all_ok(ranks);
    }
    over_tcp().limit(240).program("endpoint_random").args(["23", "400", "4"]).run().all_ok(2);
    let one = Job::new(2).limit(240).args(["--mca", "runtime_num_cris", "1"]);
    one.program("endpoint_random").args(["3", "500", "4"]).run().all_ok(2);
}

/// Threads that take turns on one endpoint send and receive in that order, while other endpoints of the process are at work, in every assignment.
#[test]
fn order_on_an_endpoint() {
    if !ours("order on endpoints") {
        return;
    }
    for assignment in ["stream", "dedicated", "round_robin"] {
        for (ranks, cris) in [(2, "4"), (1, "3")] {
            let job = Job::new(ranks).limit(300).args(["--mca", "runtime_num_cris", cris]);
            let job = job.args(["--mca", "runtime_cri_assignment", assignment]);
            job.program("order").args(["3", "100", "endpoints"]).run().all_ok(ranks);
        }
    }
    over_tcp().limit(300).program("order").args(["3", "60", "endpoints"]).run().all_ok(2);
}

/// A message between endpoints with a thread each writes no word by an atomic read-modify-write that another thread's messages write too; nor one
/// between threads with a stream each. With one context for all they do.
#[test]
fn endpoints_with_a_thread_each_share_no_lock() {
    if !ours("no lock shared by endpoints") {
        return;
    }
    for (transport, contexts, what, some) in [
        ("shm,self", "8", "endpoints", false),
        ("tcp,self", "8", "endpoints", false),
        ("shm,self", "1", "endpoints", true),
        ("shm,self", "9", "streams", false),
    ] {
        match words_shared(transport, contexts, what) {
            Ok(found) => assert_eq!(found > 0, some, "{what}, {transport}, {contexts} contexts"),
            Err(why) => return leave_out("no lock shared by endpoints", &why),
        }
    }
}

/// A stream for each thread, more than instances, several threads on one.
#[test]
fn streams() {
    if !ours("streams") {
        return;
    }
    for (ranks, threads, cris) in [(1, "2", "4"), (2, "4", "8"), (2, "5", "2"), (3, "2", "1")] {
        let job = Job::new(ranks).limit(240).args(["--mca", "runtime_num_cris", cris]);
        job.program("streams").arg(threads).run().all_ok(ranks);
    }
    for assignment in ["dedicated", "round_robin"] {
        let job = Job::new(2).limit(240).args(["--mca", "runtime_num_cris", "4"]);
        job.args(["--mca", "runtime_cri_assignment", assignment]).program("streams").arg("3").run().all_ok(2);
    }
    over_tcp().limit(240).program("streams").arg("3").run().all_ok(2);
}

pub const PAGE: &str = "docs/endpoints.md";

/// The pieces of a page in one language.
pub fn examples<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
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
