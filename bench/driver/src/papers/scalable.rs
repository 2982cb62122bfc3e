//! *Scalable Communication Endpoints for MPI+Threads Applications* (Zambre, Chandramowlishwaran, Balaji, ICPADS 2018).

use super::figure::{Figure, Paper, Position, Published, Selection, Value, View, drawing, view};
use crate::cases::{BY_CATEGORY, CATEGORY_NAMES, SHAPE_NAMES};
use crate::program::{LINE_READS, READS, WASTED};

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

/// The figures of the device in software: what is counted, what is of a model.
const MODEL: &str = "Objects and events are counted on the device in software. Rates are of a model, whose costs stand with their sources in bench/verbs/costs.toml; the loss of many blue flames in one context, whose cause the paper did not find, is not in it.";

/// Objects that endpoints take.
const OBJECTS: [&str; 4] = ["QP", "CQ", "UAR", "uUAR"];

/// The rate, and bars of the objects that the line with all features takes.
fn halves(case: &'static str) -> Vec<View> {
    vec![view(case), view(case).bars("All", &OBJECTS, "objects")]
}

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
    views: Vec<View>,
    published: Vec<Published>,
) -> Figure {
    let y = "million messages/s; objects";
    Figure { id, title, place, x, y, views, published, absent: MODEL, ..Figure::default() }
}

fn scalability(id: &'static str, title: &'static str) -> Figure {
    let published = match id {
        "fig2b" => vec![
            Published::new("threads on one endpoint: slower", "16 threads", Value::AtMost(7.0), "times")
                .ratio(
                    "verbs-extremes",
                    "value",
                    ("a process each", Position::X(16)),
                    ("one endpoint of all", Position::X(16)),
                ),
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
            Published::new("pages for each thread", "all", Value::Is(9.0), "pages").value(
                "verbs-threads",
                "UAR",
                "All",
                Position::X(1),
            ),
            Published::new("registers for each thread", "all", Value::Is(18.0), "registers").value(
                "verbs-threads",
                "uUAR",
                "All",
                Position::X(1),
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
    let extremes = "verbs-extremes";
    match id {
        "fig2b" => {
            let views = vec![view(extremes), view(extremes).of(WASTED, "registers")];
            counted(id, title, "I", "threads", views, published)
        }
        _ => counted(id, title, "IV", "threads", halves("verbs-threads"), published),
    }
}

/// Numbers of figure 7.
fn contexts() -> Vec<Published> {
    let case = "verbs-context";
    let own = ("All", Position::X(1));
    let published = |what: &'static str, value, unit| Published::new(what, "16 ways", Value::Is(value), unit);
    vec![
        published("without lists, 16 instead of 8 share: slower", 1.15, "times").ratio(
            case,
            "value",
            ("All w/o Postlist", Position::X(8)),
            ("All w/o Postlist", Position::X(16)),
        ),
        published("registers of twice the queue pairs", 80.0, "registers").value(
            case,
            "uUAR",
            "All w/o Postlist 2xQPs",
            Position::X(16),
        ),
        published("registers of independent contexts", 288.0, "registers").value(case, "uUAR", own.0, own.1),
        published("independent contexts over domains of one", 6.0, "times").ratio(
            case,
            "uUAR",
            own,
            ("All", Position::X(16)),
        ),
        published("independent contexts over shared pages", 9.0, "times").ratio(
            case,
            "uUAR",
            own,
            ("All w/o Postlist Sharing 2", Position::X(16)),
        ),
    ]
}

fn sharing() -> Vec<Figure> {
    vec![
        counted("fig5", "A buffer shared", "V-A", "threads that share", halves("verbs-buffer"), Vec::new()),
        counted(
            "fig6",
            "Buffers on one cache line: rate, and reads of the card",
            "V-A",
            "threads",
            vec![view("verbs-lines"), view("verbs-lines").of(LINE_READS, "reads")],
            Vec::new(),
        ),
        counted(
            "fig7",
            "A context shared, with twice the queue pairs, and with registers on one page",
            "V-B",
            "threads that share",
            [halves("verbs-context"), vec![view("verbs-context").of("UAR", "pages")]].concat(),
            contexts(),
        ),
        counted(
            "fig8",
            "A protection domain, a registration shared",
            "V-C",
            "threads that share",
            [halves("verbs-pd"), halves("verbs-mr")].concat(),
            Vec::new(),
        ),
        counted(
            "fig9",
            "A completion queue shared",
            "V-E",
            "threads that share",
            halves("verbs-cq"),
            vec![
                Published::new(
                    "without unsignaled requests: slower",
                    "16 ways",
                    Value::AtMost(18.0),
                    "times",
                )
                .ratio(
                    "verbs-cq",
                    "value",
                    ("All w/o Unsignaled", Position::X(1)),
                    ("All w/o Unsignaled", Position::X(16)),
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
            vec![view("verbs-signals-32"), view("verbs-signals-1")],
            Vec::new(),
        ),
        counted(
            "fig11",
            "A queue pair shared",
            "V-F",
            "threads that share",
            halves("verbs-qp"),
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

fn arrays() -> Figure {
    let case = "verbs-arrays";
    let mut published = Vec::new();
    for (place, (category, rate, share)) in (1..).zip(CATEGORIES) {
        let (own, all) = ((BY_CATEGORY, Position::X(place)), (BY_CATEGORY, Position::X(0)));
        let row = |what: &str, value| {
            let what = format!("{category}: {what}");
            Published::new(what, "16 threads", Value::Is(value), "of a process each")
        };
        published.push(row("rate of writes", rate).ratio(case, "value", own, all));
        published.push(row("registers", share).ratio(case, "uUAR", own, all));
    }
    let views = vec![
        view(case).named(&CATEGORY_NAMES),
        view(case).of(READS, "million reads/s, of a model").named(&CATEGORY_NAMES),
        view(case).bars(BY_CATEGORY, &OBJECTS, "objects").named(&CATEGORY_NAMES),
    ];
    counted("fig12", "Global arrays by category", "VII", "category", views, published)
}

fn stencil() -> Figure {
    let case = "verbs-stencil";
    let rate = |what: &'static str, at: &'static str, value, category: &'static str, place| {
        Published::new(what, at, Value::Is(value), "of a process each").ratio(
            case,
            "value",
            (category, Position::X(place)),
            ("MPI everywhere", Position::X(place)),
        )
    };
    let objects = OBJECTS.map(|object| view(case).of(object, "objects of all processes").named(&SHAPE_NAMES));
    counted(
        "fig14",
        "A stencil of five points by category, five shapes of processes and threads",
        "VII",
        "processes and threads",
        std::iter::once(view(case).named(&SHAPE_NAMES)).chain(objects).collect(),
        vec![
            rate("2xDynamic, Dynamic, Shared Dynamic", "16 processes", 1.06, "2xDynamic", 0),
            rate("Static", "16 processes", 1.0, "Static", 0),
            rate("MPI+threads", "16 processes", 0.87, "MPI+threads", 0),
            rate("2xDynamic", "hybrid", 1.03, "2xDynamic", 2),
            Published::new(
                "one process of 16 threads: slower than 16 processes",
                "16 threads",
                Value::Is(1.4),
                "times",
            )
            .ratio(case, "value", ("2xDynamic", Position::X(0)), ("2xDynamic", Position::X(4))),
        ],
    )
}
