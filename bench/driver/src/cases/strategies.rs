//! Chapter 5: how threads get communication resource instances (CRIs), who progresses them, and what matching allows.

use super::multirate;
use crate::case::{At, Case, Point, Ratio, Series, Sizes};
use crate::program::Program;

/// CRIs, as published.
const INSTANCES: [u64; 3] = [1, 10, 20];
/// `stream` is ours; the other two are the dissertation's.
const ASSIGNMENTS: [&str; 3] = ["dedicated", "round_robin", "stream"];

pub fn cases(sizes: &Sizes) -> Vec<Case> {
    vec![
        rates(
            sizes,
            &Part { name: "fig5.2a", figure: "5.2a", progress: "serial", more: "", what: "serial progress" },
        ),
        rates(
            sizes,
            &Part {
                name: "fig5.2b",
                figure: "5.2b",
                progress: "concurrent",
                more: "",
                what: "concurrent progress",
            },
        ),
        rates(
            sizes,
            &Part {
                name: "fig5.2c",
                figure: "5.2c",
                progress: "concurrent",
                more: "-c",
                what: "concurrent progress, a communicator for each pair",
            },
        ),
        rates(
            sizes,
            &Part {
                name: "fig5.3a",
                figure: "5.3a",
                progress: "serial",
                more: "-o -A",
                what: "serial progress, overtaking allowed, any tag",
            },
        ),
        rates(
            sizes,
            &Part {
                name: "fig5.3b",
                figure: "5.3b",
                progress: "concurrent",
                more: "-o -A",
                what: "concurrent progress, overtaking allowed, any tag",
            },
        ),
        rates(
            sizes,
            &Part {
                name: "fig5.3c",
                figure: "5.3c",
                progress: "concurrent",
                more: "-o -A -c",
                what: "concurrent progress, overtaking allowed, any tag, a communicator for each pair",
            },
        ),
        table(sizes),
        state_of_the_art(sizes),
        sharing(sizes),
    ]
}

fn with_strategy(point: Point, assignment: &str, progress: &str, instances: u64) -> Point {
    point
        .with("runtime_num_cris", instances)
        .with("runtime_cri_assignment", assignment)
        .with("runtime_progress", progress)
}

struct Part {
    name: &'static str,
    figure: &'static str,
    progress: &'static str,
    /// Options of multirate.
    more: &'static str,
    what: &'static str,
}

fn label(assignment: &str, instances: u64) -> String {
    format!("{assignment}, {instances} CRI")
}

fn rates(sizes: &Sizes, part: &Part) -> Case {
    let instances = sizes.cut(&INSTANCES);
    let most = *instances.last().unwrap_or(&1);
    let mut series = Vec::new();
    for &n in &instances {
        for assignment in ASSIGNMENTS {
            let arguments = format!("{} {}", multirate(sizes, 0), part.more);
            let progress = part.progress;
            let line = Series::new(label(assignment, n), move |t| {
                Some(with_strategy(Point::new(2, format!("-p -t {t} {arguments}")), assignment, progress, n))
            });
            series.push(if assignment == "round_robin" { line.ours() } else { line.ours().dashed() });
        }
    }
    let arguments = format!("{} {}", multirate(sizes, 0), part.more);
    series.push(Series::new("as installed", move |t| Some(Point::new(2, format!("-p -t {t} {arguments}")))));
    let base = label("dedicated", 1);
    let (what, published) = match part.figure {
        "5.2a" => ("gain of CRIs alone", "up to 2 (5.4.1)"),
        "5.2b" => {
            ("gain of CRIs with concurrent progress", "below 1: matching takes three times as long (5.4.2)")
        }
        "5.2c" => {
            ("gain of CRIs with concurrent progress and matching", "up to 10 over the base (5.4.3, 5.6)")
        }
        "5.3a" => ("gain of CRIs without order", "some; level at 500 K msg/s whatever the threads (5.4.4)"),
        "5.3b" => {
            ("gain of CRIs without order, concurrent progress", "level where serial progress is (5.4.4)")
        }
        _ => ("gain of CRIs without order, concurrent matching", "as with order (5.4.4)"),
    };
    let ratio = |assignment: &str| {
        let text = format!("{what}: {assignment}, {most} CRIs over dedicated with one, most threads");
        Ratio::new(&text, published, (&label(assignment, most), At::Last), (&base, At::Last))
    };
    let holds = |assignment: &str| {
        let own = label(assignment, most);
        let text = format!("{own}: most threads over fewest");
        Ratio::new(&text, "not published as a number", (&own, At::Last), (&own, At::First))
    };
    Case {
        name: part.name,
        figure: part.figure,
        title: format!("Zero-byte message rate of threads: {}", part.what),
        program: Program::Multirate,
        x: "pairs of threads",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series,
        ratios: ASSIGNMENTS.iter().map(|a| ratio(a)).chain(ASSIGNMENTS.iter().map(|a| holds(a))).collect(),
        iterations: None,
    }
}

