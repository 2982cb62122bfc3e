//! Chapter 3: patterns of messages between processes, threads and both; the communicator's effect; what thread
//! safety costs.

use super::{multirate, with_window};
use crate::case::{At, Case, Point, Ratio, Series, Sizes};
use crate::library::Binding;
use crate::program::Program;

const PROCESSES: &str = "processes";
const THREADS: &str = "threads";

pub fn cases(sizes: &Sizes) -> Vec<Case> {
    vec![
        pairwise(sizes, "fig3.5", "3.5", 1024),
        pairwise(sizes, "fig3.6", "3.6", 4096),
        many_to_one(sizes, "fig3.7", "3.7", 1024),
        many_to_one(sizes, "fig3.8", "3.8", 4096),
        one_to_many(sizes, "fig3.9", "3.9", 1024),
        one_to_many(sizes, "fig3.10", "3.10", 4096),
        many_to_many(sizes, true),
        many_to_many(sizes, false),
        hybrid(sizes),
        windows(sizes, "fig3.13-pairwise", Shape::Pairwise),
        windows(sizes, "fig3.13-many-to-one", Shape::ManyToOne),
        windows(sizes, "fig3.13-one-to-many", Shape::OneToMany),
        one_pair(sizes),
        thread_safety(sizes),
        communicators(sizes),
    ]
}

