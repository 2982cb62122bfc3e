//! *Scalable Communication Endpoints for MPI+Threads Applications* (Zambre, Chandramowlishwaran, Balaji, ICPADS 2018).

use super::figure::{Figure, Paper, Published, Selection, Value, drawing};

/// Threads of the experiments.
const THREADS: f64 = 16.0;

pub fn paper() -> Paper {
    let inner = "A drawing; ours: components/btl-verbs/README.md.";
    let device = "A drawing; ours: devices/verbs/README.md.";
    let mut figures = vec![
        drawing("fig1", "Endpoints of processes and of threads", "I", inner),
        drawing("fig2a", "Registers that a context wastes", "I", device),
    ];
    figures.push(scalability("fig2b", "Rate and wasted registers of both extremes by threads"));
    figures.push(scalability("fig3", "A context, a thread domain and a queue pair for each thread"));
    figures.push(drawing(
        "fig4",
        "How the objects of verbs belong to each other; four levels of sharing",
        "V",
        inner,
    ));
    figures.extend(sharing());
    figures.push(arrays());
    figures.push(drawing(
        "fig13",
        "The stencil's partition",
        "VII",
        "A drawing; ours: bench/verbs/stencil.c.",
    ));
    figures.push(stencil());
    figures.push(drawing("fig15", "A page of registers", "A", device));
    figures.push(drawing("fig16", "Queue pairs on registers", "A", device));
    figures.push(drawing("fig17", "Steps of a message", "A", device));
    Paper {
        key: "004",
        title: "Scalable endpoints",
        source: "Zambre, Chandramowlishwaran, Balaji: Scalable Communication Endpoints for MPI+Threads Applications, ICPADS 2018",
        machine: "two nodes of four 16-core Haswell processors at 2.5 GHz, ConnectX-4, Linux 4.17.2, a patched rdma-core",
        cores: 64,
        figures,
    }
}

/// The device in software is no MPI library, so a command of its own draws these.
const BY_ITSELF: &str = "bench/verbs/figures.py builds the device in software, runs the programs and draws this figure: objects and events as counted, rates of a model whose costs stand in bench/verbs/costs.toml.";

/// A number of the paper's closed forms, computed.
fn form(
    what: &'static str,
    at: &'static str,
    published: Value,
    unit: &'static str,
    ours: f64,
    formula: &'static str,
) -> Published {
    Published::new(what, at, published, unit).ours(Selection::Exact(ours, formula))
}

fn counted(
    id: &'static str,
    title: &'static str,
    place: &'static str,
    x: &'static str,
    published: Vec<Published>,
) -> Figure {
    Figure {
        id,
        title,
        place,
        x,
        y: "million messages/s; objects",
        published,
        absent: BY_ITSELF,
        ..Figure::default()
    }
}

fn scalability(id: &'static str, title: &'static str) -> Figure {
    let published = match id {
        "fig2b" => vec![
            Published::new("threads on one endpoint: slower", "16 threads", Value::AtMost(7.0), "times"),
            form(
                "registers that a process each wastes",
                "16 threads",
                Value::Is(0.9375),
                "of all",
                1.0 - 1.0 / 16.0,
                "1 of 16 registers of a context is used",
            ),
        ],
        _ => vec![
            form(
                "pages for each thread",
                "all",
                Value::Is(9.0),
                "pages",
                8.0 + 1.0,
                "8 of the context and 1 of the thread domain",
            ),
            form(
                "registers for each thread",
                "all",
                Value::Is(18.0),
                "registers",
                2.0 * 9.0,
                "2 of each page",
            ),
            form(
                "memory of queues",
                "1 thread",
                Value::Is(89.0),
                "KB",
                80.0 + 9.0,
                "80 KB of a queue pair and 9 KB of a completion queue",
            ),
            form(
                "memory of queues",
                "16 threads",
                Value::Is(1.39),
                "MB",
                THREADS * 89.0 / 1024.0,
                "89 KB for each",
            ),
        ],
    };
    counted(id, title, if id == "fig2b" { "I" } else { "IV" }, "threads", published)
}

