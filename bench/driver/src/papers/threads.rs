//! *Improving MPI Threading Support for Current Hardware Architectures* (Patinyasakdikul, University of Tennessee, 2019): chapters 2, 3 and 5.

use super::figure::{Counter, Explanation, Figure, Paper, Position, Published, Value, drawing, view};
use super::waits;

/// Messages per second that 100 Gb/s carry, by their bytes.
const WIRE_1024: f64 = 12_500_000.0;
const WIRE_4096: f64 = 3_125_000.0;

pub fn paper() -> Paper {
    let mut figures = designs();
    figures.extend(patterns());
    figures.extend(workloads());
    figures.extend(waits::figures());
    figures.push(drawing(
        "fig5.1",
        "Matching with serial and with concurrent progress",
        "5.3",
        "A drawing; ours: docs/threads.md.",
    ));
    figures.push(drawing(
        "table5.1",
        "Configuration of the two machines",
        "5.4",
        "A list of hardware; ours stands above the figures of this page.",
    ));
    figures.extend(rates());
    figures.push(counters());
    figures.push(libraries());
    figures.push(puts());
    Paper {
        key: "002",
        title: "Threads in MPI",
        source: "Patinyasakdikul: Improving MPI Threading Support for Current Hardware Architectures, dissertation, University of Tennessee, 2019",
        machine: "nodes of two 10-core Xeon E5-2650 v3, EDR InfiniBand at 100 Gb/s; Aries for figure 5.5; Open MPI 4.0, MPICH 3.3, Intel MPI 2018.1; a core for each process",
        cores: 20,
        figures,
    }
}

fn designs() -> Vec<Figure> {
    let inner = "A drawing; ours: docs/ARCHITECTURE.md.";
    let pattern = "A drawing; ours: bench/multirate.";
    vec![
        drawing("fig2.1", "Layers of frameworks and components", "2", inner),
        drawing("fig2.2", "Transports below the point-to-point layer", "2", inner),
        drawing("fig2.3", "Components register with the progress engine", "2", inner),
        drawing("fig2.4", "Matching of a message", "2", inner),
        drawing("fig2.5", "Matching with sequence numbers", "2", inner),
        drawing("fig3.1", "Threads that raise the throughput", "3", pattern),
        drawing("fig3.2", "One to many and many to one", "3", pattern),
        drawing("fig3.3", "Ranks of the pairwise pattern on cores", "3.5", pattern),
        drawing("fig3.4", "Patterns out of an all-to-all", "3.5", pattern),
    ]
}

/// A message rate by entities, in shared memory and over TCP.
fn rate(id: &'static str, title: &'static str, x: &'static str, bytes: u64) -> Figure {
    let peak = match bytes {
        1024 => ("published wire, 100 Gb/s", WIRE_1024),
        _ => ("published wire, 100 Gb/s", WIRE_4096),
    };
    Figure {
        id,
        title,
        place: "3.6.1",
        x,
        y: "msg/s",
        views: vec![view(id), view(id).over("tcp")],
        peaks: if bytes == 0 { Vec::new() } else { vec![peak] },
        absent: "Shared memory, and TCP on one machine, stand for InfiniBand: the published wire limits neither.",
        ..Figure::default()
    }
}

fn published(what: &'static str, at: &'static str, value: f64) -> Published {
    Published::new(what, at, Value::About(value), "msg/s")
}

