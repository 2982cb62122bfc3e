//! Runs the suites, each by its driver, and reads what came out.

use crate::bounded::{self, Outcome};
use crate::conformance::fetch;
use crate::conformance::peers::Peer;
use crate::conformance::results::{Results, Word};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A whole suite; single tests have limits of their own.
const LIMIT: Duration = Duration::from_secs(3 * 60 * 60);

/// Slots for programs of MPICH's suite that start processes: more than any of them starts.
const SPAWN_SLOTS: &str = "--host localhost:256";

/// A variable that tests of MPICH's set, and what it is called here.
const SETTING: &str = "MPIR_CVAR_CH3_COMM_CONNECT_TIMEOUT=OXMPI_MCA_runtime_connect_timeout";

/// Where things are.
pub struct Place<'a> {
    pub root: &'a Path,
    /// `target/conformance`.
    pub folder: &'a Path,
    /// The install to test.
    pub prefix: &'a Path,
    /// Where jobs find libraries that `mpirun_options` name.
    pub libraries: Option<&'a Path>,
    /// Further options of mpirun.
    pub mpirun_options: &'a str,
    /// Endpoints of each process that are the ranks of MPICH's programs; `None`: ranks are processes.
    pub endpoints: Option<u32>,
    /// The library below MPICH's programs; `None`: the install's.
    pub over: Option<Peer>,
    /// The Fortran compiler; `None`: the one that mpifort takes.
    pub fc: Option<&'a str>,
}

impl Place<'_> {
    fn program(&self, name: &str) -> String {
        self.prefix.join("bin").join(name).display().to_string()
    }

    /// The beginning of a template for the drivers.
    fn mpirun(&self) -> String {
        format!("{} {} -n {{np}}", self.program("mpirun"), self.mpirun_options)
    }

    /// How programs of MPICH's suite are built and run.
    fn programs(&self) -> Result<Programs, String> {
        let Some(each) = self.endpoints else {
            let name = self.fc.map(|fc| format!("-{}", fc.replace('/', "-")));
            let folder = self.folder.join(format!("mpich-build{}", name.unwrap_or_default()));
            let begin = match self.over {
                Some(peer) => peer.launcher(self.folder, self.prefix)?,
                None => self.mpirun(),
            };
            let chosen = self.fc.map(|fc| format!(" -fc={fc}"));
            let fortran = self.program("mpifort") + &chosen.unwrap_or_default();
            let (compiler, launcher) = (self.program("mpicc"), format!("{begin} {{args}}"));
            return Ok(Programs { folder, compiler, fortran, launcher });
        };
        let script = self.root.join("tests/conformance/endpoint_programs.py").display().to_string();
        let functions = self.root.join("mpi/abi/functions.tsv").display().to_string();
        let (prefix, mpirun, options) = (self.prefix.display(), self.program("mpirun"), self.mpirun_options);
        Ok(Programs {
            folder: self.folder.join("mpich-build-endpoints"),
            compiler: format!("python3 {script} cc {functions} {prefix}"),
            // Programs of endpoints are made of C sources.
            fortran: String::new(),
            // The number of processes is the script's to tell.
            launcher: format!("python3 {script} run {each} {{np}} {mpirun} {options} -n {{{{n}}}} {{args}}"),
        })
    }

    fn driver(&self, name: &str) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.root.join("tests/conformance").join(name)).current_dir(self.folder);
        command.stdin(Stdio::null());
        if let Some(folder) = self.libraries {
            command.env("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", &[folder]));
        }
        command
    }

    fn results(&self, version: String, tests: BTreeMap<String, Word>) -> Results {
        results(self.root, version, tests)
    }
}

/// Results of tests of today, on this machine, with the library whose sources are in `root`.
pub fn results(root: &Path, version: String, tests: BTreeMap<String, Word>) -> Results {
    let revision = said(Command::new("git").current_dir(root).args(["rev-parse", "--short", "HEAD"]));
    let machine = said(Command::new("uname").args(["-srm"]));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    Results {
        date: said(Command::new("date").args(["-u", "+%Y-%m-%d"])),
        version,
        tested: format!("oxmpi {}, revision {revision}", env!("CARGO_PKG_VERSION")),
        machine: format!("{machine}, {cores} cores, {}", said(Command::new("gcc").arg("--version"))),
        tests,
    }
}

