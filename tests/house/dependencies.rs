//! Holds docs/dependencies.md to the manifests: each crate from outside that one of ours names has a row there, with licence, version and reason.

use crate::{files, metadata, none, read, root};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Columns of a row: crate, licence, version, day, users, reason.
const COLUMNS: usize = 6;

/// The rows of the tables of that many columns, by the crate in the first.
fn rows(document: &str) -> BTreeMap<String, Vec<String>> {
    let cells = document.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let lists = cells.map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let named = lists.filter(|cells| cells.len() == COLUMNS).filter_map(|cells| {
        let name = cells[0].strip_prefix('`')?.strip_suffix('`')?.to_owned();
        Some((name, cells))
    });
    named.collect()
}

/// Crates from outside that members of the workspace name, and those that packages outside of it do.
fn named() -> BTreeSet<String> {
    let members = metadata().packages.iter().flat_map(|package| &package.dependencies);
    let mut names: BTreeSet<String> =
        members.filter(|d| d.source.is_some()).map(|d| d.name.clone()).collect();
    for manifest in files(&root().join("fuzz"), "Cargo.toml") {
        let manifest: Table = read(&manifest).parse().expect("a manifest is TOML");
        let listed = manifest.get("dependencies").and_then(Value::as_table).expect("dependencies of fuzz");
        let outside = listed.iter().filter(|(_, of)| of.get("path").is_none());
        names.extend(outside.map(|(name, _)| name.clone()));
    }
    names
}

/// The versions of each package in Cargo.lock, without what stands behind `+`.
fn locked() -> BTreeMap<String, BTreeSet<String>> {
    let lock: Table = read(&root().join("Cargo.lock")).parse().expect("Cargo.lock is TOML");
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock["package"].as_array().expect("packages") {
        let text = |key| package.get(key).and_then(Value::as_str).expect("a text");
        let version = text("version").split('+').next().unwrap_or_default();
        versions.entry(text("name").to_owned()).or_default().insert(version.to_owned());
    }
    versions
}

#[test]
fn every_dependency_stands_in_its_document() {
    let (rows, named, locked) = (rows(&read(&root().join("docs/dependencies.md"))), named(), locked());
    let mut findings: Vec<String> = named
        .iter()
        .filter(|name| !rows.contains_key(*name))
        .map(|name| format!("{name} is missing"))
        .collect();
    for (name, cells) in &rows {
        if !named.contains(name) {
            findings.push(format!("{name} is no dependency of ours"));
        }
        if let Some(empty) = cells.iter().position(String::is_empty) {
            findings.push(format!("{name}: column {} is empty", empty + 1));
        }
        if locked.get(name).is_some_and(|versions| !versions.contains(&cells[2])) {
            findings.push(format!("{name} {} is not in Cargo.lock: {:?}", cells[2], locked[name]));
        }
    }
    none("docs/dependencies.md", findings);
}

#[test]
fn rows_of_the_document_are_found() {
    let found = rows("| Crate | L |\n|---|---|\n| `a` | b | c | d | e | f |\n| `x` | y |\n");
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), ["a"]);
    assert_eq!(found["a"][2], "c");
}
