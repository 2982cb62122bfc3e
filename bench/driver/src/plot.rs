//! A case as a picture: a colour for each library, a shade and a dot for each series, the dissertation's dashes where it has
//! threads.

use crate::case::Case;
use crate::results::{Report, Row};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

type Failed = Box<dyn std::error::Error>;
type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const SIZE: (u32, u32) = (1340, 720);
/// Beside the picture, for what is what: names are long, and lines go everywhere.
const KEY: i32 = 340;
const KEY_LINE: i32 = 17;
/// Below the picture, for the machine and the libraries.
const FOOT: i32 = 44;

/// Libraries in the order they were given; the shades are for series.
const COLOURS: [RGBColor; 6] = [
    RGBColor(200, 30, 40),
    RGBColor(30, 100, 190),
    RGBColor(20, 140, 70),
    RGBColor(140, 70, 160),
    RGBColor(220, 130, 20),
    RGBColor(80, 80, 80),
];

/// Writes NAME.svg, unless nothing was measured.
pub fn draw(case: &Case, report: &Report, folder: &Path) -> Result<(), String> {
    let path = folder.join(format!("{}.svg", report.case));
    let there: Vec<&Row> = report.main_rows().filter(|r| r.median.is_some()).collect();
    if there.is_empty() {
        return Ok(());
    }
    picture(case, report, &there, &path).map_err(|e| format!("{}: {e}", path.display()))
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
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (upper, lower) = root.split_vertically(SIZE.1 as i32 - FOOT);
    let small = ("sans-serif", 12);
    let libraries: Vec<String> = report.libraries.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    lower.draw(&Text::new(report.machine.line(), (12, 4), small))?;
    lower.draw(&Text::new(libraries.join("; "), (12, 22), small))?;
    let x = span(rows.iter().map(|r| r.x as f64), case.log_x);
    let mut y = span(rows.iter().filter_map(|r| r.median), case.log_y);
    if !case.log_y {
        y.start = y.start.min(0.0);
    }
    match (case.log_x, case.log_y) {
        (false, false) => chart(case, report, rows, &upper, x, y),
        (true, false) => chart(case, report, rows, &upper, x.log_scale(), y),
        (false, true) => chart(case, report, rows, &upper, x, y.log_scale()),
        (true, true) => chart(case, report, rows, &upper, x.log_scale(), y.log_scale()),
    }?;
    root.present()?;
    Ok(())
}

fn chart<X, Y>(case: &Case, report: &Report, rows: &[&Row], on: &Canvas<'_>, x: X, y: Y) -> Result<(), Failed>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let title = format!("Figure {}: {}", case.figure, case.title);
    let (on, key) = on.split_horizontally(SIZE.0 as i32 - KEY);
    let mut line = 44;
    let mut chart = ChartBuilder::on(&on)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(x, y)?;
    // Places are whole numbers.
    let whole = |x: &f64| if x.fract().abs() < 1e-6 { format!("{x:.0}") } else { String::new() };
    chart
        .configure_mesh()
        .x_label_formatter(&whole)
        .x_desc(case.x)
        .y_desc(case.unit)
        .light_line_style(WHITE)
        .draw()?;
    for (l, (library, _)) in report.libraries.iter().enumerate() {
        for (s, series) in case.series.iter().enumerate() {
            let own = rows.iter().filter(|r| r.library == *library && r.series == series.label);
            let points: Vec<(f64, f64)> = own.filter_map(|r| Some((r.x as f64, r.median?))).collect();
            if points.is_empty() {
                continue;
            }
            let colour =
                COLOURS[l % COLOURS.len()].mix(1.0 - 0.6 * s as f64 / case.series.len().max(2) as f64);
            let name = format!("{library}: {}", series.label);
            let style = colour.stroke_width(2);
            // Hollow where the line is dashed; larger for each further series.
            let dot = if series.dashed { style } else { colour.filled() };
            let size = 3 + s as i32 % 4;
            chart.draw_series(points.iter().map(|p| Circle::new(*p, size, dot)))?;
            key.draw(&Circle::new((8, line), size, dot))?;
            key.draw(&Text::new(name, (20, line - 6), ("sans-serif", 12)))?;
            line += KEY_LINE;
            match series.dashed {
                true => chart.draw_series(DashedLineSeries::new(points, 7, 5, style))?,
                false => chart.draw_series(LineSeries::new(points, style))?,
            };
        }
    }
    Ok(())
}
