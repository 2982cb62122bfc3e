//! The cost of asking a sync object, or MPI_Testall while the first request is pending, by the number of requests
//! (`queries.c` under callgrind): more requests cost nothing more.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::process::Command;
use tempfile::TempDir;

/// The query that hands out takes the message in, too, whose receive a short list gives faster than the index behind a
/// long one: it is compared from the second number on.
const REQUESTS: [u32; 4] = [1, 100, 1000, 10_000];
/// How far a figure may be from the first.
const SLACK: f64 = 0.02;
const SLACK_OF_MATCHING: f64 = 0.10;

/// Instructions of 64 calls of a kind.
fn count(kind: &str, requests: u32) -> u64 {
    let folder = TempDir::new_in(root().join("target")).expect("target can be written");
    let file = folder.path().join("counts");
    let program = mpi().build("count_queries", &["tests/bench/queries.c".into()], &["-O2"]);
    let mut command = Command::new(mpi().prefix.join("bin/mpirun"));
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", "1"]);
    command.args(["valgrind", "--tool=callgrind", "--quiet", "--vgdb=no", "--collect-atstart=no"]);
    command.args(["--toggle-collect=counted", "--dump-line=no"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(program).arg(kind).arg(requests.to_string());
    Job::of(command).limit(300).run().all_ok(1);
    let text = std::fs::read_to_string(&file).expect("callgrind wrote it");
    let total = text.lines().find_map(|l| l.strip_prefix("totals: ")?.trim().parse().ok());
    total.expect("a file of callgrind has totals")
}

#[test]
fn asking_costs_the_same_however_many_requests_there_are() {
    const WHAT: &str = "bench: instructions of asking sync objects";
    if !in_path("valgrind") {
        return leave_out(WHAT, "valgrind is missing (Debian package valgrind)");
    }
    if !mpi().is_ours() {
        return leave_out(WHAT, "sync objects are ours");
    }
    std::fs::create_dir_all(root().join("target")).expect("target can be written");
    for (kind, first, slack) in [
        ("query", 0, SLACK),
        ("size", 0, SLACK),
        ("probe", 0, SLACK),
        ("testall", 0, SLACK),
        ("take", 1, SLACK_OF_MATCHING),
    ] {
        let counts = REQUESTS.map(|n| count(kind, n));
        println!("{kind}: {counts:?}");
        let most = counts[first] as f64 * (1.0 + slack);
        assert!(
            counts[first..].iter().all(|&c| c as f64 <= most),
            "{kind} with {REQUESTS:?} requests: {counts:?}"
        );
    }
    // A cost that grows is seen to grow, so the figures above are figures.
    let [few, many] = [1, 1000].map(|n| count("testsome", n));
    assert!(many > 20 * few, "MPI_Testsome: {few} with one request, {many} with 1000");
}
