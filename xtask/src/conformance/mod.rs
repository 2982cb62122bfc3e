//! `cargo xtask conformance`: suites that others wrote, run over this library, and the page that says
//! how they ended (`docs/CONFORMANCE.md`).
//!
//! The suites come from the ordinary package registries when the command runs: MPICH's suite (C and
//! Fortran) from Debian's source package, mpi4py from PyPI, the crate `mpi` from crates.io. Nothing of them is
//! kept in the repository. Results are kept under `target/conformance`, so that folders can be run
//! again one at a time; the page is written from all that is there.
//!
//! A test that does not pass needs a reason in `tests/conformance/reasons.toml`. One without a reason
//! makes the command fail, and so does a reason whose tests were run and have all passed, in every configuration too.
//!
//! A run with further options of mpirun (another transport, two nodes) is a configuration: `--record NAME` keeps its
//! counts in `tests/conformance/configurations.json` and writes the page's section of configurations.
//!
//! Map: `fetch` (where suites come from) · `suites` (runs them) · `results` (what is kept) ·
//! `configurations` (what is kept of runs with further options) · `peers` (other libraries) · `reasons` · `page` ·
//! `options` and `suite` (the command's).

mod configurations;
pub mod fetch;
mod options;
mod page;
mod peers;
mod reasons;
mod results;
mod suite;
mod suites;

use crate::install;
use crate::workspace::Workspace;
use configurations::Configurations;
pub use options::Options;
use reasons::Reason;
pub use results::Word;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use suite::Suite;

/// Fetches, runs, and writes the page. An error names every test without a reason.
pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let files = Files::of(workspace);
    let reasons = reasons::read(&files.reasons)?;
    let known = configurations::read(&files.configurations)?;
    if let Some(name) = &options.record {
        configurations::check(&known, name, options)?;
    }
    if (options.over.is_some() || options.fc.is_some()) && options.suites != [Suite::Mpich] {
        return Err("--over and --fc are for MPICH's suite alone: --suites mpich".into());
    }
    let replaces_some = options.only.is_some() && options.configuration().is_empty();
    if replaces_some && results::read(&files.folder, Suite::Mpich)?.is_none() {
        return Err(
            "--only: no results are at hand in which these could be replaced; run their folders first".into(),
        );
    }
    if options.configurations_only {
        return files.write_section(&known, &reasons);
    }
    fs::create_dir_all(&files.folder).map_err(|e| format!("{}: {e}", files.folder.display()))?;
    if options.page_only {
        return files.write_page(&known, &reasons);
    }
    let prefix = match &options.prefix {
        Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
        None => install::run(workspace, &files.folder.join("oxmpi"), false)?.prefix,
    };
    let (root, mpirun_options) = (workspace.root.as_path(), options.mpirun_options.as_str());
    let libraries = match &options.libraries {
        Some(folder) => Some(folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?),
        None => None,
    };
    let (folder, prefix, libraries) = (files.folder.as_path(), prefix.as_path(), libraries.as_deref());
    let (endpoints, over, fc) = (options.endpoints, options.over, options.fc.as_deref());
    let place = suites::Place { root, folder, prefix, libraries, mpirun_options, endpoints, over, fc };
    let mut apart = Vec::new();
    for &suite in &options.suites {
        let results = match suite {
            Suite::Mpich => {
                let (dirs, only) = (options.dirs.as_deref(), options.only.as_deref());
                let part = suites::Part { dirs, only, keep: options.keep };
                suites::mpich(&place, part, options.timeout)?
            }
            Suite::Mpi4py => suites::mpi4py(&place, &options.np, &options.modules, options.timeout)?,
            Suite::Rsmpi => suites::rsmpi(&place, options.timeout)?,
        };
        match options.configuration().is_empty() {
            true => results::keep(&files.folder, suite, results, options.only.is_some())?,
            false => apart.push((suite, results)),
        }
    }
    if apart.is_empty() {
        return files.write_page(&known, &reasons);
    }
    files.end_apart(apart, options, &reasons)
}

