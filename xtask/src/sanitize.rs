//! `cargo xtask sanitize`: the crates with shared state, compiled with ThreadSanitizer.
//!
//! It needs a nightly toolchain, which need not be there; then this says so and runs nothing. The
//! toolchain's own std is compiled without the sanitizer; `tests/sanitize/thread.supp` names the places
//! of std where that shows, and fences are not seen at all: code that rests on fences is proved by its
//! model, not here. Every test runs in a process of its own: memory that one test unmapped by a plain
//! system call and another got again would look like a race between them.

use crate::bounded::{self, Outcome};
use crate::workspace::Workspace;
use cargo_metadata::Message;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// Packages, and the test programs of each that need nothing else to be built (empty: unit tests only).
const ROOMS: [(&str, &[&str]); 7] = [
    ("btl-shm", &["conformance", "exchange", "threads"]),
    ("pml-ob1", &["assignments", "communicators", "protocols", "robustness", "threads", "verbs"]),
    ("oxmpi-progress", &[]),
    ("oxmpi-waiting", &[]),
    ("oxmpi-rcache", &[]),
    ("oxmpi-runtime", &["order"]),
    ("oxmpi-mpi", &[]),
];

/// Tests that ThreadSanitizer cannot run: its own mappings lie where these put theirs, and it starts no threads in a forked child.
const LEFT_OUT: &str = "rcache::watch_tests::";

/// Messages between threads, in those of a plain test.
const TIMES: &str = "5";

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Why it cannot run here, if so.
pub fn missing() -> Option<String> {
    let nightly = Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]).output();
    match nightly {
        Ok(out) if out.status.success() && String::from_utf8_lossy(&out.stdout).contains(TARGET) => None,
        _ => Some(format!("no nightly toolchain for {TARGET} is installed")),
    }
}

/// Builds the tests and runs each alone; an error names those that ThreadSanitizer stopped.
pub fn run(workspace: &Workspace) -> Result<(), String> {
    if let Some(why) = missing() {
        return Err(why);
    }
    let mut tests = Vec::new();
    for program in build(workspace)? {
        let names = list(&program.path)?.into_iter().filter(|test| !test.starts_with(LEFT_OUT));
        tests.extend(names.map(|name| (program.package.clone(), program.path.clone(), name)));
    }
    let ran = tests.len();
    let (tests, bad) = (Mutex::new(tests.into_iter()), Mutex::new(Vec::new()));
    let next = || tests.lock().ok()?.next();
    let work = || {
        while let Some((package, path, test)) = next() {
            let outcome = bounded::run(&mut alone(workspace, &path, &test), Duration::from_secs(300));
            if let (Outcome::Failed(why), Ok(mut bad)) = (outcome, bad.lock()) {
                println!("FAILED {package}: {test}: {why}");
                bad.push(format!("{package}: {test}"));
            }
        }
    };
    // Each is mostly the start of a process and of what reads its symbols.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let bad = bad.into_inner().map_err(|_| "a test could not be looked at")?;
    println!(
        "{ran} tests under ThreadSanitizer, {} failed; left out: {LEFT_OUT} (fixed addresses, forks)",
        bad.len()
    );
    if bad.is_empty() { Ok(()) } else { Err(bad.join(", ")) }
}

/// One test in a process of its own.
fn alone(workspace: &Workspace, path: &Path, test: &str) -> Command {
    let mut command = Command::new(path);
    command
        .args(["--exact", "-q", test])
        .env("TSAN_OPTIONS", options(workspace))
        .env("OXMPI_ORDER_TIMES", TIMES)
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn options(workspace: &Workspace) -> String {
    let list = workspace.root.join("tests/sanitize/thread.supp");
    format!("suppressions={} history_size=4", list.display())
}

/// The test programs of all rooms, by one cargo: for each package alone it would build what they share with other features.
fn build(workspace: &Workspace) -> Result<Vec<Program>, String> {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "test", "--target", TARGET, "--lib"]);
    let mut wanted: Vec<&str> = Vec::new();
    for (package, tests) in ROOMS {
        command.args(["-p", package]);
        wanted.extend(tests.iter().filter(|test| !wanted.contains(test)).collect::<Vec<_>>());
    }
    let target = workspace.target.join("sanitize");
    command
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer");
    let built = programs(workspace, command, &wanted)
        .map_err(|e| format!("the tests do not build with ThreadSanitizer: {e}"))?;
    Ok(built.into_iter().filter(Program::has_a_room).collect())
}

/// A test program that cargo has built.
pub struct Program {
    pub package: String,
    /// The name of the test program; none for the unit tests of a library.
    pub test: Option<String>,
    pub path: PathBuf,
}

impl Program {
    /// Packages share names of test programs, and cargo builds all of a name.
    fn has_a_room(&self) -> bool {
        let mut rooms = ROOMS.iter().filter(|(package, _)| *package == self.package);
        rooms.any(|(_, tests)| self.test.as_deref().is_none_or(|test| tests.contains(&test)))
    }
}

/// The test programs that a `cargo test` with further arguments would run.
pub fn programs(workspace: &Workspace, mut command: Command, tests: &[&str]) -> Result<Vec<Program>, String> {
    command.args(["-q", "--no-run", "--message-format=json"]);
    for test in tests {
        command.args(["--test", test]);
    }
    let mut child = command
        .current_dir(&workspace.root)
        // Set by the cargo that runs us, for its own toolchain.
        .env_remove("CARGO")
        .env_remove("RUSTUP_TOOLCHAIN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    let mut programs = Vec::new();
    if let Some(out) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(out)) {
            match message.map_err(|e| format!("cargo's messages: {e}"))? {
                Message::CompilerArtifact(artifact) => {
                    let Some(path) = artifact.executable else { continue };
                    let package = workspace.name_of(&artifact.package_id);
                    let test = artifact.target.is_test().then_some(artifact.target.name);
                    programs.push(Program { package, test, path: path.into() });
                }
                Message::CompilerMessage(message) => eprint!("{message}"),
                _ => {}
            }
        }
    }
    let status = child.wait().map_err(|e| format!("cargo: {e}"))?;
    if status.success() { Ok(programs) } else { Err(format!("{status}")) }
}

/// Names of the tests in a program.
pub fn list(program: &PathBuf) -> Result<Vec<String>, String> {
    let out = Command::new(program)
        .args(["--list", "--format", "terse"])
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&out.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
