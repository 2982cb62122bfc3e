//! Many senders and many receivers.

use super::multirate;
use super::shape::rate;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};

case!(311, |sizes| many_to_many(sizes, true));
case!(312, |sizes| many_to_many(sizes, false));

/// Every sender to every receiver: senders on the axis and receivers fixed, or the other way round.
fn many_to_many(sizes: &Sizes, senders_vary: bool) -> Case {
    let fixed: &[u64] = if sizes.quick { &[2] } else { &[1, 2, 4] };
    let mut series = Vec::new();
    let (x, other) = if senders_vary { ("senders", "receivers") } else { ("receivers", "senders") };
    let bytes = 1024;
    for &f in fixed {
        let rest = multirate(sizes, bytes);
        let again = rest.clone();
        let of = move |k: u64| if senders_vary { (k, f) } else { (f, k) };
        series.push(Series::new(format!("processes, {f} {other}"), move |k| {
            let (s, r) = of(k);
            Some(Point::new(2 * s.max(r), format!("-a -n {s} -m {r} {rest}")))
        }));
        let threads = Series::new(format!("threads, {f} {other}"), move |k| {
            let (s, r) = of(k);
            Some(Point::new(2, format!("-a -x {s} -y {r} {again}")))
        });
        series.push(threads.dashed());
    }
    let most = *fixed.last().unwrap_or(&1);
    let (threads, processes) = (format!("threads, {most} {other}"), format!("processes, {most} {other}"));
    let ratio = Ratio::new(
        "threads over processes, the most of both",
        "threads did not always come to an end within 30 s (3.6.3)",
        (&threads, SeriesPoint::Last),
        (&processes, SeriesPoint::Last),
    );
    let title = format!("Many-to-many message rate, {bytes} bytes, a fixed number of {other}");
    let (name, figure) = if senders_vary { ("fig3.11", "3.11") } else { ("fig3.12", "3.12") };
    Case { series, ratios: vec![ratio], ..rate(sizes, name, figure, title, x) }
}
