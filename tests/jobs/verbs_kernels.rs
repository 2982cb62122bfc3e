//! Kernels of the paper on endpoints, by MPI's one-sided communication: a product of global arrays and a five-point stencil of `bench/rma`, over btl-verbs
//! between two nodes that are made up on this machine, in every arrangement of endpoints, and over the transports that a job has unless told otherwise.
//! Each program compares its result with that of one process, to the last digit.

use crate::verbs::{CATEGORIES, ours, over_nodes};
use oxmpi_tests::{Ended, Job, mpi};
use std::collections::HashMap;
use std::path::PathBuf;

/// Ranks of a node and threads of each: sixteen in all.
const SHAPES: [(usize, usize); 5] = [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)];

fn build(name: &str) -> PathBuf {
    mpi().build(name, &[format!("bench/rma/{name}.c")], &["-O2", "-pthread"])
}

/// Ranks on each of two nodes; a communication resource for each thread.
fn job(category: &str, ranks: usize, threads: usize) -> Job {
    let job = over_nodes(&format!("a:{ranks},b:{ranks}"), &[("endpoint_category", category)]);
    let resources = ["--mca", "runtime_cri_assignment", "dedicated", "--mca", "runtime_num_cris"];
    job.args(resources).arg(threads.to_string())
}

/// The numbers of the line that a program prints when its result is right.
fn numbers(ended: Ended) -> HashMap<String, f64> {
    let ended = ended.passed();
    let line = ended.out.lines().find(|line| line.contains("verified=1"));
    let line = line.unwrap_or_else(|| panic!("no result: {} {}", ended.out, ended.err));
    let pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
    pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
}

/// Every tile of A and B is got once for each tile of C, and those are put: by sixteen threads, by threads of several clients, through one window
/// and through a window of each thread.
#[test]
fn global_arrays_over_verbs() {
    if !ours("global arrays over btl-verbs") {
        return;
    }
    let program = build("dgemm");
    let size = ["-T", "6", "-g", "5"];
    for category in CATEGORIES {
        for (osc, ranks, threads, more) in
            [("rdma", 1, 16, ""), ("rdma", 1, 16, "-w"), ("rdma", 2, 4, ""), ("pt2pt", 1, 4, "-w")]
        {
            let job = job(category, ranks, threads).args(["--mca", "osc", osc]).arg(&program).args(size);
            let job = job.args(["-t", &threads.to_string()]).args(more.split_whitespace());
            let got = numbers(job.run());
            assert_eq!(got["transfers"], f64::from(5 * 5 * (2 * 5 + 1)), "{category} {got:?}");
            assert_eq!(got["clients"], (2 * ranks - 1) as f64, "{category} {got:?}");
            assert_eq!(got["windows"], if more.is_empty() { 1.0 } else { threads as f64 }, "{category}");
        }
    }
}

/// Sixteen threads on each node, as processes, as threads and as three mixtures of both.
#[test]
fn stencils_over_verbs() {
    if !ours("a stencil over btl-verbs") {
        return;
    }
    let program = build("stencil");
    for category in CATEGORIES {
        for (ranks, threads) in SHAPES {
            let job = job(category, ranks, threads).args(["--mca", "osc", "rdma"]).arg(&program);
            let job = job.args(["-y", "4", "-x", "48", "-k", "12", "-t", &threads.to_string()]);
            let got = numbers(job.run());
            assert_eq!(got["ranks"], (2 * ranks) as f64, "{category} {got:?}");
            assert_eq!(got["operations"], f64::from(4 * 2 * 16 * 12), "{category} {got:?}");
        }
    }
}

#[test]
fn kernels_over_usual_transports() {
    let (arrays, stencil) = (build("dgemm"), build("stencil"));
    for more in ["", "-w"] {
        let got = numbers(Job::new(3).limit(300).arg(&arrays).args(more.split_whitespace()).run());
        assert_eq!((got["clients"], got["transfers"]), (2.0, f64::from(6 * 6 * (2 * 6 + 1))));
    }
    for (ranks, threads) in [(1, 4), (4, 1), (2, 3)] {
        let job = Job::new(ranks).limit(300).arg(&stencil).args(["-t", &threads.to_string()]);
        let got = numbers(job.run());
        assert_eq!((got["ranks"], got["threads"]), (ranks as f64, f64::from(threads)));
    }
}

/// One tile or one halo that does not arrive is found.
#[test]
fn what_is_missing_is_found() {
    for (name, says) in [("dgemm", "of the product is 1e+300, not"), ("stencil", "of the field is")] {
        let ended = Job::new(2).limit(300).arg(build(name)).arg("-s").run().failed();
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}
