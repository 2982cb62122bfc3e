//! Results: every value, medians and spread, ratios; as CSV and as JSON.

use crate::case::{Case, Ratio, SeriesPoint};
use crate::library::Library;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Rounds of a measurement.
pub const ENOUGH: usize = 3;

/// All values of one library, series, place and quantity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub library: String,
    pub series: String,
    pub x: u64,
    /// `value`, or the name of a further figure.
    pub quantity: String,
    pub values: Vec<f64>,
    pub median: Option<f64>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// Median distance from the median, as a share of it.
    pub spread: Option<f64>,
    pub iterations: u64,
    /// Every run looked at its data.
    pub verified: bool,
    /// Why there is no value.
    pub failure: Option<String>,
    /// Of an earlier, longer run.
    #[serde(default)]
    pub stored: bool,
}

impl Row {
    pub fn new(library: &str, series: &str, x: u64, quantity: &str, values: Vec<f64>) -> Row {
        let mid = median(&values);
        let distances = |m: f64| values.iter().map(|v| (v - m).abs()).collect::<Vec<_>>();
        let spread = mid.and_then(|m| if m == 0.0 { None } else { Some(median(&distances(m))? / m.abs()) });
        let edge = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
        Row {
            library: library.into(),
            series: series.into(),
            x,
            quantity: quantity.into(),
            median: mid,
            least: edge(f64::min),
            most: edge(f64::max),
            spread,
            values,
            iterations: 0,
            verified: false,
            failure: None,
            stored: false,
        }
    }
}

/// The middle value, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}

/// A ratio as measured, beside what was published.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub library: String,
    pub what: String,
    pub measured: f64,
    pub published: &'static str,
}

/// Everything of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub case: &'static str,
    pub figure: &'static str,
    pub title: String,
    pub x: &'static str,
    pub unit: &'static str,
    pub rounds: usize,
    pub machine: Machine,
    pub libraries: Vec<(String, String)>,
    pub rows: Vec<Row>,
    pub ratios: Vec<Compared>,
    /// The transport and the nodes, where they are not one machine's.
    pub over: Option<String>,
    /// Why rates and ratios are not of a network.
    pub model: Option<&'static str>,
}

impl Report {
    pub fn new(
        case: &Case,
        libraries: &[Library],
        machine: &Machine,
        rounds: usize,
        rows: Vec<Row>,
    ) -> Report {
        let ratios =
            libraries.iter().flat_map(|l| case.ratios.iter().filter_map(|r| compare(r, &l.name, &rows)));
        Report {
            case: case.name,
            figure: case.figure,
            title: case.title.clone(),
            x: case.x,
            unit: case.unit,
            rounds,
            machine: machine.clone(),
            libraries: libraries.iter().map(|l| (l.name.clone(), l.version.clone())).collect(),
            ratios: ratios.collect(),
            rows,
            over: None,
            model: None,
        }
    }

    /// The rows of the main figure.
    pub fn main_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.quantity == "value")
    }

    /// Why the figures are to be taken with care; nothing where they are not.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.rounds < ENOUGH {
            remarks.push(format!("a quick run ({} of {ENOUGH} rounds): no measurement", self.rounds));
        }
        if self.machine.load > Machine::QUIET {
            remarks
                .push(format!("the machine was busy (others had {} cores when it began)", self.machine.load));
        }
        remarks.extend(self.model.map(str::to_owned));
        let failed = self.main_rows().filter(|r| r.median.is_none()).count();
        if failed > 0 {
            remarks.push(format!("{failed} places are missing (their jobs failed; NAME.csv says why)"));
        }
        remarks
    }

    /// Writes NAME.csv and NAME.json.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        let put = |ending: &str, text: &str| {
            let path = folder.join(format!("{}.{ending}", self.case));
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
        };
        let json = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        put("json", &json)?;
        put("csv", &self.csv())
    }

    fn csv(&self) -> String {
        let mut text = String::from(
            "case,figure,library,series,x,quantity,median,least,most,spread,iterations,verified,failure,values\n",
        );
        for row in &self.rows {
            let number = |n: Option<f64>| n.map(|n| n.to_string()).unwrap_or_default();
            let values: Vec<String> = row.values.iter().map(f64::to_string).collect();
            let fields = [
                self.case.to_owned(),
                self.figure.to_owned(),
                row.library.clone(),
                row.series.clone(),
                row.x.to_string(),
                row.quantity.clone(),
                number(row.median),
                number(row.least),
                number(row.most),
                number(row.spread),
                row.iterations.to_string(),
                row.verified.to_string(),
                row.failure.clone().unwrap_or_default(),
                values.join(" "),
            ];
            text.push_str(&fields.map(|f| quoted(&f)).join(","));
            text.push('\n');
        }
        text
    }

    /// Counts of a device in software beside a value, of both nodes, warm-up included.
    fn counted(&self, row: &Row) -> Option<String> {
        let same = |r: &&Row| (&r.library, &r.series, r.x) == (&row.library, &row.series, row.x);
        let counts = self.rows.iter().filter(same).filter_map(|r| {
            let name = r.quantity.strip_prefix("device_")?;
            Some(format!("{name} {}", r.median?))
        });
        let all = counts.collect::<Vec<_>>().join(", ");
        (!all.is_empty()).then(|| format!("counted: {all}"))
    }

    /// For a person at a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{} (figure {}): {} [{}]\n", self.case, self.figure, self.title, self.unit);
        if let Some(over) = &self.over {
            let _ = writeln!(text, "  {over}");
        }
        for remark in self.remarks() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  NOTE: {remark}");
        }
        for row in self.main_rows() {
            let shown = match (row.median, &row.failure) {
                (Some(m), _) => format!("{m:>14.4} ±{:.0}%", row.spread.unwrap_or(0.0) * 100.0),
                (None, Some(why)) => format!("failed: {}", why.chars().take(200).collect::<String>()),
                (None, None) => "nothing".to_owned(),
            };
            let _ = writeln!(text, "  {:8} {:44} {:>6} {} {shown}", row.library, row.series, row.x, self.x);
            if let Some(counted) = self.counted(row) {
                let _ = writeln!(text, "           {counted}");
            }
        }
        let of = if self.model.is_some() { " (of the model)" } else { "" };
        for r in &self.ratios {
            let Compared { library, what, measured, published } = r;
            let _ = writeln!(text, "  {library:8} {what}: {measured:.4}{of}; published: {published}");
        }
        text
    }
}

