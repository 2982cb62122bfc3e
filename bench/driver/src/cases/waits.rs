//! More waiting threads than cores.

use super::multirate;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::library::Binding;
use crate::program::Program;

/// Every waiting thread contends for progress: by waiting for one lock around it, with one instance, the dissertation's Algorithm 1; and by
/// attempts at the locks of instances.
const ONE_LOCK: &str = "MPI_Waitall, Algorithm 1";
const RACE: &str = "MPI_Waitall, racing";

case!(403, |sizes| waits(sizes, "fig4.3", "4.3", Binding::None));
case!(404, |sizes| waits(sizes, "fig4.4", "4.4", Binding::OneCore));

/// The library's own wait, the wait that there was before sync objects (`runtime_wait`), and a loop of tests, which every library has.
fn waits(sizes: &Sizes, name: &'static str, figure: &'static str, binding: Binding) -> Case {
    let rest = multirate(sizes, 8);
    let job = move |t: u64, more: &str| Point::new(2, format!("-p -t {t} {rest} -u {more}")).bound(binding);
    let line = |label: &str, more: &'static str| {
        let job = job.clone();
        Series::new(label, move |t| Some(job(t, more)))
    };
    let racing = |label: &str, params: &'static [(&'static str, &'static str)]| {
        let job = job.clone();
        let with = |point: Point, (name, value): &(&str, &str)| point.with(name, value);
        let race = move |t| job(t, "").with("runtime_wait", "race");
        Series::new(label, move |t| Some(params.iter().fold(race(t), with))).ours()
    };
    let (title, published) = match binding {
        Binding::OneCore => ("all on one core", "up to 250 in shared memory, 60 between nodes (4.5)"),
        _ => ("on all cores", "up to 8 in shared memory (7 in 4.7), 2.5 to 3 between nodes (4.5)"),
    };
    let switches = |title, other| {
        let published = "not published; the cause named in 4.5";
        let mut ratio =
            Ratio::new(title, published, (other, SeriesPoint::Last), ("MPI_Waitall", SeriesPoint::Last));
        ratio.quantity = "context switches per message";
        ratio
    };
    Case {
        name,
        figure,
        title: format!(
            "Waiting threads, {title}: MPI_Waitall, Algorithm 1, a racing one and a loop, 8 bytes"
        ),
        program: Program::Multirate,
        x: "threads",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series: vec![
            line("MPI_Waitall", ""),
            racing(ONE_LOCK, &[("runtime_progress", "one_lock"), ("runtime_num_cris", "1")]),
            racing(RACE, &[]),
            line("loop of MPI_Testall", "-l").dashed(),
        ],
        ratios: vec![
            Ratio::new(
                "MPI_Waitall over Algorithm 1, most threads",
                published,
                ("MPI_Waitall", SeriesPoint::Last),
                (ONE_LOCK, SeriesPoint::Last),
            ),
            Ratio::new(
                "MPI_Waitall over racing waiters, most threads",
                "as over Algorithm 1, with locks that are tried",
                ("MPI_Waitall", SeriesPoint::Last),
                (RACE, SeriesPoint::Last),
            ),
            Ratio::new(
                "MPI_Waitall over the loop, most threads",
                "as over racing waiters, where these are not to be had",
                ("MPI_Waitall", SeriesPoint::Last),
                ("loop of MPI_Testall", SeriesPoint::Last),
            ),
            switches("context switches for each message: Algorithm 1 over wait, most threads", ONE_LOCK),
            switches("context switches for each message: race over wait, most threads", RACE),
            switches(
                "context switches for each message: loop over wait, most threads",
                "loop of MPI_Testall",
            ),
        ],
        iterations: None,
    }
}
