//! Where the suites come from. Each is fetched once into `target/conformance` and used from there.

use crate::bounded::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Downloads and builds may be slow; they are not endless.
const LIMIT: Duration = Duration::from_secs(20 * 60);

const MPI4PY: &str = "4.1.2";
/// mpi4py's tests of process pools.
const POOLS: &str = "test_futures.py";
const RSMPI: &str = "0.8.2";

/// Releases of Debian.
const BOOKWORM: &str = "bookworm";
const TRIXIE: &str = "trixie";

/// A suite on disk.
pub struct Fetched {
    pub version: String,
    pub folder: PathBuf,
}

/// Runs a command to its end; an error says what was tried.
pub fn must(command: &mut Command) -> Result<(), String> {
    command.stdin(Stdio::null());
    match bounded::run(command, LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{command:?}: {why}")),
    }
}

/// MPICH's suite out of Debian's source package. apt gets lists and caches of its own, so the
/// machine's sources are not touched and nobody needs to be root.
pub fn mpich(folder: &Path) -> Result<Fetched, String> {
    let home = folder.join("mpich");
    if let Some(tree) = unpacked(&home) {
        return Ok(tree);
    }
    unpack_debian(&home, "mpich")?;
    unpacked(&home).ok_or_else(|| "Debian's source package mpich has no test/mpi".into())
}

/// The original sources of a Debian package, without Debian's changes, in `home/source`; of that release, or of this one or the next.
pub fn debian(home: &Path, package: &str, release: Option<&str>) -> Result<Fetched, String> {
    let folder = home.join("source");
    let found = || {
        let tar = fs::read_dir(home).ok()?.flatten().find_map(|entry| {
            let name = entry.file_name().to_str()?.to_owned();
            let (name, _) = name.split_once(".orig.tar.")?;
            Some((entry.path(), name.strip_prefix(package)?.strip_prefix('_')?.to_owned()))
        });
        tar.filter(|(path, _)| !path.to_string_lossy().ends_with(".asc"))
    };
    if found().is_none() {
        let how = ["--download-only", "--tar-only"];
        // The archive may have of the next release what it lacks of this one.
        let releases = release.map_or_else(|| vec![BOOKWORM, TRIXIE], |release| vec![release]);
        let fetch = |release: &&str| {
            apt_source(home, release, package, &how)
                .or_else(|why| mirrored(home, release, package).map_err(|also| format!("{why}\n{also}")))
        };
        first_that_succeeds(releases.iter().map(fetch))?;
    }
    let (tar, version) = found().ok_or_else(|| format!("Debian has no original sources of {package}"))?;
    if !folder.is_dir() {
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        must(Command::new("tar").args(["--strip-components=1", "-xf"]).arg(&tar).arg("-C").arg(&folder))?;
    }
    Ok(Fetched { version, folder })
}

/// A source package with Debian's changes, unpacked in `home`.
fn unpack_debian(home: &Path, package: &str) -> Result<(), String> {
    apt_source(home, BOOKWORM, package, &["--download-only"])?;
    let missing = || format!("Debian's source package {package} has no .dsc");
    let description = file_ending(home, ".dsc").ok_or_else(missing)?;
    let mut unpack = Command::new("dpkg-source");
    must(unpack.current_dir(home).args(["--no-check", "-x"]).arg(&description).stdout(Stdio::null()))
}

/// Debian's binary packages, unpacked in `home/tools` for a user who cannot install them.
pub fn debian_tools(home: &Path, packages: &[String]) -> Result<PathBuf, String> {
    let (folder, stamp) = (home.join("tools"), home.join("tools.list"));
    let list = packages.join("\n");
    if folder.is_dir() && fs::read_to_string(&stamp).is_ok_and(|unpacked| unpacked == list) {
        return Ok(folder);
    }
    let _ = fs::remove_dir_all(&folder);
    let fetched = home.join("packages");
    fs::create_dir_all(&fetched).map_err(|e| format!("{}: {e}", fetched.display()))?;
    let names: Vec<&str> = packages.iter().map(String::as_str).collect();
    apt(&fetched, "deb", BOOKWORM, &[&["download"], &names[..]].concat())?;
    let unpacked = home.join("tools.new");
    for entry in fs::read_dir(&fetched).map_err(|e| format!("{}: {e}", fetched.display()))?.flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "deb") {
            must(Command::new("dpkg-deb").arg("-x").arg(entry.path()).arg(&unpacked))?;
        }
    }
    fs::rename(&unpacked, &folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::write(&stamp, list).map_err(|e| format!("{}: {e}", stamp.display()))?;
    Ok(folder)
}

