//! One pair of processes by the number of messages in a window.

use super::shape::{Shape, of_processes, rate};
use super::with_window;
use crate::case::{At, Case, Ratio, Series, Sizes};

case!(317, |sizes| one_pair(sizes));

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
