//! Components that are built from what an author had on the day when a version of the contracts was released (`tests/abi`): the
//! library as it is now loads them, and they carry whole jobs. No job here has another component that could serve in their place.

use crate::support::{cargo_locked, compile_c_with, load, scratch};
use oxmpi_loading::loader::{Found, load as load_file, parse_file_name};
use oxmpi_mca::{ABI_MAJOR, ABI_MINOR};
use oxmpi_tests::{Job, mpi, root};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A version that is kept.
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub folder: PathBuf,
}

/// The versions in `tests/abi`.
pub fn versions() -> Vec<Version> {
    let folders = std::fs::read_dir(root().join("tests/abi")).expect("tests/abi");
    let folders = folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    let version = |folder: PathBuf| {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let numbers = name.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (major, minor) = numbers.unwrap_or_else(|| panic!("tests/abi/{name} is named after no version"));
        Version { major, minor, folder }
    };
    folders.map(version).collect()
}

/// The components of all versions, each version in a folder of its own; built once for all tests.
fn built() -> &'static [(Version, PathBuf)] {
    static BUILT: OnceLock<Vec<(Version, PathBuf)>> = OnceLock::new();
    BUILT.get_or_init(|| versions().into_iter().map(build).collect())
}

fn build(version: Version) -> (Version, PathBuf) {
    let place = scratch(&format!("abi-{}.{}", version.major, version.minor));
    let components = place.join("components");
    // Of what was built there before nothing is to be loaded.
    drop(std::fs::remove_dir_all(&components));
    std::fs::create_dir_all(&components).expect("a folder");
    let in_c = version.folder.join("c");
    for source in files(&in_c, "c") {
        let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
        compile_c_with(&in_c, &source, &components.join(format!("lib{name}.so")), &[]);
    }
    for library in files(&cargo_locked(&version.folder.join("rust"), &place.join("target")), "so") {
        std::fs::copy(&library, components.join(library.file_name().expect("a name"))).expect("a copy");
    }
    (version, components)
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == ending)).collect();
    found.sort();
    found
}

/// Of every framework there is one in Rust, and of two there is one in C.
#[test]
fn the_loader_accepts_them_as_they_are() {
    for (version, components) in built() {
        let (kept, now) = ((version.major, version.minor), (ABI_MAJOR, ABI_MINOR));
        let folder = version.folder.display();
        assert!(kept.0 == now.0, "{folder}: another major is refused, so nobody needs it here");
        assert!(kept <= now, "{folder}: newer than the contracts");
        let mut names = Vec::new();
        for path in files(components, "so") {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let (framework, component) =
                parse_file_name(&name).unwrap_or_else(|| panic!("{name} is no component's"));
            let found = Found { framework, name: component.into(), path: path.clone() };
            let accepted = load_file(&found).unwrap_or_else(|e| panic!("{e}"));
            let descriptor = load(&path, &format!("oxmpi_component_{}_{component}", framework.name()));
            // SAFETY: the loader has accepted this descriptor.
            let theirs = unsafe { ((*descriptor).abi_major, (*descriptor).abi_minor) };
            assert_eq!(theirs, kept, "{name} was not built from what is frozen");
            names.push(format!("{}-{}", accepted.framework.name(), accepted.name));
        }
        let due = ["btl-cloop", "btl-template", "coll-cring", "coll-template", "osc-am", "pml-template"];
        assert!(due.iter().all(|one| names.iter().any(|name| name == one)), "{folder}: {names:?}");
    }
}

/// Runs a job for each version over the components in `list`, and nothing else of their frameworks.
fn run(ranks: usize, list: &[(&str, &str)], program: &str, arguments: &[&str]) {
    assert!(!built().is_empty(), "no version is kept");
    for (_, components) in built() {
        let mut job = Job::new(ranks).args(["--mca", "mca_base_component_path"]).arg(components);
        for (framework, names) in list {
            job = job.args(["--mca", *framework, *names]);
        }
        job.program(program).args(arguments).run().all_ok(ranks);
    }
}

/// In C to the process itself, in Rust to all others.
#[test]
fn transports_carry_messages() {
    run(2, &[("btl", "cloop,template")], "ring", &[]);
    run(1, &[("btl", "cloop")], "ring", &[]);
    run(3, &[("btl", "cloop,template")], "collectives", &[]);
}

#[test]
fn a_messaging_layer_carries_messages() {
    run(3, &[("pml", "template")], "ring", &[]);
    run(2, &[("pml", "template")], "requests", &[]);
}

/// Operations that a component does not have are refused where no other component is, so what is served is served by these.
#[test]
fn collectives_are_served() {
    run(3, &[("coll", "cring")], "few_collectives", &["barrier", "bcast", "allgather"]);
    let all = ["barrier", "bcast", "reduce", "allreduce", "allgather"];
    run(4, &[("coll", "template")], "few_collectives", &all);
    let priority = ("coll_cring_priority", "90");
    run(3, &[("coll", "cring,template"), priority], "few_collectives", &all);
    run(3, &[("coll", "cring,basic"), priority], "collectives", &[]);
}

#[test]
fn windows_are_served() {
    run(3, &[("osc", "am")], "rma", &[]);
}

/// A job in which nothing is of today but the host.
#[test]
fn a_job_has_none_but_frozen_components() {
    let list = [("pml", "template"), ("btl", "cloop,template"), ("coll", "cring,template"), ("osc", "am")];
    run(3, &list, "few_collectives", &["barrier", "bcast", "reduce", "allreduce", "allgather"]);
    run(4, &list, "protocols", &[]);
}

/// The tool for users sees them as what they are.
#[test]
fn mpi_info_says_what_they_were_built_for() {
    for (version, components) in built() {
        let mut command = std::process::Command::new(mpi().bin("mpi-info"));
        command.args(["--mca", "mca_base_component_path"]).arg(components).args(["--param", "btl", "all"]);
        let said = Job::of(command).run().passed().out;
        let number = format!("{}.{}", version.major, version.minor);
        let line = said.lines().find(|line| line.contains("MCA btl: template ("));
        let line = line.unwrap_or_else(|| panic!("no template in\n{said}"));
        for due in
            [format!("(MCA v{number}, "), format!("Component v{number}.0)"), components.display().to_string()]
        {
            assert!(line.contains(&due), "{due} is not in {line}");
        }
    }
}
