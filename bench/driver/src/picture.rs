//! A picture of lines with marks and error bars between two named axes, as SVG: a colour for each library, a shade and a mark for each series
//! (where these are many, or there is one library, a colour for each line), dashes where they are asked for, grey for published values, a level line for a theoretical peak.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::{Drawable, PointCollection};

use plotters::prelude::*;
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::ops::Range;

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

/// Of values that others published.
const PUBLISHED: RGBColor = RGBColor(130, 130, 130);

/// All that is drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub title: String,
    /// Names of the axes, with units.
    pub x: String,
    pub y: String,
    pub log_x: bool,
    pub log_y: bool,
    /// Names of the places 0, 1, … of the x axis, where they are no numbers.
    pub names: Vec<String>,
    /// Each line is one bar of the group at each place; places have names.
    pub bars: bool,
    pub lines: Vec<Line>,
    /// Level lines, each with its name: limits that no measurement can pass.
    pub peaks: Vec<(String, f64)>,
    /// Below the picture: why it is to be taken with care, the machine, the libraries.
    pub foot: [String; 3],
}

/// A line of a picture.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    /// Of its library: chooses the colour.
    pub library: usize,
    /// Of its series: chooses shade and mark.
    pub series: usize,
    pub dashed: bool,
    /// Its values are somebody else's.
    pub published: bool,
    pub spots: Vec<Spot>,
}

/// A value with the least and the most of the runs that it is the median of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    pub least: f64,
    pub most: f64,
}

/// The picture as SVG.
///
/// # Errors
/// The picture's name and what the plotter says.
pub fn svg(picture: &Picture) -> Result<String, String> {
    let mut text = String::new();
    draw(picture, &mut text).map_err(|e| format!("{}: {e}", picture.title))?;
    Ok(text)
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

fn draw(picture: &Picture, into: &mut String) -> Result<(), Failed> {
    let size = size(picture);
    let root = SVGBackend::with_string(into, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (upper, lower) = root.split_vertically(size.1 as i32 - FOOT);
    let small = ("sans-serif", 12);
    let doubtful = ("sans-serif", 13).into_font().color(&RGBColor(200, 30, 40));
    let [doubts, machine, libraries] = &picture.foot;
    lower.draw(&Text::new(doubts.as_str(), (12, 4), doubtful))?;
    lower.draw(&Text::new(machine.as_str(), (12, 22), small))?;
    lower.draw(&Text::new(libraries.as_str(), (12, 40), small))?;
    let spots = || picture.lines.iter().flat_map(|l| &l.spots);
    let x = match picture.names.len() {
        0 => span(spots().map(|s| s.x), picture.log_x),
        places => -0.5..places as f64 - 0.5,
    };
    let heights = spots().flat_map(|s| [s.y, s.least, s.most]).chain(picture.peaks.iter().map(|(_, y)| *y));
    let mut y = span(heights, picture.log_y);
    if !picture.log_y {
        y.start = y.start.min(0.0);
    }
    let powers = |of: Range<f64>| of.clone().log_scale().with_key_points(round_within(&of));
    let ends = (x.start, x.end);
    match (picture.log_x, picture.log_y) {
        (false, false) => chart(picture, ends, &upper, x, y),
        (true, false) => chart(picture, ends, &upper, powers(x), y),
        (false, true) => chart(picture, ends, &upper, x, powers(y)),
        (true, true) => chart(picture, ends, &upper, powers(x), powers(y)),
    }?;
    root.present()?;
    Ok(())
}

/// Of a picture with its key: nothing of it is cut.
fn size(picture: &Picture) -> (u32, u32) {
    let names = || picture.lines.iter().map(|l| &l.name).chain(picture.peaks.iter().map(|(name, _)| name));
    let longest = names().map(|n| n.chars().count()).max().unwrap_or(0) as u32;
    let title = KEY_LINE as u32 * 2;
    let height = title + names().count() as u32 * KEY_LINE as u32 + FOOT as u32;
    (CHART_WIDTH + 30 + longest * LETTER, height.max(HEIGHT))
}

/// The colour of each line.
fn colours(picture: &Picture) -> Vec<RGBAColor> {
    let series = picture.lines.iter().filter(|l| !l.published).map(|l| l.series + 1).max().unwrap_or(1);
    // More shades of one colour than can be told apart, bars, or one library: a colour for each line.
    let alone = series > SHADES / 2 && picture.lines.iter().all(|l| l.library == 0);
    let many = series > SHADES || picture.bars || alone;
    let one = |(at, line): (usize, &Line)| match (line.published, many) {
        (true, _) => PUBLISHED.mix(1.0),
        (false, true) => COLOURS[at % COLOURS.len()].mix(1.0),
        (false, false) => {
            COLOURS[line.library % COLOURS.len()].mix(1.0 - 0.6 * line.series as f64 / series.max(2) as f64)
        }
    };
    picture.lines.iter().enumerate().map(one).collect()
}

fn chart<X, Y>(picture: &Picture, ends: (f64, f64), on: &Canvas<'_>, x: X, y: Y) -> Result<(), Failed>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    // Over the key, too: titles are long.
    let on = on.titled(&picture.title, ("sans-serif", 18))?;
    let (on, key) = on.split_horizontally(CHART_WIDTH as i32);
    let mut row = 24;
    let mut chart = ChartBuilder::on(&on)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(x, y)?;
    // Places are whole numbers.
    let place = |x: &f64| match ((x - x.round()).abs() < 1e-6, picture.names.get(x.round() as usize)) {
        (false, _) => String::new(),
        (true, Some(name)) if *x > -0.5 => name.clone(),
        (true, _) if picture.names.is_empty() => short(*x),
        (true, _) => String::new(),
    };
    let value = |y: &f64| short(*y);
    chart
        .configure_mesh()
        .x_label_formatter(&place)
        .y_label_formatter(&value)
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 16))
        .x_desc(axis(&picture.x, picture.log_x))
        .y_desc(axis(&picture.y, picture.log_y))
        .light_line_style(WHITE)
        .draw()?;
    for (at, (line, colour)) in picture.lines.iter().zip(colours(picture)).enumerate() {
        let points: Vec<(f64, f64)> = line.spots.iter().map(|s| (s.x, s.y)).collect();
        let style = colour.stroke_width(2);
        // Hollow where the line is dashed.
        let dot = if line.dashed || line.published { style } else { colour.filled() };
        let bars = line.spots.iter().filter(|s| s.least < s.most && !picture.bars);
        chart.draw_series(
            bars.map(|s| ErrorBar::new_vertical(s.x, s.least, s.y, s.most, colour.stroke_width(1), 6)),
        )?;
        key.draw(&Text::new(line.name.as_str(), (22, row - 8), ("sans-serif", 15)))?;
        if picture.bars {
            let fill = colour.filled();
            let all = picture.lines.len();
            chart.draw_series(points.iter().map(|p| Rectangle::new(bar(*p, at, all), fill)))?;
            key.draw(&Rectangle::new([(3, row - 5), (13, row + 5)], fill))?;
        } else {
            chart.draw_series(points.iter().map(|p| mark(line.series, *p, dot)))?;
            key.draw(&mark(line.series, (8, row), dot))?;
            match line.dashed || line.published {
                true => chart.draw_series(DashedLineSeries::new(points, 7, 5, style))?,
                false => chart.draw_series(LineSeries::new(points, style))?,
            };
        }
        row += KEY_LINE;
    }
    for (name, height) in &picture.peaks {
        let style = BLACK.stroke_width(1);
        chart.draw_series(LineSeries::new([(ends.0, *height), (ends.1, *height)], style))?;
        key.draw(&PathElement::new([(2, row), (14, row)], style))?;
        key.draw(&Text::new(name.as_str(), (22, row - 8), ("sans-serif", 15)))?;
        row += KEY_LINE;
    }
    Ok(())
}

