//! The device as libibverbs, and Debian's packages of programs and headers for it.
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library with symbol versions, linked out of the archive that was built with this test.
pub fn library(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("the path of this test");
    let profile = exe.ancestors().nth(2).expect("target/<profile>");
    let archive = [profile.join("liboxmpi_verbs_fake.a"), profile.join("deps/liboxmpi_verbs_fake.a")]
        .into_iter()
        .find(|p| p.is_file())
        .expect("the archive beside this test");
    let dir = profile.join("verbs-fake").join(format!("{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("libibverbs.map");
    let status = Command::new("cc")
        .args(["-shared", "-Wl,-soname,libibverbs.so.1", "-Wl,--whole-archive"])
        .arg(archive)
        .arg("-Wl,--no-whole-archive")
        .arg(format!("-Wl,--version-script={}", map.display()))
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"])
        .arg(dir.join("libibverbs.so.1"))
        .status()
        .expect("a C compiler");
    assert!(status.success(), "linking the library");
    dir
}

/// The folder with the programs: where they are installed, or of the package, which apt fetches once and nobody installs. `None`, with the reason
/// printed: it cannot be had.
pub fn programs() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let is_there = |folder: &PathBuf| folder.join("ibv_srq_pingpong").is_file();
            if let Some(folder) = std::env::split_paths(&path).find(is_there) {
                return Some(folder);
            }
            Some(package("ibverbs-utils", "usr/bin/ibv_srq_pingpong")?.join("usr/bin"))
        })
        .as_deref()
}

/// The files of a Debian package that apt fetches once and nobody installs; `file` is one of them. `None`, with the reason printed: it cannot be had.
pub fn package(name: &str, file: &str) -> Option<PathBuf> {
    let fetched = fetched(name, file);
    if let Err(why) = &fetched {
        eprintln!("left out: package {name} is not installed and cannot be fetched: {why}");
    }
    fetched.ok()
}

fn fetched(name: &str, file: &str) -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let profile = exe.ancestors().nth(2).ok_or("this test is in no target folder")?;
    let whole = profile.join("verbs-fake").join(name);
    if whole.join(file).is_file() {
        return Ok(whole);
    }
    // Unpacked beside it and put there whole: other tests do the same.
    let own = profile.join("verbs-fake").join(format!("{}-{name}", std::process::id()));
    std::fs::create_dir_all(&own).map_err(|e| e.to_string())?;
    let run = |command: &mut Command| match command.current_dir(&own).output() {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(String::from_utf8_lossy(&out.stderr).trim().to_owned()),
        Err(e) => Err(format!("{}: {e}", command.get_program().display())),
    };
    let made = run(Command::new("timeout").args(["60", "apt-get", "download", name]))
        .and_then(|()| run(Command::new("sh").args(["-c", &format!("dpkg-deb -x {name}_*.deb tree")])))
        .and_then(|()| match std::fs::rename(own.join("tree"), &whole) {
            Err(e) if !whole.join(file).is_file() => Err(e.to_string()),
            _ => Ok(whole),
        });
    let _ = std::fs::remove_dir_all(&own);
    made
}
