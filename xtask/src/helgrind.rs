//! `cargo xtask sanitize --helgrind`: the tests of messages between threads under valgrind's helgrind and DRD.
//!
//! ThreadSanitizer needs a standard library that was compiled with it, or suppressions; these two see every load and
//! store of the program, std's too, but know only libpthread's synchronisation. So the tests are compiled with
//! `--cfg oxmpi_annotated`, which lets every atomic say what it orders (`framework/mca/src/sync/annotated.rs`).
//! `tests/sanitize/valgrind.supp` has what is not theirs to report. Every test runs alone.

use crate::bounded::{self, Outcome};
use crate::sanitize::{list, programs};
use crate::workspace::Workspace;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Packages, a test program of each, and which of its tests: those that take minutes at a hundredth of the speed are left out.
const TESTS: [(&str, &str, &[&str]); 2] = [
    ("oxmpi-runtime", "order", &["one_instance_for_all"]),
    (
        "pml-ob1",
        "threads",
        &[
            "promises_change_the_layout",
            "released_while_others_complete",
            "shared_tag_keeps_the_order_of_each_sender",
            "threads_with_their_own_tags_are_spread",
        ],
    ),
];

/// Those that are worth DRD's time. DRD has a segment for every release and acquire of every thread, and keeps all that are not
/// ordered before every living thread; main sleeps to the end of a test, so that is all of them, and each new one is compared with
/// many: three times the messages take six to eight times as long. So DRD sees a quarter of the messages.
const UNDER_DRD: [&str; 2] =
    ["shared_tag_keeps_the_order_of_each_sender", "threads_with_their_own_tags_are_spread"];

pub fn run(workspace: &Workspace) -> Result<(), String> {
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        return Err("valgrind is not installed".to_owned());
    }
    let (mut ran, mut bad) = (0, Vec::new());
    for (package, program, wanted) in TESTS {
        let mut cargo = Command::new("cargo");
        cargo
            .args(["test", "-p", package])
            .env("CARGO_TARGET_DIR", workspace.target.join("annotated"))
            .env("RUSTFLAGS", "--cfg oxmpi_annotated");
        let built = programs(workspace, cargo, &[program]).map_err(|e| format!("{package}: {e}"))?;
        for program in built.into_iter().map(|built| built.path) {
            let there = list(&program)?;
            for test in wanted {
                if !there.iter().any(|name| name == test) {
                    return Err(format!("{package} has no test {test} any more"));
                }
                for tool in ["helgrind", "drd"] {
                    if tool == "drd" && !UNDER_DRD.contains(test) {
                        continue;
                    }
                    ran += 1;
                    if let Outcome::Failed(why) = under(workspace, tool, &program, test) {
                        println!("FAILED {package}: {test} under {tool}: {why}");
                        bad.push(format!("{test} under {tool}"));
                    }
                }
            }
        }
    }
    println!("{ran} tests under helgrind and DRD, {} failed", bad.len());
    if bad.is_empty() { Ok(()) } else { Err(bad.join(", ")) }
}

fn under(workspace: &Workspace, tool: &str, program: &Path, test: &str) -> Outcome {
    let list = workspace.root.join("tests/sanitize/valgrind.supp");
    let mut command = Command::new("valgrind");
    if tool == "drd" {
        // Segments are merged at every hundredth and not at every tenth: a search through all of them, half of the time.
        command.arg("--segment-merging-interval=100").env("OXMPI_ROUNDS_DIVISOR", "4");
    }
    command
        .args([
            "-q",
            "--error-exitcode=9",
            // Valgrind runs one thread at a time, and without this the one that spins may get the next turn, too.
            "--fair-sched=try",
            &format!("--tool={tool}"),
            &format!("--suppressions={}", list.display()),
        ])
        .arg(program)
        .args(["--exact", "-q", test])
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    // None takes a minute of processor time; half an hour is for what stands still, on a machine that has other work.
    bounded::run(&mut command, Duration::from_secs(1800))
}
