//! `cargo xtask apps`: programs of others, fetched from Debian's sources, built by our `mpicc` and run by our `mpirun`.
//!
//! `tests/apps/apps.toml` lists them. The results are a section of docs/CONFORMANCE.md, which `cargo xtask conformance` keeps
//! as it is. A program that fails without a reason, or passes in spite of one, makes the command fail.

use crate::bounded::{self, Outcome};
use crate::conformance::fetch;
use crate::install;
use crate::workspace::Workspace;
use clap::Args;
use serde::Deserialize;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// Only these (names of source packages)
    only: Vec<String>,
    /// An install to test (default: makes one in target/apps)
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Seconds that one build or run may take
    #[arg(long, default_value_t = 900)]
    limit: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct App {
    name: String,
    source: String,
    build: String,
    run: String,
    wants: String,
    reason: Option<String>,
    /// Needs a Fortran compiler, and is left out where there is none.
    #[serde(default)]
    fortran: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Debian packages of programs and libraries that builds need.
    tools: Vec<String>,
    app: Vec<App>,
}

/// The section's heading in docs/CONFORMANCE.md; it is the page's last.
pub const HEADING: &str = "\n## Programs of others\n";

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let list = read(&workspace.root.join("tests/apps/apps.toml"))?;
    let folder = workspace.root.join("target/apps");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let prefix = match &options.prefix {
        Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
        None => install::run(workspace, &folder.join("oxmpi"), false)?.prefix,
    };
    let tools = fetch::debian_tools(&folder, &list.tools)?;
    let place = Place { folder, prefix, tools, limit: Duration::from_secs(options.limit) };
    let page = workspace.root.join("docs/CONFORMANCE.md");
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let has_fortran = std::env::split_paths(&paths).any(|folder| folder.join("gfortran").is_file());
    for app in &list.app {
        let wanted = options.only.is_empty() || options.only.contains(&app.source);
        if !wanted {
            continue;
        }
        if app.fortran && !has_fortran {
            println!("{}: left out, there is no gfortran in PATH", app.name);
            continue;
        }
        let found = try_app(app, &place);
        let (version, result) = match found {
            Ok(version) => (version, Ok(())),
            Err((version, why)) => (version, Err(why)),
        };
        println!("{}: {}", app.name, result.as_ref().map_or_else(String::as_str, |()| "passed"));
        match (&result, &app.reason) {
            (Err(why), None) => wrong.push(format!("{}: {why}", app.name)),
            (Ok(()), Some(_)) => wrong.push(format!("{} passes, and has a reason why it does not", app.name)),
            _ => {}
        }
        rows.push((app, version, result.is_ok()));
        // After each, so that a run that is broken off has not been for nothing.
        write_page(&page, &list, &rows)?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn read(path: &Path) -> Result<List, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Where programs are built and run, and by what.
struct Place {
    folder: PathBuf,
    prefix: PathBuf,
    tools: PathBuf,
    limit: Duration,
}

/// The version, with what went wrong.
fn try_app(app: &App, place: &Place) -> Result<String, (String, String)> {
    let Place { folder, prefix, tools, limit } = place;
    let home = folder.join(&app.source);
    let fetched = fetch::debian(&home, &app.source).map_err(|why| (String::new(), why))?;
    let step = |name: &str, script: &str| {
        let log = home.join(format!("{name}.log"));
        let said = |e: std::io::Error| (fetched.version.clone(), format!("{}: {e}", log.display()));
        let file = File::create(&log).map_err(said)?;
        let errors = file.try_clone().map_err(said)?;
        let path = std::env::join_paths(
            [prefix.join("bin"), tools.join("usr/bin")]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(&fetched.folder).env("PATH", path.unwrap_or_default());
        command.env("CC", "mpicc").env("CXX", "mpicxx").env("FC", "mpifort").env("TOOLS", tools);
        command.env("OMPI_FC", "gfortran");
        command.env("M4", tools.join("usr/bin/m4")).env("BISON_PKGDATADIR", tools.join("usr/share/bison"));
        command.env("LD_LIBRARY_PATH", tools.join("usr/lib/x86_64-linux-gnu"));
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        match bounded::run(&mut command, *limit) {
            Outcome::Passed => Ok(fs::read_to_string(&log).unwrap_or_default()),
            Outcome::Failed(why) => {
                Err((fetched.version.clone(), format!("{name}: {why}; see {}", log.display())))
            }
        }
    };
    step("build", &app.build)?;
    let out = step("run", &app.run)?;
    match out.contains(&app.wants) {
        true => Ok(fetched.version),
        false => Err((fetched.version.clone(), format!("run: it did not print {:?}", app.wants))),
    }
}

/// The rows of programs that were not tried stay as they are on the page.
fn write_page(path: &Path, list: &List, tried: &[(&App, String, bool)]) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (before, section) = text.split_at(text.find(HEADING).unwrap_or(text.len()));
    let mut new = format!(
        "{before}{HEADING}\nWritten by `cargo xtask apps`: fetched from Debian's sources, built and run as `tests/apps/apps.toml` says.\n\n\
         | program | version | result |\n| --- | --- | --- |\n"
    );
    for app in &list.app {
        let start = format!("| {} | ", app.name);
        if let Some((_, version, passed)) = tried.iter().find(|(tried, ..)| tried.name == app.name) {
            let result = match (passed, &app.reason) {
                (true, _) => "pass",
                (false, Some(reason)) => reason,
                (false, None) => "fail",
            };
            let _ = writeln!(new, "{start}{version} | {result} |");
        } else if let Some(row) = section.lines().find(|line| line.starts_with(&start)) {
            let _ = writeln!(new, "{row}");
        }
    }
    fs::write(path, new).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sound() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let list = read(&root.join("tests/apps/apps.toml")).expect("sound");
        assert!(!list.app.is_empty());
        assert!(list.app.iter().all(|app| !app.wants.is_empty() && app.run.contains("mpirun")));
    }
}
