//! Components of the tests, built as an author would build them: alone, in a folder of their own.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder with `libosc_am.so` in it and nothing else.
pub fn osc_am() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("osc-am"))
}

/// The folder with `libcoll_sparse.so` in it and nothing else.
pub fn coll_sparse() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("coll-sparse"))
}

/// Builds a package of the workspace as a component; the folder that it alone is in.
fn built(package: &str) -> PathBuf {
    let target = root().join("target/plugins").join(package);
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["rustc", "--quiet", "--offline", "--package", package, "--lib", "--crate-type", "cdylib"])
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
    let library = format!("lib{}.so", package.replace('-', "_"));
    let (made, name) = (target.join("debug").join(&library), folder.join(&library));
    // Tests of several binaries do this at once: each puts a whole file there.
    let own = folder.join(format!("{package}.{}", std::process::id()));
    std::fs::copy(&made, &own).and_then(|_| std::fs::rename(&own, &name)).expect("the component");
    folder
}

/// The file of the transport to test with, in a folder with nothing else; built once for all tests of a process.
pub fn btl_fabric() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (from, project) =
            (root().join("tests/plugins/btl-fabric"), root().join("target/plugins/btl-fabric"));
        std::fs::create_dir_all(project.join("src")).expect("the project's folder");
        let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("the manifest");
        let framework = root().join("framework").display().to_string();
        place(&project.join("Cargo.toml"), manifest.replace("../../../framework", &framework).as_bytes());
        place(&project.join("Cargo.lock"), &std::fs::read(root().join("Cargo.lock")).expect("the lock file"));
        for entry in std::fs::read_dir(from.join("src")).expect("the component's source") {
            let entry = entry.expect("an entry");
            let bytes = std::fs::read(entry.path()).expect("a file");
            place(&project.join("src").join(entry.file_name()), &bytes);
        }
        let mut command = Command::new(env!("CARGO"));
        for variable in ["RUSTC", "RUSTDOC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(variable);
        }
        command.args(["build", "--release", "--offline", "--quiet", "--manifest-path"]);
        command.arg(project.join("Cargo.toml")).arg("--target-dir").arg(project.join("target"));
        let out = command.output().expect("cargo runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let file = project.join("components/libbtl_fabric.so");
        std::fs::create_dir_all(project.join("components")).expect("a folder");
        place(&file, &std::fs::read(project.join("target/release/libbtl_fabric.so")).expect("the component"));
        file
    })
}

/// The verbs device in software, built with the tests that ask for it.
pub fn verbs_device() -> PathBuf {
    beside("liboxmpi_verbs_fake.so")
}

/// libfabric with faults, likewise.
pub fn ofi_with_faults() -> PathBuf {
    beside("liboxmpi_ofi_faults.so")
}

/// libugni in software, likewise.
pub fn ugni_library() -> PathBuf {
    beside("liboxmpi_ugni_emulation.so")
}

/// A folder with `libfbtl_faults.so` in it and nothing else; it goes when the answer does.
pub fn fbtl_faults() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let from = beside("liboxmpi_fbtl_faults.so");
    std::fs::copy(from, folder.path().join("libfbtl_faults.so")).expect("the component");
    folder
}

/// A folder with the components of files that are written in C (`tests/plugins/c`) and nothing else; it goes when the answer does.
pub fn files_in_c() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    for name in ["fs_cplain", "fbtl_cplain", "fcoll_ceach"] {
        let mut command = Command::new(&compiler);
        command.args(["-std=c11", "-O2", "-fPIC", "-shared", "-pthread", "-I"]);
        command.arg(root().join("framework/include")).arg("-o");
        command.arg(folder.path().join(format!("lib{name}.so")));
        let out = command.arg(root().join(format!("tests/plugins/c/{name}.c"))).output();
        let out = out.expect("the C compiler runs");
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    }
    folder
}

fn beside(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("the path of this test");
    let found = exe.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.expect("the library beside this test")
}

/// Puts a whole file there if it is another one: tests of several binaries do this at once, and what is the same is not built anew.
fn place(file: &Path, bytes: &[u8]) {
    if std::fs::read(file).is_ok_and(|there| there == bytes) {
        return;
    }
    let own = file.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&own, bytes).and_then(|()| std::fs::rename(&own, file)).expect("a file");
}
