//! The task runtime itself: tiled factorisations.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(409, |sizes| factorisation(sizes, "table4.1-cholesky", Program::Cholesky, "Cholesky"));
case!(411, |sizes| factorisation(sizes, "table4.1-qr", Program::Qr, "QR"));

fn factorisation(sizes: &Sizes, name: &'static str, program: Program, what: &str) -> Case {
    let (tiles, side) = match (sizes.quick, program) {
        (true, _) => (4, 16),
        // It has four times as many operations.
        (false, Program::Qr) => (16, 64),
        (false, _) => (24, 64),
    };
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |w| Some(Point::new(2, format!("-t {tiles} -b {side} -w {w} -m {mode}"))))
    };
    Case {
        name,
        figure: "table 4.1",
        title: format!("Tiled {what} factorisation by tasks, {tiles} by {tiles} tiles of {side}"),
        program,
        x: "worker threads",
        xs: sizes.cut(&[1, 2, 4]),
        unit: "GFLOP/s",
        log_x: false,
        log_y: false,
        series: vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "sync").ours().dashed()],
        ratios: vec![Ratio::new(
            "MPIX_Sync_query over MPI_Testsome, one worker",
            "about 1 for dpotrf and dgeqrf (table 4.1)",
            ("MPIX_Sync_query", SeriesPoint::First),
            ("MPI_Testsome", SeriesPoint::First),
        )],
        // It has a length of its own.
        iterations: Some(1),
    }
}
