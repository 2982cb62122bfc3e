//! *Fuzzy Matching: Hardware Accelerated MPI Communication Middleware* (Dosanjh, Schonbein, Grant, Bridges, 2019).

use super::figure::{Figure, Paper, Position, Published, Selection, Value, drawing, view};
use crate::program::{EXCHANGE, PATTERNS};

pub fn paper() -> Paper {
    Paper {
        key: "003",
        title: "Fuzzy matching",
        source: "Dosanjh, Schonbein, Grant, Bridges: Fuzzy Matching: Hardware Accelerated MPI Communication Middleware, 2019",
        machine: "Cray XC40 with 68-core Xeon Phi nodes (lanes of 32 bits), and Skylake nodes (lanes of 8 and 16 bits)",
        cores: 68,
        figures: vec![
            drawing(
                "fig1",
                "Matching of messages in MPI",
                "II",
                "A drawing; ours: components/pml-ob1/src/matching/README.md.",
            ),
            depth(),
            table1(),
            positives("fig3", "False positives of tags by the bits of a window, 1,024 processes"),
            positives("fig4", "False positives of programs that are sensitive to scale"),
            table2(),
            knl(),
            applications(),
            scale(),
            skylake(),
        ],
    }
}

fn depth() -> Figure {
    Figure {
        id: "fig2",
        title: "Depth of searches when threads of a stencil post and send in any order",
        place: "IV",
        x: "threads",
        y: "us; receives looked at",
        views: vec![
            view("match-drain-27"),
            view("match-drain-9"),
            view("match-depth-9"),
            view("match-depth-27"),
            view("match-depth-27").of(crate::program::PER_PEER, "receives"),
        ],
        peaks: vec![("what a step can afford", 1000.0)],
        published: vec![
            Published::new(
                "time to drain a queue that no application can afford",
                "most threads",
                Value::AtLeast(1000.0),
                "us",
            )
            .value("match-drain-27", "value", "list", Position::Last),
        ],
        absent: "Depths are counted, and the same on every machine; times are of one peer's messages, in which lists for each peer are one list.",
        ..Figure::default()
    }
}

fn table1() -> Figure {
    Figure {
        id: "table1",
        title: "Fifteen programs by their tags: one tag, the same at every scale, more with the scale",
        place: "V",
        published: vec![
            Published::new("one tag", "of 15", Value::Is(0.27), "of all"),
            Published::new("the same at every scale", "of 15", Value::Is(0.53), "of all"),
            Published::new("more with the scale", "of 15", Value::Is(0.20), "of all"),
        ],
        x: "processes",
        y: "tags",
        views: vec![view("trace-classes")],
        absent: "Ten of the fifteen: HPCG, LAMMPS, miniMD (one tag), LULESH, Pennant, AMG in place of AMG2013, MiniAMR, MiniFE, MILC (the same at every scale), NEKbone (more with the scale), each with its result found right. MCCK and FDS, whose repository has 1.7 GB, could not be had; Castro and Kripke, which need AMReX and RAJA, were not built; the fifteenth has no name in the text that we have.",
        ..Figure::default()
    }
}

fn positives(id: &'static str, title: &'static str) -> Figure {
    let row = |program: &'static str, at: &'static str, percent: f64| {
        Published::new(program, at, Value::Is(percent / 100.0), "of all")
    };
    let published = match id {
        "fig3" => vec![
            row("Castro", "8 bits", 0.38),
            row("MILC", "8 bits", 0.29).value("trace-tags", "value", "MILC", Position::X(8)),
            row("NEKbone", "8 bits", 4.15).value("trace-tags", "value", "NEKbone", Position::X(8)),
            row("FDS", "8 bits", 12.5),
            row("Kripke", "8 bits", 30.0),
            row("LULESH", "8 bits", 66.67).value("trace-tags", "value", "LULESH", Position::X(8)),
        ],
        _ => vec![
            row("FDS", "8 bits, 512 processes", 0.2),
            row("FDS", "8 bits, 1,024 processes", 12.5),
            row("NEKbone", "8 bits, 256 processes", 1.35),
            row("NEKbone", "8 bits, 512 processes", 1.62),
            row("NEKbone", "8 bits, 1,024 processes", 4.15),
        ],
    };
    let (case, absent) = match id {
        "fig3" => ("trace-tags", "Ten of the fifteen programs, at most 64 processes instead of 1,024."),
        _ => (
            "trace-scale",
            "Of the programs that are sensitive to scale those that table I has here, on 8 to 27 processes instead of 256 to 1,024.",
        ),
    };
    Figure {
        id,
        title,
        place: "V",
        x: "bits",
        y: "false positives, of all",
        views: vec![view(case)],
        published,
        absent,
        ..Figure::default()
    }
}

/// Bytes of the two empty lists that a process has for each other one.
const LISTS: f64 = 128.0;

/// Nodes, processes of each, GiB of a node.
const MEMORY: [(&str, f64, f64, f64); 4] = [
    ("half of the machine", 4096.0, 68.0, 2.26),
    ("the machine", 8192.0, 68.0, 4.52),
    ("twice the cores", 8192.0, 136.0, 18.06),
    ("four times the cores", 8192.0, 272.0, 72.25),
];

fn table2() -> Figure {
    let row = |(what, nodes, ranks, gib): (&'static str, f64, f64, f64)| {
        let ours = nodes * ranks * ranks * LISTS / f64::from(1u32 << 30);
        let at = format!("{nodes} nodes of {ranks} processes");
        Published::new(what, at, Value::Is(gib), "GiB a node")
            .ours(Selection::Exact(ours, "nodes x processes^2 x 128 bytes"))
    };
    Figure {
        id: "table2",
        title: "Memory of matching queues for each peer",
        place: "VI-B",
        x: "nodes and processes",
        y: "GiB a node",
        published: MEMORY.into_iter().map(row).collect(),
        absent: "A formula; components/pml-ob1/src/matching/README.md has the memory of our engines, and a test counts it.",
        ..Figure::default()
    }
}

