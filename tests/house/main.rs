//! The rules of the house, checked on the sources alone.
//!
//! `arrows` (who may depend on whom) · `cycles` (no file imports or calls what imports or calls it; `calls` finds calls, by `definitions` and `scopes`) · `names` (one spelling everywhere) · `sources` (no statics in
//! contracts, file lengths, lints) · `dependencies` (each crate from outside stands in docs/dependencies.md) · `features` (of packages, with the job tests and without) · `frozen` (files that never change) · `pointers` (safe functions take none) · `papers` (paths and commands in the documents, the hash of the
//! ABI, generated files) · `words` (texts that users meet).

mod arrows;
mod calls;
mod cycles;
mod definitions;
mod dependencies;
mod features;
mod frozen;
mod names;
mod openings;
mod papers;
mod pointers;
mod scopes;
mod sources;
mod words;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use oxmpi_tests::root;

/// The workspace as cargo sees it, without what it depends on.
pub fn metadata() -> &'static Metadata {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    METADATA.get_or_init(|| {
        let manifest = root().join("Cargo.toml");
        MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata")
    })
}

/// A package's folder, relative to the root: `components/btl-shm`.
pub fn folder(package: &Package) -> String {
    let folder = package.manifest_path.parent().expect("a manifest is in a folder");
    folder.as_std_path().strip_prefix(root()).expect("members are inside").to_string_lossy().into_owned()
}

/// The crates of the host, which plugins do not link.
pub const HOST: [&str; 8] = [
    "framework/system",
    "framework/wireup",
    "framework/loading",
    "framework/progress",
    "framework/waiting",
    "framework/rcache",
    "framework/emulation",
    "framework/runtime",
];

/// Is it a crate that components link: a contract, or parts that several of them share?
pub fn is_linked_by_components(folder: &str) -> bool {
    let ours = folder.starts_with("framework/") && folder != "framework/builtin" && !HOST.contains(&folder);
    ours && folder != "framework/testing" && !folder.ends_with("/conformance")
}

/// Frozen files, which no rule is about but that they do not change: a version of the contracts in `tests/abi`.
fn is_frozen(folder: &Path) -> bool {
    folder.parent().is_some_and(|parent| parent.ends_with("tests/abi"))
}

/// All files under `folder` whose names end with `ending`, in a fixed order.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !name.starts_with("target") && !is_frozen(&path) {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A path as the reader of a message wants it.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", short(path)))
}

/// Panics with every finding, or not at all.
#[track_caller]
pub fn none(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n  {}", findings.join("\n  "));
}
