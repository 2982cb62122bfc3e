//! `docs/CONFORMANCE.md`, made from the results.

use crate::conformance::reasons::Reason;
use crate::conformance::results::{Results, Word, group};
use crate::conformance::suite::Suite;
use std::collections::BTreeMap;
use std::fmt::Write;

pub struct Page {
    pub text: String,
    /// Tests that did not pass and have no reason.
    pub unexplained: Vec<String>,
    /// Reasons whose tests were run and have all passed.
    pub stale: Vec<String>,
}

const HEAD: &str = "\
# Conformance

Written by `cargo xtask conformance`; do not edit. Suites that others wrote, fetched from their package
registries and run over this library. *Skip*: the suite itself leaves the test out (needs another number of ranks,
is outside the standard, wants a GPU). Every other test that does not pass is listed with its reason.
";

/// Folders of MPICH's suite that are not run, and why.
const LEFT_OUT: [(&str, &str); 7] = [
    ("`cxx`", "it is for C++, whose interface is not in MPI any more"),
    (
        "`ft`",
        "it is about functions to go on after failures that are not in MPI (MPIX_Comm_revoke and others)",
    ),
    (
        "`faults` (in `errors`)",
        "ranks end early, and the launcher has to let the others go on; here the job ends",
    ),
    ("`impls`", "it is about MPICH's own launcher, variables and functions"),
    ("`ckpoint`", "it is about MPICH's checkpoints"),
    ("`manual`", "a person starts and judges them"),
    ("`perf`, `bench`", "they judge times, which depend on the machine"),
];

/// Folders of MPICH's suite that the driver leaves out where no Fortran compiler is.
const FORTRAN: [&str; 3] = ["f77", "f90", "f08"];

fn left_out(text: &mut String, results: &Results) {
    text.push_str("\nFolders that are not run, and why:\n\n");
    for (folders, why) in LEFT_OUT {
        let _ = writeln!(text, "- {folders}: {why}.");
    }
    let ran = |folder: &&str| results.tests.keys().any(|key| line_of(Suite::Mpich, key) == *folder);
    let missing: Vec<String> = FORTRAN.iter().filter(|f| !ran(f)).map(|f| format!("`{f}`")).collect();
    if !missing.is_empty() {
        let _ = writeln!(
            text,
            "- {} (also in `errors`): they were not run with a Fortran compiler.",
            missing.join(", ")
        );
    }
    text.push_str("- `session`: this version of the suite does not have it.\n");
}

fn title(suite: Suite) -> &'static str {
    match suite {
        Suite::Mpich => "MPICH's test suite (C and Fortran), Debian's source package",
        Suite::Mpi4py => "mpi4py's own tests",
        Suite::Rsmpi => "The crate `mpi` (rsmpi): its tests and examples",
    }
}

/// A suite's section of a page; empty: it has none.
fn section(page: &str, suite: Suite) -> &str {
    let heading = format!("\n## {}\n", title(suite));
    let Some((at, _)) = page.match_indices(&heading).next() else { return "" };
    let behind = at + heading.len();
    &page[at..page[behind..].find("\n## ").map_or(page.len(), |end| behind + end)]
}

/// Makes the page; of a suite without results its section of the page `before` is kept.
pub fn make(all: &[(Suite, Results)], before: &str, reasons: &[Reason]) -> Page {
    let mut page = Page { text: HEAD.into(), unexplained: Vec::new(), stale: Vec::new() };
    for suite in &Suite::ALL {
        let Some((_, results)) = all.iter().find(|(other, _)| other == suite) else {
            page.text.push_str(section(before, *suite));
            continue;
        };
        let title = title(*suite);
        let _ = write!(
            page.text,
            "\n## {title}\n\nVersion {}. {}, {}. {}.\n\n",
            results.version, results.date, results.tested, results.machine
        );
        table(&mut page.text, *suite, results);
        list(&mut page, *suite, results, reasons);
        if *suite == Suite::Mpich {
            left_out(&mut page.text, results);
        }
        page.stale
            .extend(reasons.iter().filter(|r| explains_nothing(r, *suite, results)).map(|r| r.why.clone()));
    }
    page
}

fn explains_nothing(reason: &Reason, suite: Suite, results: &Results) -> bool {
    let mut run = results.tests.iter().filter(|(key, _)| reason.explains(suite.name(), key)).peekable();
    run.peek().is_some() && run.all(|(_, word)| *word == Word::Pass)
}

/// The subject of one line of the table: the folder, or the number of ranks.
fn line_of(suite: Suite, key: &str) -> &str {
    match suite {
        Suite::Mpich | Suite::Mpi4py => key.split('/').next().unwrap_or(key),
        Suite::Rsmpi => group(key),
    }
}