fn patterns() -> Vec<Figure> {
    let best = |id: &'static str, text: &'static str, value| {
        Published::new(text, "best", value, "times").ratio(
            id,
            "value",
            ("threads", Position::Best),
            ("processes", Position::Best),
        )
    };
    let over = |id: &'static str, text: &'static str, value| {
        Published::new(text, "most over one", value, "times").ratio(
            id,
            "value",
            ("processes", Position::Last),
            ("processes", Position::First),
        )
    };
    vec![
        Figure {
            published: vec![
                published("processes, all libraries", "16 pairs", 11e6).value(
                    "fig3.5",
                    "value",
                    "processes",
                    Position::Best,
                ),
                published("Open MPI's peak is reached with", "7 pairs", 11e6),
                published("Intel MPI's", "11 pairs", 11e6),
                published("MPICH's", "16 pairs", 11e6),
                best("fig3.5", "threads at their best over processes at theirs", Value::AtMost(1.0 / 12.0)),
            ],
            ..rate("fig3.5", "Pairs of processes and of threads, 1,024 bytes", "pairs", 1024)
        },
        Figure {
            published: vec![
                published("processes, all libraries", "best", 3e6).value(
                    "fig3.6",
                    "value",
                    "processes",
                    Position::Best,
                ),
                best("fig3.6", "threads at their best over processes at theirs", Value::AtMost(1.0 / 12.0)),
            ],
            ..rate("fig3.6", "Pairs of processes and of threads, 4,096 bytes", "pairs", 4096)
        },
        Figure {
            published: vec![
                published("processes, Open MPI", "all", 1.5e6).value(
                    "fig3.7",
                    "value",
                    "processes",
                    Position::Last,
                ),
                published("processes, Intel MPI", "8 to 12 senders", 2.8e6),
                over("fig3.7", "processes, Open MPI: level", Value::About(1.0)),
            ],
            ..rate("fig3.7", "Many senders to one receiver, 1,024 bytes", "senders", 1024)
        },
        rate("fig3.8", "Many senders to one receiver, 4,096 bytes", "senders", 4096),
        Figure {
            published: vec![published("processes, Open MPI", "4 to 7 receivers", 3e6).value(
                "fig3.9",
                "value",
                "processes",
                Position::Best,
            )],
            ..rate("fig3.9", "One sender to many receivers, 1,024 bytes", "receivers", 0)
        },
        Figure {
            published: vec![published("processes, Open MPI", "from 5 receivers on", 2.5e6).value(
                "fig3.10",
                "value",
                "processes",
                Position::Best,
            )],
            ..rate("fig3.10", "One sender to many receivers, 4,096 bytes", "receivers", 0)
        },
        rate("fig3.11", "Every sender to every receiver, a fixed number of receivers", "senders", 0),
        rate("fig3.12", "Every sender to every receiver, a fixed number of senders", "receivers", 0),
    ]
}

fn workloads() -> Vec<Figure> {
    let one = |id: &'static str, title: &'static str, x: &'static str, published| Figure {
        id,
        title,
        place: "3.6",
        x,
        y: "msg/s",
        views: vec![view(id), view(id).over("tcp")],
        published,
        ..Figure::default()
    };
    vec![
        Figure {
            id: "fig3.13",
            title: "Three patterns of processes by window, 1,024 bytes",
            place: "3.6.2",
            x: "entities",
            y: "msg/s",
            views: ["fig3.13-many-to-one", "fig3.13-one-to-many", "fig3.13-pairwise"]
                .into_iter()
                .flat_map(|case| [view(case), view(case).over("tcp")])
                .collect(),
            published: vec![
                Published::new(
                    "many to one, Open MPI: largest window over smallest",
                    "most senders",
                    Value::About(1.0),
                    "times",
                )
                .ratio(
                    "fig3.13-many-to-one",
                    "value",
                    ("window 512", Position::Last),
                    ("window 16", Position::Last),
                ),
            ],
            ..Figure::default()
        },
        Figure {
            absent: "The release whose credits starved is another library's; over verbs the case has lines by credits (bench/results/btl-verbs.md).",
            ..one(
                "fig3.14",
                "One pair of processes by window, two releases",
                "window",
                vec![
                    Published::new(
                        "the newer release: largest window over smallest",
                        "all",
                        Value::About(1.0),
                        "times",
                    )
                    .ratio(
                        "fig3.14",
                        "value",
                        ("one pair", Position::Last),
                        ("one pair", Position::First),
                    ),
                ],
            )
        },
        one(
            "fig3.15",
            "The least cost of thread safety, pairs of processes",
            "pairs",
            vec![
                Published::new(
                    "MPI_THREAD_MULTIPLE over MPI_Init",
                    "all",
                    Value::Between(0.95, 0.97),
                    "times",
                )
                .ratio(
                    "fig3.15",
                    "value",
                    ("MPI_THREAD_MULTIPLE", Position::First),
                    ("MPI_Init", Position::First),
                ),
            ],
        ),
        one(
            "fig3.16",
            "Pairs of threads with one communicator and with one each",
            "pairs",
            vec![
                Published::new(
                    "a communicator each over one for all",
                    "most pairs",
                    Value::AtLeast(1.0),
                    "times",
                )
                .ratio(
                    "fig3.16",
                    "value",
                    ("one for each pair", Position::Last),
                    ("one communicator", Position::Last),
                ),
            ],
        ),
    ]
}

