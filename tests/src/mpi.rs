//! The MPI under test: where it is, how to compile for it and how to start a job on it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Whose MPI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Ours,
    OpenMpi,
    /// MPICH and its relatives, with the hydra launcher.
    Mpich,
}

/// An installed MPI.
pub struct Mpi {
    pub prefix: PathBuf,
    pub flavour: Flavour,
    compiled: Mutex<HashMap<String, (Vec<String>, PathBuf)>>,
}

/// The root of the workspace.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        // The crate's folder is one below it. Cargo names it at every run, so that a checkout that
        // was copied or moved tests itself.
        let here = std::env::var_os("CARGO_MANIFEST_DIR");
        let here = here.map_or(PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        here.parent().unwrap_or(Path::new("/")).to_path_buf()
    })
}

/// The MPI under test, installed on first use.
pub fn mpi() -> &'static Mpi {
    static MPI: OnceLock<Mpi> = OnceLock::new();
    MPI.get_or_init(|| {
        let (prefix, flavour) = match std::env::var_os("MPI_UNDER_TEST") {
            Some(prefix) => {
                let prefix = PathBuf::from(prefix);
                let flavour = flavour(&prefix);
                (prefix, flavour)
            }
            None => (installed(), Flavour::Ours),
        };
        Mpi { prefix, flavour, compiled: Mutex::default() }
    })
}

fn flavour(prefix: &Path) -> Flavour {
    let version = Command::new(prefix.join("bin/mpirun")).arg("--version").output();
    let text = version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    if text.contains("Open MPI") {
        Flavour::OpenMpi
    } else if text.contains("oxmpi") {
        Flavour::Ours
    } else {
        Flavour::Mpich
    }
}

/// Our own install: given, or made now.
fn installed() -> PathBuf {
    if let Some(prefix) = std::env::var_os("OXMPI_PREFIX") {
        return PathBuf::from(prefix);
    }
    let prefix = root().join("target/oxmpi");
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "xtask", "--", "install", "--prefix"])
        .arg(&prefix)
        .current_dir(root())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "cargo xtask install failed: {status}");
    prefix
}

impl Mpi {
    pub fn is_ours(&self) -> bool {
        self.flavour == Flavour::Ours
    }

    /// A program of the install's `bin`.
    pub fn bin(&self, name: &str) -> PathBuf {
        self.prefix.join("bin").join(name)
    }

    /// Where compiled test programs lie, apart for each MPI.
    pub fn programs(&self) -> PathBuf {
        let name: String = self
            .prefix
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let folder = root().join("target/programs").join(name.trim_matches('_'));
        std::fs::create_dir_all(&folder).expect("target can be written");
        folder
    }

    /// A folder with a component that is not installed, built now: for `mca_base_component_path`.
    pub fn component(&self, package: &str) -> PathBuf {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _building = ONE_AT_A_TIME.lock().expect("no test panics while it builds");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", package])
            .current_dir(root())
            .status()
            .expect("cargo runs");
        assert!(status.success(), "cargo build --package {package}: {status}");
        // Alone in its folder: others that are built there would be taken before those that are installed.
        let folder = target.join("programs/components").join(package);
        std::fs::create_dir_all(&folder).expect("target can be written");
        let name = format!("lib{}.so", package.replace('-', "_"));
        let (new, there) = (folder.join(format!("{name}.new")), folder.join(&name));
        std::fs::copy(target.join("debug").join(&name), &new).expect("it was built");
        // Another test may be using it.
        std::fs::rename(new, there).expect("its own folder");
        folder
    }

    /// Compiles `tests/programs/NAME.c` once; the path of the program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.build(name, &[format!("tests/programs/{name}.c")], &["-O2", "-pthread"])
    }

    /// Compiles and links sources (relative to the workspace) with further arguments.
    pub fn build(&self, name: &str, sources: &[String], arguments: &[&str]) -> PathBuf {
        let mut compiled = self.compiled.lock().expect("no test panics while it compiles");
        if let Some((from, path)) = compiled.get(name) {
            assert_eq!(from, sources, "two programs are called {name}");
            return path.clone();
        }
        let out = self.programs().join(name);
        let output = Command::new(self.bin("mpicc"))
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-o"])
            .arg(&out)
            .args(sources)
            .args(arguments)
            .current_dir(root())
            .stdin(Stdio::null())
            .output()
            .expect("mpicc runs");
        assert!(
            output.status.success(),
            "mpicc {sources:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        compiled.insert(name.to_owned(), (sources.to_vec(), out.clone()));
        out
    }

    /// The launcher with the options that let it start `ranks` ranks here, whoever we are.
    pub(crate) fn launcher(&self, ranks: usize) -> Command {
        let ranks = ranks.to_string();
        let mut command =
            Command::new(self.bin(if self.flavour == Flavour::Mpich { "mpiexec" } else { "mpirun" }));
        match self.flavour {
            Flavour::Ours | Flavour::OpenMpi => {
                command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks]);
            }
            Flavour::Mpich => {
                command.args(["-n", &ranks]);
            }
        }
        command
    }
}