fn apt_source(home: &Path, release: &str, package: &str, how: &[&str]) -> Result<(), String> {
    apt(home, "deb-src", release, &[&["source"], how, &[package]].concat())
}

/// The first that is no error, or all that they said.
fn first_that_succeeds(tries: impl Iterator<Item = Result<(), String>>) -> Result<(), String> {
    let mut said = Vec::new();
    for result in tries {
        match result {
            Ok(()) => return Ok(()),
            Err(why) => said.push(why),
        }
    }
    Err(said.join("\n"))
}

/// The pool of another distribution that has the original sources of many of Debian's packages, the same files.
const MIRROR: &str = "http://archive.ubuntu.com/ubuntu/pool/universe/";

/// Original sources that Debian's lists name and its archive does not have, from another archive; Debian's signed lists have their
/// check sums.
fn mirrored(home: &Path, release: &str, package: &str) -> Result<(), String> {
    let question = ["-q", "source", "--print-uris", "--tar-only", package];
    let answer =
        apt_get(home, "deb-src", release)?(&question).output().map_err(|e| format!("apt-get: {e}"))?;
    let text = String::from_utf8_lossy(&answer.stdout);
    let files: Vec<SourceFile> = text.lines().filter_map(SourceFile::of).collect();
    if files.is_empty() {
        return Err(format!("Debian's lists of {release} have no original sources of {package}"));
    }
    for SourceFile { path, name, sum } in files {
        let part = home.join("mirror.part");
        must(Command::new("curl").args(["-sSf", "-o"]).arg(&part).arg(format!("{MIRROR}{path}")))?;
        let found = Command::new("sha256sum").arg(&part).output().map_err(|e| format!("sha256sum: {e}"))?;
        if !String::from_utf8_lossy(&found.stdout).starts_with(sum) {
            return Err(format!("{}: not the file that Debian's lists name", part.display()));
        }
        fs::rename(&part, home.join(name)).map_err(|e| format!("{}: {e}", part.display()))?;
    }
    Ok(())
}

/// A line of `apt-get source --print-uris`.
#[derive(Debug, PartialEq)]
struct SourceFile<'a> {
    /// In the pool.
    path: &'a str,
    name: &'a str,
    /// SHA-256 in hexadecimal.
    sum: &'a str,
}

impl SourceFile<'_> {
    fn of(line: &str) -> Option<SourceFile<'_>> {
        let mut words = line.split(' ');
        let path = words.next()?.trim_matches('\'').split_once("/pool/main/")?.1;
        let (name, sum) = (words.next()?, words.nth(1)?.strip_prefix("SHA256:")?);
        Some(SourceFile { path, name, sum })
    }
}

/// Runs apt-get in `home` with lists and caches of its own, about a release of Debian.
fn apt(home: &Path, kind: &str, release: &str, question: &[&str]) -> Result<(), String> {
    let apt_get = apt_get(home, kind, release)?;
    must(&mut apt_get(&["-q", "update"]))?;
    must(&mut apt_get(&[&["-q"], question].concat()))
}

/// Makes commands of apt-get in `home` with lists and caches of its own, about a release of Debian.
fn apt_get(home: &Path, kind: &str, release: &str) -> Result<impl Fn(&[&str]) -> Command, String> {
    let apt = home.join("apt");
    for part in ["lists/partial", "cache/archives/partial", "parts"] {
        fs::create_dir_all(apt.join(part)).map_err(|e| format!("{}: {e}", apt.display()))?;
    }
    let list = apt.join("sources.list");
    let key = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
    fs::write(&list, format!("{kind} {key} http://deb.debian.org/debian {release} main\n"))
        .map_err(|e| format!("{}: {e}", list.display()))?;
    let home = home.to_owned();
    Ok(move |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(&home);
        for (key, value) in [
            ("Dir::Etc::sourcelist", list.clone()),
            ("Dir::Etc::sourceparts", apt.join("parts")),
            ("Dir::State::lists", apt.join("lists")),
            ("Dir::Cache", apt.join("cache")),
        ] {
            command.arg("-o").arg(format!("{key}={}", value.display()));
        }
        // Not as apt's own user, who may not write here.
        command.args(["-o", "APT::Sandbox::User="]).args(arguments);
        command
    })
}

