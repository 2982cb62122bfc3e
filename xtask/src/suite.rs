//! `cargo xtask test`: every check there is, one step after the other, each within a limit.
//!
//! A failed step does not hide the next one: all run, and the summary names those that failed, repeats what they
//! said of it, and names every test that was left out and why (tests write that into a file named by
//! `OXMPI_LEFT_OUT`).

use crate::bounded::{self, Outcome};
use crate::generate;
use crate::install;
use crate::transcript::Transcript;
use crate::workspace::Workspace;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where the install with linked-in components goes.
const BUILTIN: &str = "target/oxmpi-builtin";

struct Step {
    name: String,
    limit: Duration,
    action: Action,
}

enum Action {
    Run(Command),
    /// Looks at the generated files.
    Generated,
    /// Installs into target/oxmpi, where the whole-job tests find it.
    Install,
    /// The same with the components linked in and no component file left to load.
    InstallBuiltin,
    /// Cannot run here, and why.
    LeftOut(String),
}

/// Runs the steps whose names contain one of `only` (all, if empty).
pub fn run(workspace: &Workspace, only: &[String], list: bool) -> Result<(), String> {
    let began = Instant::now();
    let left_out_file = workspace.root.join("target/left-out.txt");
    fs::create_dir_all(workspace.root.join("target")).map_err(|e| format!("target: {e}"))?;
    let _ = fs::remove_file(&left_out_file);
    let mut left_out = Vec::new();
    if !list {
        left_out.extend(prepare_machine());
    }

    let mut results = Vec::new();
    let mut said = Vec::new();
    for step in steps(workspace, &left_out_file) {
        if !only.is_empty() && !only.iter().any(|word| step.name.contains(word.as_str())) {
            continue;
        }
        if list {
            println!("{}", step.name);
            continue;
        }
        println!("--- {}", step.name);
        let started = Instant::now();
        let outcome = match step.action {
            Action::Run(command) => {
                let (outcome, lines) = heard(command, step.limit);
                if let Outcome::Failed(_) = outcome {
                    said.push((step.name.clone(), lines));
                }
                outcome
            }
            Action::Generated => outcome(generate::run(&workspace.root, generate::Action::Check)),
            Action::Install => {
                outcome(install::run(workspace, &workspace.root.join("target/oxmpi"), false).map(drop))
            }
            Action::InstallBuiltin => outcome(install_builtin(workspace)),
            Action::LeftOut(why) => {
                left_out.push(format!("{}: {why}", step.name));
                continue;
            }
        };
        if let Outcome::Failed(why) = &outcome {
            println!("FAILED {}: {why}", step.name);
        }
        results.push((step.name, started.elapsed(), outcome));
    }
    if list {
        return Ok(());
    }
    left_out.extend(fs::read_to_string(&left_out_file).unwrap_or_default().lines().map(str::to_owned));
    for (name, lines) in said {
        println!("\n=== {name}: what it said of its failure ===\n{}", lines.join("\n"));
    }
    summary(&results, &mut left_out, began.elapsed())
}

/// Runs a step's command; also what it said of a failure.
fn heard(mut command: Command, limit: Duration) -> (Outcome, Vec<String>) {
    let transcript = match Transcript::of(&mut command) {
        Ok(transcript) => transcript,
        Err(error) => return (Outcome::Failed(format!("no pipe: {error}")), Vec::new()),
    };
    let outcome = bounded::run(&mut command, limit);
    // The command holds the pipe open.
    drop(command);
    (outcome, transcript.lines())
}

fn install_builtin(workspace: &Workspace) -> Result<(), String> {
    let installed = install::run(workspace, &workspace.root.join(BUILTIN), true)?;
    let files = installed.prefix.join("lib/oxmpi");
    fs::remove_dir_all(&files).map_err(|e| format!("{}: {e}", files.display()))
}

fn outcome(result: Result<(), String>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Failed(why),
    }
}

fn summary(
    results: &[(String, Duration, Outcome)],
    left_out: &mut Vec<String>,
    took: Duration,
) -> Result<(), String> {
    println!("\n=== summary ===");
    for (name, time, outcome) in results {
        match outcome {
            Outcome::Passed => println!("passed  {:>5.0} s  {name}", time.as_secs_f64()),
            Outcome::Failed(why) => println!("FAILED  {:>5.0} s  {name}: {why}", time.as_secs_f64()),
        }
    }
    left_out.sort();
    left_out.dedup();
    for line in left_out.iter() {
        println!("left out: {line}");
    }
    let failed = results.iter().filter(|(_, _, o)| matches!(o, Outcome::Failed(_))).count();
    println!(
        "{} steps passed, {failed} failed, {} left out, in {:.0} s",
        results.len() - failed,
        left_out.len(),
        took.as_secs_f64()
    );
    match (results.len(), failed) {
        (0, _) => Err("no step ran".into()),
        (_, 0) => Ok(()),
        (_, n) => Err(format!("{n} of {} steps failed", results.len())),
    }
}

