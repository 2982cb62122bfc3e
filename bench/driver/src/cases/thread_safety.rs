//! The cost of a thread level that a process does not use.

use super::multirate;
use super::shape::{Shape, of_processes, rate};
use crate::case::{Case, Ratio, Series, SeriesPoint, Sizes};

case!(318, |sizes| thread_safety(sizes));

fn thread_safety(sizes: &Sizes) -> Case {
    let rest = multirate(sizes, 1024);
    let again = rest.clone();
    let series = vec![
        Series::new("MPI_Init", move |k| Some(of_processes(Shape::Pairwise, k, &format!("{rest} -Dthrds")))),
        Series::new("MPI_THREAD_MULTIPLE", move |k| Some(of_processes(Shape::Pairwise, k, &again))).dashed(),
    ];
    let ratio = Ratio::new(
        "MPI_THREAD_MULTIPLE over MPI_Init, fewest pairs",
        "0.95 to 0.97 (3.6.3)",
        ("MPI_THREAD_MULTIPLE", SeriesPoint::First),
        ("MPI_Init", SeriesPoint::First),
    );
    Case {
        series,
        ratios: vec![ratio],
        ..rate(
            sizes,
            "fig3.15",
            "3.15",
            "Minimum cost of thread safety: pairs of processes, 1024 bytes".into(),
            "pairs",
        )
    }
}
