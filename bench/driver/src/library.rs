//! An installed MPI: whose it is, how it compiles, how it starts a job.

use crate::sources::Sum;
use crate::transport_setup::TransportSetup;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whose it is; launchers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavour {
    Ours,
    OpenMpi,
    Mpich,
    Intel,
}

/// Where processes may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// A core each.
    Core,
    /// Wherever the system puts them.
    None,
    /// All on one core.
    OneCore,
}

#[derive(Clone, Debug)]
pub struct Library {
    pub name: String,
    pub prefix: PathBuf,
    pub flavour: Flavour,
    /// In its launcher's own words.
    pub version: String,
}

/// The names that peers have below the folder of `--peers`.
pub const PEERS: [&str; 3] = ["openmpi", "mpich", "impi"];

impl Library {
    pub fn find(name: &str, prefix: &Path) -> Result<Library, String> {
        let missing = |what: &str| format!("{name}: there is no {what} below {}", prefix.display());
        if !prefix.join("bin/mpicc").exists() {
            return Err(missing("bin/mpicc"));
        }
        let mut library = Library {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            flavour: Flavour::Mpich,
            version: String::new(),
        };
        let launcher = library.launcher();
        if !launcher.exists() {
            return Err(missing("bin/mpirun or bin/mpiexec"));
        }
        let mut command = Command::new(&launcher);
        command.arg("--version").envs(library.environment()).stdin(Stdio::null());
        let output = command.output().map_err(|e| format!("{}: {e}", launcher.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |word: &str| text.lines().map(str::trim).find(|l| l.contains(word)).map(str::to_owned);
        (library.flavour, library.version) = if let Some(version) = line("oxmpi") {
            (Flavour::Ours, version)
        } else if let Some(version) = line("Open MPI") {
            (Flavour::OpenMpi, version)
        } else if let Some(version) = line("Intel") {
            (Flavour::Intel, version)
        } else {
            (Flavour::Mpich, line("Version").unwrap_or_else(|| text.lines().next().unwrap_or("").to_owned()))
        };
        Ok(library)
    }

    /// Those of the folder that a peers' set-up made.
    pub fn peers(folder: &Path) -> Result<Vec<Library>, String> {
        let there = PEERS.iter().filter(|name| folder.join(name).is_dir());
        there.map(|name| Library::find(name, &folder.join(name))).collect()
    }

    pub fn is_ours(&self) -> bool {
        self.flavour == Flavour::Ours
    }

    /// A number that changes when the library or one of its components does: its files tell, where they are ours, and its version elsewhere.
    pub fn revision(&self) -> String {
        let mut files = vec![self.prefix.join("lib/libmpi_abi.so.1")];
        let components = std::fs::read_dir(self.prefix.join("lib/oxmpi"));
        files.extend(components.into_iter().flatten().flatten().map(|entry| entry.path()));
        files.sort();
        let mut sum = Sum::default();
        sum.add(self.version.as_bytes());
        for file in files.iter().filter(|_| self.is_ours()) {
            sum.add(&std::fs::read(file).unwrap_or_default());
        }
        sum.text()
    }

    fn launcher(&self) -> PathBuf {
        let mpirun = self.prefix.join("bin/mpirun");
        if mpirun.exists() { mpirun } else { self.prefix.join("bin/mpiexec") }
    }

    /// Environment variables that its programs need.
    fn environment(&self) -> Vec<(String, OsString)> {
        let with = |variable: &str, folder: &str| {
            let mut value = self.prefix.join(folder).into_os_string();
            if let Some(old) = std::env::var_os(variable) {
                value.push(":");
                value.push(old);
            }
            (variable.to_owned(), value)
        };
        let mut all = vec![with("PATH", "bin"), with("LD_LIBRARY_PATH", "lib")];
        // Harmless to all but the one that asks for them.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            all.push((name.into(), "1".into()));
            all.push((name.replace("OMPI", "PRTE"), "1".into()));
        }
        if self.name == "impi" || self.flavour == Flavour::Intel {
            all.push(("I_MPI_ROOT".into(), self.prefix.clone().into_os_string()));
            all.push(("I_MPI_FABRICS".into(), "shm".into()));
            all.push(("I_MPI_HYDRA_BOOTSTRAP".into(), "fork".into()));
        }
        all
    }

    /// The command that starts `program` on so many ranks, on this machine or `over` two nodes. `params` are our parameters.
    pub fn job(
        &self,
        ranks: u64,
        binding: Binding,
        params: &[(String, String)],
        over: Option<&TransportSetup>,
        program: &Path,
        arguments: &[String],
    ) -> Command {
        // Nodes that are made up have the same cores, and each would give out its first.
        let bound = binding == Binding::Core && !over.is_some_and(TransportSetup::is_made_up);
        let mut words: Vec<OsString> = Vec::new();
        if binding == Binding::OneCore {
            words.extend(["taskset", "-c", &first_core()].map(OsString::from));
        }
        words.push(self.launcher().into());
        words.extend(["-n".into(), ranks.to_string().into()]);
        let bind_to = if bound { "core" } else { "none" };
        match self.flavour {
            Flavour::Ours | Flavour::OpenMpi => {
                // Where there is one core for several ranks they share it.
                let bind_to = if bound { "core:overload-allowed" } else { bind_to };
                words.extend(["--oversubscribe", "--bind-to", bind_to].map(OsString::from));
            }
            Flavour::Mpich => words.extend(["-bind-to", bind_to].map(OsString::from)),
            Flavour::Intel => {
                words.extend(["-genv", "I_MPI_PIN", if bound { "1" } else { "0" }].map(OsString::from))
            }
        }
        if let Some(over) = over {
            words.extend(self.nodes(over, ranks));
        }
        if self.is_ours() {
            for (name, value) in params {
                words.extend(["--mca".into(), name.into(), value.into()]);
            }
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(program).args(arguments).envs(self.environment());
        if over.is_some() && self.flavour == Flavour::Intel {
            command.env("I_MPI_FABRICS", "shm:ofi").env_remove("I_MPI_HYDRA_BOOTSTRAP");
        }
        command
    }

    /// The program that serves endpoints as a proxy.
    pub fn proxy(&self) -> PathBuf {
        self.prefix.join("bin/oxmpi-ep-server")
    }

    /// Options that put a job's ranks on two nodes; others than ours choose their own transport between them.
    fn nodes(&self, over: &TransportSetup, ranks: u64) -> Vec<OsString> {
        match self.flavour {
            Flavour::Ours => over.ours(ranks),
            Flavour::OpenMpi => vec!["--host".into(), over.with_places(ranks).into()],
            Flavour::Mpich | Flavour::Intel => {
                let places = ranks.div_ceil(2).to_string();
                vec!["-hosts".into(), over.names().join(",").into(), "-ppn".into(), places.into()]
            }
        }
    }

    /// Compiles a source, and perhaps one `more`, by its `mpicc`; the program's path.
    pub fn compile(
        &self,
        source: &Path,
        more: Option<&Path>,
        flags: &[&str],
        into: &Path,
    ) -> Result<PathBuf, String> {
        let folder = into.join(&self.name);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let out = folder.join(source.file_stem().unwrap_or_default());
        let output = Command::new(self.prefix.join("bin/mpicc"))
            .args(["-std=gnu11", "-O2", "-pthread", "-o"])
            .arg(&out)
            .arg(source)
            .args(more)
            .args(flags)
            .envs(self.environment())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("{}'s mpicc: {e}", self.name))?;
        if output.status.success() {
            return Ok(out);
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{}'s mpicc on {}: {text}", self.name, source.display()))
    }
}

/// The first core that this process may use; not 0 in every container.
fn first_core() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("");
    let first: String = cores.trim().chars().take_while(char::is_ascii_digit).collect();
    if first.is_empty() { "0".into() } else { first }
}
