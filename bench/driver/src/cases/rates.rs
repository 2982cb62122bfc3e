//! Message rates of threads by assignment, progress and number of CRIs.

use super::pinned;
use super::strategy::{ASSIGNMENTS, INSTANCES, label, with_strategy};
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(501, |sizes| rates(
    sizes,
    &Part { name: "fig5.2a", figure: "5.2a", progress: "serial", more: "", what: "serial progress" }
));
case!(502, |sizes| rates(
    sizes,
    &Part { name: "fig5.2b", figure: "5.2b", progress: "concurrent", more: "", what: "concurrent progress" }
));
case!(503, |sizes| rates(
    sizes,
    &Part {
        name: "fig5.2c",
        figure: "5.2c",
        progress: "concurrent",
        more: "-c",
        what: "concurrent progress, a communicator for each pair",
    }
));
case!(504, |sizes| rates(
    sizes,
    &Part {
        name: "fig5.3a",
        figure: "5.3a",
        progress: "serial",
        more: "-o -A",
        what: "serial progress, overtaking allowed, any tag",
    }
));
case!(505, |sizes| rates(
    sizes,
    &Part {
        name: "fig5.3b",
        figure: "5.3b",
        progress: "concurrent",
        more: "-o -A",
        what: "concurrent progress, overtaking allowed, any tag",
    }
));
case!(506, |sizes| rates(
    sizes,
    &Part {
        name: "fig5.3c",
        figure: "5.3c",
        progress: "concurrent",
        more: "-o -A -c",
        what: "concurrent progress, overtaking allowed, any tag, a communicator for each pair",
    }
));

struct Part {
    name: &'static str,
    figure: &'static str,
    progress: &'static str,
    /// Options of multirate.
    more: &'static str,
    what: &'static str,
}

fn rates(sizes: &Sizes, part: &Part) -> Case {
    let instances = sizes.cut(&INSTANCES);
    let most = *instances.last().unwrap_or(&1);
    let mut series = Vec::new();
    for &n in &instances {
        for assignment in ASSIGNMENTS {
            let arguments = format!("{} {}", pinned(sizes, 0), part.more);
            let progress = part.progress;
            let line = Series::new(label(assignment, n), move |t| {
                Some(with_strategy(Point::new(2, format!("-p -t {t} {arguments}")), assignment, progress, n))
            });
            series.push(if assignment == "round_robin" { line.ours() } else { line.ours().dashed() });
        }
    }
    let arguments = format!("{} {}", pinned(sizes, 0), part.more);
    series.push(Series::new("as installed", move |t| Some(Point::new(2, format!("-p -t {t} {arguments}")))));
    let base = label("dedicated", 1);
    let (what, published) = match part.figure {
        "5.2a" => ("gain of CRIs alone", "up to 2 (5.4.1)"),
        "5.2b" => {
            ("gain of CRIs with concurrent progress", "below 1: matching takes three times as long (5.4.2)")
        }
        "5.2c" => {
            ("gain of CRIs with concurrent progress and matching", "up to 10 over the base (5.4.3, 5.6)")
        }
        "5.3a" => ("gain of CRIs without order", "some; level at 500 K msg/s whatever the threads (5.4.4)"),
        "5.3b" => {
            ("gain of CRIs without order, concurrent progress", "level where serial progress is (5.4.4)")
        }
        _ => ("gain of CRIs without order, concurrent matching", "as with order (5.4.4)"),
    };
    let ratio = |assignment: &str| {
        let text = format!("{what}: {assignment}, {most} CRIs over dedicated with one, most threads");
        Ratio::new(
            &text,
            published,
            (&label(assignment, most), SeriesPoint::Last),
            (&base, SeriesPoint::Last),
        )
    };
    let holds = |assignment: &str| {
        let own = label(assignment, most);
        let text = format!("{own}: most threads over fewest");
        Ratio::new(&text, "not published as a number", (&own, SeriesPoint::Last), (&own, SeriesPoint::First))
    };
    Case {
        name: part.name,
        figure: part.figure,
        title: format!("Zero-byte message rate of threads: {}", part.what),
        program: Program::Multirate,
        x: "pairs of threads",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series,
        ratios: ASSIGNMENTS.iter().map(|a| ratio(a)).chain(ASSIGNMENTS.iter().map(|a| holds(a))).collect(),
        iterations: None,
    }
}
