//! A case as a picture: a colour for each library, a shade and a mark for each series (where these are many, a colour for
//! each line), dashes where the dissertation has threads.

use crate::case::Case;
use crate::results::{Report, Row};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::{Drawable, PointCollection};

use plotters::prelude::*;
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::ops::Range;
use std::path::Path;

type Failed = Box<dyn std::error::Error>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Of the axes with what is drawn between them, and the least height of the whole.
const CHART_WIDTH: u32 = 830;
const HEIGHT: u32 = 640;
/// Beside the picture, for what is what: names are long, and lines go everywhere.
const KEY_LINE: i32 = 22;
/// Of a letter of the key, generously: fonts differ.
const LETTER: u32 = 8;
/// Below the picture, for what makes it doubtful, the machine and the libraries.
const FOOT: i32 = 62;

/// So many series of a library are told apart by shades.
const SHADES: usize = 6;

/// Libraries in the order they were given; the shades are for series.
const COLOURS: [RGBColor; 6] = [
    RGBColor(200, 30, 40),
    RGBColor(30, 100, 190),
    RGBColor(20, 140, 70),
    RGBColor(140, 70, 160),
    RGBColor(220, 130, 20),
    RGBColor(80, 80, 80),
];

/// Writes NAME.svg, and NAME-FIGURE.svg for what else the program measures, unless nothing was measured.
pub fn draw(case: &Case, report: &Report, folder: &Path) -> Result<(), String> {
    let drawn = Case { series: case.series.iter().filter(|s| s.drawn).cloned().collect(), ..case.clone() };
    draw_one(&drawn, report, "value", &folder.join(format!("{}.svg", report.case)))?;
    for further in case.program.further() {
        let title = format!("{}: {}", case.title, further.quantity);
        let of = Case { title, unit: further.unit, ..drawn.clone() };
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
    let there: Vec<&Row> =
        report.rows.iter().filter(|r| r.quantity == quantity && r.median.is_some()).collect();
    if there.is_empty() {
        return Ok(());
    }
    picture(case, report, &there, path).map_err(|e| format!("{}: {e}", path.display()))
}

/// From a little below the least to a little above the most.
fn span(values: impl Iterator<Item = f64>, log: bool) -> Range<f64> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.filter(|v| v.is_finite() && (!log || *v > 0.0)) {
        (least, most) = (least.min(v), most.max(v));
    }
    if least > most {
        return 0.1..1.0;
    }
    match log {
        true => least / 1.3..most * 1.3,
        false if least == most => least - 1.0..most + 1.0,
        false => (least - (most - least) * 0.05).min(least)..most + (most - least) * 0.05,
    }
}

fn picture(case: &Case, report: &Report, rows: &[&Row], path: &Path) -> Result<(), Failed> {
    let size = size(&names(case, report, rows));
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (upper, lower) = root.split_vertically(size.1 as i32 - FOOT);
    let small = ("sans-serif", 12);
    let libraries: Vec<String> = report.libraries.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    let doubtful = ("sans-serif", 13).into_font().color(&RGBColor(200, 30, 40));
    lower.draw(&Text::new(report.remarks().join("; "), (12, 4), doubtful))?;
    lower.draw(&Text::new(report.machine.line(), (12, 22), small))?;
    lower.draw(&Text::new(libraries.join("; "), (12, 40), small))?;
    let x = span(rows.iter().map(|r| r.x as f64), case.log_x);
    let mut y = span(rows.iter().filter_map(|r| r.median), case.log_y);
    if !case.log_y {
        y.start = y.start.min(0.0);
    }
    let powers = |of: Range<f64>| of.clone().log_scale().with_key_points(round_within(&of));
    match (case.log_x, case.log_y) {
        (false, false) => chart(case, report, rows, &upper, x, y),
        (true, false) => chart(case, report, rows, &upper, powers(x), y),
        (false, true) => chart(case, report, rows, &upper, x, powers(y)),
        (true, true) => chart(case, report, rows, &upper, powers(x), powers(y)),
    }?;
    root.present()?;
    Ok(())
}

