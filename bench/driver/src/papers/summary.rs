//! Results as a repository keeps them: a page of Markdown with a picture for each figure and published values beside ours, and the values of the cases as stored
//! results, which later runs show where they measure nothing.

use super::figure::{Figure, Paper};
use super::kept::{self, Kept};
use super::list::name;
use super::page::Page;
use super::tables::{beside, number, text};
use crate::picture::svg;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The page's name, the folder of its pictures, the folder of stored results.
const PAGE: &str = "PAPER.md";
const PICTURES: &str = "paper";
const STORED: &str = "papers";

impl Page<'_> {
    /// Writes the page, its pictures and the values into `folder`.
    ///
    /// # Errors
    /// A file that cannot be written, a picture that cannot be drawn.
    pub fn keep(&self, folder: &Path) -> Result<(), String> {
        let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
        let pictures = folder.join(PICTURES);
        std::fs::create_dir_all(&pictures).map_err(|e| failed(&pictures, e))?;
        let mut out = self.first_lines();
        for paper in self.papers() {
            let _ = writeln!(
                out,
                "\n## {}: {}\n\n{}. Published on {}.",
                paper.key, paper.title, paper.source, paper.machine
            );
            for figure in &paper.figures {
                let picture = figure
                    .views
                    .iter()
                    .enumerate()
                    .find_map(|(at, view)| self.picture(paper, figure, view, at == 0));
                let file = format!("{}.svg", name(paper, figure));
                if let Some(picture) = &picture {
                    let path = pictures.join(&file);
                    std::fs::write(&path, tight(&svg(picture)?)).map_err(|e| failed(&path, e))?;
                }
                out += &self.lines_of(paper, figure, picture.is_some().then_some(file.as_str()));
            }
        }
        let path = folder.join(PAGE);
        std::fs::write(&path, out).map_err(|e| failed(&path, e))?;
        self.store(&folder.join(STORED))
    }

    fn first_lines(&self) -> String {
        let machines = || self.study().done().values().map(|kept| &kept.machine).filter(|m| m.time > 0);
        let dates: BTreeSet<String> = machines().map(|m| date(m.time)).collect();
        let revisions: BTreeSet<&str> = machines().map(|m| m.commit.as_str()).collect();
        let loads = machines().map(|m| m.load);
        let (least, most) = loads.fold((f64::INFINITY, 0.0f64), |(a, b), load| (a.min(load), b.max(load)));
        let (measured, all) = self.counts();
        let joined = |all: Vec<&str>| all.join(", ");
        let mut out = String::from(
            "# Figures of the five papers, and ours\n\nWritten by `oxmpi-bench papers --results`, which takes the same cases as the page of that command.\n\n",
        );
        let _ =
            writeln!(out, "- {measured} of {all} figures and tables are measured; the others say why not.");
        if self.is_quick() {
            out.push_str("- A quick run: one round and a few seconds for a figure, no measurement.\n");
        }
        let _ = writeln!(
            out,
            "- Measured on {}, at {}.",
            joined(dates.iter().map(String::as_str).collect()),
            joined(revisions.into_iter().collect())
        );
        if let Some(machine) = machines().next() {
            let _ = writeln!(
                out,
                "- Machine: {}, {} cores, {} GiB, Linux {}.",
                machine.processor, machine.cores, machine.memory_gib, machine.kernel
            );
            let _ = writeln!(
                out,
                "- Cores that others had when cases began: {least:.2} to {most:.2}; where it is above 0.3, rates say little."
            );
        }
        out
    }

    fn lines_of(&self, paper: &Paper, figure: &Figure, picture: Option<&str>) -> String {
        let mut out = format!(
            "\n### {}: {}\n\nSection {}; {}.",
            name(paper, figure),
            figure.title,
            figure.place,
            self.state(figure)
        );
        if !figure.absent.is_empty() {
            let _ = write!(out, " {}", figure.absent);
        }
        out.push('\n');
        let doubts = self.doubts(paper, figure);
        if !doubts.is_empty() {
            let _ = writeln!(out, "\nDoubts: {}.", doubts.join("; "));
        }
        if let Some(file) = picture {
            let _ = writeln!(out, "\n![{}]({PICTURES}/{file})", figure.title);
        }
        if !figure.published.is_empty() {
            out.push_str(
                "\n| Published | at | value | unit | ours | ours over it |\n|---|---|---|---|---|---|\n",
            );
        }
        let cases = self.cases_of(figure);
        for row in &figure.published {
            let found = beside(row, &cases);
            let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
            let (ours, ratio) = (shown(found.ours), shown(found.ratio));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {ours} | {ratio} |",
                row.what,
                row.at,
                text(row.value),
                row.unit
            );
        }
        if let Some(why) = &figure.why {
            let _ = writeln!(out, "\nWhy it differs: {}", self.why(figure, why));
        }
        out
    }

    /// Values of each case that was measured, unless those that are there are of more rounds.
    fn store(&self, folder: &Path) -> Result<(), String> {
        for ((case, over), kept) in self.study().done() {
            let Some(case) = self.study().case(case) else { continue };
            let stored = kept::read(folder, case, *over);
            let is_new = kept.rows.iter().any(|row| !row.stored && row.median.is_some());
            if is_new && stored.is_none_or(|known| known.rounds <= kept.rounds) {
                kept::write(folder, case, *over, &self.shown(case.name, kept))?;
            }
        }
        Ok(())
    }

    /// The quantities of a case that some figure shows.
    fn shown(&self, case: &str, kept: &Kept) -> Kept {
        let figures = || self.papers().iter().flat_map(|p| &p.figures);
        let mut wanted: BTreeSet<&str> = BTreeSet::from(["value"]);
        for view in figures().flat_map(|f| &f.views).filter(|view| view.case == case) {
            wanted.insert(view.quantity);
            wanted.extend(view.bars.iter().flat_map(|bars| bars.quantities.iter().copied()));
        }
        wanted.extend(figures().flat_map(|f| &f.published).filter_map(|row| row.quantity()));
        wanted.extend(
            figures().filter_map(|f| f.why.as_ref()).flat_map(|why| &why.counters).map(|c| c.quantity),
        );
        let rows = kept.rows.iter().filter(|row| wanted.contains(row.quantity.as_str())).cloned().collect();
        Kept { rows, ..kept.clone() }
    }
}

/// A picture without blanks that nobody sees.
fn tight(svg: &str) -> String {
    svg.lines().map(str::trim).collect::<Vec<_>>().join("\n") + "\n"
}

/// The day of a time in seconds since 1970, as YYYY-MM-DD (days to the civil calendar by eras of 400 years, which begin in March).
fn date(seconds: u64) -> String {
    let days = seconds / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 951_782_400, 951_868_800, 1_796_083_199].map(date);
        assert_eq!(days, ["1970-01-01", "2000-02-29", "2000-03-01", "2026-11-30"]);
    }

    #[test]
    fn pictures_lose_blanks_alone() {
        assert_eq!(tight("<svg>\n  <text>\na b\n</text>\n</svg>"), "<svg>\n<text>\na b\n</text>\n</svg>\n");
    }
}
