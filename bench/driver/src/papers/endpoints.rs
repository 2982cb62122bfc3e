//! *Enabling Efficient Multithreaded MPI Communication through a Library-Based Implementation of MPI Endpoints* (Sridharan, Dinan, Kalamkar, SC 2014).

use super::figure::{Figure, Paper, Position, Published, Selection, Value, drawing, view};
use crate::cases::BY_PROXIES;
use crate::program::{COMMUNICATING, SHARES};

/// Unit of shares.
const OF_THE_TIME: &str = "of the time of computing and communicating";

pub fn paper() -> Paper {
    let mut figures = vec![
        drawing(
            "fig1",
            "How threads and endpoints of a communicator go together",
            "II",
            "A drawing; ours: docs/endpoints.md.",
        ),
        drawing(
            "fig2",
            "The layers between a program and proxies",
            "III",
            "A drawing; ours: docs/endpoints-by-proxies.md.",
        ),
        drawing(
            "fig3",
            "Threads and the proxies that serve them",
            "III",
            "A drawing; ours: docs/endpoints-by-proxies.md.",
        ),
    ];
    figures.extend(messages());
    figures.extend(kernels());
    Paper {
        key: "000",
        title: "Endpoints of threads by proxies",
        source: "Sridharan, Dinan, Kalamkar: Enabling Efficient Multithreaded MPI Communication through a Library-Based Implementation of MPI Endpoints, SC 2014",
        machine: "300 nodes of two 12-core Xeon E5-2697 at 2.7 GHz with two hardware threads a core, FDR InfiniBand, Intel MPI 4.1.3; a proxy beside each client on the same core",
        cores: 24,
        figures,
    }
}

fn messages() -> Vec<Figure> {
    let eight = |what: &str, value| Published::new(what, "8 of each, 4 KiB", value, "times");
    vec![
        Figure {
            id: "fig4",
            title: "Latency of processes, threads and endpoints",
            place: "IV-A",
            x: "bytes",
            y: "half a round trip, us",
            views: vec![view("ep-latency")],
            published: vec![
                Published::new("a command to a proxy, at every size", "8 B", Value::About(0.32), "us more")
                    .ours(Selection::Difference {
                        case: "ep-latency",
                        quantity: "value",
                        over: ("endpoints by proxies".into(), Position::First),
                        under: ("threads".into(), Position::First),
                    }),
            ],
            ..Figure::default()
        },
        Figure {
            id: "fig5",
            title: "Bandwidth of pairs of processes, threads and endpoints",
            place: "IV-B",
            x: "bytes",
            y: "MB/s",
            views: vec![view("ep-bandwidth-size"), view("ep-bandwidth")],
            published: vec![
                eight("endpoints over threads", Value::Is(4.38)).ratio(
                    "ep-bandwidth",
                    "value",
                    ("endpoints", Position::Last),
                    ("threads", Position::Last),
                ),
                eight("endpoints over processes", Value::About(1.0)).ratio(
                    "ep-bandwidth",
                    "value",
                    ("endpoints", Position::Last),
                    ("processes", Position::Last),
                ),
                eight("endpoints by proxies over threads", Value::Is(4.38)).ratio(
                    "ep-bandwidth",
                    "value",
                    ("endpoints by proxies", Position::Last),
                    ("threads", Position::Last),
                ),
                Published::new(
                    "all alike for long messages: endpoints over threads",
                    "most bytes",
                    Value::About(1.0),
                    "times",
                )
                .ratio(
                    "ep-bandwidth-size",
                    "value",
                    ("endpoints", Position::Last),
                    ("threads", Position::Last),
                ),
            ],
            ..Figure::default()
        },
        Figure {
            id: "fig6",
            title: "Message rate of pairs of processes, threads and endpoints",
            place: "IV-B",
            x: "bytes",
            y: "messages/s",
            views: vec![view("ep-rate-size"), view("ep-rate")],
            published: vec![
                Published::new(
                    "processes over threads, short messages",
                    "8 B",
                    Value::AtLeast(10.0),
                    "times",
                )
                .ratio(
                    "ep-rate",
                    "value",
                    ("processes", Position::Last),
                    ("threads", Position::Last),
                ),
                Published::new(
                    "endpoints over threads, short messages",
                    "8 B",
                    Value::AtLeast(10.0),
                    "times",
                )
                .ratio(
                    "ep-rate",
                    "value",
                    ("endpoints", Position::Last),
                    ("threads", Position::Last),
                ),
            ],
            ..Figure::default()
        },
    ]
}

/// Processes; milliseconds of the master thread that communicates (computing, packing and posting, waiting and unpacking), and of endpoints.
const DSLASH: [(u64, [f64; 3], [f64; 3]); 7] = [
    (2, [11140.80, 25.30, 375.57], [12432.00, 22.63, 164.70]),
    (4, [5571.60, 24.80, 366.72], [6206.80, 22.67, 181.57]),
    (8, [2766.00, 24.27, 397.76], [3053.60, 22.78, 151.77]),
    (16, [1329.20, 22.98, 428.19], [1484.00, 22.90, 159.17]),
    (32, [647.20, 25.44, 544.84], [719.20, 23.62, 146.99]),
    (64, [244.40, 26.65, 502.33], [290.00, 22.84, 154.07]),
    (128, [111.20, 33.68, 371.38], [137.60, 15.35, 123.67]),
];
const PARTS: [(&str, &str); 3] =
    [("computing", "computing"), ("packing and posting", "packing"), ("waiting and unpacking", "waiting")];