fn name(library: &str, series: &str) -> String {
    format!("{library}: {series}")
}

/// The lines of the key.
fn names(case: &Case, report: &Report, rows: &[&Row]) -> Vec<String> {
    let libraries = report.libraries.iter().map(|(library, _)| library);
    let all = libraries.flat_map(|l| case.series.iter().map(move |s| (l, &s.label)));
    let there = all.filter(|(l, s)| rows.iter().any(|r| r.library == **l && r.series == **s));
    there.map(|(l, s)| name(l, s)).collect()
}

/// Of a picture whose key has these lines: nothing of it is cut.
fn size(names: &[String]) -> (u32, u32) {
    let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(0) as u32;
    let title = KEY_LINE as u32 * 2;
    let height = title + names.len() as u32 * KEY_LINE as u32 + FOOT as u32;
    (CHART_WIDTH + 30 + longest * LETTER, height.max(HEIGHT))
}

fn chart<X, Y>(case: &Case, report: &Report, rows: &[&Row], on: &Canvas<'_>, x: X, y: Y) -> Result<(), Failed>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let title = title(case);
    // Over the key, too: titles are long.
    let on = on.titled(&title, ("sans-serif", 18))?;
    let (on, key) = on.split_horizontally(CHART_WIDTH as i32);
    let mut line = 24;
    // More shades of one colour than can be told apart: a colour for each line.
    let many = case.series.len() > SHADES;
    let mut lines = 0;
    let mut chart = ChartBuilder::on(&on)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(x, y)?;
    // Places are whole numbers.
    let place = |x: &f64| if x.fract().abs() < 1e-6 { short(*x) } else { String::new() };
    let value = |y: &f64| short(*y);
    chart
        .configure_mesh()
        .x_label_formatter(&place)
        .y_label_formatter(&value)
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 16))
        .x_desc(axis(case.x, case.log_x))
        .y_desc(axis(case.unit, case.log_y))
        .light_line_style(WHITE)
        .draw()?;
    for (l, (library, _)) in report.libraries.iter().enumerate() {
        for (s, series) in case.series.iter().enumerate() {
            let own = rows.iter().filter(|r| r.library == *library && r.series == series.label);
            let points: Vec<(f64, f64)> = own.filter_map(|r| Some((r.x as f64, r.median?))).collect();
            if points.is_empty() {
                continue;
            }
            let colour = match many {
                true => COLOURS[lines % COLOURS.len()].mix(1.0),
                false => {
                    COLOURS[l % COLOURS.len()].mix(1.0 - 0.6 * s as f64 / case.series.len().max(2) as f64)
                }
            };
            lines += 1;
            let style = colour.stroke_width(2);
            // Hollow where the line is dashed.
            let dot = if series.dashed { style } else { colour.filled() };
            chart.draw_series(points.iter().map(|p| mark(s, *p, dot)))?;
            key.draw(&mark(s, (8, line), dot))?;
            key.draw(&Text::new(name(library, &series.label), (22, line - 8), ("sans-serif", 15)))?;
            line += KEY_LINE;
            match series.dashed {
                true => chart.draw_series(DashedLineSeries::new(points, 7, 5, style))?,
                false => chart.draw_series(LineSeries::new(points, style))?,
            };
        }
    }
    Ok(())
}

/// The text along an axis.
fn axis(what: &str, log: bool) -> String {
    if log { format!("{what} (logarithmic)") } else { what.to_owned() }
}

/// The title of a picture: figures are numbers, the rest says itself what it is.
fn title(case: &Case) -> String {
    match case.figure.strip_prefix("table") {
        Some(number) => format!("Table{number}: {}", case.title),
        None => format!("Figure {}: {}", case.figure, case.title),
    }
}

/// The mark of a series: its number chooses the shape.
fn mark<C>(series: usize, at: C, style: ShapeStyle) -> Mark<C> {
    Mark { at: [at], series, style }
}

