//! The one-sided component and the transport of the tests, built as their authors would build them: alone, in folders of their own.

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

/// `libbtl_fabric.so`, the transport to test with, built as a third party builds: a project outside of the workspace.
/// It is the only component in its folder.
pub fn btl_fabric() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (from, dir) = (root().join("tests/plugins/btl-fabric"), root().join("target/plugins/btl-fabric"));
        std::fs::create_dir_all(dir.join("src")).expect("the project's folder");
        let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("the manifest");
        let framework = root().join("framework").display().to_string();
        put(&dir.join("Cargo.toml"), manifest.replace("../../../framework", &framework).as_bytes());
        put(&dir.join("Cargo.lock"), &std::fs::read(root().join("Cargo.lock")).expect("the lock file"));
        for entry in std::fs::read_dir(from.join("src")).expect("the component's source") {
            let entry = entry.expect("an entry");
            let text = std::fs::read(entry.path()).expect("a source file");
            put(&dir.join("src").join(entry.file_name()), &text);
        }
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["build", "--release", "--offline", "--quiet", "--manifest-path"])
            .arg(dir.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(dir.join("target"));
        // Of the cargo that runs this test.
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(variable);
        }
        let out = command.output().expect("cargo runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        dir.join("target/release/libbtl_fabric.so")
    })
}

/// Writes what is not there yet: several tests do this at once, and cargo builds anew what was written.
fn put(at: &Path, text: &[u8]) {
    if std::fs::read(at).is_ok_and(|there| there == text) {
        return;
    }
    let own = at.with_extension(format!("new.{}", std::process::id()));
    std::fs::write(&own, text).and_then(|()| std::fs::rename(&own, at)).expect("the project's folder");
}
