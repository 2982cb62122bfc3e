//! `cargo xtask package`: a tar file, a Debian package and a wheel of an install.
//!
//! An install finds its parts relative to itself, so a package is its files and nothing that runs. The Debian package puts
//! them into /opt/oxmpi, where they meet no other MPI; the wheel into the Python environment's own folders (`wheel.py`, because
//! Python has at hand what a wheel is made of: zip and SHA-256); the tar file goes wherever it is unpacked.

use crate::bounded::{self, Outcome};
use crate::install;
use crate::workspace::Workspace;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// Folder that the packages are written to; made if missing
    #[arg(long)]
    out: PathBuf,
    /// Package this install, which nothing has been added to, and build nothing
    #[arg(long)]
    from: Option<PathBuf>,
    /// Only these kinds: tar, deb, wheel
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const LIMIT: Duration = Duration::from_secs(10 * 60);

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    if let Some(other) = options.only.iter().find(|kind| !["tar", "deb", "wheel"].contains(&kind.as_str())) {
        return Err(format!("there is no kind of package {other:?}; kinds are tar, deb, wheel"));
    }
    let wants = |kind: &str| options.only.is_empty() || options.only.iter().any(|only| only == kind);
    make_folder(&options.out)?;
    let out = options.out.canonicalize().map_err(|e| format!("{}: {e}", options.out.display()))?;
    let stage = out.join("stage");
    let _ = fs::remove_dir_all(&stage);
    let prefix = match &options.from {
        Some(prefix) => prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?,
        None => install::run(workspace, &stage.join("install"), false)?.prefix,
    };
    let machine = std::env::consts::ARCH;
    if wants("tar") {
        let name = format!("oxmpi-{VERSION}-{machine}-linux");
        let tar = out.join(format!("{name}.tar.gz"));
        let mut command = Command::new("tar");
        command
            .args(["--sort=name", "--owner=0", "--group=0", "--transform"])
            .arg(format!("s,^\\./,{name}/,"));
        must(
            command
                .args(["--exclude=./share/oxmpi/manifest.txt", "-czf"])
                .arg(&tar)
                .arg("-C")
                .arg(&prefix)
                .arg("."),
        )?;
        println!("wrote {}", tar.display());
    }
    if wants("deb") {
        println!("wrote {}", debian(&prefix, &stage, &out)?.display());
    }
    if wants("wheel") {
        let script = workspace.root.join("xtask/src/wheel.py");
        must(Command::new("python3").arg(script).arg(&prefix).arg(VERSION).arg(&out))?;
        println!("wrote {}", out.join(format!("oxmpi-{VERSION}-py3-none-linux_{machine}.whl")).display());
    }
    let _ = fs::remove_dir_all(&stage);
    Ok(())
}

fn debian(prefix: &Path, stage: &Path, out: &Path) -> Result<PathBuf, String> {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => return Err(format!("Debian's name of the architecture {other} is not known")),
    };
    let tree = stage.join("deb");
    let opt = tree.join("opt");
    make_folder(&opt)?;
    make_folder(&tree.join("DEBIAN"))?;
    must(Command::new("cp").arg("-a").arg(prefix).arg(opt.join("oxmpi")))?;
    let control = format!(
        "Package: oxmpi\nVersion: {VERSION}\nArchitecture: {machine}\nMaintainer: The oxmpi authors <oxmpi@localhost>\n\
         Section: libs\nPriority: optional\nDepends: libc6 (>= 2.34), libgcc-s1\nRecommends: gcc\n\
         Description: MPI library with the MPI 5.0 standard ABI\n\
         \x20Everything is in /opt/oxmpi: put /opt/oxmpi/bin first in PATH.\n"
    );
    let file = tree.join("DEBIAN/control");
    fs::write(&file, control).map_err(|e| format!("{}: {e}", file.display()))?;
    let deb = out.join(format!("oxmpi_{VERSION}_{machine}.deb"));
    must(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&deb))?;
    Ok(deb)
}

fn make_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn must(command: &mut Command) -> Result<(), String> {
    match bounded::run(command, LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{command:?}: {why}")),
    }
}
