//! The page: for each figure of the papers our pictures of it, published values beside ours, all that was measured, the commands, and the reasons for care.
//! One file without anything from elsewhere.

use super::figure::{Bars, Explanation, Figure, Paper, View};
use super::kept::Kept;
use super::list::name;
use super::study::{Study, title};
use super::tables::{Cases, OURS, beside, counted, number, text};
use crate::case::{Case, Sizes};
use crate::cases;
use crate::picture::{Line, Picture, svg};
use crate::plot::lines;
use crate::results::Row;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222}\
h2{margin-top:3rem;border-bottom:2px solid #c81e28}h3{margin-top:2.2rem}section{margin-bottom:2rem}\
table{border-collapse:collapse;margin:.6rem 0;font-size:13.5px}th,td{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}\
td.n{text-align:right;font-variant-numeric:tabular-nums}th{background:#f3f3f3}svg{max-width:100%;height:auto;display:block;margin:.6rem 0;border:1px solid #ddd}\
.doubts{color:#a01820}.quiet{color:#666}pre{overflow-x:auto;background:#f6f6f6;padding:.6rem;font-size:12.5px}nav a{margin-right:.7rem;white-space:nowrap}\
summary{cursor:pointer}";

/// All that is on the page.
pub struct Page<'a> {
    papers: &'a [Paper],
    study: &'a Study,
    /// As large as they are published: stored results have their series.
    whole: Vec<Case>,
    quick: bool,
}

impl<'a> Page<'a> {
    pub fn new(papers: &'a [Paper], study: &'a Study, quick: bool) -> Page<'a> {
        Page { papers, study, whole: cases::all(&Sizes::whole()), quick }
    }

    /// The papers with the figures that are on it.
    pub(super) fn papers(&self) -> &[Paper] {
        self.papers
    }

    /// One round and a few seconds for a figure.
    pub(super) fn is_quick(&self) -> bool {
        self.quick
    }

    /// The cases that it shows.
    pub(super) fn study(&self) -> &Study {
        self.study
    }

    /// The page as HTML.
    ///
    /// # Errors
    /// A picture that cannot be drawn.
    pub fn html(&self) -> Result<String, String> {
        let mut page = String::from(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Figures of the five papers</title>",
        );
        // Writing to a String cannot fail, here and below.
        let _ =
            write!(page, "<style>{STYLE}</style></head><body><h1>Figures of the five papers, and ours</h1>");
        page += &self.head();
        for paper in self.papers {
            let _ = write!(
                page,
                "<h2 id=\"{0}\">{0}: {1}</h2><p>{2}</p><p class=\"quiet\">Published on {3}.</p>",
                paper.key,
                escaped(paper.title),
                escaped(paper.source),
                escaped(paper.machine)
            );
            for figure in &paper.figures {
                page += &self.figure(paper, figure)?;
            }
        }
        page.push_str("</body></html>\n");
        Ok(page)
    }

    fn head(&self) -> String {
        let mut head = String::new();
        let machine = self.study.done().values().next().map(|kept| kept.machine.line());
        let (measured, all) = self.counts();
        let _ = write!(
            head,
            "<p>{measured} of {all} figures and tables are measured here; the others say why not."
        );
        if self.quick {
            head.push_str(" <span class=\"doubts\">A quick run: one round and a few seconds for a figure, no measurement.</span>");
        }
        let _ = write!(head, "</p><p class=\"quiet\">{}</p>", escaped(&machine.unwrap_or_default()));
        for paper in self.papers {
            let _ = write!(head, "<nav><a href=\"#{0}\"><b>{0}</b></a>", paper.key);
            for figure in &paper.figures {
                let _ = write!(head, "<a href=\"#{}\">{}</a>", name(paper, figure), figure.id);
            }
            head.push_str("</nav>");
        }
        head
    }

    /// Figures with a value of ours, and all.
    pub fn counts(&self) -> (usize, usize) {
        let figures = || self.papers.iter().flat_map(|p| &p.figures);
        (figures().filter(|f| self.state(f) == "measured").count(), figures().count())
    }

    /// `measured`, `computed`, `not measured` where its jobs failed or had no time, `not here`.
    pub(super) fn state(&self, figure: &Figure) -> &'static str {
        let there =
            |view: &View| self.kept(view).is_some_and(|kept| kept.rows.iter().any(|r| r.median.is_some()));
        match figure.views.is_empty() {
            true if figure.published.iter().any(|p| p.ours.is_some()) => "computed",
            true => "not here",
            false if figure.views.iter().any(there) => "measured",
            false => "not measured",
        }
    }

    fn kept(&self, view: &View) -> Option<&Kept> {
        self.study.done().get(&(view.case, view.over))
    }

    /// The cases of a figure, each once.
    fn of_figure(&self, figure: &Figure) -> Vec<((&'static str, Option<&'static str>), &Kept)> {
        let mut all: Vec<((&'static str, Option<&'static str>), &Kept)> = Vec::new();
        for view in &figure.views {
            let name = (view.case, view.over);
            if !all.iter().any(|(known, _)| *known == name)
                && let Some(kept) = self.kept(view)
            {
                all.push((name, kept));
            }
        }
        all
    }

    /// Why cases of a figure cannot run here, each reason once.
    fn missing(&self, figure: &Figure) -> BTreeSet<&str> {
        let of = |view: &View| self.study.missing().get(&(view.case, view.over)).map(String::as_str);
        figure.views.iter().filter_map(of).collect()
    }

    /// Reasons for care.
    pub(super) fn doubts(&self, paper: &Paper, figure: &Figure) -> Vec<String> {
        let cases = self.of_figure(figure);
        // Each reason once, with the cases that have it unless all do.
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for (name, kept) in &cases {
            for reason in kept.doubts() {
                match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, names)) => names.push(title(*name)),
                    None => reasons.push((reason, vec![title(*name)])),
                }
            }
        }
        let told = |(reason, names): (String, Vec<String>)| match names.len() == cases.len() {
            true => reason,
            false => format!("{}: {reason}", names.join(", ")),
        };
        let mut doubts: Vec<String> = reasons.into_iter().map(told).collect();
        if let Some((_, kept)) = cases.first()
            && kept.machine.cores < paper.cores
        {
            doubts
                .push(format!("{} cores instead of {} of a published node", kept.machine.cores, paper.cores));
        }
        doubts
    }

    fn figure(&self, paper: &Paper, figure: &Figure) -> Result<String, String> {
        let mut out = String::new();
        let head = match figure.id.strip_prefix("table") {
            Some(number) => format!("Table {number}"),
            None => format!("Figure {}", figure.id.trim_start_matches("fig")),
        };
        let _ =
            write!(out, "<section id=\"{}\"><h3>{head}: {}</h3>", name(paper, figure), escaped(figure.title));
        let _ = write!(out, "<p class=\"quiet\">Section {}; {}", escaped(figure.place), self.state(figure));
        if !figure.x.is_empty() {
            let _ = write!(out, "; published axes: {} and {}", escaped(figure.x), escaped(figure.y));
        }
        out.push_str(".</p>");
        if !figure.absent.is_empty() {
            let _ = write!(out, "<p>{}</p>", escaped(figure.absent));
        }
        for why in self.missing(figure) {
            let _ = write!(out, "<p class=\"doubts\">Not measured here: {}.</p>", escaped(why));
        }
        let doubts = self.doubts(paper, figure);
        if !doubts.is_empty() {
            let _ = write!(out, "<p class=\"doubts\">Doubts: {}.</p>", escaped(&doubts.join("; ")));
        }
        for (at, view) in figure.views.iter().enumerate() {
            if let Some(picture) = self.picture(paper, figure, view, at == 0) {
                out += &svg(&picture)?;
            }
        }
        out += &self.published(figure);
        if let Some(why) = &figure.why {
            let _ = write!(out, "<p>Why it differs: {}</p>", escaped(&self.why(figure, why)));
        }
        for (name, kept) in self.of_figure(figure) {
            let _ = write!(
                out,
                "<details><summary>All values of {}</summary>{}</details>",
                title(name),
                values(&kept.rows)
            );
            let lines: Vec<String> = kept.commands.iter().map(|line| escaped(line)).collect();
            let _ = write!(
                out,
                "<details><summary>Commands of {}</summary><pre>{}</pre><p class=\"quiet\">{}</p></details>",
                title(name),
                lines.join("\n"),
                escaped(&kept.machine.line())
            );
        }
        out.push_str("</section>");
        Ok(out)
    }

    /// A view drawn, with published peaks in the first; nothing where no value is there.
    pub(super) fn picture(
        &self,
        paper: &Paper,
        figure: &Figure,
        view: &View,
        first: bool,
    ) -> Option<Picture> {
        let kept = self.kept(view)?;
        let case = self.study.case(view.case)?;
        let mut names: Vec<String> = view.names.iter().map(|name| (*name).to_owned()).collect();
        let lines = match &view.bars {
            Some(bars) => self.bars(case, kept, bars, &mut names),
            None => self.lines(case, kept, view.quantity),
        };
        if lines.is_empty() {
            return None;
        }
        let further = match &view.bars {
            Some(bars) => format!(": objects of {}", bars.series),
            None if view.quantity == "value" => String::new(),
            None => format!(": {}", view.quantity),
        };
        let over = kept.over.as_ref().map(|over| format!(", {over}")).unwrap_or_default();
        let own = kept.libraries.iter().map(|(name, version)| format!("{name}: {version}"));
        let care = if self.doubts(paper, figure).is_empty() { "" } else { "see the doubts above" };
        Some(Picture {
            title: format!("{}{further}{over}", case.title),
            x: case.x.to_owned(),
            y: view.unit.unwrap_or(case.unit).to_owned(),
            log_x: case.log_x && names.is_empty(),
            log_y: case.log_y && view.quantity != crate::cases::OUT_OF_SEQUENCE,
            names,
            bars: view.bars.is_some(),
            lines,
            peaks: if first {
                figure.peaks.iter().map(|(n, y)| ((*n).to_owned(), *y)).collect()
            } else {
                Vec::new()
            },
            foot: [care.to_owned(), kept.machine.line(), own.collect::<Vec<_>>().join("; ")],
        })
    }

    /// Lines of this run, then stored ones.
    fn lines(&self, case: &Case, kept: &Kept, quantity: &str) -> Vec<Line> {
        let libraries: Vec<&str> = kept.libraries.iter().map(|(name, _)| name.as_str()).collect();
        let (stored, own): (Vec<Row>, Vec<Row>) = kept.rows.iter().cloned().partition(|row| row.stored);
        let mut all = lines(case, &libraries, &own, quantity);
        let whole = self.whole.iter().find(|c| c.name == case.name).unwrap_or(case);
        let known = lines(whole, &libraries, &stored, quantity);
        all.extend(known.into_iter().map(|line| Line {
            name: format!("{}, stored", line.name),
            dashed: true,
            ..line
        }));
        all
    }

    /// A line for each quantity of one series of ours; places get the names of their numbers unless they have names.
    fn bars(&self, case: &Case, kept: &Kept, bars: &Bars, names: &mut Vec<String>) -> Vec<Line> {
        let of = |quantity: &&'static str| {
            let (own, stored) =
                (format!("{OURS}: {}", bars.series), format!("{OURS}: {}, stored", bars.series));
            let line = self
                .lines(case, kept, quantity)
                .into_iter()
                .find(|line| line.name == own || line.name == stored)?;
            Some(Line { name: (*quantity).to_owned(), ..line })
        };
        let mut lines: Vec<Line> = bars.quantities.iter().filter_map(of).collect();
        if names.is_empty() {
            let places: BTreeSet<u64> = lines.iter().flat_map(|l| &l.spots).map(|s| s.x as u64).collect();
            let places: Vec<u64> = places.into_iter().collect();
            for spot in lines.iter_mut().flat_map(|line| &mut line.spots) {
                spot.x = places.iter().position(|x| *x == spot.x as u64).unwrap_or(0) as f64;
            }
            *names = places.iter().map(u64::to_string).collect();
        }
        lines
    }

    /// The cases of a figure by the names that readers see.
    pub(super) fn cases_of(&self, figure: &Figure) -> Cases<'_> {
        self.of_figure(figure).into_iter().map(|(name, kept)| (title(name), kept)).collect()
    }

    fn published(&self, figure: &Figure) -> String {
        if figure.published.is_empty() {
            return String::new();
        }
        let cases = self.cases_of(figure);
        let mut table = String::from(
            "<table><tr><th>Published</th><th>at</th><th>value</th><th>unit</th><th>ours</th><th>at x</th><th>ours over it</th></tr>",
        );
        for row in &figure.published {
            let found = beside(row, &cases);
            let shown = |value: Option<f64>| value.map_or_else(|| "&ndash;".to_owned(), number);
            let mark = match (found.formula, found.stored) {
                (Some(formula), _) => format!(" <span class=\"quiet\">({})</span>", escaped(formula)),
                (None, true) => " <span class=\"quiet\">(stored)</span>".to_owned(),
                (None, false) => String::new(),
            };
            let _ = write!(
                table,
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}{mark}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escaped(&row.what),
                escaped(&row.at),
                text(row.value),
                escaped(row.unit),
                shown(found.ours),
                found.at.map(|x| x.to_string()).unwrap_or_default(),
                shown(found.ratio)
            );
        }
        table + "</table>"
    }

    /// The explanation of a difference with what was counted.
    pub(super) fn why(&self, figure: &Figure, why: &Explanation) -> String {
        let cases = self.cases_of(figure);
        let told = why.counters.iter().filter_map(|counter| {
            let values = counted(counter, &cases);
            let each: Vec<String> =
                values.into_iter().map(|(name, value)| format!("{name} {}", number(value))).collect();
            (!each.is_empty()).then(|| format!("{}: {}", counter.what, each.join(", ")))
        });
        let told: Vec<String> = told.collect();
        match told.is_empty() {
            true => why.text.to_owned(),
            false => format!("{} Counted here, {}.", why.text, told.join("; ")),
        }
    }

    /// The same for programs.
    pub fn json(&self) -> Json {
        let figure = |paper: &Paper, figure: &Figure| {
            let cases = self.cases_of(figure);
            let published = figure.published.iter().map(|row| {
                let found = beside(row, &cases);
                json!({
                    "what": row.what, "at": row.at, "published": text(row.value), "number": row.value.number(), "unit": row.unit,
                    "ours": found.ours, "at_x": found.at, "ratio": found.ratio, "formula": found.formula, "stored": found.stored,
                })
            });
            let measured = self
                .of_figure(figure)
                .into_iter()
                .map(|(name, kept)| json!({"name": title(name), "result": kept}));
            json!({
                "figure": name(paper, figure), "title": figure.title, "section": figure.place, "x": figure.x, "y": figure.y,
                "state": self.state(figure), "absent": figure.absent,
                "why": figure.why.as_ref().map(|why| self.why(figure, why)), "doubts": self.doubts(paper, figure),
                "published": published.collect::<Vec<_>>(), "cases": measured.collect::<Vec<_>>(),
            })
        };
        let papers = self.papers.iter().map(|paper| {
            let figures: Vec<Json> = paper.figures.iter().map(|f| figure(paper, f)).collect();
            json!({"paper": paper.key, "title": paper.title, "source": paper.source, "machine": paper.machine, "figures": figures})
        });
        json!({"quick": self.quick, "papers": papers.collect::<Vec<_>>()})
    }
}

