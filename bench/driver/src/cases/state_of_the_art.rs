//! Threads and processes of all libraries.

use super::pinned;
use super::strategy::{INSTANCES, with_strategy};
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(508, |sizes| state_of_the_art(sizes));

fn state_of_the_art(sizes: &Sizes) -> Case {
    let rest = pinned(sizes, 0);
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
                ("threads", SeriesPoint::Last),
                ("processes", SeriesPoint::Last),
            ),
            Ratio::new(
                "threads with CRIs over threads as installed, most pairs",
                "2 with ordinary communicators (5.4.5)",
                ("threads, CRIs", SeriesPoint::Last),
                ("threads", SeriesPoint::Last),
            ),
            Ratio::new(
                "threads with CRIs and a communicator each over processes, most pairs",
                "up to 10 times the base, still below processes (5.4.5)",
                ("threads, CRIs and a communicator each", SeriesPoint::Last),
                ("processes", SeriesPoint::Last),
            ),
        ],
        iterations: None,
    }
}