/// A folder to build in, the compilers (none of Fortran: empty), and the launcher with places for the number of ranks and further arguments.
struct Programs {
    folder: PathBuf,
    compiler: String,
    fortran: String,
    launcher: String,
}

/// First line of what a command says, or "unknown".
fn said(command: &mut Command) -> String {
    let text = command.output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_owned()
}

fn word(text: &str) -> Word {
    match text {
        "pass" | "noisy" => Word::Pass,
        "skip" => Word::Skip,
        "timeout" | "hang" => Word::Timeout,
        "build" => Word::Build,
        _ => Word::Fail,
    }
}

/// Runs a driver that writes `json` and may end with any status: what counts is the file.
fn drive<T: for<'a> Deserialize<'a>>(command: &mut Command, json: &Path) -> Result<T, String> {
    let _ = fs::remove_file(json);
    command.arg("--json").arg(json);
    let outcome = bounded::run(command, LIMIT);
    let text = fs::read_to_string(json).map_err(|e| match outcome {
        Outcome::Failed(why) => format!("{command:?}: {why}"),
        Outcome::Passed => format!("{}: {e}", json.display()),
    })?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", json.display()))
}

#[derive(Deserialize)]
struct MpichResults {
    results: Vec<MpichTest>,
}

#[derive(Deserialize)]
struct MpichTest {
    dir: String,
    prog: String,
    np: u32,
    args: Vec<String>,
    result: String,
}

/// Which of MPICH's tests: the folders in `dirs`, or all; of them those that fit `only`.
pub struct Part<'a> {
    pub dirs: Option<&'a str>,
    pub only: Option<&'a str>,
    /// Programs that are there already are not built again.
    pub keep: bool,
}

/// MPICH's suite.
pub fn mpich(place: &Place, part: Part<'_>, timeout: u32) -> Result<Results, String> {
    let suite = fetch::mpich(place.folder)?;
    let mut command = place.driver("mpich_suite.py");
    let programs = place.programs()?;
    command
        .arg(&suite.folder)
        .arg("--build")
        .arg(&programs.folder)
        .args(["--mpicc", &programs.compiler])
        .args(["--mpifort", &programs.fortran])
        .args(["--mpirun", &programs.launcher])
        .env("ENDPOINT_PROGRAMS", &programs.folder)
        .args(["--timeout", &timeout.to_string(), "--dtp", "small", "--setting", SETTING]);
    // Some count the slots that are left, and wait for ever where there are none. Further options name nodes of their own.
    if !place.mpirun_options.contains("host") && place.over.is_none() {
        command.args(["--spawn-args", SPAWN_SLOTS]);
    }
    for (option, value) in [("--dirs", part.dirs), ("--only", part.only)] {
        if let Some(value) = value {
            command.args([option, value]);
        }
    }
    if part.keep {
        command.arg("--keep");
    }
    let ran: MpichResults = drive(&mut command, &place.folder.join("mpich-run.json"))?;
    let key = |t: &MpichTest| {
        let arguments: String = t.args.iter().map(|a| format!(" {a}")).collect();
        format!("{}/{} np={}{arguments}", t.dir, t.prog, t.np)
    };
    let tests = ran.results.iter().map(|t| (key(t), word(&t.result))).collect();
    Ok(place.results(suite.version, tests))
}

#[derive(Deserialize)]
struct Module {
    module: String,
    np: u32,
    rc: i32,
    over: bool,
    tests: BTreeMap<String, String>,
}

