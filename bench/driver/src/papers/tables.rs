//! Published values beside measured ones: finds ours among the rows of the cases and divides.

use super::figure::{Counter, Mean, Position, Published, Selection, Value};
use super::kept::Kept;
use crate::results::Row;
use std::collections::BTreeMap;

/// Measured cases by name, on one node, and over a transport between two as `fig4.3 over tcp`.
pub type Cases<'a> = BTreeMap<String, &'a Kept>;

/// Ours beside a published value.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub ours: Option<f64>,
    /// The place on the x axis that it is from; a quick run does not reach all.
    pub at: Option<u64>,
    /// Ours over the published number.
    pub ratio: Option<f64>,
    /// The formula of ours, where it was not measured.
    pub formula: Option<&'static str>,
    /// A stored value is among those that ours was made of.
    pub stored: bool,
}

/// Finds ours.
pub fn beside(published: &Published, cases: &Cases<'_>) -> Comparison {
    let mut formula = None;
    let found = match &published.ours {
        None => None,
        Some(Selection::Exact(value, how)) => {
            formula = Some(*how);
            Some(Found { value: *value, at: None, stored: false })
        }
        Some(Selection::Mean(mean)) => mean_of(mean, cases),
        Some(Selection::Ratio { case, quantity, over, under }) => {
            ratio(cases.get(*case).copied(), quantity, over, under.as_ref())
        }
        Some(Selection::Difference { case, quantity, over, under }) => {
            let one = |of| ratio(cases.get(*case).copied(), quantity, of, None);
            one(over).zip(one(under)).map(|(a, b)| Found {
                value: a.value - b.value,
                stored: a.stored || b.stored,
                ..a
            })
        }
    };
    let number = published.value.number();
    Comparison {
        ours: found.map(|f| f.value),
        at: found.and_then(|f| f.at),
        ratio: found.filter(|_| number != 0.0).map(|f| f.value / number),
        formula,
        stored: found.is_some_and(|f| f.stored),
    }
}

/// A value of ours among the rows.
#[derive(Clone, Copy, Debug)]
struct Found {
    value: f64,
    at: Option<u64>,
    stored: bool,
}

/// Medians of a series of ours, by place, each with the mark of a stored one.
fn places(kept: &Kept, series: &str, quantity: &str) -> BTreeMap<u64, Found> {
    let own = |r: &&Row| r.library == OURS && r.series == series && r.quantity == quantity;
    let found = |r: &Row| Some((r.x, Found { value: r.median?, at: Some(r.x), stored: r.stored }));
    kept.rows.iter().filter(own).filter_map(found).collect()
}

/// The name of our library among those that are measured.
pub const OURS: &str = "ours";

/// A counter's values at the last place of each series that was measured, by the names that readers see.
pub fn counted(counter: &Counter, cases: &Cases<'_>) -> Vec<(&'static str, f64)> {
    let Some(kept) = cases.get(counter.case) else { return Vec::new() };
    let last = |series: &str| pick(&places(kept, series, counter.quantity), Position::Last);
    counter.of.iter().filter_map(|(name, series)| Some((*name, last(series)?.value))).collect()
}

fn pick(places: &BTreeMap<u64, Found>, at: Position) -> Option<Found> {
    match at {
        Position::First => places.values().next().copied(),
        Position::Last => places.values().next_back().copied(),
        Position::Best => places.values().copied().reduce(|a, b| if b.value > a.value { b } else { a }),
        Position::X(x) => places.get(&x).copied(),
    }
}

fn ratio(
    kept: Option<&Kept>,
    quantity: &str,
    over: &(String, Position),
    under: Option<&(String, Position)>,
) -> Option<Found> {
    let kept = kept?;
    let mut upper = places(kept, &over.0, quantity);
    let Some((series, at)) = under else { return pick(&upper, over.1) };
    let mut lower = places(kept, series, quantity);
    // The same end of two series is a place that both have.
    if *at == over.1 && *at != Position::Best {
        upper.retain(|x, _| lower.contains_key(x));
        lower.retain(|x, _| upper.contains_key(x));
    }
    let (a, b) = (pick(&upper, over.1)?, pick(&lower, *at).filter(|f| f.value != 0.0)?);
    Some(Found { value: a.value / b.value, stored: a.stored || b.stored, ..a })
}