fn kernels() -> Vec<Figure> {
    let mut table = Vec::new();
    let mut speedups = Vec::new();
    for (processes, master, endpoints) in DSLASH {
        for (series, times) in [("master", master), ("endpoints", endpoints)] {
            for ((what, quantity), ms) in PARTS.into_iter().zip(times) {
                let row = Published::new(
                    format!("{series}: {what}"),
                    format!("{processes} processes"),
                    Value::Is(ms),
                    "ms",
                );
                table.push(row.value("ep-dslash", quantity, series, Position::X(processes)));
            }
        }
        let sum = |times: [f64; 3]| times.iter().sum::<f64>();
        let at = format!("{processes} processes");
        let whole = Published::new(
            "speed-up by endpoints, all",
            at.clone(),
            Value::Is(sum(master) / sum(endpoints)),
            "times",
        );
        let spoken = |t: [f64; 3]| t[1] + t[2];
        let part = Published::new(
            "speed-up by endpoints, communication",
            at,
            Value::Is(spoken(master) / spoken(endpoints)),
            "times",
        );
        let (over, under) = (("master", Position::X(processes)), ("endpoints", Position::X(processes)));
        speedups.push(whole.ratio("ep-dslash", "value", over, under));
        speedups.push(part.ratio("ep-dslash", "communication", over, under));
    }
    vec![
        Figure {
            id: "fig7a",
            title: "Wilson's operator on a lattice of constant size: the master thread, and endpoints",
            place: "IV-C",
            x: "processes",
            y: "TFLOPS (ours: GFLOPS)",
            views: vec![view("ep-dslash").of("gflops", "GFLOPS")],
            published: speedups,
            absent: "The lattice is 8^3 x 16 instead of 32^3 x 256, and 1 to 4 processes run instead of 2 to 128.",
            ..Figure::default()
        },
        Figure {
            id: "fig7b",
            title: "Shares of computing, packing and waiting in it",
            place: "IV-C",
            x: "processes",
            y: "share of the time",
            views: vec![
                view("ep-dslash").bars("endpoints", &SHARES, OF_THE_TIME),
                view("ep-dslash").bars(BY_PROXIES, &SHARES, OF_THE_TIME),
                view("ep-dslash").of(COMMUNICATING, OF_THE_TIME),
            ],
            ..Figure::default()
        },
        Figure {
            id: "table1",
            title: "Times of computing, packing and waiting",
            place: "IV-C",
            x: "processes",
            y: "ms",
            views: vec![
                view("ep-dslash").of("waiting", "ms waiting"),
                view("ep-dslash").of("packing", "ms packing"),
                view("ep-dslash").of("computing", "ms computing"),
            ],
            published: table,
            ..Figure::default()
        },
        Figure {
            id: "fig8",
            title: "Wilson's operator with one and two threads that communicate at MPI_THREAD_MULTIPLE",
            place: "IV-C",
            x: "processes",
            y: "TFLOPS (ours: GFLOPS)",
            views: vec![view("ep-dslash").of("gflops", "GFLOPS")],
            published: vec![
                Published::new("two threads over one: slower", "all", Value::AtLeast(1.0), "times the time")
                    .ratio(
                        "ep-dslash",
                        "value",
                        ("multiple, 2 threads", Position::Last),
                        ("multiple, 1 thread", Position::Last),
                    ),
                Published::new(
                    "one thread at MPI_THREAD_MULTIPLE over the master: a little slower",
                    "all",
                    Value::AtLeast(1.0),
                    "times the time",
                )
                .ratio(
                    "ep-dslash",
                    "value",
                    ("multiple, 1 thread", Position::Last),
                    ("funneled", Position::Last),
                ),
            ],
            ..Figure::default()
        },
        Figure {
            id: "fig9",
            title: "The exchange of a Fourier transform: processes, the master thread, threads, endpoints",
            place: "IV-D",
            x: "bytes of a message",
            y: "MB/s",
            views: vec![view("ep-fft-bandwidth")],
            published: vec![
                Published::new(
                    "endpoints over the master thread, bandwidth",
                    "up to 128 B",
                    Value::AtLeast(2.8),
                    "times",
                )
                .ratio(
                    "ep-fft-bandwidth",
                    "value",
                    ("endpoints", Position::X(64)),
                    ("master", Position::X(64)),
                ),
                Published::new(
                    "endpoints over the master thread, bandwidth",
                    "up to 4 KiB",
                    Value::AtLeast(2.0),
                    "times",
                )
                .ratio(
                    "ep-fft-bandwidth",
                    "value",
                    ("endpoints", Position::X(4096)),
                    ("master", Position::X(4096)),
                ),
            ],
            absent: "One node instead of 32; messages up to 512 KiB, on both sides of the switch of protocols (256 KiB there).",
            ..Figure::default()
        },
    ]
}
