//! The C programs: where their sources are and what their output means.

use crate::cost_model::{COSTS, CostModel, Counts};
use crate::sources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Program {
    Multirate,
    Sync,
    Pack,
    Locks,
    Cholesky,
    Qr,
    Sharing,
    /// One-sided operations, all sizes in one run.
    OneSided,
    /// The same of one size: operations per second, and what the library counts.
    OneSidedRate,
    ConjugateGradient,
    Patches,
    /// Latency and rate of processes, threads and endpoints.
    Streams,
    /// The same by bytes instead of messages.
    StreamBandwidth,
    Dslash,
    Fft,
    /// The bandwidth of its exchange.
    FftBandwidth,
    /// Bandwidth behind a long queue, all lengths in one run.
    Queue,
    /// The depth of searches, all numbers of threads in one run; counted.
    Depth,
    /// The time in which such a queue drains, all numbers of threads in one run.
    Drain,
    /// Time in the matching engine of applications' patterns of messages, all patterns in one run.
    Patterns,
    /// Endpoints of threads by verbs, without MPI: messages of a model's second, and objects.
    VerbsRate,
    VerbsArrays,
    VerbsStencil,
    /// Tags of other people's programs, which `bench/trace/applications.py` traces into stored results.
    Trace,
}

/// Values that one run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub value: f64,
    /// How long what was measured took, in all.
    pub seconds: f64,
    /// Further figures by name.
    pub more: BTreeMap<String, f64>,
    /// The program looked at what arrived.
    pub verified: bool,
    /// Where one run measures all places of a series: what it measured at each.
    #[serde(default)]
    pub places: Vec<(u64, Measured)>,
}

impl Measured {
    pub fn place(&self, x: u64) -> Option<&Measured> {
        self.places.iter().find(|(place, _)| *place == x).map(|(_, measured)| measured)
    }
}

/// A further figure of which there is a picture, too.
pub struct ExtraFigure {
    /// Its name in [`Measured::more`].
    pub quantity: &'static str,
    /// In the name of the picture's file.
    pub file: &'static str,
    pub unit: &'static str,
}

/// In a point's arguments: the number of iterations, which the driver chooses.
pub const ITERATIONS: &str = "{i}";

impl Program {
    pub fn source(self) -> PathBuf {
        sources::folder().join(match self {
            Program::Multirate => "multirate/multirate.c",
            Program::Sync => "sync/sync.c",
            Program::Pack => "pack/pack.c",
            Program::Locks => "locks/locks.c",
            Program::Cholesky => "tasks/cholesky.c",
            Program::Qr => "tasks/qr.c",
            Program::Sharing => "sharing/sharing.c",
            Program::OneSided | Program::OneSidedRate => "rma/rmamt.c",
            Program::ConjugateGradient => "rma/cg.c",
            Program::Patches => "rma/patches.c",
            Program::Streams | Program::StreamBandwidth => "endpoints/streams.c",
            Program::Queue => "matching/queue.c",
            Program::Depth => "matching/depth.c",
            Program::Drain => "matching/drain.c",
            Program::Patterns => "matching/patterns.c",
            Program::Dslash => "endpoints/dslash.c",
            Program::Fft | Program::FftBandwidth => "endpoints/fft.c",
            Program::VerbsRate => "verbs/rate.c",
            Program::VerbsArrays => "verbs/dgemm.c",
            Program::VerbsStencil => "verbs/stencil.c",
            Program::Trace => "trace/trace.c",
        })
    }

    /// It uses the device in software, and no MPI library.
    pub fn is_on_device(self) -> bool {
        matches!(self, Program::VerbsRate | Program::VerbsArrays | Program::VerbsStencil)
    }

