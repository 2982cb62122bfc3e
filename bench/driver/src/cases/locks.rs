//! One lock and many threads.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(401, |sizes| locks(sizes));

fn locks(sizes: &Sizes) -> Case {
    let series = Series::new("one lock", |t| Some(Point::new(1, format!("-t {t} -i {{i}}"))));
    Case {
        name: "fig4.1",
        figure: "4.1",
        title: "Time to take one lock, by threads".into(),
        program: Program::Locks,
        x: "threads",
        xs: sizes.entities.clone(),
        unit: "ns",
        log_x: false,
        log_y: false,
        // A library's name stands here, too, but the lock is the system's.
        series: vec![series],
        ratios: vec![Ratio::new(
            "most threads over fewest",
            "rises faster than the threads (4.2)",
            ("one lock", SeriesPoint::Last),
            ("one lock", SeriesPoint::First),
        )],
        iterations: None,
    }
}
