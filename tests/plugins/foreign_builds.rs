//! Components that were built elsewhere: outside of this workspace, and by another compiler with another
//! idea of how Rust structs lie in memory.

use crate::support::{cargo, load, scratch};
use oxmpi_btl_conformance::{Reach, Setup, run_all};
use oxmpi_tests::{leave_out, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies a component's source into a project of its own, which knows the contract crates by path only.
fn project(name: &str, component: &str, package: &str) -> PathBuf {
    let dir = scratch(name).join(package);
    let src = root().join("components").join(component).join("src");
    std::fs::create_dir_all(dir.join("src")).expect("the project's folder");
    for entry in std::fs::read_dir(&src).expect("the component's source") {
        let entry = entry.expect("an entry");
        if entry.file_type().is_ok_and(|t| t.is_file()) {
            std::fs::copy(entry.path(), dir.join("src").join(entry.file_name())).expect("a copy");
        }
    }
    let manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"7.8.9\"\nedition = \"2024\"\n\n[workspace]\n\n[lib]\ncrate-type = \
         [\"cdylib\"]\n\n[dependencies]\noxmpi-mca = {{ path = {mca:?} }}\noxmpi-btl = {{ path = {btl:?} }}\n",
        mca = root().join("framework/mca"),
        btl = root().join("framework/btl"),
    );
    std::fs::write(dir.join("Cargo.toml"), manifest).expect("the manifest");
    // The versions that the workspace resolved, so that nothing needs the network.
    std::fs::copy(root().join("Cargo.lock"), dir.join("Cargo.lock")).expect("the lock file");
    dir
}

/// Another component in the copied source: another name and symbol, and parameters under that name.
fn rename(dir: &Path, from: &str, to: &str) {
    let lib = dir.join("src/lib.rs");
    let text = std::fs::read_to_string(&lib).expect("lib.rs");
    let text = text
        .replace(&format!("oxmpi_component_btl_{from}"), &format!("oxmpi_component_btl_{to}"))
        .replace(&format!("name: \"{from}\""), &format!("name: \"{to}\""));
    std::fs::write(lib, text).expect("lib.rs");
}

#[test]
fn a_component_from_outside_the_workspace_passes_the_suite() {
    let dir = project("outside", "btl-template", "btl-visitor");
    rename(&dir, "template", "visitor");
    let file = cargo(None, &dir, None).join("libbtl_visitor.so");
    let descriptor = load(&file, "oxmpi_component_btl_visitor");
    // SAFETY: a component's descriptor.
    let (version, name) = unsafe { ((*descriptor).version, (*descriptor).name.get()) };
    assert_eq!((version.major, version.minor, version.patch), (7, 8, 9));
    assert_eq!(name, Some("visitor"));
    run_all(&Setup::new(descriptor).reach(Reach::Others));
}

/// The proof that nothing Rust-shaped leaks through the boundary: with every Rust struct of the component
/// laid out at random, only what is `repr(C)` still agrees.
#[test]
fn a_component_with_randomised_layout_passes_the_suite() {
    const NAME: &str = "a_component_with_randomised_layout_passes_the_suite";
    let nightly = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    if !nightly.is_ok_and(|out| out.status.success()) {
        return leave_out(NAME, "needs rustc's -Zrandomize-layout, and no nightly toolchain is installed");
    }
    let dir = project("nightly", "btl-self", "btl-shuffled");
    rename(&dir, "self", "shuffled");
    for seed in [1, 20260101] {
        let flags = format!("-Zrandomize-layout -Zlayout-seed={seed}");
        let built = cargo(Some("nightly"), &dir, Some(&flags)).join("libbtl_shuffled.so");
        // A name of its own for each: the dynamic linker knows files by their path.
        let file = built.with_file_name(format!("libbtl_shuffled_{seed}.so"));
        std::fs::copy(&built, &file).expect("a copy");
        run_all(&Setup::new(load(&file, "oxmpi_component_btl_shuffled")).reach(Reach::Itself));
    }
}
