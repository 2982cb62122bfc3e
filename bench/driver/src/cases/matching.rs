//! Matching of messages behind long queues, by engine, the depth of searches and the time of all, and the time in the engine of applications' patterns
//! (Dosanjh et al., *Fuzzy Matching*, 2019, figures 2, 5, 6 and 8).

use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::library::Binding;
use crate::program::{PATTERNS, Program};

case!(801, |sizes| depth(sizes, "match-depth-9", "9pt", &[1, 4, 16, 64, 256]));
case!(802, |sizes| depth(sizes, "match-depth-27", "27pt", &[1, 8, 64, 512]));
case!(803, |sizes| bandwidth(sizes, "match-bandwidth-1", 1));
case!(804, |sizes| bandwidth(sizes, "match-bandwidth-4096", 4096));
case!(805, |sizes| drain(sizes, "match-drain-9", "9pt", &[1, 4, 16, 64, 256]));
case!(806, |sizes| drain(sizes, "match-drain-27", "27pt", &[1, 8, 64, 512]));
case!(807, patterns);

const ENGINES: [&str; 6] = ["list", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8"];
/// Entries of the queue.
const LENGTHS: [u64; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

fn bandwidth(sizes: &Sizes, name: &'static str, bytes: u64) -> Case {
    // A look has warm caches.
    let effort = match (sizes.quick, sizes.ends) {
        (false, _) => "-m 8192 -i 10",
        (true, true) => "-m 8192 -i 2 -c 65536",
        (true, false) => "-m 4 -i 2 -c 65536",
    };
    let lengths = if sizes.quick && !sizes.ends { LENGTHS[..3].to_vec() } else { LENGTHS.to_vec() };
    let line = |engine: &'static str| {
        let job = Point::new(2, format!("-b -s {bytes} -k {engine} {effort}")).bound(Binding::Core);
        Series::sweep(engine, LENGTHS[0], job).ours()
    };
    let over = |what: &str, published, engine: &str, base: &str| {
        Ratio::new(what, published, (engine, SeriesPoint::Last), (base, SeriesPoint::Last))
    };
    Case {
        name,
        figure: "5 and 8 (matching)",
        title: format!("Bandwidth of messages of {bytes} bytes behind a queue that nothing matches"),
        program: Program::Queue,
        x: "entries of the queue",
        xs: lengths,
        unit: "MB/s",
        log_x: true,
        log_y: true,
        series: ENGINES.map(line).to_vec(),
        ratios: vec![
            over(
                "8 bits over lists for each peer, longest queue",
                "28 (1 B, 1,024 entries), 45 (4 KiB, 8,192)",
                "fuzzy8",
                "perpeer",
            ),
            over("8 bits over vector, longest queue", "2.25 (8,192 entries)", "fuzzy8", "vector"),
        ],
        iterations: Some(1),
    }
}

fn depth(sizes: &Sizes, name: &'static str, pattern: &'static str, threads: &[u64]) -> Case {
    let most = if sizes.quick { 64 } else { 512 };
    Case {
        name,
        figure: "2 (matching)",
        title: format!("Receives looked at for a message, threads of a stencil ({pattern}) in any order"),
        program: Program::Depth,
        x: "threads",
        xs: threads.iter().copied().filter(|t| *t <= most).collect(),
        unit: "receives",
        log_x: true,
        log_y: true,
        series: vec![
            Series::sweep("one list", 1, Point::new(1, format!("-p {pattern} -t {most} -r 5"))).ours(),
        ],
        ratios: vec![Ratio::new(
            "most threads over one",
            "hundreds are looked at (IV)",
            ("one list", SeriesPoint::Last),
            ("one list", SeriesPoint::First),
        )],
        iterations: Some(1),
    }
}

/// The time of all messages whose depths `depth` counts.
fn drain(sizes: &Sizes, name: &'static str, pattern: &'static str, threads: &[u64]) -> Case {
    let short = sizes.quick && !sizes.ends;
    let most = if short { 64 } else { 512 };
    let rounds = if sizes.quick { 2 } else { 5 };
    let line = |engine: &'static str| {
        let job =
            Point::new(2, format!("-p {pattern} -t {most} -i {rounds} -k {engine}")).bound(Binding::Core);
        Series::sweep(engine, threads[0], job).ours()
    };
    Case {
        name,
        figure: "2 (matching)",
        title: format!(
            "Time to drain the queue of a rank whose threads exchange halos ({pattern}) in any order"
        ),
        program: Program::Drain,
        x: "threads",
        xs: threads.iter().copied().filter(|t| *t <= most).collect(),
        unit: "us",
        log_x: true,
        log_y: true,
        series: ["list", "vector", "fuzzy8"].map(line).to_vec(),
        ratios: vec![Ratio::new(
            "one list over keys of 8 bits, most threads",
            "not published as a number",
            ("list", SeriesPoint::Last),
            ("fuzzy8", SeriesPoint::Last),
        )],
        iterations: Some(1),
    }
}

/// Time in the engine for a step of each pattern, of which applications have one each.
fn patterns(sizes: &Sizes) -> Case {
    let (ranks, steps) = match (sizes.quick, sizes.ends) {
        (false, _) => (8, 20),
        (true, true) => (8, 4),
        (true, false) => (4, 1),
    };
    let line = |engine: &'static str| {
        Series::sweep(engine, 0, Point::new(ranks, format!("-i {steps} -f 16 -k {engine}"))).ours()
    };
    Case {
        name: "match-patterns",
        figure: "6 (matching)",
        title: "Time in the matching engine for a step of the slowest rank, 16 messages for each neighbour"
            .to_owned(),
        program: Program::Patterns,
        x: "pattern",
        xs: (0..PATTERNS.len() as u64).collect(),
        unit: "us",
        log_x: false,
        log_y: true,
        series: ENGINES.map(line).to_vec(),
        ratios: Vec::new(),
        iterations: Some(1),
    }
}
