//! Every function that `liboxmpi_ep.so` defines is called by a program that runs on endpoints here.

use crate::on_all;
use crate::peers::peers;
use oxmpi_tests::mpi;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Programs that know nothing of endpoints, with MPI_COMM_WORLD made of them: name and ranks.
pub const UNMODIFIED: [(&str, usize, &[&str]); 18] = [
    ("requests", 4, &[]),
    ("wildcards", 4, &[]),
    ("datatypes", 4, &[]),
    ("every_form", 3, &[]),
    ("collectives", 4, &[]),
    ("collectives_v", 4, &[]),
    ("neighbors", 4, &[]),
    ("topologies", 4, &["-"]),
    ("intercomm", 4, &[]),
    ("cancel", 4, &[]),
    ("communicators", 4, &["200", "unhinted"]),
    ("windows", 4, &[]),
    ("rma", 4, &[]),
    ("rma_passive", 4, &[]),
    ("rma_one_element", 4, &["2"]),
    ("rma_attached", 4, &[]),
    ("rma_random", 4, &["3", "2"]),
    ("rma_threads", 4, &[]),
];

/// Programs of endpoints, which other tests of this binary run.
pub const LINKED: [&str; 5] = ["endpoints", "creations", "endpoint_windows", "refused", "uneven"];

/// Left out over MPICH 5.0.2: it crashes in the one, and its nonblocking collectives on an inter-communicator that was split with other
/// keys go wrong in the other, both without endpoints, too.
pub const OURS_ONLY: [&str; 2] = ["intercomm", "cancel"];

fn symbols(file: &Path, which: &str) -> BTreeSet<String> {
    let output = Command::new("nm").args(["-D", which]).arg(file).output().expect("binutils come with gcc");
    assert!(output.status.success(), "nm {}", file.display());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    // Of versions of symbols only the name counts.
    let names = names.map(|n| n.split('@').next().unwrap_or(n));
    names.filter(|n| n.starts_with("MPI") || n.starts_with("PMPI")).map(str::to_owned).collect()
}

#[test]
fn every_function_has_a_test() {
    if peers("every function").is_empty() {
        return;
    }
    let offered = symbols(&mpi().prefix.join("lib/liboxmpi_ep.so"), "--defined-only");
    assert!(offered.len() > 250, "the library defines {} functions", offered.len());
    let mut called = BTreeSet::new();
    for (name, _, _) in UNMODIFIED {
        called.extend(symbols(&mpi().program(name), "--undefined-only"));
    }
    called.extend(symbols(&mpi().program("later"), "--undefined-only"));
    for name in LINKED {
        called.extend(symbols(&crate::peers::linked(name), "--undefined-only"));
    }
    let left: Vec<&String> = offered.difference(&called).collect();
    assert!(left.is_empty(), "no program on endpoints calls {left:?}");
}

/// Files, partitioned messages, attached buffers and processes: refused by name, and nothing is harmed.
#[test]
fn what_is_not_built_is_refused_by_name() {
    for peer in peers("refused functions") {
        let ended = peer.linked("refused", 2, 2, &[]).run().passed();
        assert_eq!(ended.out.matches("ok").count(), 2, "{}: {}", ended.shown, ended.out);
        for name in [
            "MPI_File_open",
            "MPI_Comm_spawn",
            "MPI_Psend_init",
            "MPI_Pready",
            "MPI_Comm_attach_buffer",
            "MPI_Comm_create_from_group",
        ] {
            let line = format!("oxmpi-ep: {name} is not built for ");
            assert!(ended.err.contains(&line), "{line}: {}", ended.err);
        }
    }
}

/// Windows of one endpoint and of several of each process; memory that cannot be exposed is refused by name.
#[test]
fn windows_of_several_endpoints() {
    for (ranks, endpoints) in [(2, 1), (2, 2), (1, 4)] {
        for peer in peers("windows of endpoints") {
            let ended = peer.linked("endpoint_windows", ranks, endpoints, &[]).run().passed();
            assert_eq!(ended.out.matches("ok").count(), ranks, "{}: {}", ended.shown, ended.out);
            let line = "oxmpi-ep: MPI_Win_create is not built for this memory: it is a mapping that the program shares";
            assert!(ended.err.contains(line), "{}: {}", ended.shown, ended.err);
        }
    }
}

/// Different numbers of endpoints, thousands of operations, long reductions, MPI_Free_mem; with proxies and without any.
#[test]
fn faults_of_earlier_libraries() {
    for (ranks, endpoints) in [(2, 1), (3, 3), (2, 0)] {
        on_all("uneven", ranks, |peer| peer.linked("uneven", ranks, endpoints, &[]));
    }
}
