//! Pairs of processes and of threads.

use super::multirate;
use super::shape::{PROCESSES, Shape, THREADS, both, rate};
use crate::case::{Case, Ratio, SeriesPoint, Sizes};

case!(305, |sizes| pairwise(sizes, "fig3.5", "3.5", 1024));
case!(306, |sizes| pairwise(sizes, "fig3.6", "3.6", 4096));

fn pairwise(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let title = format!("Pairwise message rate, {bytes} bytes, window {}", sizes.window);
    Case {
        series: both(Shape::Pairwise, &multirate(sizes, bytes)),
        ratios: vec![Ratio::new(
            "threads at their best over processes at their best",
            "never above 1/12 of the practical peak, in any library (3.6.1)",
            (THREADS, SeriesPoint::Best),
            (PROCESSES, SeriesPoint::Best),
        )],
        ..rate(sizes, name, figure, title, "pairs")
    }
}