struct Mark<C> {
    at: [C; 1],
    series: usize,
    style: ShapeStyle,
}

impl<'a, C> PointCollection<'a, C> for &'a Mark<C> {
    type Point = &'a C;
    type IntoIter = std::slice::Iter<'a, C>;
    fn point_iter(self) -> Self::IntoIter {
        self.at.iter()
    }
}

impl<C, B: DrawingBackend> Drawable<B> for Mark<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        at: I,
        on: &mut B,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<B::ErrorType>> {
        let (style, filled) = (&self.style, self.style.filled);
        for (x, y) in at {
            let corners = [(x, y - 6), (x + 5, y + 4), (x - 5, y + 4)];
            match self.series % 4 {
                0 => on.draw_circle((x, y), 4, style, filled)?,
                1 => on.draw_rect((x - 4, y - 4), (x + 4, y + 4), style, filled)?,
                2 if filled => on.fill_polygon(corners, style)?,
                2 => on.draw_path(corners.into_iter().chain([corners[0]]), style)?,
                _ => {
                    on.draw_line((x - 5, y - 5), (x + 5, y + 5), style)?;
                    on.draw_line((x - 5, y + 5), (x + 5, y - 5), style)?;
                }
            }
        }
        Ok(())
    }
}

/// Marks on an axis of powers: one, two and five of each power of ten, or where these are many only the powers, and no more
/// of them than there is room for.
fn round_within(range: &Range<f64>) -> Vec<f64> {
    const ROOM: usize = 10;
    let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
    let of = |digits: &'static [f64], step: usize| {
        let all =
            (first..=last).step_by(step).flat_map(move |e| digits.iter().map(move |d| d * 10f64.powi(e)));
        all.filter(|v| range.contains(v)).collect::<Vec<f64>>()
    };
    let finest = of(&[1.0, 2.0, 5.0], 1);
    match finest.len() <= ROOM {
        true => finest,
        false => of(&[1.0], 1 + (last - first) as usize / ROOM),
    }
}

/// A number as it can be read at a glance: 250 k instead of 250000.0.
fn short(value: f64) -> String {
    let (factor, unit) = match value.abs() {
        v if v >= 1e9 => (1e9, " G"),
        v if v >= 1e6 => (1e6, " M"),
        v if v >= 1e4 => (1e3, " k"),
        _ => (1.0, ""),
    };
    // Three digits are enough for an axis.
    let digits = format!("{:.3}", value / factor);
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.25, 8.0, 4096.0, 10_000.0, 250_000.0, 1_500_000.0, 2e9].map(short);
        assert_eq!(texts, ["0", "0.25", "8", "4096", "10 k", "250 k", "1.5 M", "2 G"]);
    }

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
        for words in [logarithmic.as_str(), "a quick run", "the machine was busy (load 7.5"] {
            assert!(picture.contains(words), "no {words:?}");
        }
        assert!(!picture.contains(&format!("{} (logarithmic)", case.x)));
    }

    #[test]
    fn the_key_has_room() {
        let many: Vec<String> = (0..60).map(|i| name("a library", &format!("series number {i}"))).collect();
        let (width, height) = size(&many);
        assert!(height >= 60 * KEY_LINE as u32 + FOOT as u32, "{height}");
        assert!(width > CHART_WIDTH + "a library: series number 59".len() as u32 * LETTER);
        assert_eq!(size(&many[..2]).1, HEIGHT, "a short key makes no picture lower");
    }

    #[test]
    fn axes_of_powers_have_some_numbers_and_not_many() {
        assert_eq!(round_within(&(300.0..2500.0)), [500.0, 1000.0, 2000.0]);
        assert_eq!(round_within(&(0.9..12.0)), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(round_within(&(3e3..2e7)), [1e4, 1e5, 1e6, 1e7]);
        let wide = round_within(&(1.0..1e30));
        assert!((2..=10).contains(&wide.len()), "{wide:?}");
    }
}
