//! Tags of programs' messages, by windows of few bits and by the number of processes (Dosanjh et al., *Fuzzy Matching*, 2019, table I, figures 3 and 4): traced by
//! `bench/trace/applications.py`, whose results are stored.

use crate::case::{Case, Point, Series, Sizes};
use crate::program::Program;

case!(811, |sizes| classes(sizes));
case!(812, |sizes| tags(sizes));
case!(813, |sizes| scale(sizes));

/// Programs with their numbers of processes, as in `bench/trace/applications.toml`.
const PROGRAMS: [(&str, [u64; 3]); 10] = [
    ("HPCG", [8, 16, 27]),
    ("miniMD", [8, 16, 27]),
    ("LULESH", [8, 27, 64]),
    ("Pennant", [8, 16, 27]),
    ("MiniAMR", [8, 16, 27]),
    ("MiniFE", [8, 16, 27]),
    ("NEKbone", [8, 16, 27]),
    ("AMG", [8, 16, 27]),
    ("MILC", [8, 16, 32]),
    ("LAMMPS", [8, 16, 27]),
];
/// Bits of a window.
const BITS: u64 = 24;

/// A line whose values are stored ones.
fn line(label: impl Into<String>) -> Series {
    Series::new(label, |_| Some(Point::new(1, String::new()))).ours()
}

fn case(
    name: &'static str,
    title: &str,
    x: &'static str,
    xs: Vec<u64>,
    unit: &'static str,
    series: Vec<Series>,
) -> Case {
    Case {
        name,
        figure: "table I, 3 and 4 (matching)",
        title: title.to_owned(),
        program: Program::Trace,
        x,
        xs,
        unit,
        log_x: false,
        log_y: false,
        series,
        ratios: Vec::new(),
        iterations: Some(1),
    }
}

fn classes(_: &Sizes) -> Case {
    let xs = vec![8, 16, 27, 32, 64];
    let series = PROGRAMS.map(|(name, _)| line(name)).to_vec();
    let case = case("trace-classes", "Tags of a program by its processes", "processes", xs, "tags", series);
    Case { log_x: true, log_y: true, ..case }
}

fn bits() -> Vec<u64> {
    (1..=BITS).collect()
}

fn tags(_: &Sizes) -> Case {
    let title = "False positives of the worst process by the bits of a window on tags, most processes";
    let series = PROGRAMS.map(|(name, _)| line(name)).to_vec();
    case("trace-tags", title, "bits", bits(), "share of all messages", series)
}

fn scale(_: &Sizes) -> Case {
    let title = "False positives of programs whose tags grow with the processes";
    let of = |(name, ranks): (&'static str, [u64; 3])| ranks.map(|n| line(format!("{name}, {n} processes")));
    let series = PROGRAMS.into_iter().flat_map(of).collect();
    case("trace-scale", title, "bits", bits(), "share of all messages", series)
}
