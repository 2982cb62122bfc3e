//! Endpoints of 16 threads by verbs, by what they share (Zambre et al., *Scalable Communication Endpoints*, ICPADS 2018, figures 2b to 14): on the device in
//! software, whose objects and events are counted; rates are of a model.

use crate::case::{Case, Point, Ratio, Series, Sizes};
use crate::program::Program;

case!(901, extremes);
case!(902, scaling);
case!(903, |sizes| sharing(sizes, "verbs-buffer", "A buffer", "buffer"));
case!(904, lines);
case!(905, contexts);
case!(906, |sizes| sharing(sizes, "verbs-pd", "A protection domain", "pd"));
case!(907, |sizes| sharing(sizes, "verbs-mr", "A registration", "mr"));
case!(908, |sizes| sharing(sizes, "verbs-cq", "A completion queue", "cq"));
case!(909, |sizes| signals(sizes, "verbs-signals-32", 32));
case!(910, |sizes| signals(sizes, "verbs-signals-1", 1));
case!(911, |sizes| sharing(sizes, "verbs-qp", "A queue pair", "qp"));
case!(912, arrays);
case!(913, stencil);

/// Threads, and threads that share an object.
const COUNTS: [u64; 5] = [1, 2, 4, 8, 16];
/// A line with all features, and one without each.
const FEATURES: [(&str, &str); 5] = [
    ("All", ""),
    ("All w/o Inline", "-w inline"),
    ("All w/o Postlist", "-w postlist"),
    ("All w/o Unsignaled", "-w unsignaled"),
    ("All w/o BlueFlame", "-w blueflame"),
];

/// Categories of the paper, as the programs name them and as it does; places on the axis of global arrays.
const CATEGORIES: [(&str, &str); 6] = [
    ("mpi_everywhere", "MPI everywhere"),
    ("2xdynamic", "2xDynamic"),
    ("dynamic", "Dynamic"),
    ("shared_dynamic", "Shared Dynamic"),
    ("static", "Static"),
    ("mpi_threads", "MPI+threads"),
];
/// Names of places on the axes of global arrays and of the stencil, for pictures.
pub const CATEGORY_NAMES: [&str; 6] =
    ["MPI everywhere", "2xDynamic", "Dynamic", "Shared Dynamic", "Static", "MPI+threads"];
pub const SHAPE_NAMES: [&str; 5] = ["16.1", "8.2", "4.4", "2.8", "1.16"];
/// The one line of global arrays.
pub const BY_CATEGORY: &str = "16 threads";

/// A job of the program on the device.
fn job(arguments: String) -> Point {
    Point::new(1, arguments)
}

/// The counts of a place do not need many messages.
fn messages(sizes: &Sizes) -> u64 {
    if sizes.quick { 128 } else { 1024 }
}

fn case(
    sizes: &Sizes,
    name: &'static str,
    title: String,
    x: &'static str,
    xs: &[u64],
    series: Vec<Series>,
) -> Case {
    let short = sizes.quick && !sizes.ends;
    Case {
        name,
        figure: "scalable endpoints",
        title,
        program: Program::VerbsRate,
        x,
        xs: if short { xs.iter().take(2).copied().collect() } else { xs.to_vec() },
        unit: "million messages/s, of a model",
        log_x: true,
        log_y: false,
        series: series.into_iter().map(Series::ours).collect(),
        ratios: Vec::<Ratio>::new(),
        iterations: Some(messages(sizes)),
    }
}

fn extremes(sizes: &Sizes) -> Case {
    let line = |(category, label): (&'static str, &str)| {
        Series::new(label, move |t| Some(job(format!("-t {t} -c {category} -p 1 -q 1 -n {{i}}"))))
    };
    let series =
        [("mpi_everywhere", "a process each"), ("mpi_threads", "one endpoint of all")].map(line).to_vec();
    case(
        sizes,
        "verbs-extremes",
        "An endpoint of each thread, and one of all".to_owned(),
        "threads",
        &COUNTS,
        series,
    )
}

fn scaling(sizes: &Sizes) -> Case {
    let line = |(label, without): (&str, &'static str)| {
        Series::new(label, move |t| Some(job(format!("-t {t} {without} -n {{i}}"))))
    };
    let title = "A context, a thread domain and a queue pair for each thread".to_owned();
    case(sizes, "verbs-threads", title, "threads", &COUNTS, FEATURES.map(line).to_vec())
}