    /// It is run by hand, and results are stored: why.
    pub fn by_hand(self) -> Option<&'static str> {
        (self == Program::Trace).then_some(
            "the programs are other people's; bench/trace/applications.py traces those that somebody has built, and what it found is stored",
        )
    }

    /// Why its figures are not of hardware.
    pub fn model(self) -> Option<&'static str> {
        self.is_on_device().then_some(
            "the device is software: objects and events are counted, rates are of a model of a card, whose costs stand in bench/verbs/costs.toml",
        )
    }

    /// A text beside its source that its figures depend on.
    pub fn constants(self) -> &'static str {
        if self.is_on_device() { COSTS } else { "" }
    }

    pub fn flags(self) -> &'static [&'static str] {
        use Program::{Cholesky, ConjugateGradient, Dslash, Fft, FftBandwidth, Qr, Queue};
        if matches!(self, Cholesky | Qr | ConjugateGradient | Dslash | Fft | FftBandwidth | Queue) {
            &["-lm"]
        } else {
            &[]
        }
    }

    pub fn further(self) -> &'static [ExtraFigure] {
        const SLOWEST: ExtraFigure = ExtraFigure { quantity: SLOWEST_THREAD, file: "latency", unit: "us" };
        const SOLUTION: ExtraFigure = ExtraFigure { quantity: "seconds", file: "solution", unit: "s" };
        const COMMUNICATION: ExtraFigure =
            ExtraFigure { quantity: "communication", file: "communication", unit: "ms" };
        match self {
            Program::OneSided => &[SLOWEST],
            Program::Dslash => &[COMMUNICATION],
            Program::ConjugateGradient => &[SOLUTION],
            _ => &[],
        }
    }

    /// Reads what a run with `arguments` printed.
    pub fn read(self, arguments: &[String], out: &str) -> Result<Measured, String> {
        let measured = match self {
            Program::Multirate => out.lines().find_map(|line| multirate(arguments, line)),
            Program::Cholesky | Program::Qr => out.lines().find_map(factorisation),
            Program::Sharing => sharing(out),
            Program::Sync | Program::Pack | Program::Locks | Program::Streams => out.lines().find_map(plain),
            Program::StreamBandwidth => out.lines().find_map(|line| {
                let measured = plain(line)?;
                Some(Measured { value: measured.value * option(arguments, "-b")? / 1e6, ..measured })
            }),
            Program::Queue => table(out, 0, &[(1, "value")]),
            Program::Depth => table(out, 1, &[(3, "value"), (4, PER_PEER), (5, LINES)]),
            Program::Drain => table(out, 0, &[(2, "value"), (1, RECEIVES)]),
            Program::Patterns => patterns(out),
            Program::Dslash => out.lines().find_map(dslash),
            Program::Fft => out.lines().find_map(|line| with(line, &["transform"])),
            Program::FftBandwidth => out.lines().find_map(|line| {
                let mut measured = with(line, &["transform", "bandwidth"])?;
                measured.value = measured.more.remove("bandwidth")?;
                Some(measured)
            }),
            Program::OneSided => one_sided(out),
            Program::OneSidedRate => one_sided_rate(out),
            Program::ConjugateGradient => {
                out.lines().find_map(|line| with(line, &["seconds", "exchange", "iterations", "residual"]))
            }
            Program::Patches => out.lines().find_map(|line| with(line, &["puts"])),
            // Never started by the driver.
            Program::Trace => None,
            Program::VerbsRate | Program::VerbsArrays | Program::VerbsStencil => {
                out.lines().find_map(|line| modelled(self, arguments, line))
            }
        };
        measured.ok_or_else(|| format!("no result in what it printed: {:?}", out.trim()))
    }
}

/// The number that an option has.
fn option(arguments: &[String], name: &str) -> Option<f64> {
    let at = arguments.iter().position(|a| a == name)?;
    arguments.get(at + 1)?.parse().ok()
}

/// Senders, threads, receivers, threads, size, window, Gbps, usec, msg/s, and perhaps switches, between tabs.
fn multirate(arguments: &[String], line: &str) -> Option<Measured> {
    let columns: Vec<&str> = line.split('\t').collect();
    let number = |i: usize| columns.get(i)?.split(' ').next()?.parse::<f64>().ok();
    let value = number(8)?;
    let mut messages = number(0)? * number(1)? * number(5)? * option(arguments, "-i").unwrap_or(1.0);
    if arguments.iter().any(|a| a == "-a") {
        messages *= number(2)? * number(3)?;
    }
    let mut more = BTreeMap::from([("messages".to_owned(), messages)]);
    if let Some(switches) = number(9) {
        more.insert("context switches".into(), switches);
        more.insert("context switches per message".into(), switches / messages);
    }
    let verified = arguments.iter().any(|a| a == "-v");
    Some(Measured { value, seconds: messages / value, more, verified, ..Measured::default() })
}

