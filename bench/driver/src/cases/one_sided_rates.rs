//! Rates of puts by threads with communication resources of their own or not (figure 5.5).

use super::one_sided::COMPONENTS;
use super::strategy::with_strategy;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(510, |sizes| rates(sizes, "fig5.5-8", 8));
case!(511, |sizes| rates(sizes, "fig5.5-1024", 1024));
case!(512, |sizes| rates(sizes, "fig5.5-16384", 16384));

/// CRIs, as published for the machine of Haswell processors, and for the one of Knights Landing.
const INSTANCES: u64 = 32;
const INSTANCES_OF_THE_OTHER: u64 = 72;

/// Memory of the program's own, which a transport has to reach: puts into memory that all ranks of a node have mapped use no
/// communication resource. That is the line of windows that MPI allocates.
fn rates(sizes: &Sizes, name: &'static str, bytes: u64) -> Case {
    let (instances, more_instances, effort) = match sizes.quick {
        true => (2, 3, "-i 3 -d 8 -v"),
        false => (INSTANCES, INSTANCES_OF_THE_OTHER, "-d 1000 -m 30"),
    };
    let job = move |threads: u64, more: &str| {
        Point::new(2, format!("-o put -s flush -x -t {threads} -l {} {effort} {more}", bytes * threads))
    };
    let ways = [
        ("one CRI", "dedicated", 1),
        ("round robin", "round_robin", instances),
        ("dedicated", "dedicated", instances),
        ("dedicated, as on the other machine", "dedicated", more_instances),
    ];
    let mut series = Vec::new();
    for (what, assignment, count) in ways {
        for progress in ["serial", "concurrent"] {
            let line = Series::new(format!("{what}, {progress} progress"), move |threads| {
                let point = job(threads, "-w -c").with("osc", COMPONENTS[0]);
                Some(with_strategy(point, assignment, progress, count))
            });
            series.push(if progress == "serial" { line.ours() } else { line.ours().dashed() });
        }
    }
    series.push(Series::new("as installed", move |threads| Some(job(threads, "-w"))));
    series.push(Series::new("as installed, allocated by MPI", move |threads| Some(job(threads, ""))));
    let last = |line: &'static str| (line, SeriesPoint::Last);
    let ratios = vec![
        Ratio::new(
            "dedicated CRIs over one, most threads",
            "over 200 at the most threads (abstract)",
            last("dedicated, serial progress"),
            last("one CRI, serial progress"),
        ),
        Ratio::new(
            "dedicated CRIs over round robin, most threads",
            "significantly above 1 (5.4.6)",
            last("dedicated, serial progress"),
            last("round robin, serial progress"),
        ),
        Ratio::new(
            "concurrent over serial progress, dedicated CRIs, most threads",
            "little benefit (5.4.6)",
            last("dedicated, concurrent progress"),
            last("dedicated, serial progress"),
        ),
        Ratio::new(
            "dedicated CRIs: most threads over one",
            "nearly the number of threads, each with a core (5.4.6)",
            last("dedicated, serial progress"),
            ("dedicated, serial progress", SeriesPoint::First),
        ),
    ];
    Case {
        name,
        figure: "5.5",
        title: format!("Puts of {bytes} bytes and a flush, by threads"),
        program: Program::OneSidedRate,
        x: "threads",
        xs: sizes.origins.clone(),
        unit: "puts/s",
        log_x: true,
        log_y: true,
        series,
        ratios,
        iterations: Some(1),
    }
}
