//! The parts of a paper: figures and tables with what was published and what measures it here.

/// A paper.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its number among the five, as `002`.
    pub key: &'static str,
    pub title: &'static str,
    /// Authors, place and year.
    pub source: &'static str,
    /// The machine of its measurements.
    pub machine: &'static str,
    /// Cores of one of its nodes.
    pub cores: usize,
    pub figures: Vec<Figure>,
}

/// A figure or a table.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// As the paper numbers it: `fig3.5`, `table1`.
    pub id: &'static str,
    /// A title in our words.
    pub title: &'static str,
    /// The section of the paper.
    pub place: &'static str,
    /// Names of its axes with units; empty for a drawing.
    pub x: &'static str,
    pub y: &'static str,
    /// Our pictures of it, in order.
    pub views: Vec<View>,
    /// Limits that the paper draws, in the unit of the first view.
    pub peaks: Vec<(&'static str, f64)>,
    pub published: Vec<Published>,
    /// Parts that are not measured here, and the reason; for a figure without views, why there is none.
    pub absent: &'static str,
    pub why: Option<Explanation>,
}

/// An explanation where ours contradicts the paper, and the counters that it rests on, which say the same on few cores as on many.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub text: &'static str,
    pub counters: Vec<Counter>,
}

/// A counter of some series of a case, at the last place of each.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its name for readers.
    pub what: &'static str,
    pub case: &'static str,
    pub quantity: &'static str,
    /// Names for readers, and series.
    pub of: Vec<(&'static str, &'static str)>,
}

/// A picture of ours: a quantity of a case.
#[derive(Clone, Debug)]
pub struct View {
    pub case: &'static str,
    /// `value`, or a further figure of the case.
    pub quantity: &'static str,
    /// Our name of the transport between two nodes, where it is not one node's.
    pub over: Option<&'static str>,
    /// Of the quantity, where it is not the case's own.
    pub unit: Option<&'static str>,
    /// Names of the places on the x axis, where they are no numbers.
    pub names: &'static [&'static str],
    /// Drawn as bars: these quantities of one series.
    pub bars: Option<Bars>,
}

/// Bars of a picture, by which papers draw what resources are in use.
#[derive(Clone, Debug)]
pub struct Bars {
    pub series: &'static str,
    pub quantities: Vec<&'static str>,
}

/// The main figure of a case, on one node.
pub fn view(case: &'static str) -> View {
    View { case, quantity: "value", over: None, unit: None, names: &[], bars: None }
}

impl View {
    pub fn of(self, quantity: &'static str, unit: &'static str) -> View {
        View { quantity, unit: Some(unit), ..self }
    }

    /// With names of the places on the x axis.
    pub fn named(self, names: &'static [&'static str]) -> View {
        View { names, ..self }
    }

    /// As bars of quantities of one series, a group of them at each place.
    pub fn bars(self, series: &'static str, quantities: &[&'static str], unit: &'static str) -> View {
        let quantities = quantities.to_vec();
        View { bars: Some(Bars { series, quantities }), unit: Some(unit), ..self }
    }

    pub fn over(self, transport: &'static str) -> View {
        View { over: Some(transport), ..self }
    }
}

/// A number that the paper gives.
#[derive(Clone, Debug)]
pub struct Published {
    /// The line or the row, in our words.
    pub what: String,
    /// The place in it: a value on the x axis, or the head of a column.
    pub at: String,
    pub value: Value,
    pub unit: &'static str,
    /// The place of ours among what was measured; `None`: a figure of their machine alone.
    pub ours: Option<Selection>,
}

/// A published number, as exact as the paper has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Is(f64),
    About(f64),
    AtMost(f64),
    AtLeast(f64),
    Between(f64, f64),
}

impl Value {
    /// The number that ours is divided by: the middle of a range.
    pub fn number(self) -> f64 {
        match self {
            Value::Is(n) | Value::About(n) | Value::AtMost(n) | Value::AtLeast(n) => n,
            Value::Between(a, b) => (a + b) / 2.0,
        }
    }
}

/// Where in a series a value is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Position {
    First,
    Last,
    /// The largest.
    Best,
    X(u64),
}

/// A value of ours among measured rows.
#[derive(Clone, Debug)]
pub enum Selection {
    /// A value of a series, or with `under` how many times as large it is.
    Ratio {
        /// Its name, and behind ` over ` the transport where that is not one node's.
        case: &'static str,
        quantity: &'static str,
        over: (String, Position),
        under: Option<(String, Position)>,
    },
    /// By how much one value of a case is larger than another.
    Difference {
        case: &'static str,
        quantity: &'static str,
        over: (String, Position),
        under: (String, Position),
    },
    /// The mean over series and cases.
    Mean(Mean),
    /// Computed by a formula, which is named.
    Exact(f64, &'static str),
}

/// The mean of a quantity over cases, numbers of threads, and sizes within a class, as in the tables of the paper on one-sided communication.
#[derive(Clone, Debug)]
pub struct Mean {
    pub cases: Vec<&'static str>,
    pub quantity: &'static str,
    /// Series begin so: the component, or the library where it is another's.
    pub component: &'static str,
    /// `None`: all.
    pub threads: Option<u64>,
    /// Sizes from and up to so many bytes.
    pub bytes: (u64, u64),
}

impl Published {
    pub fn new(
        what: impl Into<String>,
        at: impl Into<String>,
        value: Value,
        unit: &'static str,
    ) -> Published {
        Published { what: what.into(), at: at.into(), value, unit, ours: None }
    }

    /// The quantity that ours is a value of; none where it is computed, or there is none.
    pub fn quantity(&self) -> Option<&'static str> {
        match self.ours.as_ref()? {
            Selection::Ratio { quantity, .. } | Selection::Difference { quantity, .. } => Some(quantity),
            Selection::Mean(mean) => Some(mean.quantity),
            Selection::Exact(..) => None,
        }
    }

    pub fn ours(self, selection: Selection) -> Published {
        Published { ours: Some(selection), ..self }
    }

    /// Ours is a value of a series of the case.
    pub fn value(
        self,
        case: &'static str,
        quantity: &'static str,
        series: impl Into<String>,
        at: Position,
    ) -> Published {
        self.ours(Selection::Ratio { case, quantity, over: (series.into(), at), under: None })
    }

    /// Ours is one value of the case over another.
    pub fn ratio(
        self,
        case: &'static str,
        quantity: &'static str,
        over: (&str, Position),
        under: (&str, Position),
    ) -> Published {
        let own = |(series, at): (&str, Position)| (series.to_owned(), at);
        self.ours(Selection::Ratio { case, quantity, over: own(over), under: Some(own(under)) })
    }
}

/// A drawing of a design: nothing in it is measured. `built` says where ours is described.
pub fn drawing(id: &'static str, title: &'static str, place: &'static str, built: &'static str) -> Figure {
    Figure { id, title, place, absent: built, ..Figure::default() }
}
