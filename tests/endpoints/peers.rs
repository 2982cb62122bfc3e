//! The MPI libraries that endpoints are tested over, and how jobs with proxies are started on them.

use oxmpi_tests::{Job, leave_out, mpi};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// An installed MPI library with the standard ABI.
#[derive(Clone, Debug)]
pub struct Peer {
    prefix: PathBuf,
    ours: bool,
}

/// Ours, and MPICH where it can be had. One binary of each program runs on all.
pub fn peers(test: &str) -> Vec<Peer> {
    if !mpi().is_ours() {
        leave_out(test, "liboxmpi_ep.so comes with our install");
        return Vec::new();
    }
    let mut peers = vec![Peer { prefix: mpi().prefix.clone(), ours: true }];
    match mpich() {
        Ok(prefix) => peers.push(Peer { prefix: prefix.clone(), ours: false }),
        Err(why) => leave_out(test, &format!("over MPICH: {why}")),
    }
    peers
}

/// MPICH from its Python package: where OXMPI_TEST_MPICH says, or in target/mpich, put there at the first need.
fn mpich() -> &'static Result<PathBuf, String> {
    static MPICH: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    MPICH.get_or_init(|| {
        if let Some(prefix) = std::env::var_os("OXMPI_TEST_MPICH") {
            return Ok(PathBuf::from(prefix));
        }
        let prefix = oxmpi_tests::root().join("target/mpich");
        if !prefix.join("lib/libmpi_abi.so").exists() {
            let run = |program: PathBuf, arguments: &[&str]| {
                let mut command = Command::new("timeout");
                command.arg("240").arg(program).args(arguments).stdin(Stdio::null());
                match command.output() {
                    Ok(output) if output.status.success() => Ok(()),
                    Ok(output) => Err(format!("pip: {}", output.status)),
                    Err(error) => Err(format!("python3: {error}")),
                }
            };
            run("python3".into(), &["-m", "venv", &prefix.display().to_string()])?;
            run(prefix.join("bin/pip"), &["install", "-q", "mpich==5.0.2"])?;
        }
        Ok(prefix)
    })
}

/// A program that is linked with the library.
pub fn linked(name: &str) -> PathBuf {
    let sources = [format!("tests/programs/{name}.c")];
    mpi().build(name, &sources, &["-O1", "-pthread", "-loxmpi_ep"])
}

impl Peer {
    pub fn is_ours(&self) -> bool {
        self.ours
    }

    /// `ranks` processes of a program with arguments, and this many proxies for all of them together.
    pub fn job(&self, ranks: usize, program: &[String], proxies: usize) -> Job {
        let mut command = Command::new(self.prefix.join("bin/mpiexec"));
        if self.ours {
            command.args(["--allow-run-as-root", "--oversubscribe"]);
        }
        command.args(["-n", &ranks.to_string()]).args(program);
        if proxies > 0 {
            command.args([":", "-n", &proxies.to_string()]).arg(mpi().bin("oxmpi-ep-server"));
        }
        let job = Job::of(command).limit(240);
        job.env("LD_LIBRARY_PATH", self.prefix.join("lib"))
    }

    /// The test program with its arguments, on `ranks` processes with `endpoints` each.
    pub fn endpoints(&self, ranks: usize, endpoints: usize, what: &str) -> Job {
        self.linked("endpoints", ranks, endpoints, &[what, &ranks.to_string()])
    }

    /// A program that is linked with the library, and gets the number of endpoints as its first argument.
    pub fn linked(&self, name: &str, ranks: usize, endpoints: usize, arguments: &[&str]) -> Job {
        let mut list = vec![linked(name).display().to_string(), endpoints.to_string()];
        list.extend(arguments.iter().map(|a| (*a).to_owned()));
        self.job(ranks, &list, ranks * endpoints)
    }

    /// A program that knows nothing of endpoints, whose MPI_COMM_WORLD is one of them for each process.
    pub fn unmodified(&self, ranks: usize, name: &str, arguments: &[&str]) -> Job {
        let preload = format!("LD_PRELOAD={}", mpi().prefix.join("lib/liboxmpi_ep.so").display());
        let mut list = vec!["env".to_owned(), preload, mpi().program(name).display().to_string()];
        list.extend(arguments.iter().map(|a| (*a).to_owned()));
        self.job(ranks, &list, ranks).env("OXMPI_EP_WORLD", "1")
    }
}
