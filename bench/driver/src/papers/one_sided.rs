//! *Improving MPI Multi-threaded RMA Communication Performance* (Hjelm, Dosanjh, Grant, Groves, Bridges, Arnold, ICPP 2018).

use super::figure::{Figure, Mean, Paper, Published, Selection, Value, View, view};

/// Put and get by kind of synchronisation, as the cases are named.
const FENCE: [&str; 2] = ["rma-put-fence", "rma-get-fence"];
const LOCK: [&str; 2] = ["rma-put-lock", "rma-get-lock"];
const LOCK_ALL: [&str; 2] = ["rma-put-lock_all", "rma-get-lock_all"];
const PSCW: [&str; 2] = ["rma-put-pscw", "rma-get-pscw"];

const KIB_16: u64 = 16 << 10;
/// Classes of sizes of tables 1 to 3, and of 4 and 5.
const CLASSES: [(&str, (u64, u64)); 2] =
    [("up to 16 KiB", (0, KIB_16)), ("over 16 KiB", (KIB_16 + 1, u64::MAX))];
const THREE_CLASSES: [(&str, (u64, u64)); 3] =
    [("up to 64 B", (0, 64)), ("128 B to 16 KiB", (65, KIB_16)), ("over 16 KiB", (KIB_16 + 1, u64::MAX))];
const MEASURES: [(&str, &str, &str); 2] = [("bandwidth", "value", "MiB/s"), ("latency", "latency", "us")];