const ONE: &str = "dedicated, 1 CRI";
const TWENTY: &str = "dedicated, 20 CRI";

fn rates() -> Vec<Figure> {
    let gain = |case: &'static str, what: &'static str, value| {
        Published::new(what, "20 pairs", value, "times").ratio(
            case,
            "value",
            (TWENTY, Position::Last),
            (ONE, Position::Last),
        )
    };
    let level = |case: &'static str, series: &'static str| {
        published("level, whatever the threads", "all", 500_000.0).value(
            case,
            "value",
            series,
            Position::Last,
        )
    };
    let made = |id: &'static str, title: &'static str, published| Figure {
        id,
        title,
        place: if id.starts_with("fig5.2") { "5.4.1 to 5.4.3" } else { "5.4.4" },
        x: "pairs of threads",
        y: "msg/s",
        views: vec![view(id), view(id).over("tcp")],
        published,
        absent: "Lines of stream are ours: messages by communicator and tag, and threads that leave the instances of others to them. TCP on one machine stands for InfiniBand.",
        ..Figure::default()
    };
    let matching = made(
        "fig5.2c",
        "Concurrent progress and matching",
        vec![gain("fig5.2c", "20 CRIs over one, dedicated", Value::AtMost(10.0))],
    );
    vec![
        made(
            "fig5.2a",
            "Rates of threads by CRIs: serial progress",
            vec![gain("fig5.2a", "20 CRIs over one, dedicated", Value::AtMost(2.0))],
        ),
        made(
            "fig5.2b",
            "Concurrent progress",
            vec![gain("fig5.2b", "20 CRIs over one, dedicated", Value::AtMost(1.0))],
        ),
        Figure {
            views: [
                matching.views,
                COUNTED.map(|(quantity, unit)| view("table5.2").of(quantity, unit)).to_vec(),
            ]
            .concat(),
            why: Some(why()),
            ..matching
        },
        made("fig5.3a", "Without order: serial progress", vec![level("fig5.3a", TWENTY)]),
        made("fig5.3b", "Without order: concurrent progress", vec![level("fig5.3b", TWENTY)]),
        made(
            "fig5.3c",
            "Without order: concurrent progress and matching",
            vec![gain("fig5.3c", "20 CRIs over one, dedicated", Value::AtMost(10.0))],
        ),
    ]
}

/// Counters that tell the designs apart whatever the number of cores, with their units.
const COUNTED: [(&str, &str); 4] = [
    (crate::cases::LOCK_MISSES, "each"),
    (crate::cases::SHARED_WRITES, "each"),
    (crate::cases::OUT_OF_SEQUENCE, "of all"),
    (crate::cases::MATCH_TIME_EACH, "us"),
];

fn why() -> Explanation {
    let lines = [
        ("one CRI", "concurrent progress and matching, dedicated, 1 CRI"),
        ("20 CRIs", "concurrent progress and matching, dedicated, 20 CRI"),
        ("20 CRIs by our default", "concurrent progress and matching, stream, 20 CRI"),
    ];
    let counter = |(quantity, _)| Counter { what: quantity, case: "table5.2", quantity, of: lines.to_vec() };
    Explanation {
        text: "The published gain is of threads with a core each, which no longer wait for one lock. Counters, which do not depend on cores, show \
               the same cause here: with an instance for each thread a lock is found taken far less often, and with a communicator each hardly a message \
               comes out of sequence. The gain itself needs the cores: where one or two threads run at a time, one that misses a lock costs nobody \
               anything, while each turn that brings nothing takes the locks of twenty instances in place of one (shared writes).",
        counters: COUNTED.map(counter).to_vec(),
    }
}