fn unpacked(home: &Path) -> Option<Fetched> {
    let entries = fs::read_dir(home).ok()?;
    entries.flatten().find_map(|entry| {
        let version = entry.file_name().to_str()?.strip_prefix("mpich-")?.to_owned();
        let folder = entry.path().join("test/mpi");
        folder.join("util/mtest.c").is_file().then_some(Fetched { version, folder })
    })
}

fn file_ending(folder: &Path, ending: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|e| e.path()).find(|p| p.to_string_lossy().ends_with(ending))
}

/// mpi4py's source from PyPI, and a build of it by our `mpicc` for the standard ABI. The folder has
/// `tests/` with the tests of its process pools, which lie among the examples, and `python/` (what goes into PYTHONPATH). A build serves all later installs: it needs
/// `libmpi_abi.so.1` only.
pub fn mpi4py(folder: &Path, prefix: &Path) -> Result<Fetched, String> {
    let home = folder.join("mpi4py");
    let done = Fetched { version: MPI4PY.into(), folder: home.clone() };
    if home.join("python/mpi4py").is_dir() && home.join("tests").join(POOLS).is_file() {
        return Ok(done);
    }
    fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let pip = || {
        let mut command = Command::new("python3");
        command.current_dir(&home).args(["-m", "pip", "-q", "--disable-pip-version-check"]);
        command
    };
    let what = format!("mpi4py=={MPI4PY}");
    must(pip().args(["download", "--no-binary", "mpi4py", "--no-deps", &what]))?;
    let sources = format!("mpi4py-{MPI4PY}.tar.gz");
    must(Command::new("tar").current_dir(&home).args(["xf", &sources]))?;
    must(
        pip()
            .args(["install", "--no-deps", "--target", "python", &sources])
            .env("MPI4PY_BUILD_MPICC", prefix.join("bin/mpicc"))
            .env("MPI4PY_BUILD_MPIABI", "1")
            // Its speed is not asked for, and optimising takes minutes.
            .env("CFLAGS", "-O0"),
    )?;
    must(pip().args(["install", "--target", "python", "numpy"]))?;
    let sources = home.join(format!("mpi4py-{MPI4PY}"));
    let (tests, pools) = (sources.join("test"), sources.join("demo/futures").join(POOLS));
    fs::copy(&pools, tests.join(POOLS)).map_err(|e| format!("{}: {e}", pools.display()))?;
    let _ = fs::remove_dir_all(home.join("tests"));
    fs::rename(&tests, home.join("tests")).map_err(|e| format!("{}: {e}", tests.display()))?;
    Ok(done)
}

/// The crate `mpi` with its examples, as cargo unpacks it.
pub fn rsmpi(folder: &Path) -> Result<Fetched, String> {
    let home = folder.join("rsmpi");
    let done = Fetched { version: RSMPI.into(), folder: home.join("mpi") };
    if done.folder.join("Cargo.toml").is_file() {
        return Ok(done);
    }
    fs::create_dir_all(home.join("src")).map_err(|e| format!("{}: {e}", home.display()))?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\nmpi = \"={RSMPI}\"\n"
    );
    let write = |name: &str, text: &str| {
        fs::write(home.join(name), text).map_err(|e| format!("{}: {e}", home.join(name).display()))
    };
    write("Cargo.toml", &manifest)?;
    write("src/lib.rs", "")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    must(Command::new(cargo).current_dir(&home).args(["vendor", "-q", "vendor"]).stdout(Stdio::null()))?;
    let from = home.join("vendor/mpi");
    fs::rename(&from, &done.folder).map_err(|e| format!("{}: {e}", from.display()))?;
    // Its own workspace, not ours above it.
    let path = done.folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    text.push_str("\n[workspace]\n");
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_apt_names_a_file() {
        let line = "'http://deb.debian.org/debian/pool/main/w/w90/w90_3.1%2bds.orig.tar.xz' w90_3.1+ds.orig.tar.xz 9 SHA256:e88e";
        let file = SourceFile {
            path: "w/w90/w90_3.1%2bds.orig.tar.xz",
            name: "w90_3.1+ds.orig.tar.xz",
            sum: "e88e",
        };
        assert_eq!(SourceFile::of(line), Some(file));
        assert_eq!(SourceFile::of("Reading package lists..."), None);
    }

    #[test]
    fn tries_end_with_the_first_that_succeeds() {
        let tries = |all: &[Result<(), String>]| first_that_succeeds(all.iter().cloned());
        assert_eq!(tries(&[Err("a".into()), Ok(()), Err("b".into())]), Ok(()));
        assert_eq!(tries(&[Err("a".into()), Err("b".into())]), Err("a\nb".into()));
    }
}
