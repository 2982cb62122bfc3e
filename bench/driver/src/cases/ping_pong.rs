//! Messages as a task runtime sends them.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::library::Binding;
use crate::program::Program;

case!(408, |sizes| ping_pong(sizes));

/// As a task runtime sends: persistent receives that wait for anybody, asked for again and again.
fn ping_pong(sizes: &Sizes) -> Case {
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |bytes| {
            Some(Point::new(2, format!("-m {mode} -n 16 -p {bytes} -i {{i}}")).bound(Binding::Core))
        })
    };
    Case {
        name: "table4.1",
        figure: "table 4.1",
        title: "Ping-pong of a runtime with 16 persistent receives".into(),
        program: Program::Sync,
        x: "bytes",
        xs: sizes.cut(&[400, 4000, 40_000, 400_000]),
        unit: "us",
        log_x: true,
        log_y: true,
        series: vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "query").ours().dashed()],
        ratios: vec![
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, 400 bytes",
                "1.1373 (4000: 1.0715, 40000: 1.031, 400000: 1.0255; table 4.1)",
                ("MPI_Testsome", SeriesPoint::First),
                ("MPIX_Sync_query", SeriesPoint::First),
            ),
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, most bytes",
                "1.0255 at 400000 (table 4.1)",
                ("MPI_Testsome", SeriesPoint::Last),
                ("MPIX_Sync_query", SeriesPoint::Last),
            ),
        ],
        iterations: None,
    }
}
