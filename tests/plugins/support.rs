//! Building and loading components for the tests of this room.

use oxmpi_mca::Descriptor;
pub use oxmpi_tests::btl_fabric as fabric;
use oxmpi_tests::root;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where this room builds: inside the target folder that this very test was built in.
pub fn scratch(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("the path of this test");
    // <target>/<profile>/deps/plugins-<hash>
    let target = exe.ancestors().nth(3).expect("a target folder");
    let dir = target.join("plugins").join(name);
    std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    dir
}

/// Runs a command to its end and fails with all it said.
pub fn run(command: &mut Command) {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        out.status.success(),
        "{command:?}: {}\n{}{}",
        out.status,
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}

/// Compiles a component in C with the header of the contracts as they are, and warnings as errors.
pub fn compile_c(source: &Path, output: &Path, more: &[&OsStr]) {
    compile_c_with(&root().join("framework/include"), source, output, more);
}

/// The same with the header in a folder of its own.
pub fn compile_c_with(headers: &Path, source: &Path, output: &Path, more: &[&OsStr]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    run(Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-fPIC", "-shared"])
        .arg("-I")
        .arg(headers)
        .arg("-o")
        .arg(output)
        .arg(source)
        .args(more));
}

/// Opens a component as the loader does, and takes its descriptor from the file itself.
pub fn load(file: &Path, symbol: &str) -> *const Descriptor {
    // SAFETY: loading runs the file's initialisers, which these components have none of their own.
    let library =
        unsafe { libloading::Library::new(file) }.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    // Never unloaded, as in the real host.
    let library = Box::leak(Box::new(library));
    // SAFETY: the one exported function of a component has this type.
    let entry = unsafe { library.get::<extern "C" fn() -> *const Descriptor>(symbol) }
        .unwrap_or_else(|e| panic!("{}: {symbol}: {e}", file.display()));
    entry()
}

/// Builds a project of its own, offline, and answers with the folder of what was built.
pub fn cargo(toolchain: Option<&str>, dir: &Path, rustflags: Option<&str>) -> PathBuf {
    let target = dir.join("target");
    let mut command = match toolchain {
        // Through rustup: the `cargo` that runs this test is a toolchain's own.
        Some(name) => {
            let mut c = Command::new("rustup");
            c.args(["run", name, "cargo"]);
            c
        }
        None => Command::new("cargo"),
    };
    forget_ours(&mut command);
    if let Some(flags) = rustflags {
        command.env("RUSTFLAGS", flags);
    }
    run(command
        .args(["build", "--release", "--offline", "--quiet", "--manifest-path"])
        .arg(dir.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target));
    target.join("release")
}

/// Builds a workspace of its own as it stands, by its own lock file and what has been fetched, and answers with the folder
/// of what was built.
pub fn cargo_locked(workspace: &Path, target: &Path) -> PathBuf {
    let mut command = Command::new("cargo");
    forget_ours(&mut command);
    // A later compiler may have more to say of sources that do not change any more.
    command.env("RUSTFLAGS", "--cap-lints=allow");
    run(command
        .args(["build", "--locked", "--offline", "--quiet", "--manifest-path"])
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target));
    target.join("debug")
}

/// Takes away what the cargo that runs this test has told us.
fn forget_ours(command: &mut Command) {
    for variable in ["RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"]
    {
        command.env_remove(variable);
    }
}
