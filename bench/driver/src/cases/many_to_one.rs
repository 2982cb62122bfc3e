//! Many senders and one receiver.

use super::multirate;
use super::shape::{PROCESSES, Shape, THREADS, both, rate};
use crate::case::{Case, Ratio, SeriesPoint, Sizes};

case!(307, |sizes| many_to_one(sizes, "fig3.7", "3.7", 1024));
case!(308, |sizes| many_to_one(sizes, "fig3.8", "3.8", 4096));

fn many_to_one(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let title = format!("Many-to-one message rate, {bytes} bytes, window {}", sizes.window);
    let published = match bytes {
        1024 => "Open MPI steady at 1.5 M msg/s, Intel MPI rising to 2.8 M at 8 to 12, MPICH falling (3.6.1)",
        _ => "Open MPI better early and falling, as MPICH (3.6.1)",
    };
    Case {
        series: both(Shape::ManyToOne, &multirate(sizes, bytes)),
        ratios: vec![
            Ratio::new(
                "processes: most senders over fewest",
                published,
                (PROCESSES, SeriesPoint::Last),
                (PROCESSES, SeriesPoint::First),
            ),
            Ratio::new(
                "threads: most senders over fewest",
                "falls with more senders; Open MPI recovers (3.6.3)",
                (THREADS, SeriesPoint::Last),
                (THREADS, SeriesPoint::First),
            ),
        ],
        ..rate(sizes, name, figure, title, "senders")
    }
}
