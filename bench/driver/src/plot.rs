//! A case as a picture: a line for each library and series with its error bars, below them what makes the figures doubtful and the machine.

use crate::case::Case;
use crate::picture::{Line, Picture, Spot, svg};
use crate::results::{Report, Row};
use std::path::Path;

/// Writes NAME.svg, and NAME-FIGURE.svg for what else the program measures, unless nothing was measured.
pub fn draw(case: &Case, report: &Report, folder: &Path) -> Result<(), String> {
    draw_one(case, report, "value", &folder.join(format!("{}.svg", report.case)))?;
    for further in case.program.further() {
        let title = format!("{}: {}", case.title, further.quantity);
        let of = Case { title, unit: further.unit, ..case.clone() };
        draw_one(
            &of,
            report,
            further.quantity,
            &folder.join(format!("{}-{}.svg", report.case, further.file)),
        )?;
    }
    Ok(())
}

fn draw_one(case: &Case, report: &Report, quantity: &str, path: &Path) -> Result<(), String> {
    let libraries: Vec<&str> = report.libraries.iter().map(|(name, _)| name.as_str()).collect();
    let lines = lines(case, &libraries, &report.rows, quantity);
    if lines.is_empty() {
        return Ok(());
    }
    let versions: Vec<String> = report.libraries.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    let picture = Picture {
        title: title(case),
        x: case.x.to_owned(),
        y: case.unit.to_owned(),
        log_x: case.log_x,
        log_y: case.log_y,
        lines,
        names: Vec::new(),
        bars: false,
        peaks: Vec::new(),
        foot: [report.remarks().join("; "), report.machine.line(), versions.join("; ")],
    };
    std::fs::write(path, svg(&picture)?).map_err(|e| format!("{}: {e}", path.display()))
}

/// Lines of a quantity: those of the case's series that are drawn, for each library in turn.
pub fn lines(case: &Case, libraries: &[&str], rows: &[Row], quantity: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let drawn: Vec<_> = case.series.iter().filter(|s| s.drawn).collect();
    for (l, library) in libraries.iter().enumerate() {
        for (s, series) in drawn.iter().enumerate() {
            let own = |r: &&Row| {
                (r.library.as_str(), r.series.as_str(), r.quantity.as_str())
                    == (*library, &series.label, quantity)
            };
            let mut spots: Vec<Spot> = rows.iter().filter(own).filter_map(spot).collect();
            spots.sort_by(|a, b| a.x.total_cmp(&b.x));
            if !spots.is_empty() {
                let name = format!("{library}: {}", series.label);
                let dashed = series.dashed;
                lines.push(Line { name, library: l, series: s, dashed, published: false, spots });
            }
        }
    }
    lines
}

fn spot(row: &Row) -> Option<Spot> {
    let y = row.median?;
    Some(Spot { x: row.x as f64, y, least: row.least.unwrap_or(y), most: row.most.unwrap_or(y) })
}

/// The title of a picture: figures are numbers, the rest says itself what it is.
fn title(case: &Case) -> String {
    match case.figure.strip_prefix("table") {
        Some(number) => format!("Table{number}: {}", case.title),
        None => format!("Figure {}: {}", case.figure, case.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a picture beside its lines.
    #[test]
    fn a_picture_says_how_to_read_it() {
        use crate::case::Sizes;
        use crate::machine::Machine;
        let case = crate::cases::all(&Sizes::quick()).into_iter().find(|c| c.log_y && !c.log_x).unwrap();
        let rows = vec![Row::new("a", &case.series[0].label, 2, "value", vec![1.0])];
        let machine = Machine { load: 7.5, ..Machine::here() };
        let mut report = Report::new(&case, &[], &machine, 1, rows);
        report.libraries = vec![("a".into(), "1.0".into())];
        let folder = tempfile::tempdir().unwrap();
        draw(&case, &report, folder.path()).unwrap();
        let picture = std::fs::read_to_string(folder.path().join(format!("{}.svg", case.name))).unwrap();
        let logarithmic = format!("{} (logarithmic)", case.unit);
        for words in [logarithmic.as_str(), "a quick run", "the machine was busy (others had 7.5"] {
            assert!(picture.contains(words), "no {words:?}");
        }
        assert!(!picture.contains(&format!("{} (logarithmic)", case.x)));
    }
}
