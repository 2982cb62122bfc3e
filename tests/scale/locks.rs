//! Operations that MPI_Win_lock_all and MPI_Win_unlock_all ask of a network: atomics of osc-rdma in both its schemes, messages of osc-pt2pt, by
//! the number of nodes; from the components' own calls, and from whole jobs on nodes that are made up, where both are the same.
//!
//! The picture is `bench/results/lock_all.svg`, its table stands in `bench/results/rma.md`; `OXMPI_BLESS=1` writes both anew.

use crate::process::{Cast, Instance, Shape, Win};
use oxmpi_bench::case::{Case, Point, Series};
use oxmpi_bench::machine::Machine;
use oxmpi_bench::plot;
use oxmpi_bench::program::Program;
use oxmpi_bench::results::{Report, Row};
use oxmpi_osc::flavor;
use oxmpi_tests::{Job, btl_fabric, leave_out, mpi, root};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// How lock_all is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockMethod {
    /// osc-rdma with this mode, between whose calls a rank operates on so many others.
    Rdma(&'static str, u32),
    Pt2pt,
}

/// Of one lock_all and unlock_all by the last of ranks with a node each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    atomics: u64,
    /// By everybody.
    messages: u64,
}

fn alone(nodes: u32, rank: u32) -> Shape {
    Shape { nodes, per_node: 1, rank }
}

fn cost(method: LockMethod, nodes: u32) -> Cost {
    match method {
        LockMethod::Rdma(mode, operated) => {
            let instance = Instance::open(osc_rdma::descriptor(), &[("locking_mode", mode)], nodes, 0);
            let win = Win::make(&instance, alone(nodes, nodes - 1), Cast::Echo, flavor::ALLOCATE, 64);
            let epoch = || {
                win.lock_all();
                (0..operated).for_each(|rank| win.put(rank));
                win.unlock_all();
            };
            // Ranks are met once in a window's life.
            epoch();
            let (atomics, messages) = (instance.counts.atomics.get(), instance.counts.messages.get());
            epoch();
            Cost {
                atomics: instance.counts.atomics.get() - atomics,
                messages: instance.counts.messages.get() - messages,
            }
        }
        LockMethod::Pt2pt => {
            let small = [("message_size", "256"), ("receives", "1")];
            let instance = Instance::open(osc_pt2pt::descriptor(), &small, nodes, nodes);
            let target = |rank| Win::make(&instance, alone(2, 1), Cast::There(rank), flavor::ALLOCATE, 8);
            let targets: Vec<Box<Win>> = (1..nodes).map(target).collect();
            let origin = Win::make(&instance, alone(nodes, 0), Cast::There(0), flavor::ALLOCATE, 8);
            origin.lock_all();
            origin.unlock_all();
            drop((origin, targets));
            Cost { atomics: instance.counts.atomics.get(), messages: instance.counts.messages.get() }
        }
    }
}

const MOST_NODES: u32 = 8192;
/// Neighbors of a box: by faces, and all.
const FACES: u32 = 6;
const AROUND: u32 = 26;

/// The lines of the picture, where they are.
fn lines(nodes: u32) -> Vec<(&'static str, LockMethod)> {
    let on_demand = |operated| LockMethod::Rdma("on_demand", operated);
    let mut all = vec![
        ("pt2pt: messages", LockMethod::Pt2pt),
        ("two_level: atomics", LockMethod::Rdma("two_level", FACES.min(nodes - 1))),
        ("on_demand, all operated on: atomics", on_demand(nodes - 1)),
    ];
    for (label, operated) in
        [("on_demand, 26 operated on: atomics", AROUND), ("on_demand, 6 operated on: atomics", FACES)]
    {
        if operated < nodes {
            all.push((label, on_demand(operated)));
        }
    }
    all
}

const MARKS: (&str, &str) = ("<!-- lock_all: begin -->\n", "<!-- lock_all: end -->\n");

#[test]
fn lock_all_by_nodes() {
    let nodes: Vec<u32> = (1..14).map(|power| 1 << power).collect();
    let mut rows: Vec<Row> = Vec::new();
    for &n in &nodes {
        for (label, method) in lines(n) {
            let cost = cost(method, n);
            let others = u64::from(n - 1);
            let due = match method {
                // A request and an answer for each lock, and each unlock, of others.
                LockMethod::Pt2pt => Cost { atomics: 0, messages: 4 * others },
                LockMethod::Rdma("two_level", _) => Cost { atomics: 2, messages: 0 },
                LockMethod::Rdma(_, operated) => Cost { atomics: 2 * u64::from(operated), messages: 0 },
            };
            assert_eq!(cost, due, "{method:?} of {n} nodes");
            rows.push(Row::new(
                "counted",
                label,
                n.into(),
                "value",
                vec![(cost.atomics + cost.messages) as f64],
            ));
        }
    }
    let all = lines(MOST_NODES);
    let mut text = String::from("| nodes |");
    text.extend(all.iter().map(|(label, _)| format!(" {label} |")));
    text.push_str("\n|---|");
    text.extend(all.iter().map(|_| "---|"));
    for n in &nodes {
        let _ = write!(text, "\n| {n} |");
        for (label, _) in &all {
            let row = rows.iter().find(|row| row.x == u64::from(*n) && row.series == *label);
            let _ = write!(
                text,
                " {} |",
                row.and_then(|row| row.median).map_or(String::new(), |m| m.to_string())
            );
        }
    }
    crate::documents::hold("bench/results/rma.md", MARKS, &(text + "\n"));
    picture(&nodes, rows);
}

