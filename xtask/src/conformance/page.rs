//! `docs/CONFORMANCE.md`, made from the results.

use crate::conformance::Suite;
use crate::conformance::reasons::Reason;
use crate::conformance::results::{Results, Word, group};
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
is outside the standard, wants Fortran or a GPU). Every other test that does not pass is listed with its reason.
";

pub fn make(all: &[(Suite, Results)], reasons: &[Reason]) -> Page {
    let mut page = Page { text: HEAD.into(), unexplained: Vec::new(), stale: Vec::new() };
    for (suite, results) in all {
        let title = match suite {
            Suite::Mpich => "MPICH's test suite (C), Debian's source package",
            Suite::Mpi4py => "mpi4py's own tests",
            Suite::Rsmpi => "The crate `mpi` (rsmpi): its tests and examples",
        };
        let _ = write!(
            page.text,
            "\n## {title}\n\nVersion {}. {}, {}. {}.\n\n",
            results.version, results.date, results.tested, results.machine
        );
        table(&mut page.text, *suite, results);
        list(&mut page, *suite, results, reasons);
        page.stale
            .extend(reasons.iter().filter(|r| explains_nothing(r, *suite, results)).map(|r| r.why.clone()));
    }
    page
}

fn explains_nothing(reason: &Reason, suite: Suite, results: &Results) -> bool {
    let mut run = results.tests.iter().filter(|(key, _)| reason.explains(suite.name(), key)).peekable();
    run.peek().is_some() && run.all(|(_, word)| *word == Word::Pass)
}

/// What one line of the table is about: the folder, or the number of ranks.
fn line_of(suite: Suite, key: &str) -> &str {
    match suite {
        Suite::Mpich | Suite::Mpi4py => key.split('/').next().unwrap_or(key),
        Suite::Rsmpi => group(key),
    }
}

fn table(text: &mut String, suite: Suite, results: &Results) {
    let mut lines: BTreeMap<&str, BTreeMap<Word, u32>> = BTreeMap::new();
    for (key, &word) in &results.tests {
        *lines.entry(line_of(suite, key)).or_default().entry(word).or_default() += 1;
    }
    let mut total: BTreeMap<Word, u32> = BTreeMap::new();
    for counts in lines.values() {
        for (&word, n) in counts {
            *total.entry(word).or_default() += n;
        }
    }
    text.push_str("| | pass | fail | timeout | does not build | skip | passed of run |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (name, counts) in lines.iter().chain([(&"**all**", &total)]) {
        let n = |word| counts.get(&word).copied().unwrap_or(0);
        let run = n(Word::Pass) + n(Word::Fail) + n(Word::Timeout) + n(Word::Build);
        let share = match run {
            0 => "–".to_owned(),
            _ => format!("{:.1}%", 100.0 * f64::from(n(Word::Pass)) / f64::from(run)),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {share} |",
            n(Word::Pass),
            n(Word::Fail),
            n(Word::Timeout),
            n(Word::Build),
            n(Word::Skip)
        );
    }
}

fn list(page: &mut Page, suite: Suite, results: &Results, reasons: &[Reason]) {
    let bad: Vec<&String> = results.tests.iter().filter(|(_, w)| w.is_bad()).map(|(key, _)| key).collect();
    if bad.is_empty() {
        page.text.push_str("\nNothing failed.\n");
        return;
    }
    page.text.push_str("\nNot passed, and why:\n\n");
    let mut left = bad;
    for reason in reasons {
        let (mine, others): (Vec<&String>, Vec<&String>) =
            left.into_iter().partition(|test| reason.explains(suite.name(), test));
        left = others;
        if !mine.is_empty() {
            let names: Vec<String> = mine.iter().map(|t| format!("`{t}`")).collect();
            let _ = writeln!(page.text, "- **{}** ({}) {}", reason.why, mine.len(), names.join(", "));
        }
    }
    if !left.is_empty() {
        let names: Vec<String> = left.iter().map(|t| format!("`{t}`")).collect();
        let _ = writeln!(page.text, "- **No reason known.** ({}) {}", left.len(), names.join(", "));
        page.unexplained.extend(left.iter().map(|t| format!("{}: {t}", suite.name())));
    }
}