/// Pairs `name=value` between blanks.
fn pairs(line: &str) -> BTreeMap<&str, &str> {
    line.split_whitespace().filter_map(|w| w.split_once('=')).collect()
}

fn plain(line: &str) -> Option<Measured> {
    let pairs = pairs(line);
    Some(Measured {
        value: pairs.get("value")?.parse().ok()?,
        seconds: pairs.get("seconds")?.parse().ok()?,
        verified: pairs.get("verified") == Some(&"1"),
        ..Measured::default()
    })
}

/// The same with further figures.
fn with(line: &str, more: &[&str]) -> Option<Measured> {
    let pairs = pairs(line);
    let further = |name: &&str| Some(((*name).to_owned(), pairs.get(name)?.parse().ok()?));
    Some(Measured { more: more.iter().map(further).collect::<Option<_>>()?, ..plain(line)? })
}

/// The part of the time that is not computing.
pub const COMMUNICATING: &str = "share of communication";
/// The parts of the time; the last is posting and unpacking.
pub const SHARES: [&str; 4] =
    ["share of computing", "share of packing", "share of waiting", "share of posting and unpacking"];

fn dslash(line: &str) -> Option<Measured> {
    let mut measured = with(line, &["computing", "packing", "waiting", "communication", "gflops"])?;
    let of = |name: &str| measured.more[name];
    let (spoken, computing, packing, waiting) =
        (of("communication"), of("computing"), of("packing"), of("waiting"));
    let parts = [computing, packing, waiting, (spoken - packing - waiting).max(0.0)];
    let shares = SHARES.into_iter().zip(parts.map(|part| part / (spoken + computing)));
    measured.more.extend(shares.map(|(name, share)| (name.to_owned(), share)));
    measured.more.insert(COMMUNICATING.to_owned(), spoken / (spoken + computing));
    Some(measured)
}

/// The latency of the slowest thread, in microseconds.
pub const SLOWEST_THREAD: &str = "latency of the slowest thread";

/// Further figures of searches: receives looked at in lists for each peer, lines of the cache of the narrowest keys.
pub const PER_PEER: &str = "receives looked at, lists for each peer";
pub const LINES: &str = "lines looked at, keys of 8 bits";

/// Lines of columns between tabs: in column `x` the place, in each of `columns` a figure. The programs end with an error where data is wrong.
fn table(out: &str, x: usize, columns: &[(usize, &str)]) -> Option<Measured> {
    let place = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let at: u64 = cells.get(x)?.parse().ok()?;
        let mut more: BTreeMap<String, f64> = columns
            .iter()
            .map(|(column, name)| Some(((*name).to_owned(), cells.get(*column)?.parse().ok()?)))
            .collect::<Option<_>>()?;
        let value = more.remove("value")?;
        Some((at, Measured { value, more, verified: true, ..Measured::default() }))
    };
    // An empty queue has no place on an axis of powers.
    let places: Vec<(u64, Measured)> = out.lines().filter_map(place).filter(|(at, _)| *at > 0).collect();
    Some(Measured {
        value: places.first()?.1.value,
        seconds: f64::INFINITY,
        verified: true,
        places,
        ..Measured::default()
    })
}

/// A further figure of draining: receives that are posted.
pub const RECEIVES: &str = "receives";

/// Patterns of messages, in the order of their places.
pub const PATTERNS: [&str; 5] = ["halo9", "halo27", "allto1", "sweep", "levels"];

/// A further figure of patterns: all time of communication of the slowest rank.
pub const EXCHANGE: &str = "communication";

/// A line for each pattern, whose place is its number; the value is the time in the engine of the rank where it is longest.
fn patterns(out: &str) -> Option<Measured> {
    let place = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let at = PATTERNS.iter().position(|name| *name == cells[0])? as u64;
        let value = cells.get(4)?.parse().ok()?;
        let more = BTreeMap::from([(EXCHANGE.to_owned(), cells.get(2)?.parse().ok()?)]);
        Some((at, Measured { value, more, verified: true, ..Measured::default() }))
    };
    let places: Vec<(u64, Measured)> = out.lines().filter_map(place).collect();
    let value = places.first()?.1.value;
    Some(Measured { value, seconds: f64::INFINITY, verified: true, places, ..Measured::default() })
}

