//! Features of packages, which are the same with and without the job tests: a package with further features for them alone, and all that depends on it, would be built twice in every run of
//! `cargo xtask test`, whose unit tests leave the job tests out.

use crate::{none, root};
use std::collections::BTreeSet;
use std::process::Command;

/// Packages with their features, as cargo resolves them for the workspace.
fn resolved(further: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let fixed =
        ["tree", "--offline", "--locked", "--workspace", "-e", "normal,build,dev", "--prefix", "none"];
    let mut tree = Command::new(cargo);
    let out =
        tree.args(fixed).args(["-f", "{p} {f}"]).args(further).current_dir(root()).output().expect("cargo");
    assert!(out.status.success(), "cargo tree: {}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("text");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn job_tests_add_no_features() {
    let (all, without) = (resolved(&[]), resolved(&["--exclude", "oxmpi-tests"]));
    let built_twice = without.difference(&all).cloned().collect();
    none("packages that have other features with tests/Cargo.toml", built_twice);
}