fn table(text: &mut String, suite: Suite, results: &Results) {
    let mut lines: BTreeMap<&str, Counts> = BTreeMap::new();
    for (key, &word) in &results.tests {
        *lines.entry(line_of(suite, key)).or_default().entry(word).or_default() += 1;
    }
    let mut total = Counts::new();
    for counts in lines.values() {
        for (&word, n) in counts {
            *total.entry(word).or_default() += n;
        }
    }
    let _ = write!(text, "| | {COUNTS} |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for (name, line) in lines.iter().chain([(&"**all**", &total)]) {
        let _ = writeln!(text, "| {name} | {} |", counts(line));
    }
}

/// How many tests ended in each way.
pub type Counts = BTreeMap<Word, u32>;

/// Headings of what `counts` writes.
pub const COUNTS: &str = "pass | fail | timeout | does not build | skip | passed of run";

/// Cells of a table.
pub fn counts(counts: &Counts) -> String {
    let n = |word| counts.get(&word).copied().unwrap_or(0);
    let run = n(Word::Pass) + n(Word::Fail) + n(Word::Timeout) + n(Word::Build);
    let share = match run {
        0 => "–".to_owned(),
        _ => format!("{:.1}%", 100.0 * f64::from(n(Word::Pass)) / f64::from(run)),
    };
    let cells = [Word::Pass, Word::Fail, Word::Timeout, Word::Build, Word::Skip].map(|w| n(w).to_string());
    format!("{} | {share}", cells.join(" | "))
}

fn list(page: &mut Page, suite: Suite, results: &Results, reasons: &[Reason]) {
    let bad: Vec<&str> =
        results.tests.iter().filter(|(_, w)| w.is_bad()).map(|(key, _)| key.as_str()).collect();
    if bad.is_empty() {
        page.text.push_str("\nNothing failed.\n");
        return;
    }
    page.text.push_str("\nNot passed, and why:\n\n");
    let left = explain(&mut page.text, suite, bad, reasons);
    page.unexplained.extend(left.iter().map(|t| format!("{}: {t}", suite.name())));
}

/// A line for every reason, with its tests; returns the tests that have none.
pub fn explain<'a>(text: &mut String, suite: Suite, bad: Vec<&'a str>, reasons: &[Reason]) -> Vec<&'a str> {
    let mut left = bad;
    let names = |tests: &[&str]| tests.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ");
    for reason in reasons {
        let (mine, others): (Vec<&str>, Vec<&str>) =
            left.into_iter().partition(|test| reason.explains(suite.name(), test));
        left = others;
        if !mine.is_empty() {
            let _ = writeln!(text, "- **{}** ({}) {}", reason.why, mine.len(), names(&mine));
        }
    }
    if !left.is_empty() {
        let _ = writeln!(text, "- **No reason known.** ({}) {}", left.len(), names(&left));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of MPICH's suite with these tests, all passed.
    fn page_of(tests: &[&str]) -> String {
        let tests = tests.iter().map(|key| ((*key).to_owned(), Word::Pass)).collect();
        make(&[(Suite::Mpich, Results { tests, ..Results::default() })], "", &[]).text
    }

    #[test]
    fn a_suite_without_results_keeps_its_section() {
        let before = page_of(&["pt2pt/bsend1 np=1"]);
        let tests = [("tests/all np=1".to_owned(), Word::Pass)].into();
        let results = Results { tests, ..Results::default() };
        let both = make(&[(Suite::Rsmpi, results)], &before, &[]).text;
        let rsmpi = section(&both, Suite::Rsmpi);
        assert_eq!(section(&both, Suite::Mpich), section(&before, Suite::Mpich));
        assert!(both == format!("{before}{rsmpi}") && rsmpi.contains("| tests |"), "{both}");
        assert_eq!(section(&before, Suite::Rsmpi), "");
    }

    #[test]
    fn folders_of_fortran_that_were_not_run_are_named() {
        let without = page_of(&["pt2pt/bsend1 np=1"]);
        assert!(without.contains("- `f77`, `f90`, `f08` (also in `errors`)"), "{without}");
        let partly = page_of(&["f77/attr/baseattrf np=1", "f90/rma/aintf90 np=2"]);
        assert!(partly.contains("- `f08` (also in `errors`)"), "{partly}");
        let all = page_of(&["f77/attr/baseattrf np=1", "f90/rma/aintf90 np=2", "f08/misc/hello np=1"]);
        assert!(!all.contains("also in `errors`"), "{all}");
    }
}