/// A case of multirate over a number of entities.
fn rate(sizes: &Sizes, name: &'static str, figure: &'static str, title: String, x: &'static str) -> Case {
    Case {
        name,
        figure,
        title,
        program: Program::Multirate,
        x,
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series: Vec::new(),
        ratios: Vec::new(),
        iterations: None,
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Pairwise,
    ManyToOne,
    OneToMany,
}

/// `k` entities that are processes.
fn of_processes(shape: Shape, k: u64, rest: &str) -> Point {
    let arguments = match shape {
        Shape::Pairwise => format!("-p -n {k} -m {k} {rest}"),
        Shape::ManyToOne => format!("-a -n {k} -m 1 {rest}"),
        Shape::OneToMany => format!("-a -n 1 -m {k} {rest}"),
    };
    Point::new(2 * k, arguments).bound(if k == 1 { Binding::Core } else { Binding::None })
}

/// The same of threads in two processes.
fn of_threads(shape: Shape, k: u64, rest: &str) -> Point {
    let arguments = match shape {
        Shape::Pairwise => format!("-p -t {k} {rest}"),
        Shape::ManyToOne => format!("-a -x {k} -y 1 {rest}"),
        Shape::OneToMany => format!("-a -x 1 -y {k} {rest}"),
    };
    Point::new(2, arguments)
}

fn both(shape: Shape, rest: &str) -> Vec<Series> {
    let (a, b) = (rest.to_owned(), rest.to_owned());
    vec![
        Series::new(PROCESSES, move |k| Some(of_processes(shape, k, &a))),
        Series::new(THREADS, move |k| Some(of_threads(shape, k, &b))).dashed(),
    ]
}

fn pairwise(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let title = format!("Pairwise message rate, {bytes} bytes, window {}", sizes.window);
    Case {
        series: both(Shape::Pairwise, &multirate(sizes, bytes)),
        ratios: vec![Ratio::new(
            "threads at their best over processes at their best",
            "never above 1/12 of the practical peak, in any library (3.6.1)",
            (THREADS, At::Best),
            (PROCESSES, At::Best),
        )],
        ..rate(sizes, name, figure, title, "pairs")
    }
}

fn many_to_one(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let title = format!("Many-to-one message rate, {bytes} bytes, window {}", sizes.window);
    let published = match bytes {
        1024 => "Open MPI steady at 1.5 M msg/s, Intel MPI rising to 2.8 M at 8 to 12, MPICH falling (3.6.1)",
        _ => "Open MPI better early and falling, as MPICH (3.6.1)",
    };
    Case {
        series: both(Shape::ManyToOne, &multirate(sizes, bytes)),
        ratios: vec![
            Ratio::new(
                "processes: most senders over fewest",
                published,
                (PROCESSES, At::Last),
                (PROCESSES, At::First),
            ),
            Ratio::new(
                "threads: most senders over fewest",
                "falls with more senders; Open MPI recovers (3.6.3)",
                (THREADS, At::Last),
                (THREADS, At::First),
            ),
        ],
        ..rate(sizes, name, figure, title, "senders")
    }
}

fn one_to_many(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let title = format!("One-to-many message rate, {bytes} bytes, window {}", sizes.window);
    let published = match bytes {
        1024 => "rises to 3 M msg/s at 4 to 7 receivers with Open MPI, then falls a little (3.6.1)",
        _ => "level from about 5 receivers on, 2.5 M msg/s with Open MPI (3.6.1)",
    };
    Case {
        series: both(Shape::OneToMany, &multirate(sizes, bytes)),
        ratios: vec![
            Ratio::new(
                "processes: best over one receiver",
                published,
                (PROCESSES, At::Best),
                (PROCESSES, At::First),
            ),
            Ratio::new(
                "threads at their best over processes at their best",
                "none of them comparable with processes (3.6.3)",
                (THREADS, At::Best),
                (PROCESSES, At::Best),
            ),
        ],
        ..rate(sizes, name, figure, title, "receivers")
    }
}

/// Every sender to every receiver: senders on the axis and receivers fixed, or the other way round.
fn many_to_many(sizes: &Sizes, senders_vary: bool) -> Case {
    let fixed: &[u64] = if sizes.quick { &[2] } else { &[1, 2, 4] };
    let mut series = Vec::new();
    let (x, other) = if senders_vary { ("senders", "receivers") } else { ("receivers", "senders") };
    let bytes = 1024;
    for &f in fixed {
        let rest = multirate(sizes, bytes);
        let again = rest.clone();
        let of = move |k: u64| if senders_vary { (k, f) } else { (f, k) };
        series.push(Series::new(format!("processes, {f} {other}"), move |k| {
            let (s, r) = of(k);
            Some(Point::new(2 * s.max(r), format!("-a -n {s} -m {r} {rest}")))
        }));
        let threads = Series::new(format!("threads, {f} {other}"), move |k| {
            let (s, r) = of(k);
            Some(Point::new(2, format!("-a -x {s} -y {r} {again}")))
        });
        series.push(threads.dashed());
    }
    let most = *fixed.last().unwrap_or(&1);
    let (threads, processes) = (format!("threads, {most} {other}"), format!("processes, {most} {other}"));
    let ratio = Ratio::new(
        "threads over processes, the most of both",
        "threads did not always come to an end within 30 s (3.6.3)",
        (&threads, At::Last),
        (&processes, At::Last),
    );
    let title = format!("Many-to-many message rate, {bytes} bytes, a fixed number of {other}");
    let (name, figure) = if senders_vary { ("fig3.11", "3.11") } else { ("fig3.12", "3.12") };
    Case { series, ratios: vec![ratio], ..rate(sizes, name, figure, title, x) }
}

/// Either side as processes or as threads of one.
fn hybrid(sizes: &Sizes) -> Case {
    let line = |label: &str, from: &'static str, to: &'static str| {
        let rest = multirate(sizes, 1024);
        Series::new(label, move |k| {
            let side = |of: &str, n: &str, t: &str| match of {
                "p" => format!("-{n} {k} -{t} 1"),
                _ => format!("-{n} 1 -{t} {k}"),
            };
            let ranks = if from == "t" && to == "t" { 2 } else { 2 * k };
            Some(Point::new(ranks, format!("-a {} {} {rest}", side(from, "n", "x"), side(to, "m", "y"))))
        })
    };
    let series = vec![
        line("processes to processes", "p", "p"),
        line("processes to threads", "p", "t").dashed(),
        line("threads to processes", "t", "p").dashed(),
        line("threads to threads", "t", "t").dashed(),
    ];
    let ratio = |over: &str| {
        let what = format!("{over} over processes to processes, the most of both");
        Ratio::new(
            &what,
            "not published; the mode is 3.5.2's",
            (over, At::Last),
            ("processes to processes", At::Last),
        )
    };
    Case {
        series,
        ratios: ["processes to threads", "threads to processes", "threads to threads"].map(ratio).to_vec(),
        ..rate(
            sizes,
            "hybrid",
            "3.5.2",
            "Every sender to every receiver, 1024 bytes, in hybrid mode".into(),
            "on each side",
        )
    }
}

fn windows(sizes: &Sizes, name: &'static str, shape: Shape) -> Case {
    let list = sizes.cut(&[16, 64, 128, 256, 512]);
    let made = list.iter().map(|&window| {
        let rest = with_window(sizes, 1024, window);
        Series::new(format!("window {window}"), move |k| Some(of_processes(shape, k, &rest)))
    });
    let (title, x) = match shape {
        Shape::Pairwise => ("Pairwise", "pairs"),
        Shape::ManyToOne => ("Many-to-one", "senders"),
        Shape::OneToMany => ("One-to-many", "receivers"),
    };
    let label = |at: Option<&u64>| format!("window {}", at.unwrap_or(&0));
    let ratio = Ratio::new(
        "largest window over smallest, most entities",
        "Intel MPI gains with the window, Open MPI does not (3.6.2)",
        (&label(list.last()), At::Last),
        (&label(list.first()), At::Last),
    );
    let title = format!("{title} message rate of processes, 1024 bytes, by window");
    Case { series: made.collect(), ratios: vec![ratio], ..rate(sizes, name, "3.13", title, x) }
}

fn one_pair(sizes: &Sizes) -> Case {
    let quick = sizes.clone();
    let series = Series::new("one pair", move |window| {
        Some(of_processes(Shape::Pairwise, 1, &with_window(&quick, 1024, window)))
    });
    let xs = sizes.cut(&[128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560]);
    let ratio = Ratio::new(
        "largest window over smallest",
        "level with UCX; falls and varies with an older transport whose credits starve (3.6.2)",
        ("one pair", At::Last),
        ("one pair", At::First),
    );
    Case {
        xs,
        log_y: false,
        series: vec![series],
        ratios: vec![ratio],
        ..rate(sizes, "fig3.14", "3.14", "One pair of processes, 1024 bytes, by window".into(), "window")
    }
}

fn thread_safety(sizes: &Sizes) -> Case {
    let rest = multirate(sizes, 1024);
    let again = rest.clone();
    let series = vec![
        Series::new("MPI_Init", move |k| Some(of_processes(Shape::Pairwise, k, &format!("{rest} -Dthrds")))),
        Series::new("MPI_THREAD_MULTIPLE", move |k| Some(of_processes(Shape::Pairwise, k, &again))).dashed(),
    ];
    let ratio = Ratio::new(
        "MPI_THREAD_MULTIPLE over MPI_Init, fewest pairs",
        "0.95 to 0.97 (3.6.3)",
        ("MPI_THREAD_MULTIPLE", At::First),
        ("MPI_Init", At::First),
    );
    Case {
        series,
        ratios: vec![ratio],
        ..rate(
            sizes,
            "fig3.15",
            "3.15",
            "Minimum cost of thread safety: pairs of processes, 1024 bytes".into(),
            "pairs",
        )
    }
}

fn communicators(sizes: &Sizes) -> Case {
    let rest = multirate(sizes, 1024);
    let again = rest.clone();
    let series = vec![
        Series::new("one communicator", move |k| Some(of_threads(Shape::Pairwise, k, &rest))),
        Series::new("one for each pair", move |k| {
            Some(of_threads(Shape::Pairwise, k, &format!("{again} -c")))
        })
        .dashed(),
    ];
    let ratio = Ratio::new(
        "a communicator for each pair over one for all, most pairs",
        "above 1 where matching is by communicator, 1 where it is global (3.6.3)",
        ("one for each pair", At::Last),
        ("one communicator", At::Last),
    );
    Case {
        log_y: false,
        series,
        ratios: vec![ratio],
        ..rate(
            sizes,
            "fig3.16",
            "3.16",
            "The communicator's effect: pairs of threads, 1024 bytes".into(),
            "pairs",
        )
    }
}
