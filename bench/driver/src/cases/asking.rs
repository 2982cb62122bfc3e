//! Asking for requests that are complete.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::library::Binding;
use crate::program::Program;

case!(405, |sizes| asking(sizes, "fig4.6", 0));
case!(406, |sizes| asking(sizes, "fig4.6-completed", 1));
case!(407, |sizes| asking(sizes, "fig4.6-half", 2));

/// Time of asking once by the number of requests; of each `share`-th part (0: none) is complete, one at least.
fn asking(sizes: &Sizes, name: &'static str, share: u64) -> Case {
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |n| {
            let complete = match share {
                0 => 0,
                1 => 1,
                _ => n.div_ceil(share),
            };
            Some(Point::new(2, format!("-m {mode} -n {n} -c {complete} -i {{i}}")).bound(Binding::Core))
        })
    };
    let what = match share {
        0 => "none complete",
        1 => "one complete",
        _ => "half of them complete",
    };
    let mut series = vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "query").ours().dashed()];
    if share > 1 {
        series.push(line("MPIX_Sync_query_bulk", "bulk").ours().dashed());
    }
    let published = match share {
        0 => "optimal, whatever the number of requests (4.6.1)",
        _ => "the gain shrinks with the number completed, down to none (4.6.1)",
    };
    let growth = |label: &str| {
        let what = format!("{label}: most requests over fewest, {what}");
        Ratio::new(&what, published, (label, SeriesPoint::Last), (label, SeriesPoint::First))
    };
    Case {
        name,
        figure: "4.6",
        title: format!("Time of asking for completed requests, {what}"),
        program: Program::Sync,
        x: "requests",
        xs: sizes.cut(&[1, 4, 16, 64, 256, 1024, 4096]),
        unit: "ns",
        log_x: true,
        log_y: true,
        ratios: vec![
            growth("MPIX_Sync_query"),
            growth("MPI_Testsome"),
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, most requests",
                published,
                ("MPI_Testsome", SeriesPoint::Last),
                ("MPIX_Sync_query", SeriesPoint::Last),
            ),
        ],
        series,
        iterations: None,
    }
}