/// Draws it, and holds the one of the repository against that.
fn picture(nodes: &[u32], rows: Vec<Row>) {
    let series =
        |(label, _): &(&'static str, LockMethod)| Series::new(*label, |_| Some(Point::new(1, String::new())));
    let case = Case {
        name: "lock_all",
        figure: "of section 3.2 (RMA)",
        title: "One rank's MPI_Win_lock_all and MPI_Win_unlock_all".into(),
        program: Program::Patches,
        x: "nodes",
        xs: nodes.iter().map(|n| u64::from(*n)).collect(),
        unit: "messages or atomics",
        log_x: true,
        log_y: true,
        series: lines(MOST_NODES).iter().map(series).collect(),
        ratios: Vec::new(),
        iterations: Some(1),
    };
    let report = Report {
        libraries: vec![("counted".into(), "the components' own calls".into())],
        ..Report::new(&case, &[], &Machine::none(), usize::MAX, rows)
    };
    let folder = root().join("target/scale");
    std::fs::create_dir_all(&folder).expect("target can be written");
    plot::draw(&case, &report, &folder).expect("it can be drawn");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let (drawn, kept) = (folder.join("lock_all.svg"), root().join("bench/results/lock_all.svg"));
    if read(&drawn) != read(&kept) {
        assert!(
            std::env::var_os("OXMPI_BLESS").is_some(),
            "{} is another one: OXMPI_BLESS=1",
            kept.display()
        );
        std::fs::copy(drawn, kept).expect("the picture");
    }
}

/// Counts of a job's fabric devices between processes, summed: messages and atomics.
fn job(method: LockMethod, nodes: u32, epochs: u32) -> (u64, u64) {
    let hosts: Vec<String> = (0..nodes).map(|n| format!("n{n}:1")).collect();
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    let counts = job.folder().join("counts");
    let (component, operated) = match method {
        LockMethod::Rdma(_, operated) => ("rdma", operated),
        LockMethod::Pt2pt => ("pt2pt", 0),
    };
    let mut job = job
        .args(["--host", &hosts.join(","), "--mca", "plm", "local", "--mca", "btl", "fabric,self"])
        .args(["--mca", "osc", component, "--mca", "mca_base_component_path"])
        .arg(btl_fabric().parent().expect("a folder"))
        .args(["--mca", "btl_fabric_counts"])
        .arg(&counts);
    if let LockMethod::Rdma(mode, _) = method {
        job = job.args(["--mca", "osc_rdma_locking_mode", mode]);
    }
    let job = job.program("lock_all").args([epochs.to_string(), operated.to_string()]);
    let mut running = job.start();
    let mut sums = (0, 0);
    running.until("all ranks have counted", || {
        let text = |rank| std::fs::read_to_string(counts.with_extension(format!("{rank}"))).ok();
        let texts: Option<Vec<String>> = (0..nodes).map(text).collect();
        let Some(texts) = texts else { return false };
        let number = |text: &String, name: &str| {
            let mut words = text.split_whitespace().skip_while(|word| *word != name);
            words.nth(1)?.parse::<u64>().ok()
        };
        let sum = |name| texts.iter().map(|text| number(text, name)).sum::<Option<u64>>();
        let (Some(messages), Some(atomics)) = (sum("messages"), sum("atomics")) else { return false };
        sums = (messages, atomics);
        true
    });
    running.wait().all_ok(nodes as usize);
    sums
}

/// The difference of two jobs of unequal length: what happens once is in neither.
#[test]
fn jobs_send_as_many_messages_and_atomics() {
    if !mpi().is_ours() {
        return leave_out("messages and atomics of lock_all", "the components are ours");
    }
    const MORE: u32 = 8;
    for nodes in [2, 3, 4] {
        let methods = [
            LockMethod::Rdma("two_level", 1),
            LockMethod::Rdma("on_demand", 1),
            LockMethod::Rdma("on_demand", nodes - 1),
            LockMethod::Pt2pt,
        ];
        for method in methods {
            let (few, many) = (job(method, nodes, 2), job(method, nodes, 2 + MORE));
            let per_epoch = |few: u64, many: u64| (many - few) as f64 / f64::from(MORE);
            let due = cost(method, nodes);
            let counted = (per_epoch(few.0, many.0), per_epoch(few.1, many.1));
            assert_eq!(counted, (due.messages as f64, due.atomics as f64), "{method:?} of {nodes} nodes");
        }
    }
}
