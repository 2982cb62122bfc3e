//! Sharing between threads, counted.

use super::strategy::{ASSIGNMENTS, with_strategy};
use crate::case::{Case, Point, Series, Sizes};
use crate::program::Program;

case!(509, |sizes| sharing(sizes));

/// Sharing between threads, by count, where there are not enough cores to see it in time. Not with one CRI, whose lock every
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
