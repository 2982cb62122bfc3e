//! One pair of processes by the number of messages in a window.

use super::shape::{Shape, of_processes, rate};
use super::with_window;
use crate::case::{Case, Ratio, Series, SeriesPoint, Sizes};

case!(317, |sizes| one_pair(sizes));

/// As published, in multiples of the window of the other figures.
const WINDOWS: [u64; 11] = [128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560];
/// Fewer and more than btl-verbs has unless told otherwise.
const CREDITS: [u64; 3] = [4, 16, 1024];

fn one_pair(sizes: &Sizes) -> Case {
    let line = |label: String| {
        let sizes = sizes.clone();
        let job = move |window| of_processes(Shape::Pairwise, 1, &with_window(&sizes, 1024, window));
        (label, job)
    };
    let (label, job) = line("one pair".into());
    let mut series = vec![Series::new(label, move |window| Some(job(window)))];
    // As the dissertation's author did with the older transport: credits by parameter.
    for &credits in CREDITS.iter().filter(|_| sizes.verbs) {
        let (label, job) = line(format!("one pair, {credits} credits"));
        let with = move |window| Some(job(window).with("btl_verbs_credits", credits));
        series.push(Series::new(label, with).ours().dashed());
    }
    let xs = if sizes.quick && sizes.verbs { vec![1, 2560] } else { sizes.cut(&WINDOWS) };
    let ratio = Ratio::new(
        "largest window over smallest",
        "level with UCX; falls and varies with an older transport whose credits starve (3.6.2)",
        ("one pair", SeriesPoint::Last),
        ("one pair", SeriesPoint::First),
    );
    Case {
        xs,
        log_y: false,
        series,
        ratios: vec![ratio],
        ..rate(sizes, "fig3.14", "3.14", "One pair of processes, 1024 bytes, by window".into(), "window")
    }
}