/// By strategy and number of CRIs: messages out of sequence of 2,585,600, and milliseconds of matching.
const COUNTERS: [(&str, [f64; 3], [f64; 3]); 3] = [
    ("serial", [2_154_493.0, 2_323_003.0, 2_225_190.0], [2732.0, 2622.0, 2738.0]),
    ("concurrent", [2_375_922.0, 2_425_818.0, 2_420_660.0], [8553.0, 7944.0, 8069.0]),
    ("concurrent progress and matching", [15_188.0, 45.0, 0.0], [476.0, 430.0, 389.0]),
];
const MESSAGES: f64 = 2_585_600.0;

fn counters() -> Figure {
    let mut table = Vec::new();
    for (strategy, late, times) in COUNTERS {
        for ((count, out), ms) in [1, 10, 20].into_iter().zip(late).zip(times) {
            let series = format!("{strategy}, dedicated, {count} CRI");
            let share = Published::new(
                format!("{strategy}: out of sequence"),
                format!("{count} CRI"),
                Value::Is(out / MESSAGES),
                "of all",
            );
            table.push(share.value(
                "table5.2",
                crate::cases::OUT_OF_SEQUENCE,
                series.clone(),
                Position::Last,
            ));
            let time = Published::new(
                format!("{strategy}: time of matching"),
                format!("{count} CRI"),
                Value::Is(ms * 1000.0),
                "us",
            );
            table.push(time.value("table5.2", "OMPI_SPC_MATCH_TIME", series, Position::Last));
        }
    }
    Figure {
        id: "table5.2",
        title: "Counters of 20 pairs of threads, 2,585,600 messages",
        place: "5.4.1",
        x: "pairs of threads",
        y: "msg/s",
        views: vec![
            view("table5.2").of("OMPI_SPC_MATCH_TIME", "us"),
            view("table5.2").of("OMPI_SPC_MATCH_TIME", "us").over("tcp"),
            view("table5.2").of(crate::cases::OUT_OF_SEQUENCE, "of all"),
            view("table5.2").of(crate::cases::OUT_OF_SEQUENCE, "of all").over("tcp"),
        ],
        published: table,
        absent: "A quick run has fewer messages, so that only shares can be compared.",
        ..Figure::default()
    }
}

fn libraries() -> Figure {
    Figure {
        id: "fig5.4",
        title: "Threads and processes of all libraries",
        place: "5.4.5",
        x: "pairs",
        y: "msg/s",
        views: vec![view("fig5.4"), view("fig5.4").over("tcp")],
        published: vec![
            Published::new("threads with CRIs over the base", "20 pairs", Value::About(2.0), "times").ratio(
                "fig5.4",
                "value",
                ("threads, CRIs", Position::Last),
                ("threads", Position::Last),
            ),
            Published::new(
                "threads with CRIs and a communicator each over the base",
                "20 pairs",
                Value::AtMost(10.0),
                "times",
            )
            .ratio(
                "fig5.4",
                "value",
                ("threads, CRIs and a communicator each", Position::Last),
                ("threads", Position::Last),
            ),
        ],
        absent: "Other libraries stand beside ours where --peers names them.",
        ..Figure::default()
    }
}

fn puts() -> Figure {
    Figure {
        id: "fig5.5",
        title: "Puts and a flush by threads: one CRI, round robin, dedicated",
        place: "5.4.6",
        x: "threads",
        y: "puts/s",
        views: vec![view("fig5.5-8"), view("fig5.5-1024"), view("fig5.5-16384")],
        published: vec![
            Published::new("dedicated CRIs over one", "most threads", Value::AtLeast(200.0), "times").ratio(
                "fig5.5-8",
                "value",
                ("dedicated, serial progress", Position::Last),
                ("one CRI, serial progress", Position::Last),
            ),
            Published::new(
                "concurrent over serial progress, dedicated",
                "most threads",
                Value::About(1.0),
                "times",
            )
            .ratio(
                "fig5.5-8",
                "value",
                ("dedicated, concurrent progress", Position::Last),
                ("dedicated, serial progress", Position::Last),
            ),
        ],
        absent: "32 CRIs as on one machine, with a line of the 72 of the other. The published peaks are of Aries, by size, without numbers in the text.",
        ..Figure::default()
    }
}
