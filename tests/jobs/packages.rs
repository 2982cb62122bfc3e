//! Packages: each is made of the install under test, unpacked or installed into a clean folder, and tried there.

use crate::endpoints;
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

/// The wheel, installed into a Python environment in `folder`.
fn environment(folder: &Path) -> PathBuf {
    let wheel = packages("wheel", folder);
    let environment = folder.join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    run(Command::new(environment.join("bin/pip"))
        .args(["install", "--quiet", "--no-index", "--disable-pip-version-check"])
        .arg(&wheel));
    environment
}

#[test]
fn a_wheel() {
    if !mpi().is_ours() || !there("python3") {
        return;
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    works(&environment(folder.path()));
}

/// With the wheel in an environment mpi4py is built by one command, runs, and its pools work with workers and end without.
/// A pool spawns its workers in a thread that ends with the error: the program would wait for them for ever.
#[test]
#[ignore = "it builds mpi4py, which takes minutes"]
fn mpi4py_by_the_wheel() {
    if !mpi().is_ours() || !there("python3") {
        return;
    }
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    let environment = environment(folder.path());
    let path = std::env::join_paths(
        std::iter::once(environment.join("bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut build = Command::new(environment.join("bin/pip"));
    build.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        // A wheel that was built for another install knows where that was.
        "--no-cache-dir",
        "--no-binary",
        "mpi4py",
        "mpi4py==4.1.2",
    ]);
    // Speed is not asked for here, and optimising takes minutes.
    let built = build.env("CFLAGS", "-O0").env("PATH", path.expect("a path")).output().expect("pip runs");
    let said = String::from_utf8_lossy(&built.stderr);
    if said.contains("No matching distribution") || said.contains("Could not find a version") {
        return leave_out("mpi4py", "PyPI cannot be reached");
    }
    assert!(built.status.success(), "{said}");
    let program = folder.path().join("squares.py");
    let text = "from mpi4py.futures import MPIPoolExecutor\n\ndef square(n):\n    return n * n\n\n\
                if __name__ == '__main__':\n    with MPIPoolExecutor(max_workers=2) as pool:\n        \
                print('squares', *pool.map(square, range(5)))\n";
    std::fs::write(&program, text).expect("target can be written");
    let job = |ranks: &str, words: &[&str]| {
        let mut command = Command::new(environment.join("bin/mpirun"));
        command.args(["-n", ranks]).arg(environment.join("bin/python3")).args(words);
        Job::of(command).limit(120)
    };
    let hello = job("3", &["-m", "mpi4py.bench", "helloworld"]).run().passed();
    assert_eq!(hello.out.matches("Hello, World! I am process").count(), 3, "{}", hello.out);
    // The page's example of threads that are ranks.
    let page = std::fs::read_to_string(root().join(endpoints::PAGE)).expect(endpoints::PAGE);
    let in_python = endpoints::examples(&page, "python");
    let example = folder.path().join("endpoints.py");
    std::fs::write(&example, in_python.concat()).expect("target can be written");
    for ranks in [1, 2] {
        let ended = job(&ranks.to_string(), &[]).arg(&example).run().passed();
        assert_eq!(ended.out.lines().filter(|line| *line == "ok").count(), ranks, "{}", ended.out);
    }
    let pool = |ranks: &str, words: &[&str]| job(ranks, words).arg(&program).start().wait_and_leave_nothing();
    let on = |host: &str| {
        let mut command = Command::new(environment.join("bin/mpirun"));
        command.args(["--host", host, "-n", "1"]).arg(environment.join("bin/python3")).arg(&program);
        Job::of(command).limit(120).start().wait_and_leave_nothing()
    };
    // Workers are spawned where there is room, and the program is told where there is none.
    let ended = on("localhost:3").passed();
    assert!(ended.out.contains("squares 0 1 4 9 16"), "{}", ended.out);
    let ended = on("localhost:1").failed();
    for part in ["after an error in MPI_Comm_spawn", "mpirun -n 5 python3 -m mpi4py.futures PROGRAM"] {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
    for ranks in ["1", "3"] {
        let ended = pool(ranks, &["-m", "mpi4py.futures"]).passed();
        assert!(ended.out.contains("squares 0 1 4 9 16"), "{}", ended.out);
    }
}