/// Both of each of some kinds.
fn all_of(kinds: &[[&'static str; 2]], operation: Option<usize>) -> Vec<&'static str> {
    let of = |kind: &[&'static str; 2]| match operation {
        Some(one) => vec![kind[one]],
        None => kind.to_vec(),
    };
    kinds.iter().flat_map(of).collect()
}

/// Rows of a table: its head, the cases and the number of threads that it is of.
type Split = (&'static str, Vec<&'static str>, Option<u64>);

pub fn paper() -> Paper {
    Paper {
        key: "001",
        title: "One-sided communication by threads",
        source: "Hjelm et al.: Improving MPI Multi-threaded RMA Communication Performance, ICPP 2018",
        machine: "Cray XC40 with Aries: nodes of two 16-core Xeon E5-2698 v3, and of a 68-core Xeon Phi; Open MPI's master of 2017, Cray MPI with DMAPP",
        cores: 32,
        figures: vec![table1(), table2(), table3(), table4(), table5(), fig1(), fig1e(), fig1f(), fig2()],
    }
}

/// Views of the whole matrix, bandwidth and latency.
fn matrix(kinds: &[[&'static str; 2]]) -> Vec<View> {
    let of = |case: &&'static str| [view(case), view(case).of("latency", "us")];
    all_of(kinds, None).iter().flat_map(of).collect()
}

/// Published means of tables 1 to 3: for each row bandwidth of pt2pt and rdma with short and with long messages, then latency.
fn means(splits: Vec<Split>, numbers: &[[f64; 8]]) -> Vec<Published> {
    let mut all = Vec::new();
    for ((head, cases, threads), numbers) in splits.into_iter().zip(numbers) {
        let mut left = numbers.iter();
        for (measure, quantity, unit) in MEASURES {
            for (class, bytes) in CLASSES {
                for component in ["pt2pt", "rdma"] {
                    let Some(&number) = left.next() else { continue };
                    let what = format!("{head}: {component}, {measure}");
                    let mean = Mean { cases: cases.clone(), quantity, component, threads, bytes };
                    let row = Published::new(what, class, Value::Is(number), unit);
                    all.push(row.ours(Selection::Mean(mean)));
                }
            }
        }
    }
    all
}

fn table(id: &'static str, title: &'static str, published: Vec<Published>) -> Figure {
    Figure {
        id,
        title,
        place: if matches!(id, "table4" | "table5") { "5.2.1" } else { "5.1.1" },
        x: "bytes of all threads",
        y: "MiB/s and us",
        views: matrix(&[FENCE, LOCK, LOCK_ALL, PSCW]),
        published,
        absent: "Both processes are on one machine: shared memory takes the place of Aries.",
        ..Figure::default()
    }
}

const FOUR: [[&str; 2]; 4] = [FENCE, LOCK, LOCK_ALL, PSCW];

fn table1() -> Figure {
    let splits = vec![("get", all_of(&FOUR, Some(1)), None), ("put", all_of(&FOUR, Some(0)), None)];
    let numbers = [
        [205.0, 395.0, 4846.0, 6815.0, 82.0, 73.0, 159.0, 103.0],
        [209.0, 414.0, 4202.0, 6471.0, 64.0, 59.0, 136.0, 99.0],
    ];
    table("table1", "Put and get: means over synchronisations and threads", means(splits, &numbers))
}

fn table2() -> Figure {
    let splits = [
        ("1 thread", 1),
        ("2 threads", 2),
        ("4 threads", 4),
        ("8 threads", 8),
        ("16 threads", 16),
        ("32 threads", 32),
    ]
    .map(|(head, threads)| (head, all_of(&FOUR, None), Some(threads)));
    let numbers = [
        [361.0, 1062.0, 7261.0, 8780.0, 26.0, 19.0, 62.0, 50.0],
        [248.0, 590.0, 6493.0, 8413.0, 28.0, 23.0, 64.0, 49.0],
        [222.0, 293.0, 5120.0, 7833.0, 32.0, 33.0, 78.0, 53.0],
        [166.0, 117.0, 3942.0, 6608.0, 49.0, 51.0, 100.0, 65.0],
        [108.0, 63.0, 2749.0, 5031.0, 89.0, 90.0, 165.0, 110.0],
        [61.0, 27.0, 1582.0, 3198.0, 268.0, 232.0, 419.0, 280.0],
    ];
    table("table2", "By threads: means over put, get and synchronisations", means(splits.to_vec(), &numbers))
}

fn table3() -> Figure {
    let splits = [("fence", FENCE), ("lock", LOCK), ("lock_all", LOCK_ALL), ("pscw", PSCW)]
        .map(|(head, kind)| (head, all_of(&[kind], None), None));
    let numbers = [
        [216.0, 388.0, 3755.0, 6638.0, 66.0, 76.0, 147.0, 112.0],
        [205.0, 425.0, 4636.0, 6633.0, 89.0, 67.0, 157.0, 100.0],
        [198.0, 391.0, 4740.0, 6679.0, 80.0, 66.0, 150.0, 98.0],
        // The paper prints the same bandwidths for fence and pscw.
        [216.0, 388.0, 3755.0, 6638.0, 56.0, 56.0, 138.0, 94.0],
    ];
    table("table3", "By synchronisation: means over put, get and threads", means(splits.to_vec(), &numbers))
}

/// Published values of tables 4 and 5: for each row bandwidth of both libraries in three classes of sizes, then latency. Ours stands beside Open MPI's.
fn both_libraries(splits: Vec<Split>, numbers: &[[f64; 12]]) -> Vec<Published> {
    let mut all = Vec::new();
    for ((head, cases, threads), numbers) in splits.into_iter().zip(numbers) {
        let mut left = numbers.iter();
        for (measure, quantity, unit) in MEASURES {
            for (class, bytes) in THREE_CLASSES {
                for library in ["Cray MPI", "Open MPI"] {
                    let Some(&number) = left.next() else { continue };
                    let row = Published::new(
                        format!("{head}: {library}, {measure}"),
                        class,
                        Value::Is(number),
                        unit,
                    );
                    let mean = Mean { cases: cases.clone(), quantity, component: "rdma", threads, bytes };
                    all.push(if library == "Open MPI" { row.ours(Selection::Mean(mean)) } else { row });
                }
            }
        }
    }
    all
}

fn table4() -> Figure {
    let splits = vec![("get", all_of(&FOUR, Some(1)), None), ("put", all_of(&FOUR, Some(0)), None)];
    let numbers = [
        [17.0, 2.0, 962.0, 306.0, 7414.0, 7427.0, 37.0, 73.0, 56.0, 84.0, 155.0, 140.0],
        [22.0, 4.0, 964.0, 646.0, 8532.0, 8225.0, 32.0, 43.0, 55.0, 56.0, 137.0, 129.0],
    ];
    table(
        "table4",
        "Cray MPI with DMAPP and Open MPI with ugni, put and get",
        both_libraries(splits, &numbers),
    )
}

fn table5() -> Figure {
    let splits = [
        ("1 thread", 1),
        ("2 threads", 2),
        ("4 threads", 4),
        ("8 threads", 8),
        ("16 threads", 16),
        ("32 threads", 32),
        ("64 threads", 64),
    ]
    .map(|(head, threads)| (head, all_of(&FOUR, None), Some(threads)));
    let numbers = [
        [7.0, 2.0, 442.0, 339.0, 7557.0, 7727.0, 18.0, 22.0, 16.0, 25.0, 72.0, 76.0],
        [13.0, 2.0, 668.0, 451.0, 7560.0, 7713.0, 20.0, 27.0, 24.0, 34.0, 80.0, 84.0],
        [23.0, 2.0, 804.0, 525.0, 7482.0, 7679.0, 22.0, 35.0, 35.0, 50.0, 118.0, 111.0],
        [42.0, 2.0, 722.0, 533.0, 7220.0, 7623.0, 28.0, 57.0, 50.0, 70.0, 152.0, 155.0],
        [25.0, 3.0, 864.0, 528.0, 7569.0, 7280.0, 41.0, 85.0, 87.0, 111.0, 213.0, 189.0],
        [21.0, 2.0, 1380.0, 468.0, 7632.0, 7170.0, 65.0, 121.0, 162.0, 180.0, 285.0, 293.0],
        [17.0, 2.0, 1372.0, 410.0, 7736.0, 5820.0, 125.0, 253.0, 340.0, 355.0, 465.0, 509.0],
    ];
    table(
        "table5",
        "Cray MPI with DMAPP and Open MPI with ugni, by threads",
        both_libraries(splits.to_vec(), &numbers),
    )
}

fn fig1() -> Figure {
    let slowest = crate::program::SLOWEST_THREAD;
    Figure {
        id: "fig1a-d",
        title: "Put and get under lock_all: latency of the slowest thread, and bandwidth, by size and threads",
        place: "5.2.1",
        x: "bytes of all threads",
        y: "us; MiB/s",
        views: vec![
            view("rma-put-lock_all").of(slowest, "us"),
            view("rma-get-lock_all").of(slowest, "us"),
            view("rma-put-lock_all"),
            view("rma-get-lock_all"),
            view("rma-put-flush"),
            view("rma-get-flush"),
        ],
        published: vec![
            Published::new("64 threads over 32: latency", "all sizes", Value::About(2.0), "times").ratio(
                "rma-put-lock_all",
                slowest,
                ("rdma, 64 threads", super::figure::Position::First),
                ("rdma, 32 threads", super::figure::Position::First),
            ),
            Published::new("the switch from FMA to BTE", "size", Value::Is(16.0), "KiB"),
        ],
        absent: "Figures have no numbers in the text. Flush stands beside lock_all.",
        ..Figure::default()
    }
}

fn fig1e() -> Figure {
    Figure {
        id: "fig1e",
        title: "Conjugate gradients, weak scaling: time of the solution",
        place: "5.2.2",
        x: "cores",
        y: "s",
        views: vec![view("rma-cg").of("seconds", "s")],
        published: vec![Published::new(
            "Open MPI over Cray MPI, time in all",
            "128 k cores",
            Value::Is(1.27),
            "times",
        )],
        absent: "24^3 cells a rank instead of 120^3, 2 to 8 ranks instead of 128 k; the published difference is the launcher's.",
        ..Figure::default()
    }
}

fn fig1f() -> Figure {
    use super::figure::Position::Last;
    Figure {
        id: "fig1f",
        title: "Conjugate gradients, weak scaling: time of exchanges",
        place: "5.2.2",
        x: "cores",
        y: "us",
        views: vec![view("rma-cg")],
        published: vec![
            Published::new("rdma over pt2pt, time in all", "4,096 cores", Value::Is(0.5), "times").ratio(
                "rma-cg",
                "seconds",
                ("one-sided, rdma", Last),
                ("one-sided, pt2pt", Last),
            ),
            Published::new(
                "Open MPI over Cray MPI, time of exchanges",
                "128 k cores",
                Value::Is(0.505),
                "times",
            ),
        ],
        ..Figure::default()
    }
}

fn fig2() -> Figure {
    Figure {
        id: "fig2",
        title: "Patches of an astrophysics program, 20 steps",
        place: "5.2.3",
        x: "threads",
        y: "ms (published: s by cores)",
        views: vec![view("rma-patches")],
        published: vec![Published::new(
            "Open MPI over the best of Cray MPI, 8 threads",
            "512 k cores",
            Value::Is(1.086),
            "times",
        )],
        absent: "The program's pattern of messages stands for it: patches of 16^3 cells on two ranks; --patch 48 has the published size.",
        ..Figure::default()
    }
}
