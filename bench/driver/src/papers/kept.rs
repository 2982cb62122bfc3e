//! Measured cases in files, `kept/CASE.json`: with the key under which a result counts as the same measurement, so that a later run need not repeat it.

use crate::case::Case;
use crate::machine::Machine;
use crate::results::{ENOUGH, Report, Row};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A case as it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Of its jobs, their effort, the program and the libraries.
    pub key: String,
    pub case: String,
    pub rounds: usize,
    pub machine: Machine,
    /// Names and versions.
    pub libraries: Vec<(String, String)>,
    pub rows: Vec<Row>,
    /// The transport and the nodes, where they are not one machine's.
    pub over: Option<String>,
    /// Why times are of a model.
    pub model: Option<String>,
    /// No place is missing for want of time.
    pub whole: bool,
    /// Jobs, one for each series, as a person would type them.
    pub commands: Vec<String>,
}

impl Kept {
    pub fn new(report: Report, key: String, whole: bool, commands: Vec<String>) -> Kept {
        Kept {
            key,
            case: report.case.to_owned(),
            rounds: report.rounds,
            machine: report.machine,
            libraries: report.libraries,
            rows: report.rows,
            over: report.over,
            model: report.model.map(str::to_owned),
            whole,
            commands,
        }
    }

    /// Adds rows of an earlier, longer run at places that this one did not reach.
    pub fn fill(&mut self, stored: &Kept) {
        let same = |a: &Row, b: &Row| {
            (&a.library, &a.series, a.x, &a.quantity) == (&b.library, &b.series, b.x, &b.quantity)
        };
        for row in &stored.rows {
            if !self.rows.iter().any(|own| own.median.is_some() && same(own, row)) {
                self.rows.push(Row { stored: true, ..row.clone() });
            }
        }
        for library in &stored.libraries {
            if !self.libraries.iter().any(|(name, _)| *name == library.0) {
                self.libraries.push(library.clone());
            }
        }
    }

    /// The case without any measurement of this run.
    pub fn stored(stored: &Kept) -> Kept {
        let rows = stored.rows.iter().map(|row| Row { stored: true, ..row.clone() }).collect();
        Kept { rows, ..stored.clone() }
    }

    /// Reasons for care.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.rounds < ENOUGH {
            doubts.push(format!("a quick run ({} of {ENOUGH} rounds), no measurement", self.rounds));
        }
        if self.machine.load > Machine::QUIET {
            doubts.push(format!(
                "the machine was busy (others had {:.1} cores when it began)",
                self.machine.load
            ));
        }
        doubts.extend(self.model.clone());
        if !self.whole {
            doubts.push("time was up before all places were measured".to_owned());
        }
        let count = |wanted: fn(&Row) -> bool| {
            self.rows.iter().filter(|r| r.quantity == "value" && wanted(r)).count()
        };
        let failed = count(|r| r.failure.is_some());
        if failed > 0 {
            doubts.push(format!("{failed} jobs failed"));
        }
        let stored = count(|r| r.stored);
        if stored > 0 {
            doubts.push(format!("{stored} values are stored ones, of an earlier run"));
        }
        let unseen = count(|r| r.median.is_some() && !r.verified && !r.stored);
        if unseen > 0 {
            doubts.push(format!("the data behind {unseen} values was not looked at"));
        }
        doubts
    }
}

/// The file of a case over a transport.
fn path(folder: &Path, case: &Case, over: Option<&str>) -> PathBuf {
    let over = over.map(|transport| format!("@{transport}")).unwrap_or_default();
    folder.join(format!("{}{over}.json", case.name))
}

/// A case that was kept; none where there is no file, or one that an older driver wrote.
pub fn read(folder: &Path, case: &Case, over: Option<&str>) -> Option<Kept> {
    let text = std::fs::read_to_string(path(folder, case, over)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Keeps a case; never half a file.
///
/// # Errors
/// The file, and what the system says.
pub fn write(folder: &Path, case: &Case, over: Option<&str>, kept: &Kept) -> Result<(), String> {
    let path = path(folder, case, over);
    let beside = path.with_extension("new");
    let text = serde_json::to_string(kept).map_err(|e| format!("{}: {e}", path.display()))?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&beside, text))
        .and_then(|()| std::fs::rename(&beside, &path))
        .map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Sizes;

    fn kept(rows: Vec<Row>) -> Kept {
        let machine = Machine { load: 0.0, ..Machine::none() };
        let (key, case) = ("k".to_owned(), "fig3.5".to_owned());
        let libraries = vec![("ours".to_owned(), "1".to_owned())];
        Kept {
            key,
            case,
            rounds: 3,
            machine,
            libraries,
            rows,
            over: None,
            model: None,
            whole: true,
            commands: vec![],
        }
    }

    fn row(x: u64, value: f64) -> Row {
        Row { verified: true, ..Row::new("ours", "processes", x, "value", vec![value]) }
    }

    #[test]
    fn stored_values_stand_where_there_are_no_others_and_are_marked() {
        let mut now = kept(vec![row(1, 10.0)]);
        now.fill(&kept(vec![row(1, 99.0), row(2, 20.0)]));
        let values: Vec<(u64, Option<f64>, bool)> =
            now.rows.iter().map(|r| (r.x, r.median, r.stored)).collect();
        assert_eq!(values, [(1, Some(10.0), false), (2, Some(20.0), true)]);
        assert!(now.doubts().iter().any(|d| d.contains("1 values are stored")));
        assert!(Kept::stored(&kept(vec![row(1, 1.0)])).rows[0].stored);
    }

    #[test]
    fn doubts_are_named() {
        assert!(kept(vec![row(1, 1.0)]).doubts().is_empty());
        let mut doubtful = kept(vec![Row { verified: false, ..row(1, 1.0) }]);
        (doubtful.rounds, doubtful.machine.load, doubtful.whole) = (1, 4.0, false);
        let said = doubtful.doubts().join("\n");
        for word in ["quick run (1 of 3", "busy (others had 4", "time was up", "not looked at"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }

    #[test]
    fn a_case_is_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = crate::cases::all(&Sizes::quick()).remove(0);
        assert!(read(folder.path(), &case, None).is_none());
        write(folder.path(), &case, Some("tcp"), &kept(vec![row(4, 2.5)])).expect("it can be written");
        assert!(read(folder.path(), &case, None).is_none(), "another transport");
        let found = read(folder.path(), &case, Some("tcp")).expect("it was written");
        assert_eq!((found.key.as_str(), found.rows[0].x, found.rows[0].median), ("k", 4, Some(2.5)));
    }
}