/// A field of a CSV file (RFC 4180).
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// Medians of a series, by place.
fn places(rows: &[Row], library: &str, series: &str, quantity: &str) -> BTreeMap<u64, f64> {
    let of_series = |r: &&Row| r.library == library && r.series == series && r.quantity == quantity;
    rows.iter().filter(of_series).filter_map(|r| Some((r.x, r.median?))).collect()
}

fn pick(places: &BTreeMap<u64, f64>, at: SeriesPoint) -> Option<f64> {
    match at {
        SeriesPoint::First => places.values().next().copied(),
        SeriesPoint::Last => places.values().next_back().copied(),
        SeriesPoint::Best => places.values().copied().reduce(f64::max),
    }
}

/// Two series at the same end are compared at a place that both have: a job may have failed at the last one of either.
fn compare(ratio: &Ratio, library: &str, rows: &[Row]) -> Option<Compared> {
    let all = |series: &str| places(rows, library, series, ratio.quantity);
    let mut over = all(&ratio.over.0);
    let measured = match &ratio.under {
        None => pick(&over, ratio.over.1)?,
        Some((series, at)) => {
            let mut under = all(series);
            if *at == ratio.over.1 && *at != SeriesPoint::Best {
                over.retain(|x, _| under.contains_key(x));
                under.retain(|x, _| over.contains_key(x));
            }
            pick(&over, ratio.over.1)? / pick(&under, *at).filter(|n| *n != 0.0)?
        }
    };
    Some(Compared { library: library.into(), what: ratio.what.clone(), measured, published: ratio.published })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_spread() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        let row = Row::new("l", "s", 1, "value", vec![8.0, 10.0, 13.0]);
        assert_eq!(
            (row.median, row.least, row.most, row.spread),
            (Some(10.0), Some(8.0), Some(13.0), Some(0.2))
        );
        assert_eq!(Row::new("l", "s", 1, "value", vec![]).spread, None);
    }

    #[test]
    fn ratios_look_where_they_say() {
        let row = |series: &str, x, v| Row::new("a", series, x, "value", vec![v]);
        let rows = [row("p", 1, 10.0), row("p", 4, 30.0), row("p", 2, 40.0), row("t", 1, 5.0)];
        let measured =
            |over, under| compare(&Ratio::new("", "", over, under), "a", &rows).map(|c| c.measured);
        assert_eq!(measured(("t", SeriesPoint::Best), ("p", SeriesPoint::Best)), Some(0.125));
        assert_eq!(measured(("p", SeriesPoint::Last), ("p", SeriesPoint::First)), Some(3.0));
        assert_eq!(measured(("p", SeriesPoint::Last), ("x", SeriesPoint::First)), None);
        assert!(compare(&Ratio::share("", "", "t", "value"), "b", &rows).is_none());
    }

    /// The last place of a series may have failed.
    #[test]
    fn like_is_compared_with_like() {
        let row = |series: &str, x, v| Row::new("a", series, x, "value", vec![v]);
        let rows =
            [row("p", 1, 10.0), row("p", 2, 40.0), row("p", 4, 90.0), row("t", 2, 5.0), row("t", 8, 1.0)];
        let measured =
            |over, under| compare(&Ratio::new("", "", over, under), "a", &rows).map(|c| c.measured);
        assert_eq!(measured(("t", SeriesPoint::Last), ("p", SeriesPoint::Last)), Some(0.125));
        assert_eq!(measured(("p", SeriesPoint::First), ("t", SeriesPoint::First)), Some(8.0));
        assert_eq!(measured(("t", SeriesPoint::Best), ("p", SeriesPoint::Best)), Some(5.0 / 90.0));
        let apart = [row("p", 1, 10.0), row("t", 2, 5.0)];
        assert!(
            compare(&Ratio::new("", "", ("t", SeriesPoint::Last), ("p", SeriesPoint::Last)), "a", &apart)
                .is_none()
        );
    }

    #[test]
    fn what_makes_figures_doubtful_is_said() {
        let case = crate::cases::all(&crate::case::Sizes::quick()).remove(0);
        let mut machine = Machine { load: 0.0, ..Machine::here() };
        let good = Row::new("a", "s", 1, "value", vec![1.0]);
        let report = |machine: &Machine, rounds, rows| Report::new(&case, &[], machine, rounds, rows);
        assert!(report(&machine, 5, vec![good.clone()]).remarks().is_empty());
        machine.load = 4.0;
        let failed = Row::new("a", "s", 2, "value", vec![]);
        let report = report(&machine, 1, vec![good, failed]);
        let said = report.text();
        for word in ["quick run", "busy (others had 4", "1 places are missing"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert_eq!(report.remarks().len(), 3);
        assert!(!said.contains("of the model"));
        let model = Report { model: Some("of a model"), over: Some("over x".into()), ..report };
        assert_eq!(model.remarks().len(), 4);
        assert!(model.text().contains("  over x\n"));
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