fn sharing() -> Vec<Figure> {
    let independent = 18.0 * THREADS;
    vec![
        counted("fig5", "A buffer shared", "V-A", "threads that share", Vec::new()),
        counted(
            "fig6",
            "Buffers on one cache line: rate, and reads of the card",
            "V-A",
            "seconds",
            Vec::new(),
        ),
        counted(
            "fig7",
            "A context shared, with twice the queue pairs, and with registers on one page",
            "V-B",
            "threads that share",
            vec![
                Published::new(
                    "without lists, 16 instead of 8 share: slower",
                    "16 ways",
                    Value::Is(1.15),
                    "times",
                ),
                form(
                    "registers of twice the queue pairs",
                    "16 ways",
                    Value::Is(80.0),
                    "registers",
                    16.0 + 4.0 * THREADS,
                    "16 of the context and 4 for each thread",
                ),
                form(
                    "registers of independent contexts",
                    "16 ways",
                    Value::Is(288.0),
                    "registers",
                    independent,
                    "18 for each thread",
                ),
                form(
                    "independent contexts over domains of one",
                    "16 ways",
                    Value::Is(6.0),
                    "times",
                    independent / (16.0 + 2.0 * THREADS),
                    "288 over 48",
                ),
                form(
                    "independent contexts over shared pages",
                    "16 ways",
                    Value::Is(9.0),
                    "times",
                    independent / (16.0 + THREADS),
                    "288 over 32",
                ),
            ],
        ),
        counted(
            "fig8",
            "A protection domain, a registration shared",
            "V-C",
            "threads that share",
            Vec::new(),
        ),
        counted(
            "fig9",
            "A completion queue shared",
            "V-E",
            "threads that share",
            vec![
                Published::new(
                    "without unsignaled requests: slower",
                    "16 ways",
                    Value::AtMost(18.0),
                    "times",
                ),
                form(
                    "memory saved",
                    "16 ways",
                    Value::Is(1.1),
                    "times",
                    (256.0 + THREADS * 89.0) / (256.0 + THREADS * 80.0 + 9.0),
                    "1,680 KB over 1,545 KB",
                ),
            ],
        ),
        counted(
            "fig10",
            "A completion queue shared, by the period of signals, with lists of 32 and of 1",
            "V-E",
            "requests for each signal",
            Vec::new(),
        ),
        counted(
            "fig11",
            "A queue pair shared",
            "V-F",
            "threads that share",
            vec![form(
                "memory of queues saved",
                "16 ways",
                Value::Is(16.0),
                "times",
                THREADS,
                "one pair of queues for 16",
            )],
        ),
    ]
}

/// By category: the published share of the rate, and of the registers, of a process each.
const CATEGORIES: [(&str, f64, f64); 5] = [
    ("2xDynamic", 1.08, 0.3125),
    ("Dynamic", 0.94, 0.1875),
    ("Shared Dynamic", 0.65, 0.125),
    ("Static", 0.64, 0.0625),
    ("MPI+threads", 0.03, 0.0625),
];

fn registers(category: &str) -> (f64, &'static str) {
    match category {
        "2xDynamic" => (16.0 + 4.0 * THREADS, "16 + 4 T"),
        "Dynamic" => (16.0 + 2.0 * THREADS, "16 + 2 T"),
        "Shared Dynamic" => (16.0 + THREADS, "16 + T"),
        _ => (16.0, "16"),
    }
}

fn arrays() -> Figure {
    let mut published = Vec::new();
    for (category, rate, share) in CATEGORIES {
        published.push(Published::new(
            format!("{category}: rate of writes"),
            "16 threads",
            Value::Is(rate),
            "of a process each",
        ));
        let (count, formula) = registers(category);
        let row = Published::new(
            format!("{category}: registers"),
            "16 threads",
            Value::Is(share),
            "of a process each",
        );
        published.push(row.ours(Selection::Exact(count / (16.0 * THREADS), formula)));
    }
    counted("fig12", "Global arrays by category", "VII", "category", published)
}

fn stencil() -> Figure {
    let rate = |what: &'static str, at: &'static str, value| {
        Published::new(what, at, Value::Is(value), "of a process each")
    };
    counted(
        "fig14",
        "A stencil of five points by category, five shapes of processes and threads",
        "VII",
        "processes and threads",
        vec![
            rate("2xDynamic, Dynamic, Shared Dynamic", "16 processes", 1.06),
            rate("Static", "16 processes", 1.0),
            rate("MPI+threads", "16 processes", 0.87),
            rate("2xDynamic", "hybrid", 1.03),
            Published::new(
                "one process of 16 threads: slower than 16 processes",
                "16 threads",
                Value::Is(1.4),
                "times",
            ),
        ],
    )
}