/// mpi4py's tests: the modules that fit the expression, at each number of ranks.
pub fn mpi4py(place: &Place, np: &str, modules: &str, timeout: u32) -> Result<Results, String> {
    let suite = fetch::mpi4py(place.folder, place.prefix)?;
    let lib = place.prefix.join("lib");
    let folders: Vec<&Path> = [lib.as_path()].into_iter().chain(place.libraries).collect();
    let mut command = place.driver("mpi4py_suite.py");
    command
        .arg(suite.folder.join("tests"))
        .args(["--mpirun", &place.mpirun()])
        .arg("--pythonpath")
        .arg(suite.folder.join("python"))
        .args(["--np", np, "--only", modules, "--timeout", &(timeout * 4 / 3).to_string()])
        .env("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", &folders));
    let ran: Vec<Module> = drive(&mut command, &place.folder.join("mpi4py-run.json"))?;
    let mut tests = BTreeMap::new();
    for module in ran {
        let group = format!("np={}/{}", module.np, module.module);
        // A module that ended badly without a test to show for it.
        let quiet = module.tests.values().all(|w| !word(w).is_bad());
        if quiet && (module.over || module.rc != 0) {
            tests.insert(format!("{group}/(module)"), if module.over { Word::Timeout } else { Word::Fail });
        }
        tests.extend(module.tests.iter().map(|(name, w)| (format!("{group}/{name}"), word(w))));
    }
    Ok(place.results(suite.version, tests))
}

/// The crate `mpi`: built with our `mpicc`; its unit and integration tests as cargo runs them, every
/// example on 2 and 3 ranks.
pub fn rsmpi(place: &Place, timeout: u32) -> Result<Results, String> {
    let suite = fetch::rsmpi(place.folder)?;
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .current_dir(&suite.folder)
            .stdin(Stdio::null())
            .env("MPICC", place.program("mpicc"))
            .env("CARGO_TARGET_DIR", suite.folder.join("target"))
            .env("LD_LIBRARY_PATH", place.prefix.join("lib"))
            .env("PATH", in_front("PATH", &[&place.prefix.join("bin")]));
        command
    };
    let features = ["--features", "user-operations,derive,complex"];
    let mut tests = BTreeMap::new();
    let mut examples: Vec<String> = fs::read_dir(suite.folder.join("examples"))
        .map_err(|e| format!("examples of mpi: {e}"))?
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .collect();
    examples.sort();
    fetch::must(cargo(&["build", "-q", "--examples", "--keep-going"]).args(features))?;
    let tested = bounded::run(cargo(&["test", "-q", "--lib", "--tests"]).args(features), LIMIT);
    tests.insert("tests/all np=1".to_owned(), ended(&tested));
    for example in &examples {
        let program = suite.folder.join("target/debug/examples").join(example);
        for np in ["2", "3"] {
            let mut command = Command::new(place.program("mpirun"));
            command.args(["-n", np]).arg(&program).current_dir(place.folder).stdin(Stdio::null());
            // The crate's build leaves no path to the library in its programs.
            command.env("LD_LIBRARY_PATH", place.prefix.join("lib"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let key = format!("examples/{example} np={np}");
            let word = match program.is_file() {
                true => ended(&bounded::run(&mut command, Duration::from_secs(timeout.into()))),
                false => Word::Build,
            };
            if word.is_bad() {
                println!("{word:?} {key}");
            }
            tests.insert(key, word);
        }
    }
    Ok(place.results(suite.version, tests))
}

fn ended(outcome: &Outcome) -> Word {
    match outcome {
        Outcome::Passed => Word::Pass,
        Outcome::Failed(why) if why.starts_with("not done") => Word::Timeout,
        Outcome::Failed(_) => Word::Fail,
    }
}

/// A list of folders in the environment with others in front.
fn in_front(variable: &str, folders: &[&Path]) -> std::ffi::OsString {
    let mut list = std::ffi::OsString::new();
    let before = std::env::var_os(variable).filter(|value| !value.is_empty());
    for folder in folders.iter().map(|f| f.as_os_str()).chain(before.as_deref()) {
        if !list.is_empty() {
            list.push(":");
        }
        list.push(folder);
    }
    list
}
