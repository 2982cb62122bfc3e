//! The device in software as the system's verbs library: built from the tree, or as it came with an install, for programs that use verbs and no MPI.

use crate::sources;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name by which programs find their verbs library.
const LIBRARY: &str = "libibverbs.so.1";
/// The package of Debian with the verbs headers.
const HEADERS: &str = "libibverbs-dev";

/// A folder with the library, and one with the headers of verbs.
#[derive(Clone, Debug)]
pub struct Device {
    folder: PathBuf,
    include: PathBuf,
}

impl Device {
    /// Builds or finds it; what is made or fetched lies in `work`.
    ///
    /// # Errors
    /// Why it cannot be had, in a line.
    pub fn new(work: &Path) -> Result<Device, String> {
        let work = work.join("device");
        std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
        let work = work.canonicalize().map_err(|e| format!("{}: {e}", work.display()))?;
        let include = headers(&work)?;
        let installed = sources::folder().join("verbs");
        let folder = match (installed.join(LIBRARY).is_file(), sources::prefix()) {
            (true, _) => installed,
            (false, Some(_)) => return Err("the device in software is not part of this install".to_owned()),
            (false, None) => {
                build(&work)?;
                work
            }
        };
        Ok(Device { folder, include })
    }

    /// Compiles a program of `bench/verbs`, with what these have in common; its path.
    ///
    /// # Errors
    /// The compiler's message.
    pub fn compile(&self, source: &Path, into: &Path) -> Result<PathBuf, String> {
        std::fs::create_dir_all(into).map_err(|e| format!("{}: {e}", into.display()))?;
        let out = into.join(source.file_stem().unwrap_or_default());
        let mut command = Command::new("cc");
        command.args(["-std=gnu11", "-O2", "-pthread", "-I"]).arg(&self.include).arg(source);
        command.arg(source.with_file_name("endpoints.c")).arg(self.folder.join(LIBRARY));
        quietly(command.args(["-ldl", "-o"]).arg(&out))?;
        Ok(out)
    }

    /// The command that runs a program on the device, which has registers as drivers of 2018 gave them out, and the extension of thread domains that the
    /// paper made.
    pub fn job(&self, program: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(program);
        let fabric = format!("fabric=bench{},{RULES}", std::process::id());
        command.args(arguments).env("LD_LIBRARY_PATH", &self.folder).env("OXMPI_FAKE_VERBS", fabric);
        command
    }
}

/// The device's rules.
pub const RULES: &str = "uar=static,patched=1";

/// Runs a command to its end; `Err`: what it said.
fn quietly(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{name}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// The folder of the headers: the system's, or that of a package which is fetched and not installed.
fn headers(work: &Path) -> Result<PathBuf, String> {
    let has = |folder: &Path| folder.join("infiniband/verbs.h").is_file();
    let (system, fetched) = (Path::new("/usr/include"), work.join("headers/usr/include"));
    if has(system) {
        return Ok(system.to_owned());
    }
    if !has(&fetched) {
        let unpack = format!("timeout 60 apt-get download {HEADERS} && dpkg-deb -x {HEADERS}_*.deb headers");
        quietly(Command::new("sh").args(["-c", &unpack]).current_dir(work)).map_err(|why| {
            format!("there are no headers of verbs, and package {HEADERS} cannot be fetched: {why}")
        })?;
    }
    match has(&fetched) {
        true => Ok(fetched),
        false => Err(format!("package {HEADERS} has no infiniband/verbs.h")),
    }
}

/// Links the archive of the crate with the symbol versions that programs ask for.
fn build(work: &Path) -> Result<(), String> {
    let root = sources::folder();
    let root = root.parent().ok_or("the sources are in no tree")?;
    let archive = ["build", "--release", "-q", "-p", "oxmpi-verbs-fake"];
    quietly(Command::new("cargo").args(archive).current_dir(root))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let made = target.join("release/liboxmpi_verbs_fake.a");
    let map = root.join("devices/verbs/libibverbs.map");
    quietly(
        Command::new("cc")
            .args(["-shared", &format!("-Wl,-soname,{LIBRARY}"), "-Wl,--whole-archive"])
            .arg(made)
            .args(["-Wl,--no-whole-archive", &format!("-Wl,--version-script={}", map.display())])
            .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"])
            .arg(work.join(LIBRARY)),
    )
}