/// Lines of features where so many of 16 threads share an object.
fn shared(object: &'static str) -> Vec<Series> {
    let line = |(label, without): (&str, &'static str)| {
        Series::new(label, move |ways| Some(job(format!("-t 16 -S {object}={ways} {without} -n {{i}}"))))
    };
    FEATURES.map(line).to_vec()
}

fn sharing(sizes: &Sizes, name: &'static str, what: &str, object: &'static str) -> Case {
    case(
        sizes,
        name,
        format!("{what} shared by so many of 16 threads"),
        "threads that share",
        &COUNTS,
        shared(object),
    )
}

fn contexts(sizes: &Sizes) -> Case {
    let line = |(label, category): (&str, &'static str)| {
        Series::new(label, move |ways| {
            let shares = format!("-S context={ways} -S pd={ways} -S mr={ways}");
            Some(job(format!("-t 16 -c {category} {shares} -w postlist -n {{i}}")))
        })
    };
    let further =
        [("All w/o Postlist 2xQPs", "2xdynamic"), ("All w/o Postlist Sharing 2", "shared_dynamic")].map(line);
    let series = shared("context").into_iter().chain(further).collect();
    let title = "A context shared by so many of 16 threads".to_owned();
    case(sizes, "verbs-context", title, "threads that share", &COUNTS, series)
}

fn lines(sizes: &Sizes) -> Case {
    let line = |(label, option): (&str, &'static str)| {
        Series::new(label, move |t| Some(job(format!("-t {t} -w inline {option} -n {{i}}"))))
    };
    let series = [("aligned", ""), ("on one line", "-u")].map(line).to_vec();
    let title = "Buffers on lines of their own and on one line, without inline".to_owned();
    case(sizes, "verbs-lines", title, "threads", &COUNTS, series)
}

fn signals(sizes: &Sizes, name: &'static str, list: u64) -> Case {
    let line = |ways: u64| {
        Series::new(format!("{ways} share"), move |period| {
            Some(job(format!("-t 16 -p {list} -q {period} -S cq={ways} -n {{i}}")))
        })
    };
    let title = format!("A completion queue shared by so many of 16 threads, lists of {list}");
    case(sizes, name, title, "requests for each signal", &[1, 4, 16, 64], COUNTS.map(line).to_vec())
}

fn arrays(sizes: &Sizes) -> Case {
    let tile = if sizes.quick { 4 } else { 8 };
    let line = Series::new(BY_CATEGORY, move |at| {
        let (category, _) = CATEGORIES.get(usize::try_from(at).ok()?)?;
        Some(job(format!("-t 16 -c {category} -T 2 -g {tile}")))
    });
    let places: Vec<u64> = (0..CATEGORIES.len() as u64).collect();
    let title = "Global arrays by category, 16 threads".to_owned();
    let case = case(sizes, "verbs-arrays", title, "category", &places, vec![line]);
    Case { program: Program::VerbsArrays, log_x: false, ..case }
}

fn stencil(sizes: &Sizes) -> Case {
    const SHAPES: [(u64, u64); 5] = [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)];
    let line = |(category, label): (&'static str, &str)| {
        Series::new(label, move |at| {
            let (ranks, threads) = SHAPES.get(usize::try_from(at).ok()?)?;
            Some(job(format!("-r {ranks} -t {threads} -c {category}")))
        })
    };
    let places: Vec<u64> = (0..SHAPES.len() as u64).collect();
    let title = "A stencil of five points, processes.threads".to_owned();
    let series = CATEGORIES.map(line).to_vec();
    let case = case(sizes, "verbs-stencil", title, "processes.threads", &places, series);
    Case { program: Program::VerbsStencil, log_x: false, ..case }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_names() {
        assert_eq!(CATEGORIES.map(|(_, name)| name), CATEGORY_NAMES);
        let sizes = Sizes::whole();
        assert_eq!(
            (arrays(&sizes).xs.len(), stencil(&sizes).xs.len()),
            (CATEGORY_NAMES.len(), SHAPE_NAMES.len())
        );
    }
}
