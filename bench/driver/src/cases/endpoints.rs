//! Endpoints beside processes and threads: latency, rate, Wilson's operator on a lattice and a Fourier transform with one exchange (Sridharan et al.,
//! *Enabling Efficient Multithreaded MPI Communication through a Library-Based Implementation of MPI Endpoints*, SC 2014, figures 4 to 9 and table I). Endpoints
//! are the library's own, or those of proxies. Every result is checked: data, frequencies against a direct sum, norms against those of one process.

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

const BYTES: [u64; 4] = [8, 1024, 16_384, 262_144];
const WORKERS: [u64; 4] = [1, 2, 4, 8];

case!(701, |sizes| latency(sizes));
case!(702, |sizes| rate(sizes, "ep-rate", "6 (endpoints)", 8));
case!(703, |sizes| rate(sizes, "ep-bandwidth", "5 (endpoints)", 4096));
case!(704, |sizes| dslash(sizes));
case!(705, |sizes| fft(sizes));
case!(706, |sizes| by_size(sizes, "ep-rate-size", "6 (endpoints)", Program::Streams, "messages/s"));
case!(707, |sizes| by_size(sizes, "ep-bandwidth-size", "5 (endpoints)", Program::StreamBandwidth, "MB/s"));

case!(708, |sizes| exchange(sizes));

/// A line of endpoints that proxies have, as the paper's library does, beside the library's own.
pub const BY_PROXIES: &str = "endpoints by proxies";
/// Pairs of the figures by size.
const PAIRS: u64 = 2;
/// On both sides of every switch of protocols.
const MORE_BYTES: [u64; 7] = [8, 128, 1024, 4096, 32_768, 262_144, 1_048_576];

/// Endpoints over processes and over threads at one place, and what was published.
fn ratios(at: SeriesPoint, processes: &'static str, threads: &'static str) -> Vec<Ratio> {
    let endpoints = ("endpoints", at);
    vec![
        Ratio::new("endpoints over processes", processes, endpoints, ("processes", at)),
        Ratio::new("endpoints over threads", threads, endpoints, ("threads", at)),
    ]
}

fn latency(sizes: &Sizes) -> Case {
    let job = |how: &'static str, ranks: u64| {
        move |bytes: u64| Some(Point::new(ranks, format!("latency -b {bytes} -k {{i}} {how}")))
    };
    Case {
        name: "ep-latency",
        figure: "4 (endpoints)",
        title: "Half a round trip of two pairs: of processes, of threads on one communicator, of endpoints"
            .into(),
        program: Program::Streams,
        x: "bytes",
        xs: sizes.cut(&BYTES),
        unit: "us",
        log_x: true,
        log_y: true,
        series: vec![
            Series::new("processes", job("", 4)),
            Series::new("threads", job("-w 2", 2)).dashed(),
            Series::new("endpoints", job("-w 2 -e", 2)).ours(),
            Series::new(BY_PROXIES, move |bytes| Some(job("-w 2 -e -s", 2)(bytes)?.by_proxies(4)))
                .ours()
                .dashed(),
        ],
        ratios: ratios(SeriesPoint::First, "320 ns more, by a proxy", "not published as a number"),
        iterations: None,
    }
}

fn rate(sizes: &Sizes, name: &'static str, figure: &'static str, bytes: u64) -> Case {
    let job = move |how: &str, ranks| Some(Point::new(ranks, format!("rate -b {bytes} -k {{i}} {how}")));
    Case {
        name,
        figure,
        title: format!("Windows of 64 messages of {bytes} bytes: pairs of processes, threads, endpoints"),
        program: Program::Streams,
        x: "pairs",
        xs: sizes.cut(&WORKERS),
        unit: "messages/s",
        log_x: true,
        log_y: true,
        series: vec![
            Series::new("processes", move |pairs| job("", 2 * pairs)),
            Series::new("threads", move |pairs| job(&format!("-w {pairs}"), 2)).dashed(),
            Series::new("endpoints", move |pairs| job(&format!("-w {pairs} -e"), 2)).ours(),
            Series::new(BY_PROXIES, move |pairs| {
                Some(job(&format!("-w {pairs} -e -s"), 2)?.by_proxies(2 * pairs))
            })
            .ours()
            .dashed(),
        ],
        ratios: ratios(
            SeriesPoint::Last,
            "on a par with 8 (bandwidth at 4 KiB)",
            "4.38 with 8 (bandwidth at 4 KiB), 10 and more (rate)",
        ),
        iterations: None,
    }
}

/// Rates of a constant number of pairs by the size of a message, as the paper draws them.
fn by_size(
    sizes: &Sizes,
    name: &'static str,
    figure: &'static str,
    program: Program,
    unit: &'static str,
) -> Case {
    let job = |how: &'static str, ranks: u64| {
        move |bytes: u64| Some(Point::new(ranks, format!("rate -b {bytes} -k {{i}} {how}")))
    };
    Case {
        name,
        figure,
        title: format!("Windows of 64 messages by size: {PAIRS} pairs of processes, threads, endpoints"),
        program,
        x: "bytes",
        xs: if sizes.ends { vec![8, 4096, 262_144] } else { sizes.cut(&MORE_BYTES) },
        unit,
        log_x: true,
        log_y: true,
        series: vec![
            Series::new("processes", job("", 2 * PAIRS)),
            Series::new("threads", job("-w 2", 2)).dashed(),
            Series::new("endpoints", job("-w 2 -e", 2)).ours(),
            Series::new(BY_PROXIES, move |bytes| Some(job("-w 2 -e -s", 2)(bytes)?.by_proxies(2 * PAIRS)))
                .ours()
                .dashed(),
        ],
        ratios: ratios(
            SeriesPoint::First,
            "on a par",
            "10 and more for short messages (rate), 1 for long ones",
        ),
        iterations: None,
    }
}