fn steps(workspace: &Workspace, left_out: &Path) -> Vec<Step> {
    let minutes = |n: u64| Duration::from_secs(60 * n);
    let cargo = |arguments: &[&str]| {
        let mut command = workspace.cargo(arguments);
        command.env("OXMPI_LEFT_OUT", left_out).stdin(Stdio::null());
        command
    };
    let tool = |name: &str, arguments: &[&str]| {
        let there = cargo(&[name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match there {
            Ok(status) if status.success() => Action::Run(cargo(arguments)),
            _ => Action::LeftOut(format!("cargo {name} is not installed (rustup component add)")),
        }
    };
    let step =
        |name: &str, limit: u64, action: Action| Step { name: name.into(), limit: minutes(limit), action };

    let mut steps = vec![
        step("format", 2, tool("fmt", &["fmt", "--all", "--", "--check"])),
        step("generated files", 2, Action::Generated),
        step(
            "clippy",
            15,
            tool("clippy", &["clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ),
        // Components as files, where the tests of the runtime look for them. Tests with them: what only tests depend on gives shared packages
        // further features, and without it all that stands on these would be built once more with the tests.
        step("build", 30, Action::Run(cargo(&["build", "-q", "--workspace", "--all-targets"]))),
        step(
            "unit and property tests",
            30,
            Action::Run(cargo(&["test", "-q", "--workspace", "--exclude", "oxmpi-tests", "--no-fail-fast"])),
        ),
    ];
    let mut fuzz = cargo(&["check", "-q", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    // Types only: libFuzzer itself is C++ and built for fuzzing, where nothing is said of it.
    fuzz.env("RUSTFLAGS", "--cfg fuzzing")
        .env("CUSTOM_LIBFUZZER_PATH", workspace.target.join("fuzz/libFuzzer.a"))
        .env("CARGO_TARGET_DIR", workspace.target.join("fuzz"));
    steps.push(step("fuzz targets", 10, Action::Run(fuzz)));
    // Other tests of these crates use the real atomics and do not build under the model. One cargo for all: for each
    // package alone it would build what they share with other features.
    let mut model = cargo(&["test", "-q", "--profile", "model", "--no-fail-fast", "--lib"]);
    for package in workspace.modelled() {
        model.args(["-p", &package]);
    }
    model
        .arg("model")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", workspace.target.join("loom"))
        .env("LOOM_MAX_PREEMPTIONS", "3");
    steps.push(step("models", 15, Action::Run(model)));
    let mut docs = cargo(&["doc", "-q", "--workspace", "--no-deps", "--document-private-items"]);
    // Private items are documented here, so that links to them lead somewhere.
    docs.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    steps.push(step("documentation", 10, Action::Run(docs)));
    steps.push(step("house", 5, Action::Run(cargo(&["test", "-q", "--workspace", "--test", "house"]))));
    steps.push(step("install", 30, Action::Install));
    // mpirun's own jobs need no install and have run with the unit tests. The rest of the workspace is named, so that nothing is built with other features.
    let whole = |binary: &str| {
        let others = ["test", "-q", "--workspace", "--exclude", "oxmpi-mpirun", "--test", binary];
        let mut command = cargo(&[&others[..], &["--no-fail-fast"]].concat());
        command.env("OXMPI_PREFIX", workspace.root.join("target/oxmpi"));
        Action::Run(command)
    };
    steps.push(step("whole jobs", 45, whole("jobs")));
    steps.push(step("components from outside", 15, whole("plugins")));
    steps.push(step("one-sided components by the number of nodes", 15, whole("scale")));
    steps.push(step("endpoints by proxies", 15, whole("endpoints")));
    let builtin = workspace.root.join(BUILTIN);
    steps.push(step("install with builtin components", 30, Action::InstallBuiltin));
    // Tests that count instructions, and orders that many runs look for, run the same code in both builds.
    let mut jobs = cargo(&["test", "-q", "--workspace", "--test", "jobs", "messages::", "--"]);
    jobs.args(["--skip", "no_lock", "--skip", "order"]);
    jobs.env("OXMPI_PREFIX", &builtin);
    steps.push(step("whole jobs with builtin components", 15, Action::Run(jobs)));
    let mut counts = cargo(&["test", "-q", "--workspace", "--test", "bench"]);
    counts.env("OXMPI_PREFIX", workspace.root.join("target/oxmpi")).env("OXMPI_BUILTIN_PREFIX", builtin);
    steps.push(step("instruction counts", 15, Action::Run(counts)));
    steps
}

/// Installs what tests need and a bare machine lacks, if we may; otherwise says what is left out.
/// Tests that miss a tool leave themselves out and say so too.
fn prepare_machine() -> Vec<String> {
    let needs = [
        ("g++", "g++", "C++ programs and the C++ use of mpi.h"),
        ("valgrind", "valgrind", "instruction counts"),
        ("gfortran", "gfortran", "programs in Fortran"),
        ("gdb", "gdb", "the interface of debuggers (MPIR)"),
    ];
    let mut left_out = Vec::new();
    for (program, package, what) in needs {
        if in_path(program) {
            continue;
        }
        let root = rustix::process::geteuid().is_root();
        if !(root && in_path("apt-get")) {
            left_out.push(format!("{what}: {program} is missing (Debian package {package})"));
            continue;
        }
        println!("--- installing the Debian package {package} for {what}");
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "-q", "--no-install-recommends", package]);
        command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        if let Outcome::Failed(why) = bounded::run(&mut command, Duration::from_secs(300)) {
            left_out.push(format!("{what}: {package} could not be installed: {why}"));
        }
    }
    left_out
}

fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
