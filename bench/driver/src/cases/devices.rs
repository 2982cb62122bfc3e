//! Threads by the number of virtual devices of a network card (btl-ugni): puts, and messages with mailboxes on the first device or on each.
//!
//! The experiment of figure 5.5 and of the RMA paper's section on Gemini and Aries with the number of devices as its axis, where those
//! have one for each communication resource.

use super::multirate;
use super::strategy::with_strategy;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(520, |sizes| puts(sizes, "ugni-put-8", 8, "the fast path"));
case!(521, |sizes| puts(sizes, "ugni-put-32768", 32768, "the engine for bulk data"));
case!(522, |sizes| messages(sizes, "ugni-rate-first", "first"));
case!(523, |sizes| messages(sizes, "ugni-rate-each", "each"));

const DEVICES: [u64; 3] = [1, 4, 16];
/// As in the seeds: what is larger goes by the engine.
const FAST_BYTES: u64 = 16384;
/// Series, assignment, and whether there is a resource for each thread.
const WAYS: [(&str, &str, bool); 3] =
    [("one CRI", "dedicated", false), ("round robin", "round_robin", true), ("dedicated", "dedicated", true)];

fn threads(sizes: &Sizes) -> u64 {
    if sizes.quick { 2 } else { 16 }
}

/// A line for each way in which threads get resources, all over so many devices.
fn series(sizes: &Sizes, smsg: &'static str, arguments: String) -> Vec<Series> {
    let all = threads(sizes);
    let line = |(label, assignment, own): (&'static str, &'static str, bool)| {
        let (arguments, opened) = (arguments.clone(), sizes.opened.get("ugni").cloned());
        let line = Series::new(label, move |devices| {
            let point = Point::new(2, arguments.clone()).over("ugni", opened.as_deref());
            let point = point
                .with("btl_ugni_virtual_device_count", devices)
                .with("btl_ugni_smsg_devices", smsg)
                .with("btl_ugni_fma_put_limit", FAST_BYTES);
            Some(with_strategy(point, assignment, "concurrent", if own { all } else { 1 }))
        });
        if own { line.ours() } else { line.ours().dashed() }
    };
    WAYS.into_iter().map(line).collect()
}

fn ratios() -> Vec<Ratio> {
    let most = |label: &'static str| {
        Ratio::new(
            &format!("{label}: most devices over one"),
            "not published as a number",
            (label, SeriesPoint::Last),
            (label, SeriesPoint::First),
        )
    };
    let published = "significantly above 1 (5.4.6)";
    let text = "dedicated over round robin, most devices";
    let dedicated =
        Ratio::new(text, published, ("dedicated", SeriesPoint::Last), ("round robin", SeriesPoint::Last));
    vec![dedicated, most("dedicated"), most("round robin")]
}

fn puts(sizes: &Sizes, name: &'static str, bytes: u64, path: &str) -> Case {
    let all = threads(sizes);
    let effort = if sizes.quick { "-i 3 -d 8 -v" } else { "-d 1000 -m 30" };
    let arguments = format!("-o put -s flush -t {all} -l {} {effort} -w -c", bytes * all);
    let mut series = series(sizes, "first", arguments);
    for line in &mut series {
        let point = line.point.clone();
        // Puts one by one, as in the paper: small ones would go together.
        line.point = std::sync::Arc::new(move |devices| {
            Some(point(devices)?.with("osc", "rdma").with("osc_rdma_aggregation_limit", 0))
        });
    }
    Case {
        name,
        figure: "5.5, by devices",
        title: format!("Puts of {bytes} bytes and a flush by {all} threads, by {path}"),
        program: Program::OneSidedRate,
        x: "virtual devices",
        xs: sizes.cut(&DEVICES),
        unit: "puts/s",
        log_x: true,
        log_y: true,
        series,
        ratios: ratios(),
        iterations: Some(1),
    }
}

fn messages(sizes: &Sizes, name: &'static str, smsg: &'static str) -> Case {
    let all = threads(sizes);
    let place = if smsg == "each" { "each device" } else { "the first device" };
    Case {
        name,
        figure: "5.2, by devices",
        title: format!("Message rate of {all} pairs of threads, mailboxes on {place}"),
        program: Program::Multirate,
        x: "virtual devices",
        xs: sizes.cut(&DEVICES),
        unit: "msg/s",
        log_x: true,
        log_y: true,
        series: series(sizes, smsg, format!("-p -t {all} {}", multirate(sizes, 8))),
        ratios: ratios(),
        iterations: None,
    }
}
