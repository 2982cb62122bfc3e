//! Runs the cases of figures, each once: takes a result that was kept under the same key, measures what is missing, and fills up from stored results
//! where a quick run has no time.

use super::figure::{Figure, Paper, View};
use super::kept::{self, Kept};
use super::progress::Progress;
use crate::case::{Case, Sizes};
use crate::cases;
use crate::library::Library;
use crate::run::{Effort, Runner};
use crate::transport_setup::TransportSetup;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A case and the transport that it runs over.
pub type Name = (&'static str, Option<&'static str>);

/// Choices of a study.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where results go.
    pub out: PathBuf,
    /// Where results of earlier, longer runs are.
    pub stored: PathBuf,
    pub quick: bool,
    /// Cells along an edge of a patch, where it is not the usual number.
    pub patch: Option<u64>,
    pub effort: Effort,
    /// Of a figure, in a quick run.
    pub share: Duration,
}

/// Measured cases.
pub struct Study {
    options: Options,
    libraries: Vec<Library>,
    runner: Runner,
    cases: Vec<Case>,
    progress: Rc<RefCell<Progress>>,
    done: BTreeMap<Name, Kept>,
    /// Why no job of a case can run here.
    missing: BTreeMap<Name, String>,
}

impl Study {
    /// Prepares folders.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(options: Options, libraries: Vec<Library>) -> Result<Study, String> {
        let mut sizes = if options.quick { Sizes::glance() } else { Sizes::whole() };
        sizes.patch = options.patch.unwrap_or(sizes.patch);
        let cases = cases::all(&sizes);
        let mut runner = Runner::new(libraries.clone(), options.effort.clone(), options.out.join("work"))?;
        let progress = Rc::new(RefCell::new(Progress::default()));
        let heard = Rc::clone(&progress);
        runner.watch = Some(Box::new(move || heard.borrow_mut().job()));
        Ok(Study {
            options,
            libraries,
            runner,
            cases,
            progress,
            done: BTreeMap::new(),
            missing: BTreeMap::new(),
        })
    }

    /// Measured cases by name and transport.
    pub fn done(&self) -> &BTreeMap<Name, Kept> {
        &self.done
    }

    /// Cases of which no job can run here, with the reason.
    pub fn missing(&self) -> &BTreeMap<Name, String> {
        &self.missing
    }

    /// The case as it was run.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|c| c.name == name)
    }

    /// Measures every figure of the papers.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn run(&mut self, papers: &[Paper]) -> Result<(), String> {
        let figures: Vec<&Figure> =
            papers.iter().flat_map(|p| &p.figures).filter(|f| !f.views.is_empty()).collect();
        let mut seen = Vec::new();
        let names: Vec<Vec<Name>> = figures.iter().map(|f| fresh(&f.views, &mut seen)).collect();
        let jobs = |name: &Name| self.case(name.0).map_or(0, |case| self.jobs(case, name.1));
        let all: usize = seen.iter().map(jobs).sum();
        self.progress.borrow_mut().begin(seen.len(), all, self.options.quick.then_some(self.options.share));
        for names in names {
            let until = Instant::now() + self.options.share;
            for (at, name) in names.iter().enumerate() {
                // The rest of a figure's time is for its cases that are left.
                let left = until.saturating_duration_since(Instant::now()) / (names.len() - at) as u32;
                self.one(*name, left)?;
            }
        }
        self.progress.borrow_mut().end();
        Ok(())
    }

    /// Runs that a case has, all rounds together.
    fn jobs(&self, case: &Case, over: Option<&str>) -> usize {
        let libraries = self.libraries.iter().filter(|l| over.is_none() || l.is_ours());
        let of = |ours: bool| {
            let series = case.series.iter().filter(|s| s.libraries.runs(ours));
            series.map(|s| case.xs.iter().filter(|x| (s.point)(**x).is_some()).count()).sum::<usize>()
        };
        libraries.map(|l| of(l.is_ours())).sum::<usize>() * self.options.effort.rounds
    }

    fn one(&mut self, name: Name, share: Duration) -> Result<(), String> {
        let Some(case) = self.case(name.0).cloned() else { return Ok(()) };
        let over = name.1;
        // Two nodes that are made up on this machine run ours alone.
        self.runner.libraries =
            self.libraries.iter().filter(|l| over.is_none() || l.is_ours()).cloned().collect();
        self.runner.over =
            over.map(|transport| TransportSetup::new(transport, None, Vec::new())).transpose()?;
        self.progress.borrow_mut().case(&title(name), self.jobs(&case, over));
        let key = self.runner.key(&case);
        let folder = self.options.out.join(if self.options.quick { "quick" } else { "kept" });
        let found = kept::read(&folder, &case, over).filter(|kept| kept.key == key && kept.whole);
        let missing = self.runner.missing(&case);
        self.missing.extend(missing.clone().map(|why| (name, why)));
        let kept = match found {
            Some(kept) => Some(kept),
            None if missing.is_some() => None,
            None => self.measure(&case, name, key, share)?,
        };
        if let Some(kept) = &kept {
            kept::write(&folder, &case, over, kept)?;
        }
        let stored = self.stored(&case, over);
        let shown = match (kept, stored) {
            (Some(mut kept), Some(stored)) => {
                kept.fill(&stored);
                Some(kept)
            }
            (Some(kept), None) => Some(kept),
            (None, stored) => stored.map(|s| Kept::stored(&s)),
        };
        if let Some(shown) = shown {
            self.done.insert(name, shown);
        }
        Ok(())
    }

    /// The result of an earlier, longer run: of this folder for a quick one, then those that are stored.
    fn stored(&self, case: &Case, over: Option<&str>) -> Option<Kept> {
        let here =
            self.options.quick.then(|| kept::read(&self.options.out.join("kept"), case, over)).flatten();
        here.or_else(|| kept::read(&self.options.stored, case, over))
    }

    fn measure(
        &mut self,
        case: &Case,
        name: Name,
        key: String,
        share: Duration,
    ) -> Result<Option<Kept>, String> {
        self.runner.machine = crate::machine::Machine::here();
        self.runner.prepare(case);
        let (report, whole) = if self.options.quick {
            self.runner.effort.until = Some(Instant::now() + share);
            // A job that began in time may end behind it: one that is cut off is no failure of the library.
            self.runner.effort.limit = self.options.share.min(self.options.effort.limit);
            self.runner.glance(case)
        } else {
            let parts = self.options.out.join("parts").join(name.1.unwrap_or("node"));
            std::fs::create_dir_all(&parts).map_err(|e| format!("{}: {e}", parts.display()))?;
            match self.runner.case_anew(case, &parts)? {
                Some(report) => (report, true),
                None => return Ok(None),
            }
        };
        Ok(Some(Kept::new(report, key, whole, self.commands(case))))
    }

    /// For each series of each library the job at its last place.
    fn commands(&self, case: &Case) -> Vec<String> {
        let mut lines = Vec::new();
        for library in &self.runner.libraries {
            for series in case.series.iter().filter(|s| s.libraries.runs(library.is_ours())) {
                let last = case.xs.iter().rev().find_map(|x| (series.point)(*x));
                let line = last.map(|point| self.runner.line(case, library, &point));
                lines.extend(line.map(|line| format!("{}, {}: {line}", library.name, series.label)));
            }
        }
        lines
    }
}

/// A case's name as a person reads it.
pub fn title((case, over): Name) -> String {
    match over {
        None => case.to_owned(),
        Some(transport) => format!("{case} over {transport}"),
    }
}

/// The cases of views that no figure before had.
fn fresh(views: &[View], seen: &mut Vec<Name>) -> Vec<Name> {
    let mut new = Vec::new();
    for view in views {
        let name = (view.case, view.over);
        if !seen.contains(&name) {
            seen.push(name);
            new.push(name);
        }
    }
    new
}
