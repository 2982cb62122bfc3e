//! `cargo xtask libfabric`: btl-ofi's layouts, tests and jobs with a libfabric of 2.x beside that of the machine.
//!
//! `crates` compares the layouts with two crates that have libfabric's interface, too (`libfabric/crates.rs`).
//!
//! Debian 12 has 1.17. The library of 2.x is the one inside MPICH's Python wheel (Debian 13's wants a newer C library), the headers are those of
//! Debian 13's package; both are unpacked into `target/libfabric`, and nothing is installed. OXMPI_LIBFABRIC_2 names another library instead.

mod crates;

use crate::bounded::{self, Outcome};
use crate::workspace::Workspace;
use clap::ValueEnum;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A part of the command; all of them where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// The layouts against the headers of 2.x
    Headers,
    /// The layouts against the crates libfabric-sys and ofi-libfabric-sys, which are fetched, as far as they build
    Crates,
    /// The tests of btl-ofi with both libraries
    Tests,
    /// The jobs over btl-ofi with both libraries
    Jobs,
}

const WHEEL: &str = "mpich==5.0.2";
const HEADERS: &str =
    "http://deb.debian.org/debian/pool/main/libf/libfabric/libfabric-dev_2.1.0-1.1_amd64.deb";
const HEADERS_SUM: &str = "0c827978d96c2c84bb4065d14f2cc2f6774c2145a2e6ad84dc3e7c25956abb0a";
const LIMIT: Duration = Duration::from_secs(30 * 60);

pub fn run(workspace: &Workspace, steps: &[Step]) -> Result<(), String> {
    let wanted = |step| steps.is_empty() || steps.contains(&step);
    let folder = workspace.target.join("libfabric");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    if wanted(Step::Headers) {
        let headers = headers(&folder)?;
        let mut test = workspace.cargo(&["test", "-p", "btl-ofi", "--lib", "layouts"]);
        done(test.env("OXMPI_TEST_LIBFABRIC_HEADERS", headers), "the layouts against the headers of 2.1")?;
    }
    if wanted(Step::Crates) {
        let table = folder.join("table");
        let mut test = workspace.cargo(&["test", "-p", "btl-ofi", "--lib", "layouts"]);
        done(test.env("OXMPI_TEST_LIBFABRIC_TABLE", &table), "the table of layouts")?;
        let table = fs::read_to_string(&table).map_err(|e| format!("{}: {e}", table.display()))?;
        crates::run(&folder, &table, &headers(&folder)?, &library(&folder)?)?;
    }
    if !wanted(Step::Tests) && !wanted(Step::Jobs) {
        return Ok(());
    }
    for library in ["libfabric.so.1".to_owned(), library(&folder)?.display().to_string()] {
        if wanted(Step::Tests) {
            let mut test = workspace.cargo(&["test", "-p", "btl-ofi"]);
            done(test.env("OXMPI_TEST_LIBFABRIC", &library), &format!("the tests with {library}"))?;
        }
        if wanted(Step::Jobs) {
            let words = "test --workspace --exclude oxmpi-mpirun --test jobs -- ofi:: ofi_machines::";
            let words: Vec<&str> = words.split(' ').collect();
            let mut test = workspace.cargo(&words);
            done(test.env("OXMPI_TEST_LIBFABRIC", &library), &format!("the jobs with {library}"))?;
        }
    }
    Ok(())
}

/// The library of 2.x, fetched where it is not there.
fn library(folder: &Path) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("OXMPI_LIBFABRIC_2") {
        return Ok(named.into());
    }
    let pattern = format!("{}/*/*.data/data/lib/mpich/libfabric.so.1", folder.display());
    if let Some(found) = first(&pattern) {
        return Ok(found);
    }
    let mut fetch = Command::new("python3");
    fetch.args(["-m", "pip", "download", "--quiet", "--no-deps", WHEEL, "--dest"]).arg(folder);
    done(&mut fetch, "fetching MPICH's wheel")?;
    let wheel = first(&format!("{}/mpich-*.whl", folder.display())).ok_or("pip has left no wheel")?;
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder.join("wheel"));
    done(&mut unpack, "unpacking it")?;
    first(&pattern).ok_or_else(|| format!("{WHEEL} has no libfabric"))
}

/// The folder of the headers of 2.x, fetched where it is not there.
fn headers(folder: &Path) -> Result<PathBuf, String> {
    let unpacked = folder.join("headers");
    let found = unpacked.join("usr/include");
    if found.join("rdma/fabric.h").is_file() {
        return Ok(found);
    }
    let package = folder.join("libfabric-dev.deb");
    let mut fetch = Command::new("curl");
    done(fetch.args(["-sSfL", HEADERS, "-o"]).arg(&package), "fetching the headers of Debian 13")?;
    let bytes = fs::read(&package).map_err(|e| format!("{}: {e}", package.display()))?;
    let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if sum != HEADERS_SUM {
        return Err(format!("{HEADERS} is another file than the one that is known: {sum}"));
    }
    done(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked), "unpacking them")?;
    Ok(found)
}

fn first(pattern: &str) -> Option<PathBuf> {
    glob::glob(pattern).ok()?.flatten().next()
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    println!("libfabric: {what}");
    match bounded::run(command, LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{what}: {why}")),
    }
}
