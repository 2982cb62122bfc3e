//! Processes by the number of messages in a window.

use super::shape::{Shape, of_processes, rate};
use super::with_window;
use crate::case::{Case, Ratio, Series, SeriesPoint, Sizes};

case!(314, |sizes| windows(sizes, "fig3.13-pairwise", Shape::Pairwise));
case!(315, |sizes| windows(sizes, "fig3.13-many-to-one", Shape::ManyToOne));
case!(316, |sizes| windows(sizes, "fig3.13-one-to-many", Shape::OneToMany));

fn windows(sizes: &Sizes, name: &'static str, shape: Shape) -> Case {
    let list = sizes.cut(&[16, 64, 128, 256, 512]);
    let made = list.iter().map(|&window| {
        let rest = with_window(sizes, 1024, window);
        Series::new(format!("window {window}"), move |k| Some(of_processes(shape, k, &rest)))
    });
    let (title, x) = match shape {
        Shape::Pairwise => ("Pairwise", "pairs"),
        Shape::ManyToOne => ("Many-to-one", "senders"),
        Shape::OneToMany => ("One-to-many", "receivers"),
    };
    let label = |at: Option<&u64>| format!("window {}", at.unwrap_or(&0));
    let ratio = Ratio::new(
        "largest window over smallest, most entities",
        "Intel MPI gains with the window, Open MPI does not (3.6.2)",
        (&label(list.last()), SeriesPoint::Last),
        (&label(list.first()), SeriesPoint::Last),
    );
    let title = format!("{title} message rate of processes, 1024 bytes, by window");
    Case { series: made.collect(), ratios: vec![ratio], ..rate(sizes, name, "3.13", title, x) }
}
