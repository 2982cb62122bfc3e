//! Other libraries with the standard ABI, out of PyPI's wheels, below programs that this install's compilers have made.
//!
//! A program finds `libmpi_abi.so.1` of the other library, and `libmpifort_abi.so.1` of the install, in two folders that come first
//! in `LD_LIBRARY_PATH`; the other library's launcher starts it. The folder with the second has nothing else in it, since
//! the install's own `libmpi_abi.so.1` is beside it there, and since Intel MPI has a library of the same name.

use crate::conformance::fetch::must;
use clap::ValueEnum;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library by its short name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// MPICH
    Mpich,
    /// Intel MPI
    Impi,
}

/// Names of libraries at run time.
const FORTRAN: &str = "libmpifort_abi.so.1";
const ABI: &str = "libmpi_abi.so.1";

impl Peer {
    /// Name and version, as results are recorded with them.
    pub fn title(self) -> &'static str {
        match self {
            Peer::Mpich => "MPICH 5.0.2",
            Peer::Impi => "Intel MPI 2021.18.1",
        }
    }

    fn package(self) -> (&'static str, &'static str) {
        match self {
            Peer::Mpich => ("mpich", "mpich==5.0.2"),
            Peer::Impi => ("impi", "impi-rt==2021.18.1"),
        }
    }

    /// The variables that its launcher wants in the environment, on one node without a network. The number of cores is no limit for ranks.
    fn environment(self, home: &Path) -> Vec<String> {
        match self {
            Peer::Mpich => Vec::new(),
            Peer::Impi => vec![
                format!("I_MPI_ROOT={}", home.display()),
                // With shared memory alone programs that start others end by a signal, in C, too.
                "I_MPI_FABRICS=shm:ofi".into(),
                "FI_PROVIDER=tcp".into(),
                "I_MPI_HYDRA_BOOTSTRAP=fork".into(),
                // More ranks than cores: each gives way while it waits.
                "I_MPI_WAIT_MODE=1".into(),
            ],
        }
    }

    /// Fetches it once below `folder` and answers with the beginning of a command line for its programs: a template with a place for the number of ranks.
    pub fn launcher(self, folder: &Path, prefix: &Path) -> Result<String, String> {
        let (name, package) = self.package();
        let home = folder.join("over").join(name);
        if !home.join("lib").join(ABI).exists() {
            must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
            must(Command::new(home.join("bin/pip")).args([
                "-q",
                "--disable-pip-version-check",
                "install",
                package,
            ]))?;
        }
        let fortran = fortran_alone(&home, prefix)?;
        let libraries = format!("LD_LIBRARY_PATH={}:{}", fortran.display(), home.join("lib").display());
        let environment = [vec![libraries], self.environment(&home)].concat().join(" ");
        Ok(format!("env {environment} {} -n {{np}}", home.join("bin/mpiexec").display()))
    }
}

/// A folder with the install's Fortran library and nothing else.
fn fortran_alone(home: &Path, prefix: &Path) -> Result<PathBuf, String> {
    let folder = home.join("fortran");
    let (link, library) = (folder.join(FORTRAN), prefix.join("lib").join(FORTRAN));
    if !library.is_file() {
        return Err(format!("{}: not there", library.display()));
    }
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&library, &link).map_err(|e| format!("{}: {e}", link.display()))?;
    Ok(folder)
}
