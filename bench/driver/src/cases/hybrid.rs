//! Processes on one side and threads on the other.

use super::multirate;
use super::shape::rate;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};

case!(313, |sizes| hybrid(sizes));

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
            (over, SeriesPoint::Last),
            ("processes to processes", SeriesPoint::Last),
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
