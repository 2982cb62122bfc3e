//! Pairs of threads with one communicator and with one each.

use super::multirate;
use super::shape::{Shape, of_threads, rate};
use crate::case::{Case, Ratio, Series, SeriesPoint, Sizes};

case!(319, |sizes| communicators(sizes));

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
        ("one for each pair", SeriesPoint::Last),
        ("one communicator", SeriesPoint::Last),
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
