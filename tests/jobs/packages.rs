//! Packages: each is made of the install under test, unpacked or installed into a clean folder, and tried there.

use oxmpi_tests::{Job, leave_out, mpi, root};
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    assert!(out.status.success(), "{command:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// The packages of these kinds, in a folder.
fn packages(kind: &str, folder: &Path) -> PathBuf {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["run", "--quiet", "--package", "xtask", "--", "package", "--only", kind, "--from"]);
    let said = run(command.arg(&mpi().prefix).arg("--out").arg(folder).current_dir(root()));
    let file = said.lines().find_map(|line| line.strip_prefix("wrote ")).expect("a package was written");
    PathBuf::from(file)
}

/// A program is compiled and run by what stands in `prefix`, and by nothing else.
fn works(prefix: &Path) {
    let program = prefix.join("tried");
    let source = root().join("tests/programs/ring.c");
    run(Command::new(prefix.join("bin/mpicc")).arg(source).arg("-o").arg(&program));
    let libraries = run(Command::new("ldd").arg(&program));
    let lib = prefix.canonicalize().expect("it is there").join("lib/libmpi_abi.so.1");
    assert!(libraries.contains(&*lib.to_string_lossy()), "{libraries}");
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    command.args(["-n", "2"]).arg(&program);
    Job::of(command).run().all_ok(2);
    let mut command = Command::new(prefix.join("bin/mpi-info"));
    command.args(["--help", "functions"]);
    assert!(Job::of(command).run().passed().out.contains("MPI_Send"));
}

fn there(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    if !found {
        leave_out("a package", &format!("there is no {tool}"));
    }
    found
}

#[test]
fn a_tar_file() {
    if !mpi().is_ours() {
        return leave_out("packages", "they are ours");
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    let tar = packages("tar", folder.path());
    run(Command::new("tar").arg("-xzf").arg(&tar).arg("-C").arg(folder.path()));
    let name = tar.file_name().expect("a name").to_string_lossy().replace(".tar.gz", "");
    works(&folder.path().join(name));
}

#[test]
fn a_debian_package() {
    if !mpi().is_ours() || !there("dpkg-deb") {
        return;
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    let deb = packages("deb", folder.path());
    run(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(folder.path().join("root")));
    works(&folder.path().join("root/opt/oxmpi"));
    assert!(run(Command::new("dpkg-deb").arg("-I").arg(&deb)).contains("Package: oxmpi"));
}

#[test]
fn a_wheel() {
    if !mpi().is_ours() || !there("python3") {
        return;
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    let wheel = packages("wheel", folder.path());
    let environment = folder.path().join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let pip = environment.join("bin/pip");
    run(Command::new(pip)
        .args(["install", "--quiet", "--no-index", "--disable-pip-version-check"])
        .arg(&wheel));
    works(&environment);
}
