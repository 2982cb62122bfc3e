//! The one-sided component of the tests, built as an author would build it: alone, in a folder of its own.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder with `libosc_am.so` in it and nothing else.
pub fn osc_am() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = root().join("target/plugins/osc-am");
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["rustc", "--quiet", "--offline", "--package", "osc-am", "--lib", "--crate-type", "cdylib"])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(root())
            // Of the cargo that runs this test.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        let out = command.output().expect("cargo runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let folder = target.join("components");
        std::fs::create_dir_all(&folder).expect("a folder");
        let (made, name) = (target.join("debug/libosc_am.so"), folder.join("libosc_am.so"));
        // Tests of several binaries do this at once: each puts a whole file there.
        let own = folder.join(format!("osc_am.{}", std::process::id()));
        std::fs::copy(&made, &own).and_then(|_| std::fs::rename(&own, &name)).expect("the component");
        folder
    })
}

/// The folder with `libbtl_fabric.so`, the transport to test with, in it and nothing else. A project of its own, built as a third party does.
pub fn btl_fabric() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (from, own) = (root().join("tests/plugins/btl-fabric"), root().join("target/plugins/btl-fabric"));
        // Its lock file is not to be written beside the source.
        let project = own.join(format!("project.{}", std::process::id()));
        std::fs::create_dir_all(project.join("src")).expect("a folder");
        let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("the manifest");
        let manifest =
            manifest.replace("../../../framework", &root().join("framework").display().to_string());
        std::fs::write(project.join("Cargo.toml"), manifest).expect("the manifest");
        std::fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("the lock file");
        for entry in std::fs::read_dir(from.join("src")).expect("the source") {
            let entry = entry.expect("an entry");
            std::fs::copy(entry.path(), project.join("src").join(entry.file_name())).expect("a copy");
        }
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--quiet", "--release", "--offline", "--target-dir"]).arg(own.join("built"));
        command.current_dir(&project).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        let out = command.output().expect("cargo runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        std::fs::remove_dir_all(&project).expect("our own folder");
        let folder = own.join("components");
        std::fs::create_dir_all(&folder).expect("a folder");
        let (made, name) = (own.join("built/release/libbtl_fabric.so"), folder.join("libbtl_fabric.so"));
        let copy = folder.join(format!("btl_fabric.{}", std::process::id()));
        std::fs::copy(&made, &copy).and_then(|_| std::fs::rename(&copy, &name)).expect("the component");
        folder
    })
}
