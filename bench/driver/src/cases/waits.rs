//! More waiting threads than cores.

use super::multirate;
use crate::case::{At, Case, Point, Ratio, Series, Sizes};
use crate::library::Binding;
use crate::program::Program;

case!(403, |sizes| waits(sizes, "fig4.3", "4.3", Binding::None));
case!(404, |sizes| waits(sizes, "fig4.4", "4.4", Binding::OneCore));

/// The library's own wait, and the loop of tests that a wait was before there were sync objects.
fn waits(sizes: &Sizes, name: &'static str, figure: &'static str, binding: Binding) -> Case {
    let line = |label: &str, more: &'static str| {
        let rest = multirate(sizes, 8);
        Series::new(label, move |t| Some(Point::new(2, format!("-p -t {t} {rest} -u {more}")).bound(binding)))
    };
    let (title, published) = match binding {
        Binding::OneCore => ("all on one core", "up to 250 in shared memory, 60 between nodes (4.5)"),
        _ => ("on all cores", "up to 8 in shared memory (7 in 4.7), 2.5 to 3 between nodes (4.5)"),
    };
    let mut switches = Ratio::new(
        "context switches for each message: loop over wait, most threads",
        "not published; the cause named in 4.5",
        ("loop of MPI_Testall", At::Last),
        ("MPI_Waitall", At::Last),
    );
    switches.quantity = "context switches per message";
    Case {
        name,
        figure,
        title: format!("Waiting threads, {title}: MPI_Waitall against a loop, 8 bytes"),
        program: Program::Multirate,
        x: "threads",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series: vec![line("MPI_Waitall", ""), line("loop of MPI_Testall", "-l").dashed()],
        ratios: vec![
            Ratio::new(
                "MPI_Waitall over the loop, most threads",
                published,
                ("MPI_Waitall", At::Last),
                ("loop of MPI_Testall", At::Last),
            ),
            switches,
        ],
        iterations: None,
    }
}