/// Every value of a case.
fn values(rows: &[Row]) -> String {
    let mut table = String::from(
        "<table><tr><th>Library</th><th>series</th><th>x</th><th>quantity</th><th>median</th><th>least</th><th>most</th><th>runs</th><th>data</th></tr>",
    );
    for row in rows {
        let shown = |value: Option<f64>| value.map_or_else(|| "&ndash;".to_owned(), number);
        let median = match &row.failure {
            Some(why) => format!(
                "<span class=\"doubts\">{}</span>",
                escaped(&why.chars().take(200).collect::<String>())
            ),
            None => shown(row.median),
        };
        let data = match (row.verified, row.stored) {
            (_, true) => "stored",
            (true, false) => "verified",
            (false, false) => "not looked at",
        };
        let _ = write!(
            table,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{median}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td>{data}</td></tr>",
            escaped(&row.library),
            escaped(&row.series),
            row.x,
            escaped(&row.quantity),
            shown(row.least),
            shown(row.most),
            row.values.len()
        );
    }
    table + "</table>"
}

/// A text within HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::super::study::Options;
    use super::*;
    use crate::run::Effort;
    use std::time::Duration;

    fn row(series: &str, x: u64, values: Vec<f64>, stored: bool) -> Row {
        Row { verified: true, stored, ..Row::new("ours", series, x, "value", values) }
    }

    /// A study without a library measures nothing: every figure is there, with its published values or its reason.
    #[test]
    fn every_figure_is_on_the_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let effort = Effort {
            rounds: 1,
            seconds: 0.0,
            iterations: Some(1),
            limit: Duration::from_secs(9),
            until: None,
        };
        let out = folder.path().to_owned();
        let share = Duration::from_secs(1);
        let options =
            Options { stored: out.join("none"), out: out.clone(), quick: true, patch: None, effort, share };
        let papers = list::all();
        let mut study = Study::new(options, Vec::new()).expect("a fresh folder");
        study.run(&papers).expect("nothing to run");
        let page = Page::new(&papers, &study, true);
        let html = page.html().expect("nothing to draw");
        for (paper, figure) in papers.iter().flat_map(|p| p.figures.iter().map(move |f| (p, f))) {
            let name = name(paper, figure);
            assert!(html.contains(&format!("<section id=\"{name}\">")), "{name}");
            let why = figure.why.as_ref().map_or("", |why| why.text);
            assert!(why.is_empty() || html.contains(&escaped(why)), "{name}: why it differs");
            assert!(figure.absent.is_empty() || html.contains(&escaped(figure.absent)), "{name}: its reason");
        }
        assert!(html.contains("11,140.8") || html.contains("11,141"), "a value of table I");
        // Names of namespaces aside there is nothing that a browser would fetch.
        assert_eq!(html.matches("http").count(), html.matches("http://www.w3.org/").count());
        let json = page.json();
        assert_eq!(json["papers"].as_array().map(Vec::len), Some(5));
        assert_eq!(page.counts().0, 0, "nothing was measured");
    }

    #[test]
    fn failures_and_stored_values_are_told_in_the_table() {
        let mut failed = row("a", 2, vec![], false);
        failed.failure = Some("no <cheese>".into());
        let text = values(&[row("a", 1, vec![1.0, 2.0, 3.0], false), failed, row("a", 4, vec![5.0], true)]);
        for word in ["no &lt;cheese&gt;", "<td>stored</td>", "<td>verified</td>", "<td class=\"n\">3</td>"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
