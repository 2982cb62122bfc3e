//! Bytes that a window of osc-rdma costs, from what the component allocates when it makes one: in its process, and in memory of the node, which
//! the node's processes share. Beside it the plain scheme, in which every process keeps a card of every rank.
//!
//! The table stands in `components/osc-rdma/README.md`; `OXMPI_BLESS=1` writes it anew.

use crate::allocations::held_by;
use crate::process::{Cast, Instance, Shape, Win};
use oxmpi_osc::flavor;
use oxmpi_tests::{Job, leave_out, mpi, root};
use std::fmt::Write as _;
use std::process::Command;

/// Memory that the ranks of a node hold of one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    /// Of the node.
    node: u64,
    /// Of each process, in pieces.
    process: i64,
    pieces: i64,
}

/// Makes a window of one process, and counts.
fn window(shape: Shape, flavor: u32, max_attach: &str) -> Bytes {
    let instance = Instance::open(osc_rdma::descriptor(), &[("max_attach", max_attach)], shape.ranks(), 0);
    let (win, held) = held_by(|| Win::make(&instance, shape, Cast::Echo, flavor, 64));
    let node = instance.counts.node_bytes.get();
    drop(win);
    Bytes { node, process: held.bytes, pieces: held.pieces }
}

/// Of a process, with its share of the node's: the leader of the last node, which holds no less than others.
fn per_process(nodes: u32, per_node: u32) -> u64 {
    let shape = |member| Shape { nodes, per_node, rank: (nodes - 1) * per_node + member };
    let leader = window(shape(0), flavor::ALLOCATE, "1024");
    let last = window(shape(per_node - 1), flavor::ALLOCATE, "1024");
    assert!(last.node == leader.node && last.process <= leader.process, "{leader:?} {last:?}");
    leader.node.div_ceil(u64::from(per_node)) + leader.process.cast_unsigned()
}

/// Bytes that a process fetches of a rank when it meets it on another node, and those that it keeps of each that it has met.
fn meeting() -> (u64, i64) {
    let instance = Instance::open(osc_rdma::descriptor(), &[], 4, 0);
    let shape = Shape { nodes: 4, per_node: 1, rank: 3 };
    let win = Win::make(&instance, shape, Cast::Echo, flavor::ALLOCATE, 64);
    win.lock_all();
    // With the first one comes what all windows share.
    win.put(1);
    let ((), held) = held_by(|| win.put(2));
    win.unlock_all();
    (instance.counts.longest_get.get(), held.bytes)
}

fn rounded(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes}"),
        10_240..10_485_760 => format!("{} Ki", bytes.div_ceil(1024)),
        _ => format!("{} Mi", bytes.div_ceil(1 << 20)),
    }
}

const NODES: [u32; 13] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
const PER_NODE: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const MARKS: (&str, &str) = ("<!-- memory: begin -->\n", "<!-- memory: end -->\n");

/// Rows of a table for the README: ranks of a node downwards, nodes to the right.
fn table(cell: impl Fn(u32, u32) -> u64) -> String {
    let mut text = String::from("| ranks on a node |");
    text.extend(NODES.map(|nodes| format!(" {nodes} |")));
    text.push_str("\n|---|");
    text.extend(NODES.map(|_| "---|"));
    for per_node in PER_NODE {
        let _ = write!(text, "\n| {per_node} |");
        text.extend(NODES.map(|nodes| format!(" {} |", rounded(cell(nodes, per_node)))));
    }
    text + "\n"
}

