//! The parts of a case.

use crate::library::Binding;
use crate::program::Program;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How large cases are.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Pairs, senders, receivers or threads.
    pub entities: Vec<u64>,
    /// Threads of an origin of one-sided operations.
    pub origins: Vec<u64>,
    /// Messages in a window.
    pub window: u64,
    /// Cells along an edge of a patch.
    pub patch: u64,
    /// Data is checked as it arrives, and everything is as small as it can be.
    pub quick: bool,
    /// Of a list of values a quick run has the first and the last, not the first two.
    pub ends: bool,
    /// The library that a transport opens in place of its usual one, by transport.
    pub opened: BTreeMap<String, String>,
    /// Jobs run over btl-verbs: cases have lines about its credits.
    pub verbs: bool,
}

impl Sizes {
    /// As published, up to 20 entities.
    pub fn whole() -> Sizes {
        let origins = vec![1, 2, 4, 8, 16, 32, 64];
        Sizes {
            entities: vec![1, 2, 4, 8, 12, 16, 20],
            origins,
            window: 128,
            patch: 16,
            quick: false,
            ends: false,
            opened: BTreeMap::new(),
            verbs: false,
        }
    }

    pub fn quick() -> Sizes {
        Sizes { entities: vec![2], origins: vec![1, 2], window: 8, patch: 3, quick: true, ..Sizes::whole() }
    }

    /// As quick, with enough places for the shape of a curve.
    pub fn glance() -> Sizes {
        let origins = vec![1, 2, 4];
        Sizes { entities: vec![1, 2, 4, 8], origins, window: 64, ends: true, ..Sizes::quick() }
    }

    /// A list of x values, or two of them where that is enough.
    pub fn cut(&self, values: &[u64]) -> Vec<u64> {
        match (self.quick, values) {
            (true, [first, .., last]) if self.ends => vec![*first, *last],
            (true, _) => values.iter().take(2).copied().collect(),
            (false, _) => values.to_vec(),
        }
    }
}

/// An experiment.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    /// In the dissertation, or in the paper that the title names.
    pub figure: &'static str,
    pub title: String,
    pub program: Program,
    pub x: &'static str,
    pub xs: Vec<u64>,
    pub unit: &'static str,
    pub log_x: bool,
    pub log_y: bool,
    pub series: Vec<Series>,
    pub ratios: Vec<Ratio>,
    /// Not chosen by time.
    pub iterations: Option<u64>,
}

/// Which libraries run it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibraryChoice {
    All,
    Ours,
    Theirs,
}

impl LibraryChoice {
    pub fn runs(self, is_ours: bool) -> bool {
        match self {
            LibraryChoice::All => true,
            LibraryChoice::Ours => is_ours,
            LibraryChoice::Theirs => !is_ours,
        }
    }
}

#[derive(Clone)]
pub struct Series {
    pub label: String,
    pub libraries: LibraryChoice,
    pub dashed: bool,
    /// It is in the pictures; those of cases with very many series show some of them.
    pub drawn: bool,
    /// One job, at the first place, measures all places.
    pub sweep: bool,
    /// The job at a place; `None`: not there.
    pub point: Arc<dyn Fn(u64) -> Option<Point> + Send + Sync>,
}

/// A job.
#[derive(Clone, Debug)]
pub struct Point {
    pub ranks: u64,
    pub binding: Binding,
    pub arguments: Vec<String>,
    /// Our parameters.
    pub params: Vec<(String, String)>,
    /// Processes of `oxmpi-ep-server` beside it, through which its endpoints communicate.
    pub proxies: u64,
}

impl Point {
    pub fn new(ranks: u64, arguments: String) -> Point {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Point { ranks, binding: Binding::None, arguments, params: Vec::new(), proxies: 0 }
    }

    pub fn bound(self, binding: Binding) -> Point {
        Point { binding, ..self }
    }

    pub fn with(mut self, name: &str, value: impl ToString) -> Point {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// Its endpoints are those of so many proxies, not the library's own.
    pub fn by_proxies(self, proxies: u64) -> Point {
        Point { proxies, ..self }
    }

    /// All messages between two processes go over this transport, which opens the library `opened`.
    pub fn over(self, transport: &str, opened: Option<&str>) -> Point {
        let point = self.with("btl", format!("{transport},self"));
        match opened {
            Some(library) => point.with(&format!("btl_{transport}_library"), library),
            None => point,
        }
    }
}

impl Series {
    pub fn new(
        label: impl Into<String>,
        point: impl Fn(u64) -> Option<Point> + Send + Sync + 'static,
    ) -> Series {
        Series {
            label: label.into(),
            libraries: LibraryChoice::All,
            dashed: false,
            drawn: true,
            sweep: false,
            point: Arc::new(point),
        }
    }
    /// One job for all places, of which `first` is the first.
    pub fn sweep(label: impl Into<String>, first: u64, job: Point) -> Series {
        Series { sweep: true, ..Series::new(label, move |x| (x == first).then(|| job.clone())) }
    }
    pub fn drawn(self, drawn: bool) -> Series {
        Series { drawn, ..self }
    }
    pub fn dashed(self) -> Series {
        Series { dashed: true, ..self }
    }
    pub fn ours(self) -> Series {
        Series { libraries: LibraryChoice::Ours, ..self }
    }
    pub fn theirs(self) -> Series {
        Series { libraries: LibraryChoice::Theirs, ..self }
    }
}

/// Where in a series a ratio looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SeriesPoint {
    First,
    Last,
    /// The largest.
    Best,
}

/// One value over another of the same library, or a share, and what was published.
#[derive(Clone, Debug)]
pub struct Ratio {
    pub what: String,
    pub published: &'static str,
    pub over: (String, SeriesPoint),
    /// `None`: it is a share already.
    pub under: Option<(String, SeriesPoint)>,
    /// `value`, or one of the further figures.
    pub quantity: &'static str,
}

impl Ratio {
    pub fn new(
        what: &str,
        published: &'static str,
        over: (&str, SeriesPoint),
        under: (&str, SeriesPoint),
    ) -> Ratio {
        let own = |(label, at): (&str, SeriesPoint)| (label.to_owned(), at);
        Ratio { what: what.into(), published, over: own(over), under: Some(own(under)), quantity: "value" }
    }

    /// A further figure that is a share.
    pub fn share(what: &str, published: &'static str, of: &str, quantity: &'static str) -> Ratio {
        Ratio {
            what: what.into(),
            published,
            over: (of.to_owned(), SeriesPoint::Last),
            under: None,
            quantity,
        }
    }
}
