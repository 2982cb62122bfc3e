//! `cargo xtask conformance`: suites that others wrote, run over this library, and the page that says
//! how they ended (`docs/CONFORMANCE.md`).
//!
//! The suites come from the ordinary package registries when the command runs: MPICH's C suite from
//! Debian's source package, mpi4py from PyPI, the crate `mpi` from crates.io. Nothing of them is
//! kept in the repository. Results are kept under `target/conformance`, so that folders can be run
//! again one at a time; the page is written from all that is there.
//!
//! A test that does not pass needs a reason in `tests/conformance/reasons.toml`. One without a reason
//! makes the command fail, and so does a reason whose tests were run and have all passed.
//!
//! Map: `fetch` (where suites come from) · `suites` (runs them) · `results` (what is kept) ·
//! `reasons` · `page`.

pub mod fetch;
mod page;
mod reasons;
mod results;
mod suites;

use crate::install;
use crate::workspace::Workspace;
use clap::{Args, ValueEnum};
use std::fs;
use std::path::PathBuf;

/// What to run.
#[derive(Args)]
pub struct Options {
    /// Suites to run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Suite::Mpich, Suite::Mpi4py, Suite::Rsmpi])]
    suites: Vec<Suite>,
    /// Folders of MPICH's suite to run (default: all)
    #[arg(long)]
    dirs: Option<String>,
    /// Run only these of MPICH's tests (FOLDER/PROGRAM, * stands for anything) and keep the results of all others:
    /// for those that ran into the limit on a busy machine
    #[arg(long)]
    only: Option<String>,
    /// Modules of mpi4py's tests to run: a regular expression
    #[arg(long, default_value = ".")]
    modules: String,
    /// Numbers of ranks for mpi4py
    #[arg(long, default_value = "1,2,3,4")]
    np: String,
    /// Seconds for one test (a third more for a module of mpi4py)
    #[arg(long, default_value_t = 90)]
    timeout: u32,
    /// An install to test (default: makes one in target/conformance)
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Further options of mpirun, separated by blanks, for the suites of MPICH and mpi4py; what fails without a reason is
    /// named, and neither page nor results are written. With "--host a:8,b:8 --map-by node:oversubscribe --mca plm local"
    /// and a transport the tests run over two nodes of this machine
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    mpirun_options: String,
    /// Run nothing; write the page from the results at hand
    #[arg(long)]
    page_only: bool,
}

/// A suite by its short name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// MPICH's C test suite
    Mpich,
    /// mpi4py's own tests
    Mpi4py,
    /// Examples and tests of the crate `mpi`
    Rsmpi,
}

impl Suite {
    const ALL: [Suite; 3] = [Suite::Mpich, Suite::Mpi4py, Suite::Rsmpi];

    /// Its name in results, reasons and folders.
    fn name(self) -> &'static str {
        match self {
            Suite::Mpich => "mpich",
            Suite::Mpi4py => "mpi4py",
            Suite::Rsmpi => "rsmpi",
        }
    }
}

/// Fetches, runs, and writes the page. An error names every test without a reason.
pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let folder = workspace.root.join("target/conformance");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    if !options.page_only {
        let prefix = match &options.prefix {
            Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
            None => install::run(workspace, &folder.join("oxmpi"), false)?.prefix,
        };
        let (root, mpirun_options) = (workspace.root.as_path(), options.mpirun_options.as_str());
        let place = suites::Place { root, folder: &folder, prefix: &prefix, mpirun_options };
        let mut apart = Vec::new();
        for &suite in &options.suites {
            let results = match suite {
                Suite::Mpich => {
                    let part = suites::Part { dirs: options.dirs.as_deref(), only: options.only.as_deref() };
                    suites::mpich(&place, part, options.timeout)?
                }
                Suite::Mpi4py => suites::mpi4py(&place, &options.np, &options.modules, options.timeout)?,
                Suite::Rsmpi => suites::rsmpi(&place, options.timeout)?,
            };
            match mpirun_options.is_empty() {
                true => results::keep(&folder, suite, results, options.only.is_some())?,
                false => apart.push((suite, results)),
            }
        }
        if !apart.is_empty() {
            return judge_apart(workspace, &apart);
        }
    }
    let reasons = reasons::read(&workspace.root.join("tests/conformance/reasons.toml"))?;
    let all = results::read_all(&folder)?;
    let written = page::make(&all, &reasons);
    let path = workspace.root.join("docs/CONFORMANCE.md");
    // The section that `cargo xtask apps` writes stays.
    let before = fs::read_to_string(&path).unwrap_or_default();
    let apps = before.find(crate::apps::HEADING).map_or("", |at| &before[at..]);
    fs::write(&path, written.text + apps).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("wrote {}", path.display());
    let mut wrong = Vec::new();
    for (what, which) in
        [("results without a reason", written.unexplained), ("reasons for nothing", written.stale)]
    {
        if !which.is_empty() {
            wrong.push(format!("{} {what}:\n  {}", which.len(), which.join("\n  ")));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("tests/conformance/reasons.toml: {}", wrong.join("\n")))
    }
}

/// Results that do not belong on the page: how many there are of each kind, and what has no reason.
fn judge_apart(workspace: &Workspace, all: &[(Suite, results::Results)]) -> Result<(), String> {
    let reasons = reasons::read(&workspace.root.join("tests/conformance/reasons.toml"))?;
    for (suite, results) in all {
        let bad = results.tests.values().filter(|word| word.is_bad()).count();
        println!("{}: {} tests, {bad} do not pass", suite.name(), results.tests.len());
    }
    match page::make(all, &reasons).unexplained {
        which if which.is_empty() => Ok(()),
        which => Err(format!("{} results without a reason:\n  {}", which.len(), which.join("\n  "))),
    }
}
