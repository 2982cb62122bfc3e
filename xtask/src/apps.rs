//! `cargo xtask apps`: programs of others, fetched from Debian's sources, built by our `mpicc` and run by our `mpirun`.
//!
//! `tests/apps/apps.toml` lists them. The results are a section of docs/CONFORMANCE.md, which `cargo xtask conformance` keeps
//! as it is. A program that fails without a reason, or passes in spite of one, makes the command fail.
//!
//! A run with further options of mpirun (another component, two nodes) has a name, by which its rows stand behind the program's own.
//!
//! A program may stand on others of the list, which come before it: where one is asked for by name, those that it needs are built, unless they are there.

use crate::bounded::{self, Outcome};
use crate::conformance::fetch;
use crate::install;
use crate::workspace::Workspace;
use clap::Args;
use serde::Deserialize;
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// Only these (names of source packages, with the release of Debian where the list names one: `hdf5-trixie`)
    only: Vec<String>,
    /// An install to test (default: makes one in target/apps)
    #[arg(long)]
    prefix: Option<PathBuf>,
    /// Seconds that each build and each run may take at least, where the list allows less: for slow machines
    #[arg(long, default_value_t = 0)]
    limit: u64,
    /// Further options of mpirun, separated by blanks, for all that programs start, as "--mca fbtl posix"; `--record` names the rows
    #[arg(long, default_value = "", allow_hyphen_values = true, requires = "record")]
    mpirun_options: String,
    /// The name of a run with `--mpirun-options` on the page
    #[arg(long, value_name = "NAME", requires = "mpirun_options")]
    record: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct App {
    name: String,
    source: String,
    /// The release of Debian whose sources these are; several of one program lie beside one another.
    release: Option<String>,
    /// The version of a package from PyPI, which `build` fetches: $VERSION.
    pypi: Option<String>,
    /// Sources of programs of this list that this one is built over.
    #[serde(default)]
    needs: Vec<String>,
    /// Seconds that the build may take, and the run.
    limit: [u64; 2],
    build: String,
    run: String,
    wants: String,
    reason: Option<String>,
    /// Programs that the build needs and that are not among the tools; it is left out where one is not in PATH.
    #[serde(default)]
    programs: Vec<String>,
}

impl App {
    /// The name of its folder in target/apps.
    fn folder(&self) -> String {
        match &self.release {
            Some(release) => format!("{}-{release}", self.source),
            None => self.source.clone(),
        }
    }

