//! One sender and many receivers.

use super::multirate;
use super::shape::{PROCESSES, Shape, THREADS, both, rate};
use crate::case::{Case, Ratio, SeriesPoint, Sizes};

case!(309, |sizes| one_to_many(sizes, "fig3.9", "3.9", 1024));
case!(310, |sizes| one_to_many(sizes, "fig3.10", "3.10", 4096));

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
                (PROCESSES, SeriesPoint::Best),
                (PROCESSES, SeriesPoint::First),
            ),
            Ratio::new(
                "threads at their best over processes at their best",
                "none of them comparable with processes (3.6.3)",
                (THREADS, SeriesPoint::Best),
                (PROCESSES, SeriesPoint::Best),
            ),
        ],
        ..rate(sizes, name, figure, title, "receivers")
    }
}