/// Counters at 20 pairs: 20 × 128 × (1000 + 10 of warm-up) messages.
fn table(sizes: &Sizes) -> Case {
    let mut series = Vec::new();
    let strategies = [("serial", ""), ("concurrent", ""), ("concurrent", "-c")];
    for assignment in ASSIGNMENTS {
        for (progress, more) in strategies {
            for &n in &sizes.cut(&INSTANCES) {
                let matching = if more.is_empty() { "" } else { " progress and matching" };
                let arguments = format!("{} {more}", multirate(sizes, 0));
                let line = Series::new(format!("{progress}{matching}, {}", label(assignment, n)), move |t| {
                    let point = Point::new(2, format!("-p -t {t} {arguments}"));
                    Some(with_strategy(point, assignment, progress, n).with("mpi_spc_dump_enabled", 1))
                });
                series.push(line.ours());
            }
        }
    }
    let published = [
        ("serial", "0.8332, 0.8998, 0.8608 with 1, 10, 20 CRIs (table 5.2)"),
        ("concurrent", "0.9189, 0.9382, 0.9362 with 1, 10, 20 CRIs (table 5.2)"),
        ("concurrent progress and matching", "0.0059, 0.00002, 0 with 1, 10, 20 CRIs (table 5.2)"),
    ];
    let most = *sizes.cut(&INSTANCES).last().unwrap_or(&1);
    let mut ratios = Vec::new();
    for (strategy, text) in published {
        for assignment in ASSIGNMENTS {
            let own = format!("{strategy}, {}", label(assignment, most));
            let what = format!("share of messages out of sequence: {own}");
            ratios.push(Ratio::share(&what, text, &own, OUT_OF_SEQUENCE));
        }
    }
    let times = [
        ("concurrent", "2.95 with 20 CRIs (8,069 over 2,738 ms; table 5.2)"),
        ("concurrent progress and matching", "0.14 with 20 CRIs (389 over 2,738 ms; table 5.2)"),
    ];
    for (strategy, text) in times {
        for assignment in ASSIGNMENTS {
            let under = format!("serial, {}", label(assignment, most));
            let over = format!("{strategy}, {}", label(assignment, most));
            let what = format!("time of matching: {over} over serial");
            let mut ratio = Ratio::new(&what, text, (&over, At::Last), (&under, At::Last));
            ratio.quantity = MATCH_TIME;
            ratios.push(ratio);
        }
    }
    Case {
        name: "table5.2",
        figure: "table 5.2",
        title: "Counters of 20 pairs of threads, 2,585,600 messages".into(),
        program: Program::Multirate,
        x: "pairs of threads",
        xs: if sizes.quick { sizes.entities.clone() } else { vec![20] },
        unit: "msg/s",
        log_x: false,
        log_y: false,
        series,
        ratios,
        iterations: Some(if sizes.quick { 2 } else { 1000 }),
    }
}

/// Microseconds, of all threads of both ranks.
const MATCH_TIME: &str = "OMPI_SPC_MATCH_TIME";

/// A further figure: messages that came out of sequence, of all.
pub const OUT_OF_SEQUENCE: &str = "share out of sequence";

fn state_of_the_art(sizes: &Sizes) -> Case {
    let rest = multirate(sizes, 0);
    let (a, b, c) = (rest.clone(), rest.clone(), rest);
    let most = *sizes.cut(&INSTANCES).last().unwrap_or(&1);
    let line = |label: &str, arguments: String, more: &'static str| {
        Series::new(label, move |t| {
            let point = Point::new(2, format!("-p -t {t} {arguments} {more}"));
            Some(with_strategy(point, "stream", "concurrent", most))
        })
    };
    let series = vec![
        Series::new("processes", move |k| Some(Point::new(2 * k, format!("-p -n {k} -m {k} {a}")))),
        Series::new("threads", move |t| Some(Point::new(2, format!("-p -t {t} {b}")))).dashed(),
        line("threads, CRIs", c.clone(), "").ours().dashed(),
        line("threads, CRIs and a communicator each", c, "-c").ours().dashed(),
    ];
    Case {
        name: "fig5.4",
        figure: "5.4",
        title: "Zero-byte message rate of threads and processes".into(),
        program: Program::Multirate,
        x: "pairs",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series,
        ratios: vec![
            Ratio::new(
                "threads over processes, most pairs",
                "far below 1 in every library (5.4.5)",
                ("threads", At::Last),
                ("processes", At::Last),
            ),
            Ratio::new(
                "threads with CRIs over threads as installed, most pairs",
                "2 with ordinary communicators (5.4.5)",
                ("threads, CRIs", At::Last),
                ("threads", At::Last),
            ),
            Ratio::new(
                "threads with CRIs and a communicator each over processes, most pairs",
                "up to 10 times the base, still below processes (5.4.5)",
                ("threads, CRIs and a communicator each", At::Last),
                ("processes", At::Last),
            ),
        ],
        iterations: None,
    }
}

/// What threads share, by count, where there are not enough cores to see it in time. Not with one CRI, whose lock every
/// thread writes for every message: that is not counted.
fn sharing(sizes: &Sizes) -> Case {
    let messages = if sizes.quick { 128 } else { 4096 };
    let mut series = Vec::new();
    for (what, option) in
        [("a CRI for each thread", ""), ("a CRI for each thread, nobody waits in MPI", "-o")]
    {
        for assignment in ASSIGNMENTS {
            let line = Series::new(format!("{assignment}, {what}"), move |t| {
                let point = Point::new(2, format!("-t {t} -m {messages} {option}"));
                Some(with_strategy(point, assignment, "concurrent", t.min(64)))
            });
            series.push(line.ours());
        }
    }
    Case {
        name: "sharing",
        figure: "5.3 (counts)",
        title: "Lock misses and shared writes for each message, a tag of its own for each thread".into(),
        program: Program::Sharing,
        x: "threads",
        xs: sizes.cut(&[1, 2, 4, 8, 16, 32, 64]),
        unit: "per message",
        log_x: true,
        log_y: false,
        series,
        ratios: Vec::new(),
        iterations: Some(1),
    }
}