/// Of the whole lattice in its longest dimension.
const SLICES: u64 = 16;

fn dslash(sizes: &Sizes) -> Case {
    let side = if sizes.quick { 2 } else { 8 };
    let job = move |how: &'static str| {
        move |ranks: u64| {
            let slices = SLICES / ranks;
            Some(Point::new(ranks, format!("-l {side},{side},{side},{slices} -k {{i}} {how}")))
        }
    };
    Case {
        name: "ep-dslash",
        figure: "7, 8, table I (endpoints)",
        title: format!(
            "Wilson's operator, {side}^3 x {SLICES} sites, two threads a process, halos by one or both"
        ),
        program: Program::Dslash,
        x: "processes",
        xs: if sizes.quick { vec![2] } else { vec![1, 2, 4] },
        unit: "ms",
        log_x: true,
        log_y: true,
        series: vec![
            Series::new("master", job("-t 2 -c master")),
            Series::new("funneled", job("-t 2 -c funneled")).dashed(),
            Series::new("multiple, 1 thread", job("-t 2 -m 1")).dashed(),
            Series::new("multiple, 2 threads", job("-t 2 -m 2")).dashed(),
            Series::new("endpoints", job("-t 2 -e 2")).ours(),
            Series::new(BY_PROXIES, move |ranks| Some(job("-e 2")(ranks)?.by_proxies(2 * ranks)))
                .ours()
                .dashed(),
        ],
        ratios: halos(),
        iterations: None,
    }
}

/// Endpoints over each of the others, in the whole time and in that of the communication (packing, posting and waiting), where processes are most.
fn halos() -> Vec<Ratio> {
    let others = [
        ("master", "0.53 (time, 128 processors)", "0.34 (time, 128 processors)"),
        ("funneled", "not published as a number", "not published as a number"),
        ("multiple, 1 thread", "not published as a number", "not published as a number"),
        ("multiple, 2 threads", "not published as a number", "not published as a number"),
    ];
    let mut all = Vec::new();
    for (other, whole, communication) in others {
        let of = |what: &str, published| {
            Ratio::new(what, published, ("endpoints", SeriesPoint::Last), (other, SeriesPoint::Last))
        };
        all.push(of(&format!("endpoints over {other}"), whole));
        let communication = of(&format!("endpoints over {other}, communication"), communication);
        all.push(Ratio { quantity: "communication", ..communication });
    }
    all
}

fn fft(sizes: &Sizes) -> Case {
    let job = |how: &'static str, ranks: u64| {
        move |log: u64| Some(Point::new(ranks, format!("-n {log} -b 4 -k {{i}} {how}")))
    };
    Case {
        name: "ep-fft",
        figure: "9 (endpoints)",
        title: "The exchange of a Fourier transform with one exchange: four processes, or two of two threads"
            .into(),
        program: Program::Fft,
        x: "binary logarithm of the points",
        xs: sizes.cut(&[8, 12, 16]),
        unit: "us",
        log_x: false,
        log_y: true,
        series: vec![
            Series::new("processes", job("-t 1", 4)),
            Series::new("master", job("-t 2", 2)),
            Series::new("threads", job("-t 2 -g 2 -m", 2)).dashed(),
            Series::new("endpoints", job("-t 2 -g 2 -e", 2)).ours(),
            Series::new(BY_PROXIES, move |log| Some(job("-g 2 -e", 2)(log)?.by_proxies(4))).ours().dashed(),
        ],
        ratios: vec![Ratio::new(
            "endpoints over the master thread",
            "0.36 up to 128 bytes, 0.5 up to 4 KiB (time)",
            ("endpoints", SeriesPoint::Last),
            ("master", SeriesPoint::Last),
        )],
        iterations: None,
    }
}

/// The exchange by the size of its messages: on both sides of every switch of protocols.
fn exchange(sizes: &Sizes) -> Case {
    // Four transforms of points of 16 bytes, which the processes' square divides.
    let job = |how: &'static str, ranks: u64| {
        move |bytes: u64| {
            let log = (bytes * ranks * ranks / (4 * 16)).checked_ilog2()?;
            Some(Point::new(ranks, format!("-n {log} -b 4 -k {{i}} {how}")))
        }
    };
    Case {
        name: "ep-fft-bandwidth",
        figure: "9 (endpoints)",
        title: "The exchange of a Fourier transform by the size of its messages: four processes, or two of two threads".into(),
        program: Program::FftBandwidth,
        x: "bytes of a message",
        xs: if sizes.ends { vec![64, 4096, 262_144] } else { sizes.cut(&[64, 128, 1024, 4096, 16_384, 65_536, 262_144, 524_288]) },
        unit: "MB/s",
        log_x: true,
        log_y: true,
        series: vec![
            Series::new("processes", job("-t 1", 4)),
            Series::new("master", job("-t 2", 2)),
            Series::new("threads", job("-t 2 -g 2 -m", 2)).dashed(),
            Series::new("endpoints", job("-t 2 -g 2 -e", 2)).ours(),
            Series::new(BY_PROXIES, move |bytes| Some(job("-g 2 -e", 2)(bytes)?.by_proxies(4))).ours().dashed(),
        ],
        ratios: vec![Ratio::new(
            "endpoints over the master thread, shortest messages",
            "2.8 up to 128 bytes, 2 up to 4 KiB",
            ("endpoints", SeriesPoint::First),
            ("master", SeriesPoint::First),
        )],
        iterations: None,
    }
}
