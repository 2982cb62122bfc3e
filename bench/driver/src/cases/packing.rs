//! Packing with the help of threads that wait.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(410, |sizes| packing(sizes));

fn packing(sizes: &Sizes) -> Case {
    let list: &[u64] = if sizes.quick { &[0, 2] } else { &[0, 1, 3, 7] };
    let label = |t: u64| match t {
        0 => "nobody waits".to_owned(),
        1 => "1 thread waits".to_owned(),
        _ => format!("{t} threads wait"),
    };
    let series = list.iter().map(|&t| {
        Series::new(label(t), move |bytes| Some(Point::new(1, format!("-b {bytes} -t {t} -i {{i}}"))))
    });
    Case {
        name: "fig4.8",
        figure: "4.8",
        title: "Bandwidth of MPI_Pack of a vector".into(),
        program: Program::Pack,
        x: "bytes",
        xs: sizes.cut(&[10_240, 102_400, 1_048_576, 10_485_760, 104_857_600]),
        unit: "MB/s",
        log_x: true,
        // Data that fits a cache is packed ten times as fast as data that threads can help with.
        log_y: true,
        series: series.collect(),
        ratios: vec![Ratio::new(
            "a thread that waits over none, most bytes",
            "a gain above 100 KB, most around 10 MB (4.6.2)",
            (&label(list[1]), SeriesPoint::Last),
            (&label(0), SeriesPoint::Last),
        )],
        iterations: None,
    }
}