fn knl() -> Figure {
    let over = |what: &'static str, value, engine: &'static str, base: &'static str| {
        Published::new(what, "1,024 entries", value, "times").ratio(
            "match-bandwidth-1",
            "value",
            (engine, Position::X(1024)),
            (base, Position::X(1024)),
        )
    };
    Figure {
        id: "fig5",
        title: "Bandwidth behind long queues, lanes of 32 bits",
        place: "VI-C",
        x: "entries of the queue",
        y: "MB/s",
        views: vec![view("match-bandwidth-1"), view("match-bandwidth-4096")],
        published: vec![
            over("vector over lists, at its best", Value::AtMost(3.18), "vector", "list"),
            over("fuzzy over vector", Value::Is(1.068), "fuzzy32", "vector"),
            over("one list over lists for each peer", Value::AtLeast(1.0), "list", "perpeer"),
        ],
        absent: "One machine instead of two nodes. Sizes beyond 1 B and 4 KiB are not measured.",
        ..Figure::default()
    }
}

fn applications() -> Figure {
    // A share that is saved leaves the rest of the time.
    let row = |what: &'static str, saved: f64, pattern: u64, base: &'static str| {
        let left = Value::Is(1.0 - saved / 100.0);
        let at = Position::X(pattern);
        Published::new(what, "most", left, "of the time").ratio(
            "match-patterns",
            "value",
            ("fuzzy32", at),
            (base, at),
        )
    };
    Figure {
        id: "fig6",
        title: "Time in the matching engine of programs",
        place: "VI-C",
        x: "processes",
        y: "s",
        views: vec![
            view("match-patterns").named(&PATTERNS),
            view("match-patterns").of(EXCHANGE, "us").named(&PATTERNS),
        ],
        published: vec![
            row("miniMD (halo27), fuzzy over a list", 51.88, 1, "list"),
            row("miniMD (halo27), fuzzy over lists for each peer", 77.91, 1, "perpeer"),
            row("AMG, Laplace (levels), fuzzy over a list", 81.03, 4, "list"),
            row("AMG, Laplace (levels), fuzzy over lists for each peer", 95.95, 4, "perpeer"),
            row("FDS (allto1), fuzzy over a list", 67.98, 2, "list"),
        ],
        absent: "The programs' patterns of messages on 8 processes (bench/matching/patterns.c) stand for the programs.",
        ..Figure::default()
    }
}

fn scale() -> Figure {
    let row = |what: &'static str, gib, ranks: f64| {
        let ours = 2048.0 * ranks * ranks * LISTS / f64::from(1u32 << 30);
        Published::new(what, "2,048 nodes", Value::Is(gib), "GiB a node saved")
            .ours(Selection::Exact(ours, "nodes x processes^2 x 128 bytes"))
    };
    Figure {
        id: "fig7",
        title: "Programs at scale, and the memory that is saved",
        place: "VI-D",
        x: "nodes",
        y: "s; GiB",
        published: vec![
            row("miniMD, 68 processes a node", 1.1, 68.0),
            row("LULESH, 8 processes a node", 0.01, 8.0),
            row("Kripke, 64 processes a node", 1.0, 64.0),
        ],
        absent: "Up to 278,528 cores: there is no such machine here. The memory follows from table II's formula.",
        ..Figure::default()
    }
}

fn skylake() -> Figure {
    let row = |case: &'static str,
               what: &'static str,
               at: &'static str,
               value,
               over: (&str, u64),
               under: (&str, u64)| {
        Published::new(what, at, value, "times").ratio(
            case,
            "value",
            (over.0, Position::X(over.1)),
            (under.0, Position::X(under.1)),
        )
    };
    let short = "match-bandwidth-1";
    Figure {
        id: "fig8",
        title: "Bandwidth behind long queues, lanes of 8, 16 and 32 bits",
        place: "VI-E",
        x: "entries of the queue",
        y: "MB/s",
        views: vec![view(short), view("match-bandwidth-4096")],
        published: vec![
            row(
                short,
                "fuzzy, 8 bits, over lists for each peer, 1 B",
                "1,024 entries",
                Value::Is(28.0),
                ("fuzzy8", 1024),
                ("perpeer", 1024),
            ),
            row(
                "match-bandwidth-4096",
                "fuzzy, 8 bits, over lists for each peer, 4 KiB",
                "8,192 entries",
                Value::Is(45.0),
                ("fuzzy8", 8192),
                ("perpeer", 8192),
            ),
            row(
                short,
                "fuzzy, 32 bits, over vector",
                "1,024 entries",
                Value::Is(1.1728),
                ("fuzzy32", 1024),
                ("vector", 1024),
            ),
            row(
                short,
                "fuzzy, 8 bits, over vector",
                "1,024 entries",
                Value::Is(1.3702),
                ("fuzzy8", 1024),
                ("vector", 1024),
            ),
            row(
                short,
                "fuzzy, 8 bits, over vector",
                "8,192 entries",
                Value::Is(2.2498),
                ("fuzzy8", 8192),
                ("vector", 8192),
            ),
            Published::new("lists are ahead up to, 4 KiB", "entries", Value::Is(64.0), "entries"),
        ],
        absent: "The crossing's length is in bench/results/matching.md.",
        ..Figure::default()
    }
}
