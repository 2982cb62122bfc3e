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