/// A line for each size.
fn one_sided(out: &str) -> Option<Measured> {
    let place = |line: &str| {
        let pairs = pairs(line);
        let mut measured = plain(line)?;
        for (name, figure) in [("rate", "rate"), ("latency", "latency"), ("slowest", SLOWEST_THREAD)] {
            measured.more.insert(figure.to_owned(), pairs.get(name)?.parse().ok()?);
        }
        Some((pairs.get("x")?.parse().ok()?, measured))
    };
    let places: Vec<(u64, Measured)> = out.lines().filter_map(place).collect();
    Some(Measured {
        seconds: places.iter().map(|(_, m)| m.seconds).sum(),
        verified: places.iter().all(|(_, m)| m.verified),
        value: places.first()?.1.value,
        places,
        ..Measured::default()
    })
}

/// The line of one size, and one for each counter.
fn one_sided_rate(out: &str) -> Option<Measured> {
    let (_, mut measured) = one_sided(out)?.places.into_iter().next()?;
    measured.value = measured.more.remove("rate")?;
    for pairs in out.lines().map(pairs) {
        if let (Some(counter), Some(value)) = (pairs.get("counter"), pairs.get("value")) {
            measured.more.insert(format!("{counter} per operation"), value.parse().ok()?);
        }
    }
    Some(measured)
}

/// Words and numbers in turn; the program has checked the residual.
fn factorisation(line: &str) -> Option<Measured> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let behind = |name: &str| words.get(words.iter().position(|w| *w == name)? + 1)?.parse::<f64>().ok();
    Some(Measured {
        value: behind("gflops")?,
        seconds: behind("seconds")?,
        more: BTreeMap::from([("residual".to_owned(), behind("residual")?)]),
        verified: true,
        ..Measured::default()
    })
}

/// Objects that endpoints take, as pictures name them, by their names in what the programs print.
pub const OBJECTS: [(&str, &str); 4] =
    [("QP", "qps"), ("CQ", "cqs"), ("UAR", "uar_pages"), ("uUAR", "uuars")];
/// Further figures of endpoints: registers without a queue pair, reads of a line of memory by the card, the rate of reads.
pub const WASTED: &str = "wasted registers";
pub const LINE_READS: &str = "reads of each line";
pub const READS: &str = "reads";

/// Events of a message and objects in one line; the value is millions of messages in a second of the model. The programs end with an error where data is wrong.
fn modelled(program: Program, arguments: &[String], line: &str) -> Option<Measured> {
    let model = CostModel::stated()?;
    let threads = option(arguments, "-t")?;
    let read = |(name, value): (&str, &str)| Some((name.to_owned(), value.parse().ok()?));
    let mut got: Counts = pairs(line).into_iter().filter_map(read).collect();
    let mut more: BTreeMap<String, f64> = OBJECTS
        .iter()
        .map(|(name, own)| Some(((*name).to_owned(), *got.get(*own)?)))
        .collect::<Option<_>>()?;
    let rate = match program {
        Program::VerbsArrays => {
            // Requests of one kind: a read brings data and takes none from memory, of which all reads of memory are the writes'.
            let of_writes = got["payload_reads"] / got.get("writes")?;
            got.extend([("lines".to_owned(), threads), ("payload_reads".to_owned(), 0.0)]);
            more.insert(READS.to_owned(), model.rate(&got, threads)? / 1e6);
            got.insert("payload_reads".to_owned(), of_writes);
            model.rate(&got, threads)?
        }
        Program::VerbsStencil => {
            let ranks = option(arguments, "-r")?;
            // A thread alone in its context writes to both registers of a page itself, one after the other.
            if threads == 1.0 || arguments.iter().any(|a| a == "mpi_everywhere") {
                got.insert("shared_pages".to_owned(), 0.0);
            }
            got.insert("lines".to_owned(), 4.0 * threads);
            more.values_mut().for_each(|of_one| *of_one *= ranks);
            (ranks * model.rate(&got, threads)?).min(model.card())
        }
        _ => {
            let messages = threads * option(arguments, "-n")?;
            more.insert(LINE_READS.to_owned(), got["payload_reads"] * messages / got["lines"]);
            more.insert(WASTED.to_owned(), got["uuars"] - got["qps"]);
            more.insert("kilobytes".to_owned(), *got.get("kilobytes")?);
            model.rate(&got, threads)?
        }
    };
    // Counts are the same in every run, so nothing is to be repeated for longer.
    Some(Measured { value: rate / 1e6, seconds: f64::INFINITY, more, verified: true, ..Measured::default() })
}

