//! Files that never change: what `cargo xtask freeze` keeps of each version of the contracts in `tests/abi`. Each version has a list of their sums,
//! which names all of them; nothing else in this house looks into that folder.

use crate::{files, none, read, root};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SUMS: &str = "SHA256SUMS";

/// The folders of versions.
fn versions() -> Vec<PathBuf> {
    let folder = root().join("tests/abi");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("tests/abi: {e}"));
    entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
}

/// All files below a folder, by their names from there on.
fn all_below(folder: &Path, below: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all_below(&path, below, found);
        } else {
            let name = path.strip_prefix(below).expect("it is below").display().to_string();
            found.insert(name, path);
        }
    }
}

/// Files that are not as the list of a folder says, by name.
fn faults(folder: &Path) -> Vec<String> {
    let mut there = BTreeMap::new();
    all_below(folder, folder, &mut there);
    there.remove(SUMS);
    let list = std::fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
    let mut faults = Vec::new();
    for line in list.lines() {
        let Some((sum, name)) = line.split_once("  ") else {
            faults.push(format!("{SUMS}: {line:?} is no sum and name"));
            continue;
        };
        match there.remove(name) {
            None => faults.push(format!("{name} is missing")),
            Some(path) => {
                let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let now: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
                if now != sum {
                    faults.push(format!("{name} has changed"));
                }
            }
        }
    }
    faults.extend(there.into_keys().map(|name| format!("{name} is not in {SUMS}")));
    faults
}

#[test]
fn frozen_files_do_not_change() {
    let versions = versions();
    assert!(!versions.is_empty(), "no version is kept in tests/abi");
    let found = versions.iter().flat_map(|folder| {
        let name = folder.strip_prefix(root()).expect("inside").display().to_string();
        faults(folder).into_iter().map(move |fault| format!("{name}/{fault}"))
    });
    none("frozen files, from which components of others were built", found.collect());
}

#[test]
fn changes_of_frozen_files_are_found() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("c")).expect("a folder");
    for name in ["c/a.c", "c/b.c", "c/c.c"] {
        std::fs::write(at(name), "int x;\n").expect("a file");
    }
    // Of the text above, as sha256sum has it.
    let sum = "7c725f30854a46033dd94f728ac6b08caf10845993cd3ed48e40079cdb0a76a6";
    let list = |names: &[&str]| names.iter().map(|name| format!("{sum}  {name}\n")).collect::<String>();
    std::fs::write(at(SUMS), list(&["c/a.c", "c/b.c", "c/c.c"])).expect("a file");
    assert_eq!(faults(folder.path()), [""; 0]);
    std::fs::write(at("c/a.c"), "int y;\n").expect("a file");
    std::fs::write(at("c/new.c"), "int z;\n").expect("a file");
    std::fs::remove_file(at("c/b.c")).expect("it was there");
    assert_eq!(
        faults(folder.path()),
        ["c/a.c has changed", "c/b.c is missing", "c/new.c is not in SHA256SUMS"]
    );
}

/// The rules for sources and documents are about what is written today.
#[test]
fn rules_do_not_look_at_frozen_files() {
    let frozen = root().join("tests/abi");
    let mut there = BTreeMap::new();
    versions().iter().for_each(|folder| all_below(folder, &frozen, &mut there));
    assert!(there.keys().any(|name| name.ends_with("lib.rs")), "{there:?}");
    for ending in [".rs", ".c", ".h", ".toml", ".txt"] {
        let seen: Vec<PathBuf> =
            files(root(), ending).into_iter().filter(|path| path.starts_with(&frozen)).collect();
        assert_eq!(seen, [""; 0].map(PathBuf::from));
    }
}

/// Crates from a registry by a lock file, each with its version and sum.
fn fetched(lock: &str) -> BTreeSet<[String; 3]> {
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]").filter(|package| value(package, "source").is_some());
    packages
        .filter_map(|package| {
            Some([value(package, "name")?, value(package, "version")?, value(package, "checksum")?])
        })
        .collect()
}

/// A machine that has fetched what this workspace needs builds frozen components without a network.
#[test]
fn frozen_workspaces_need_no_crate_that_ours_does_not() {
    let ours = fetched(&read(&root().join("Cargo.lock")));
    assert!(ours.iter().any(|[name, ..]| name == "libc"), "{ours:?}");
    for folder in versions() {
        let lock = folder.join("rust/Cargo.lock");
        let missing: Vec<_> = fetched(&read(&lock)).difference(&ours).cloned().collect();
        assert!(missing.is_empty(), "{} needs {missing:?}", lock.display());
    }
}