fn mean_of(mean: &Mean, cases: &Cases<'_>) -> Option<Found> {
    let fits = |row: &&Row| {
        let threads = row.series.strip_prefix(mean.component).and_then(|rest| rest.strip_prefix(", "));
        let threads = threads.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        row.library == OURS
            && row.quantity == mean.quantity
            && threads.is_some_and(|t| mean.threads.is_none_or(|wanted| wanted == t))
            && (mean.bytes.0..=mean.bytes.1).contains(&row.x)
    };
    let rows =
        mean.cases.iter().filter_map(|case| cases.get(*case)).flat_map(|kept| kept.rows.iter().filter(fits));
    let values: Vec<(f64, bool)> = rows.filter_map(|r| Some((r.median?, r.stored))).collect();
    let sum: f64 = values.iter().map(|(v, _)| v).sum();
    let stored = values.iter().any(|(_, stored)| *stored);
    (!values.is_empty()).then(|| Found { value: sum / values.len() as f64, at: None, stored })
}

/// A published value as a person reads it.
pub fn text(value: Value) -> String {
    match value {
        Value::Is(n) => number(n),
        Value::About(n) => format!("about {}", number(n)),
        Value::AtMost(n) => format!("up to {}", number(n)),
        Value::AtLeast(n) => format!("at least {}", number(n)),
        Value::Between(a, b) => format!("{} to {}", number(a), number(b)),
    }
}

/// Four digits, thousands apart.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        0.0 => return "0".to_owned(),
        s if s >= 1000.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 1.0 => 3,
        s if s >= 0.001 => 4,
        _ => return format!("{value:.2e}"),
    };
    let plain = format!("{value:.digits$}");
    let (whole, rest) = plain.split_once('.').unwrap_or((&plain, ""));
    let rest = rest.trim_end_matches('0');
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        let left = whole.len() - i;
        if i > 0 && left % 3 == 0 && c.is_ascii_digit() && !out.ends_with('-') {
            out.push(',');
        }
        out.push(c);
    }
    if rest.is_empty() { out } else { format!("{out}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn kept(rows: Vec<Row>) -> Kept {
        Kept {
            key: String::new(),
            case: "c".into(),
            rounds: 1,
            machine: Machine::none(),
            libraries: Vec::new(),
            rows,
            over: None,
            model: None,
            whole: true,
            commands: Vec::new(),
        }
    }

    fn row(series: &str, x: u64, value: f64) -> Row {
        Row::new(OURS, series, x, "value", vec![value])
    }

    #[test]
    fn ratios_and_values_are_found() {
        let mut stored = row("b", 4, 2.0);
        stored.stored = true;
        let kept =
            kept(vec![row("a", 1, 3.0), row("a", 4, 10.0), row("a", 8, 50.0), row("b", 1, 1.0), stored]);
        let cases = Cases::from([("c".to_owned(), &kept)]);
        let published = Published::new("w", "a", Value::AtMost(10.0), "times");
        let last = published.clone().ratio("c", "value", ("a", Position::Last), ("b", Position::Last));
        let due = Comparison { ours: Some(5.0), at: Some(4), ratio: Some(0.5), formula: None, stored: true };
        assert_eq!(beside(&last, &cases), due);
        let first = published.clone().value("c", "value", "a", Position::X(1));
        assert_eq!(beside(&first, &cases).ours, Some(3.0));
        assert_eq!(beside(&published, &cases).ours, None);
        let elsewhere = published.clone().value("d", "value", "a", Position::First);
        assert_eq!(beside(&elsewhere, &cases).ratio, None);
        let of = vec![("one", "a"), ("two", "b"), ("three", "c")];
        let counter = Counter { what: "w", case: "c", quantity: "value", of };
        assert_eq!(counted(&counter, &cases), [("one", 50.0), ("two", 2.0)]);
        assert!(counted(&counter, &Cases::new()).is_empty());
        let exact = published.ours(Selection::Exact(20.0, "a formula"));
        assert_eq!(beside(&exact, &cases).ratio, Some(2.0));
    }

    #[test]
    fn means_are_over_what_they_name() {
        let kept = kept(vec![
            row("rdma, 1 threads", 8, 10.0),
            row("rdma, 2 threads", 8, 30.0),
            row("rdma, 2 threads", 65536, 99.0),
            row("pt2pt, 2 threads", 8, 5.0),
        ]);
        let cases = Cases::from([("c".to_owned(), &kept)]);
        let mean = |threads| {
            let mean =
                Mean { cases: vec!["c"], quantity: "value", component: "rdma", threads, bytes: (0, 16384) };
            mean_of(&mean, &cases).map(|f| f.value)
        };
        assert_eq!((mean(None), mean(Some(2)), mean(Some(4))), (Some(20.0), Some(30.0), None));
    }

    #[test]
    fn numbers_are_read_easily() {
        let texts = [0.0, 0.25, 2.5, 1000.0, 2_585_600.4, -1234.0, 0.00002, 12_500_000.0].map(number);
        assert_eq!(texts, ["0", "0.25", "2.5", "1,000", "2,585,600", "-1,234", "2.00e-5", "12,500,000"]);
        assert_eq!(text(Value::Between(2.5, 3.0)), "2.5 to 3");
    }
}