/// Corners of the bar of a value, number `at` of the group of `all` at its place.
fn bar((x, y): (f64, f64), at: usize, all: usize) -> [(f64, f64); 2] {
    let wide = 0.8 / all as f64;
    let left = x - 0.4 + wide * at as f64;
    [(left, 0.0), (left + wide * 0.9, y)]
}

/// The text along an axis.
fn axis(what: &str, log: bool) -> String {
    if log { format!("{what} (logarithmic)") } else { what.to_owned() }
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

    fn line(name: &str, values: &[(f64, f64)]) -> Line {
        let spots = values.iter().map(|(x, y)| Spot { x: *x, y: *y, least: *y, most: *y * 2.0 }).collect();
        Line { name: name.into(), library: 0, series: 0, dashed: false, published: false, spots }
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.25, 8.0, 4096.0, 10_000.0, 250_000.0, 1_500_000.0, 2e9].map(short);
        assert_eq!(texts, ["0", "0.25", "8", "4096", "10 k", "250 k", "1.5 M", "2 G"]);
    }

    #[test]
    fn the_key_has_room() {
        let lines = (0..60).map(|i| line(&format!("a library: series number {i}"), &[])).collect();
        let mut picture = Picture { lines, ..Picture::default() };
        let (width, height) = size(&picture);
        assert!(height >= 60 * KEY_LINE as u32 + FOOT as u32, "{height}");
        assert!(width > CHART_WIDTH + "a library: series number 59".len() as u32 * LETTER);
        picture.lines.truncate(2);
        assert_eq!(size(&picture).1, HEIGHT, "a short key makes no picture lower");
    }

    #[test]
    fn axes_of_powers_have_some_numbers_and_not_many() {
        assert_eq!(round_within(&(300.0..2500.0)), [500.0, 1000.0, 2000.0]);
        assert_eq!(round_within(&(0.9..12.0)), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(round_within(&(3e3..2e7)), [1e4, 1e5, 1e6, 1e7]);
        let wide = round_within(&(1.0..1e30));
        assert!((2..=10).contains(&wide.len()), "{wide:?}");
    }

    #[test]
    fn bars_stand_at_named_places() {
        let lines = vec![line("QP", &[(0.0, 2.0), (1.0, 3.0)]), line("CQ", &[(0.0, 1.0), (1.0, 1.0)])];
        let names = vec!["one".to_owned(), "another".to_owned()];
        let picture = Picture { lines, names, bars: true, ..Picture::default() };
        let drawn = svg(&picture).expect("drawn");
        assert!(drawn.contains(">\none\n<") && drawn.contains(">\nanother\n<"), "{drawn}");
        assert!(!drawn.contains("<circle") && drawn.matches("<rect").count() >= 6, "{drawn}");
    }

    #[test]
    fn peaks_and_error_bars_are_drawn_in_scale() {
        let mut picture = Picture { lines: vec![line("a", &[(1.0, 2.0), (2.0, 3.0)])], ..Picture::default() };
        let plain = svg(&picture).expect("drawn");
        assert_eq!(
            plain.matches("<circle").count(),
            5,
            "two values with bars, which have a circle, and the key"
        );
        picture.lines[0].spots.iter_mut().for_each(|s| s.most = s.y);
        let without = svg(&picture).expect("drawn");
        assert_eq!(without.matches("<circle").count(), 3, "no bars");
        picture.peaks.push(("the wire".into(), 50.0));
        let peaked = svg(&picture).expect("drawn");
        assert!(
            peaked.contains("the wire") && peaked.contains(">\n50\n<"),
            "the axis goes up to it: {peaked}"
        );
    }
}