/// Records what came of programs of MPICH's suite, of that version, that ran by other means than its driver, under a configuration's name and with options of mpirun, as
/// `cargo xtask conformance --record` does. The key of a test is `folder/program np=N`, its arguments behind. An error names those that have no reason.
pub fn record_programs(
    workspace: &Workspace,
    [name, mpirun_options, version]: [&str; 3],
    tests: BTreeMap<String, Word>,
) -> Result<(), String> {
    let options = Options::of_record(name, mpirun_options);
    let files = Files::of(workspace);
    let reasons = reasons::read(&files.reasons)?;
    configurations::check(&configurations::read(&files.configurations)?, name, &options)?;
    let results = suites::results(&workspace.root, version.to_owned(), tests);
    files.end_apart(vec![(Suite::Mpich, results)], &options, &reasons)
}

/// Where results are kept and written.
struct Files {
    /// `target/conformance`.
    folder: PathBuf,
    page: PathBuf,
    reasons: PathBuf,
    configurations: PathBuf,
}

impl Files {
    fn of(workspace: &Workspace) -> Files {
        let root = &workspace.root;
        Files {
            folder: root.join("target/conformance"),
            page: root.join("docs/CONFORMANCE.md"),
            reasons: root.join("tests/conformance/reasons.toml"),
            configurations: root.join("tests/conformance/configurations.json"),
        }
    }

    /// Judges runs of a configuration, and records them if they have a name.
    fn end_apart(
        &self,
        apart: Vec<(Suite, results::Results)>,
        options: &Options,
        reasons: &[Reason],
    ) -> Result<(), String> {
        let judged = judge_apart(&apart, &reasons::of(reasons, options.record.as_deref()));
        if let Some(name) = &options.record {
            // Another run may have recorded something since.
            let mut known = configurations::read(&self.configurations)?;
            for run in apart {
                configurations::record(&mut known, &self.folder, name, options, run)?;
            }
            configurations::write(&self.configurations, &known)?;
            self.write_section(&known, reasons)?;
        }
        judged
    }

    /// The section of configurations alone; the rest of the page stays.
    fn write_section(&self, known: &Configurations, reasons: &[Reason]) -> Result<(), String> {
        let page = fs::read_to_string(&self.page).map_err(|e| format!("{}: {e}", self.page.display()))?;
        let page = configurations::replace(&page, &configurations::section(known, reasons));
        fs::write(&self.page, page).map_err(|e| format!("{}: {e}", self.page.display()))?;
        println!("wrote {}", self.page.display());
        Ok(())
    }

    /// All but the section that `cargo xtask apps` writes. An error names results without a reason, and reasons without a
    /// result.
    fn write_page(&self, known: &Configurations, reasons: &[Reason]) -> Result<(), String> {
        let before = fs::read_to_string(&self.page).unwrap_or_default();
        let written = page::make(&results::read_all(&self.folder)?, &before, reasons);
        let apps = before.find(crate::apps::HEADING).map_or("", |at| &before[at..]);
        let text = written.text + &configurations::section(known, reasons) + apps;
        fs::write(&self.page, text).map_err(|e| format!("{}: {e}", self.page.display()))?;
        println!("wrote {}", self.page.display());
        let mut wrong = Vec::new();
        let is_needed = |why: &String| reasons.iter().any(|r| r.why == *why && known.need(r));
        let stale = written.stale.into_iter().filter(|why| !is_needed(why)).collect();
        for (what, which) in
            [("results without a reason", written.unexplained), ("reasons for nothing", stale)]
        {
            if !which.is_empty() {
                wrong.push(format!("{} {what}:\n  {}", which.len(), which.join("\n  ")));
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("tests/conformance/reasons.toml: {}", wrong.join("\n"))),
        }
    }
}

/// Results that are not the page's own: how many there are of each kind, and what has no reason.
fn judge_apart(all: &[(Suite, results::Results)], reasons: &[Reason]) -> Result<(), String> {
    for (suite, results) in all {
        let bad = results.tests.values().filter(|word| word.is_bad()).count();
        println!("{}: {} tests, {bad} do not pass", suite.name(), results.tests.len());
    }
    match page::make(all, "", reasons).unexplained {
        which if which.is_empty() => Ok(()),
        which => Err(format!("{} results without a reason:\n  {}", which.len(), which.join("\n  "))),
    }
}
