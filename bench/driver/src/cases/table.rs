//! Messages out of sequence and the time of matching.

use super::pinned;
use super::strategy::{ASSIGNMENTS, INSTANCES, OUT_OF_SEQUENCE, label, with_strategy};
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(507, |sizes| table(sizes));

/// Microseconds, of all threads of both ranks.
const MATCH_TIME: &str = "OMPI_SPC_MATCH_TIME";

/// Counters at 20 pairs: 20 × 128 × (1000 + 10 of warm-up) messages.
fn table(sizes: &Sizes) -> Case {
    let mut series = Vec::new();
    let strategies = [("serial", ""), ("concurrent", ""), ("concurrent", "-c")];
    for assignment in ASSIGNMENTS {
        for (progress, more) in strategies {
            for &n in &sizes.cut(&INSTANCES) {
                let matching = if more.is_empty() { "" } else { " progress and matching" };
                let arguments = format!("{} {more}", pinned(sizes, 0));
                let line = Series::new(format!("{progress}{matching}, {}", label(assignment, n)), move |t| {
                    let point = Point::new(2, format!("-p -t {t} {arguments}"));
                    Some(with_strategy(point, assignment, progress, n).with("mpi_spc_dump_enabled", 1))
                });
                series.push(line.ours());
            }
        }
    }
    let published = [
        ("serial", "0.8332, 0.8998, 0.8608 with 1, 10, 20 CRIs (table 5.2)"),
        ("concurrent", "0.9189, 0.9382, 0.9362 with 1, 10, 20 CRIs (table 5.2)"),
        ("concurrent progress and matching", "0.0059, 0.00002, 0 with 1, 10, 20 CRIs (table 5.2)"),
    ];
    let most = *sizes.cut(&INSTANCES).last().unwrap_or(&1);
    let mut ratios = Vec::new();
    for (strategy, text) in published {
        for assignment in ASSIGNMENTS {
            let own = format!("{strategy}, {}", label(assignment, most));
            let what = format!("share of messages out of sequence: {own}");
            ratios.push(Ratio::share(&what, text, &own, OUT_OF_SEQUENCE));
        }
    }
    let times = [
        ("concurrent", "2.95 with 20 CRIs (8,069 over 2,738 ms; table 5.2)"),
        ("concurrent progress and matching", "0.14 with 20 CRIs (389 over 2,738 ms; table 5.2)"),
    ];
    for (strategy, text) in times {
        for assignment in ASSIGNMENTS {
            let under = format!("serial, {}", label(assignment, most));
            let over = format!("{strategy}, {}", label(assignment, most));
            let what = format!("time of matching: {over} over serial");
            let mut ratio = Ratio::new(&what, text, (&over, SeriesPoint::Last), (&under, SeriesPoint::Last));
            ratio.quantity = MATCH_TIME;
            ratios.push(ratio);
        }
    }
    Case {
        name: "table5.2",
        figure: "table 5.2",
        title: "Counters of 20 pairs of threads, 2,585,600 messages".into(),
        program: Program::Multirate,
        x: "pairs of threads",
        xs: if sizes.quick { sizes.entities.clone() } else { vec![20] },
        unit: "msg/s",
        log_x: false,
        log_y: false,
        series,
        ratios,
        iterations: Some(if sizes.quick { 2 } else { 1000 }),
    }
}