/// A line for each rank and variable; the value is the largest of those that should be 0.
fn sharing(out: &str) -> Option<Measured> {
    let mut more = BTreeMap::new();
    let mut verified = true;
    for line in out.lines() {
        let pairs = pairs(line);
        let (Some(name), Some(rank), Some(value)) =
            (pairs.get("variable"), pairs.get("rank"), pairs.get("value"))
        else {
            continue;
        };
        verified &= pairs.get("verified") == Some(&"1");
        more.insert(format!("{name} rank {rank}"), value.parse::<f64>().ok()?);
    }
    let shared = |name: &str| name.contains("misses") || name.contains("shared");
    let value = more
        .iter()
        .filter(|(name, _)| shared(name))
        .map(|(_, v)| *v)
        .fold(None, |most, v| Some(most.map_or(v, |m: f64| m.max(v))));
    // No time is taken, so nothing is to be repeated for longer.
    Some(Measured { value: value?, seconds: f64::INFINITY, more, verified, ..Measured::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_line_of_multirate() {
        let line = "2\t3\t2\t3\t1024\t128\t8.19 Gbps\t1.00 usec\t1000000.00 msg/s\n";
        let got = Program::Multirate.read(&words("-p -i 10"), line).unwrap();
        assert_eq!((got.value, got.more["messages"], got.verified), (1e6, 7680.0, false));
        assert!((got.seconds - 0.00768).abs() < 1e-9);
        let line = "2\t3\t2\t3\t8\t128\t8.19 Gbps\t1.00 usec\t1000000.00 msg/s\t768 switches\n";
        let got = Program::Multirate.read(&words("-a -i 10 -v"), line).unwrap();
        assert_eq!((got.more["messages"], got.verified), (46080.0, true));
        assert_eq!(got.more["context switches"], 768.0);
        assert!(Program::Multirate.read(&words("-a"), "something else\n").is_err());
    }

    #[test]
    fn lines_of_the_others() {
        let got = Program::Sync.read(&[], "value=12.5 unit=ns rounds=3 seconds=0.5 verified=1\n").unwrap();
        assert_eq!((got.value, got.seconds, got.verified), (12.5, 0.5, true));
        let line = "cholesky sync ranks 2 workers 3 n 144 tile 16 seconds 0.25 gflops 1.5 residual 0.02\n";
        let got = Program::Cholesky.read(&[], line).unwrap();
        assert_eq!((got.value, got.seconds, got.more["residual"]), (1.5, 0.25, 0.02));
        let text = "threads=2 rank=0 variable=cri_misses value=0.25 verified=1\n\
                    threads=2 rank=1 variable=cri_turns value=9 verified=1\n";
        let got = Program::Sharing.read(&[], text).unwrap();
        assert_eq!((got.value, got.more.len(), got.verified), (0.25, 2, true));
        assert!(Program::Sharing.read(&[], "").is_err());
        let text = "dslash master: 2 processes\nvalue=3.5 seconds=0.5 computing=1 packing=0.5 waiting=2 communication=2.5 gflops=3 verified=1\n";
        let got = Program::Dslash.read(&[], text).unwrap();
        assert_eq!((got.value, got.more["waiting"], got.verified), (3.5, 2.0, true));
        assert_eq!(got.more[COMMUNICATING], 2.5 / 3.5);
        assert_eq!(SHARES.map(|share| got.more[share] * 3.5), [1.0, 0.5, 2.0, 0.0]);
        let line = "value=20 seconds=0.5 transform=30 bandwidth=400 verified=1\n";
        let got = Program::FftBandwidth.read(&[], line).unwrap();
        assert_eq!((got.value, got.more["transform"]), (400.0, 30.0));
        assert!(Program::Fft.read(&[], text).is_err());
        let line = "form=one-sided ranks=2 value=3.5 seconds=0.5 exchange=0.25 iterations=38 residual=1e-8 verified=1\n";
        let got = Program::ConjugateGradient.read(&[], line).unwrap();
        assert_eq!((got.value, got.more["residual"], got.verified), (3.5, 1e-8, true));
        assert!(Program::ConjugateGradient.read(&[], "value=1 seconds=1 verified=1\n").is_err());
    }

    #[test]
    fn tables_between_tabs() {
        let text = "# bandwidth behind posted receives\nlength\tlist\t+-\n0\t90.5\t1\n1\t80.5\t1.5\n64\t20.25\t0.5\ncrossing\tlist\tnone\n";
        let got = Program::Queue.read(&[], text).unwrap();
        assert_eq!((got.value, got.places.len(), got.place(64).unwrap().value), (80.5, 2, 20.25));
        let text = "stencil\tthreads\treceives\tlist\tperpeer\tfuzzy8 lines\n9pt\t4\t20\t6.0\t3.0\t2.0\n";
        let got = Program::Depth.read(&[], text).unwrap();
        assert_eq!((got.value, got.place(4).unwrap().more[PER_PEER]), (6.0, 3.0));
        assert!(Program::Depth.read(&[], "nothing\n").is_err());
        let got = Program::Drain.read(&[], "1\t26\t5.9\n512\t3176\t1865.4\n").unwrap();
        assert_eq!(got.place(512).unwrap().more[RECEIVES], 3176.0);
        let text = "# 8 ranks\npattern\tengine\tmost us\tmean us\tmatch most\tmatch mean\nhalo9\tlist\t9\t8\t2.5\t2\nallto1\tlist\t7\t6\t5\t4\n";
        let got = Program::Patterns.read(&[], text).unwrap();
        assert_eq!(
            (got.value, got.place(2).unwrap().value, got.place(2).unwrap().more[EXCHANGE]),
            (2.5, 5.0, 7.0)
        );
        assert!(Program::Patterns.read(&[], "halo9\t-\t9\t8\t-\t-\n").is_err(), "a library without a watch");
        let got = Program::StreamBandwidth
            .read(&words("rate -b 4096"), "value=1000 seconds=1 verified=1\n")
            .unwrap();
        assert_eq!(got.value, 4.096);
    }

    #[test]
    fn endpoints_of_a_device() {
        let events = "doorbells=1 blue_flames=1 shared_doorbells=0 shared_pages=0 wqe_reads=0 payload_reads=2 cqe_writes=1 qp_locks=1 uuar_locks=0";
        let line = format!(
            "dynamic threads=2 contexts=1 qps=2 cqs=2 lines=1 uar_pages=10 uuars=20 kilobytes=434 {events}\n"
        );
        let got = Program::VerbsRate.read(&words("-t 2 -n 10"), &line).unwrap();
        assert_eq!((got.more["UAR"], got.more[WASTED], got.more[LINE_READS]), (10.0, 18.0, 40.0));
        assert!(got.verified && got.value > 0.0 && got.seconds.is_infinite());
        let line = format!("dynamic threads=2 writes=0.5 qps=2 cqs=2 uar_pages=10 uuars=20 {events}\n");
        let got = Program::VerbsArrays.read(&words("-t 2 -c dynamic"), &line).unwrap();
        assert!(got.more[READS] >= got.value, "{got:?}");
        let got = Program::VerbsStencil.read(&words("-r 4 -t 2 -c dynamic"), &line).unwrap();
        assert_eq!(got.more["uUAR"], 80.0);
        assert!(Program::VerbsRate.read(&words("-t 2"), "a device that does not count\n").is_err());
    }

    #[test]
    fn one_sided_operations_by_size() {
        let text = "x=8 counter=cri_x value=0.5\n\
                    x=8 value=2 rate=100 latency=3 slowest=4 seconds=0.1 verified=1\n\
                    x=64 value=5 rate=90 latency=6 slowest=7 seconds=0.2 verified=1\n";
        let got = Program::OneSided.read(&[], text).unwrap();
        assert_eq!((got.value, got.places.len(), got.verified), (2.0, 2, true));
        assert_eq!(got.place(64).unwrap().more[SLOWEST_THREAD], 7.0);
        assert!(got.place(512).is_none());
        let got = Program::OneSidedRate.read(&[], text).unwrap();
        assert_eq!((got.value, got.more["cri_x per operation"]), (100.0, 0.5));
        assert!(Program::OneSided.read(&[], "").is_err());
    }
}