#[test]
fn bytes_of_a_window_by_nodes_and_ranks() {
    let (card, peer) = meeting();
    let dynamic = window(Shape { nodes: 2, per_node: 1, rank: 1 }, flavor::DYNAMIC, "1024").process
        - window(Shape { nodes: 2, per_node: 1, rank: 1 }, flavor::DYNAMIC, "1").process;
    let mut csv = String::from("nodes,ranks per node,bytes per process,plain\n");
    let mut counted = std::collections::HashMap::new();
    for nodes in NODES {
        for per_node in PER_NODE {
            let (own, plain) = (per_process(nodes, per_node), u64::from(nodes * per_node) * card);
            let _ = writeln!(csv, "{nodes},{per_node},{own},{plain}");
            counted.insert((nodes, per_node), own);
            // The layouts are there to use less than the plain scheme; where there are few ranks, state and lists are most of it.
            assert!(nodes * per_node < 32 || own < plain, "{nodes} nodes, {per_node} ranks: {own}, {plain}");
        }
    }
    std::fs::create_dir_all(root().join("target")).expect("target can be written");
    std::fs::write(root().join("target/window-bytes.csv"), csv).expect("target can be written");
    let text = format!(
        "Bytes of a window in each process, its share of the node's memory included, by the number of nodes:\n\n{}\n\
         The plain scheme, a card of every rank ({card} bytes) in every process:\n\n{}\n\
         A process keeps {peer} bytes of each rank that it has met; a dynamic window has {} bytes more for 1024 regions.\n",
        table(|nodes, per_node| counted[&(nodes, per_node)]),
        table(|nodes, per_node| u64::from(nodes * per_node) * card),
        dynamic * 1024 / 1023,
    );
    crate::documents::hold("components/osc-rdma/README.md", MARKS, &text);
}

/// Bytes of the heap and of mapped memory for each window of each rank: the most of five jobs. A communicator holds more where messages
/// came before they were awaited, so the bytes of one job depend on who was first, and the most do not.
fn measured(hosts: &str, ranks: usize, osc: &str) -> Vec<(i64, u64)> {
    let jobs: Vec<_> = (0..5).map(|_| printed(hosts, ranks, osc)).collect();
    (0..ranks).map(|rank| jobs.iter().map(|job| job[rank]).max().expect("five")).collect()
}

/// Values that the ranks of a job print: bytes of the heap, and of mapped memory, for each window.
fn printed(hosts: &str, ranks: usize, osc: &str) -> Vec<(i64, u64)> {
    let job = Job::of(Command::new(mpi().bin("mpirun")))
        .args(["--host", hosts, "--mca", "plm", "local", "--mca", "btl", "template,shm,self"])
        .args(["--mca", "osc", osc, "--mca", "mca_base_component_path"])
        .arg(mpi().component("btl-template"));
    let ended = job.program("window_bytes").run().all_ok(ranks);
    let mut all: Vec<(u32, i64, u64)> = Vec::new();
    for line in ended.out.lines().filter(|line| line.starts_with("window ")) {
        let numbers: Vec<i64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [rank, heap, maps] = numbers[..] else { panic!("three numbers: {line}") };
        all.push((rank as u32, heap, maps.cast_unsigned()));
    }
    all.sort_unstable();
    assert_eq!(all.len(), ranks, "{}", ended.out);
    all.into_iter().map(|(_, heap, maps)| (heap, maps)).collect()
}

/// Whole jobs on nodes that are made up: the node's memory to the page, and the heap but for what an allocator and the host's
/// registrations add.
#[test]
fn windows_of_jobs_have_as_many_bytes() {
    if !mpi().is_ours() {
        return leave_out("bytes of windows", "the component is ours");
    }
    for (hosts, nodes, per_node) in [("a:2,b:2", 2, 2), ("a:2,b:2,c:2", 3, 2), ("a:1,b:1,c:1,d:1", 4, 1)] {
        let ranks = (nodes * per_node) as usize;
        let with = measured(hosts, ranks, "rdma");
        let without = measured(hosts, ranks, "^rdma,pt2pt");
        for rank in 0..nodes * per_node {
            let due = window(Shape { nodes, per_node, rank }, flavor::CREATE, "1024");
            let (heap, maps) = with[rank as usize];
            let (heap, maps) = (heap - without[rank as usize].0, maps - without[rank as usize].1);
            assert_eq!(maps, due.node.next_multiple_of(4096), "{hosts}, rank {rank}: {with:?} {without:?}");
            let most = due.process + 24 * due.pieces + 4096;
            assert!((due.process..=most).contains(&heap), "{hosts}, rank {rank}: {heap}, not {due:?}");
        }
    }
}