    /// Seconds that build and run may take.
    fn limits(&self, least: u64) -> [u64; 2] {
        self.limit.map(|limit| limit.max(least))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Debian packages of programs and libraries that builds need.
    tools: Vec<String>,
    app: Vec<App>,
}

impl List {
    /// The programs to try, in the list's order: each with whether it is run, or only built since one behind it needs it.
    fn chosen(&self, only: &[String]) -> Vec<(&App, bool)> {
        let mut needed: Vec<&String> = Vec::new();
        let mut chosen: Vec<(&App, bool)> = Vec::new();
        for app in self.app.iter().rev() {
            let wanted = only.is_empty() || only.contains(&app.folder());
            if wanted || needed.contains(&&app.folder()) {
                needed.extend(&app.needs);
                chosen.push((app, wanted));
            }
        }
        chosen.reverse();
        chosen
    }
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
    let launcher =
        options.record.as_ref().map(|_| launcher(&folder, &prefix, &options.mpirun_options)).transpose()?;
    let place = Place { folder, prefix, launcher, tools, limit: options.limit };
    let page = workspace.root.join("docs/CONFORMANCE.md");
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let in_path = |name: &String| std::env::split_paths(&paths).any(|folder| folder.join(name).is_file());
    let chosen = list.chosen(&options.only);
    let seconds: u64 = chosen.iter().flat_map(|(app, _)| app.limits(options.limit)).sum();
    println!("{} programs, with limits of {} minutes together", chosen.len(), seconds.div_ceil(60));
    for (app, runs) in chosen {
        if let Some(missing) = app.programs.iter().find(|name| !in_path(name)) {
            println!("{}: left out, there is no {missing} in PATH", app.name);
            continue;
        }
        if !runs {
            if !place.home(app).join(BUILT).is_dir() {
                try_app(app, &place, false).map_err(|(_, why)| format!("{}: {why}", app.name))?;
            }
            continue;
        }
        let found = try_app(app, &place, true);
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
        write_page(&page, &list, &rows, options.record.as_deref())?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn read(path: &Path) -> Result<List, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A folder with a command mpirun that adds options to all that it is given.
fn launcher(folder: &Path, prefix: &Path, options: &str) -> Result<PathBuf, String> {
    let home = folder.join("launcher");
    fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let command = home.join("mpirun");
    let script = format!("#!/bin/sh\nexec '{}' {options} \"$@\"\n", prefix.join("bin/mpirun").display());
    let executable = fs::Permissions::from_mode(0o755);
    fs::write(&command, script)
        .and_then(|()| fs::set_permissions(&command, executable))
        .map_err(|e| format!("{}: {e}", command.display()))?;
    Ok(home)
}

/// Where programs are built and run, and by what.
struct Place {
    folder: PathBuf,
    prefix: PathBuf,
    /// The command mpirun with further options, where there are some.
    launcher: Option<PathBuf>,
    tools: PathBuf,
    /// The least of all limits, in seconds.
    limit: u64,
}

/// Where a program that others need is installed, beside its sources.
const BUILT: &str = "built";

impl Place {
    fn home(&self, app: &App) -> PathBuf {
        self.folder.join(app.folder())
    }

    /// The sources. Those of a package from PyPI are an empty folder: its build fetches them.
    fn fetch(&self, app: &App) -> Result<fetch::Fetched, String> {
        let home = self.home(app);
        match &app.pypi {
            Some(version) => {
                let folder = home.join("source");
                fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
                Ok(fetch::Fetched { version: version.clone(), folder })
            }
            None => fetch::debian(&home, &app.source, app.release.as_deref()),
        }
    }
}

/// Builds a program, and runs it if asked. The version, with what went wrong.
fn try_app(app: &App, place: &Place, runs: bool) -> Result<String, (String, String)> {
    let Place { folder, prefix, launcher, tools, limit } = place;
    let home = place.home(app);
    let [build_limit, run_limit] = app.limits(*limit);
    let fetched = place.fetch(app).map_err(|why| (String::new(), why))?;
    let step = |name: &str, script: &str, limit: u64| {
        let log = home.join(format!("{name}.log"));
        let said = |e: std::io::Error| (fetched.version.clone(), format!("{}: {e}", log.display()));
        let file = File::create(&log).map_err(said)?;
        let errors = file.try_clone().map_err(said)?;
        let path = std::env::join_paths(
            launcher
                .iter()
                .cloned()
                .chain([prefix.join("bin"), tools.join("usr/bin")])
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(&fetched.folder).env("PATH", path.unwrap_or_default());
        command.env("CC", "mpicc").env("CXX", "mpicxx").env("FC", "mpifort").env("TOOLS", tools);
        command.env("OMPI_FC", "gfortran");
        command.env("APPS", folder).env("BUILT", home.join(BUILT)).env("VERSION", &fetched.version);
        command.env("M4", tools.join("usr/bin/m4")).env("BISON_PKGDATADIR", tools.join("usr/share/bison"));
        // Programs that were built for another install run over this one.
        let libraries = std::env::join_paths([prefix.join("lib"), tools.join("usr/lib/x86_64-linux-gnu")]);
        command.env("LD_LIBRARY_PATH", libraries.unwrap_or_default());
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        match bounded::run(&mut command, Duration::from_secs(limit)) {
            Outcome::Passed => Ok(fs::read_to_string(&log).unwrap_or_default()),
            Outcome::Failed(why) => {
                Err((fetched.version.clone(), format!("{name}: {why}; see {}", log.display())))
            }
        }
    };
    step("build", &app.build, build_limit)?;
    if !runs {
        return Ok(fetched.version);
    }
    let out = step("run", &app.run, run_limit)?;
    match out.contains(&app.wants) {
        true => Ok(fetched.version),
        false => Err((fetched.version.clone(), format!("run: it did not print {:?}", app.wants))),
    }
}

/// The rows of programs that were not tried stay as they are on the page. `record`: the name of a run with further options, whose row stands behind the program's own.
fn write_page(
    path: &Path,
    list: &List,
    tried: &[(&App, String, bool)],
    record: Option<&str>,
) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (before, section) = text.split_at(text.find(HEADING).unwrap_or(text.len()));
    let mut new = format!(
        "{before}{HEADING}\nWritten by `cargo xtask apps`: fetched from Debian's sources or PyPI, built and run as `tests/apps/apps.toml` says; in parentheses, with further options \
         of mpirun (`--mpirun-options OPTIONS --record NAME`).\n\n\
         | program | version | result |\n| --- | --- | --- |\n"
    );
    for app in &list.app {
        let mut rows: Vec<String> =
            section.lines().filter(|line| is_of(line, &app.name)).map(str::to_owned).collect();
        if let Some((_, version, passed)) = tried.iter().find(|(tried, ..)| tried.name == app.name) {
            let result = match (passed, &app.reason) {
                (true, _) => "pass",
                (false, Some(reason)) => reason,
                (false, None) => "fail",
            };
            let name = record.map_or_else(|| app.name.clone(), |record| format!("{} ({record})", app.name));
            let row = format!("| {name} | {version} | {result} |");
            let start = format!("| {name} | ");
            match rows.iter_mut().find(|row| row.starts_with(&start)) {
                Some(there) => *there = row,
                None if record.is_none() => rows.insert(0, row),
                None => rows.push(row),
            }
        }
        rows.iter().for_each(|row| _ = writeln!(new, "{row}"));
    }
    fs::write(path, new).map_err(|e| format!("{}: {e}", path.display()))
}

/// Whether a line of the page is a row of that program, by itself or with further options.
fn is_of(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix("| ").and_then(|line| line.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with(" | ") || rest.starts_with(" ("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sound() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let list = read(&root.join("tests/apps/apps.toml")).expect("sound");
        assert!(!list.app.is_empty());
        let runs_jobs = |app: &App| [&app.build, &app.run].iter().any(|script| script.contains("mpirun"));
        assert!(list.app.iter().all(|app| !app.wants.is_empty() && runs_jobs(app)));
        for (at, app) in list.app.iter().enumerate() {
            let before = |name: &String| list.app[..at].iter().any(|earlier| earlier.folder() == *name);
            assert!(app.needs.iter().all(before), "{} comes before what it needs", app.name);
        }
    }

    #[test]
    fn rows_of_further_options_stand_behind_the_programs_own() {
        let folder = std::env::temp_dir().join(format!("oxmpi-apps-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let page = folder.join("page.md");
        fs::write(
            &page,
            format!("before{HEADING}\n| b c | 1 | pass |\n| a | 1 | fail |\n| gone | 1 | pass |\n"),
        )
        .expect("a page");
        let app = |name: &str| {
            format!("[[app]]\nname='{name}'\nsource='{name}'\nlimit=[1, 2]\nbuild=''\nrun=''\nwants=''\n")
        };
        let list: List =
            toml::from_str(&format!("tools=[]\n{}{}{}", app("a"), app("b"), app("b c"))).expect("sound");
        for (name, passed, record) in [
            ("a", true, Some("two nodes")),
            ("a", false, Some("two nodes")),
            ("a", true, None),
            ("b", true, Some("x")),
        ] {
            let of = list.app.iter().find(|app| app.name == name).expect("listed");
            write_page(&page, &list, &[(of, "2".into(), passed)], record).expect("written");
        }
        let text = fs::read_to_string(&page).expect("written");
        fs::remove_dir_all(&folder).expect("the folder");
        let rows: Vec<_> = text.lines().skip_while(|line| !line.starts_with("| ---")).skip(1).collect();
        let due = [
            "| a | 2 | pass |",
            "| a (two nodes) | 2 | fail |",
            "| b (x) | 2 | pass |",
            "| b c | 1 | pass |",
        ];
        assert_eq!(rows, due);
        assert!(text.starts_with("before"));
    }

    #[test]
    fn what_a_program_needs_is_built_before() {
        let app = |source: &str, needs: &str| {
            format!(
                "[[app]]\nname='{source}'\nsource='{source}'\nneeds=[{needs}]\nlimit=[1, 2]\nbuild=''\nrun=''\nwants=''\n"
            )
        };
        let text = format!("tools=[]\n{}{}{}", app("a", ""), app("b", "'a'"), app("c", "'b'"));
        let list: List = toml::from_str(&text).expect("sound");
        let chosen = |only: &[&str]| -> Vec<(String, bool)> {
            let only: Vec<String> = only.iter().map(|name| name.to_string()).collect();
            list.chosen(&only).into_iter().map(|(app, runs)| (app.source.clone(), runs)).collect()
        };
        assert_eq!(chosen(&["c"]), [("a".into(), false), ("b".into(), false), ("c".into(), true)]);
        assert_eq!(chosen(&["a"]), [("a".into(), true)]);
        assert_eq!(chosen(&[]).len(), 3);
    }
}
