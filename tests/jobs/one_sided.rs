//! Programs of `bench/rma` as users run them: conjugate gradients whose residual does not depend on how halos travel, and patches whose
//! every value is known. On one node and on two that are made up on this machine, by each installed one-sided component.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::path::PathBuf;
use std::process::Command;

/// Where a job's ranks are: on one node, or on two.
const PLACES: [&str; 2] = ["one node", "two nodes"];
/// How halos travel: by messages, or by puts that a component carries out. Another library has one way for puts.
const WAYS: [&str; 3] = ["messages", "pt2pt", "rdma"];

fn ways() -> &'static [&'static str] {
    if mpi().is_ours() { &WAYS } else { &WAYS[..2] }
}

fn places() -> &'static [&'static str] {
    if mpi().is_ours() { &PLACES } else { &PLACES[..1] }
}

/// Four ranks at a place, whose windows a component serves.
fn job(place: &str, way: &str) -> Job {
    let job = match place {
        "one node" => Job::new(4),
        _ => Job::of(Command::new(mpi().bin("mpirun")))
            .args(["--host", "a:2,b:2", "--mca", "plm", "local", "--mca", "btl", "template,shm,self"])
            .args(["--mca", "mca_base_component_path"])
            .arg(mpi().component("btl-template")),
    };
    let job = if mpi().is_ours() && way != "messages" { job.args(["--mca", "osc", way]) } else { job };
    job.limit(300)
}

fn build(name: &str) -> PathBuf {
    mpi().build(name, &[format!("bench/rma/{name}.c")], &["-O2", "-pthread", "-lm"])
}

/// A field of the line that a program prints.
fn field(line: &str, name: &str) -> String {
    let value = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {name} in {line:?}")).to_owned()
}

/// The line of a program that has looked at its data.
fn result(job: Job) -> String {
    let ended = job.run().passed();
    let line = ended.out.lines().find(|line| line.contains("verified=1"));
    line.unwrap_or_else(|| panic!("no result: {} {}", ended.out, ended.err)).to_owned()
}

/// To the last digit: sums are added in the order of ranks, so nothing but a wrong halo can change it.
#[test]
fn the_residual_is_the_same_whichever_way_halos_go() {
    let program = build("cg");
    let mut residuals: Vec<(String, String)> = Vec::new();
    for place in places() {
        for way in ways() {
            let forms: &[&str] = if *way == "messages" { &[""] } else { &["-1", "-1 -w"] };
            for form in forms {
                let job = job(place, way).arg(&program).args(["-n", "5,4,6"]);
                let line = result(job.args(form.split_whitespace()));
                let due = if form.is_empty() { "two-sided" } else { "one-sided" };
                assert_eq!((field(&line, "form").as_str(), field(&line, "ranks").as_str()), (due, "4"));
                let residual = field(&line, "residual") + " after " + &field(&line, "iterations");
                residuals.push((format!("{place}, {way} {form}"), residual));
            }
        }
    }
    let first = residuals[0].1.clone();
    assert!(first.contains("e-"), "what a solution leaves is small, and is not nothing: {first}");
    assert!(residuals.iter().all(|(_, residual)| *residual == first), "{residuals:#?}");
}

/// Every halo of every step, and all cells in the end, with as many operations in flight as the paper's runs had.
#[test]
fn patches_arrive_whole() {
    let program = build("patches");
    for place in places() {
        for way in &ways()[1..] {
            for (threads, in_flight, more) in [(1, 4, ""), (2, 16, "-w"), (2, 32, "")] {
                let job =
                    job(place, way).arg(&program).args(["-v", "-n", "3", "-t"]).arg(threads.to_string());
                let job = job.arg("-f").arg(in_flight.to_string()).args(more.split_whitespace());
                let line = result(job);
                // Two patches of each thread, 26 neighbors, 20 steps.
                assert_eq!(field(&line, "puts"), (4 * threads * 2 * 26 * 20).to_string(), "{line}");
                assert_eq!(field(&line, "in_flight"), in_flight.to_string(), "{line}");
            }
        }
    }
}

/// The reader of what the driver measured, on data that are given.
#[test]
fn tables_of_the_paper() {
    if !in_path("python3") {
        return leave_out("tables_of_the_paper", "python3 is missing");
    }
    let mut command = Command::new("python3");
    command.args(["-B", "-m", "unittest", "discover"]).arg(root().join("bench/rma"));
    let ended = Job::of(command).run().passed();
    assert!(ended.err.contains("Ran 10 tests"), "{}", ended.err);
}
