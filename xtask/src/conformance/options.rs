//! Options of `cargo xtask conformance`.

use crate::conformance::peers::Peer;
use crate::conformance::suite::Suite;
use clap::{Args, Parser};
use std::path::PathBuf;

/// The tests to run.
#[derive(Args)]
pub struct Options {
    /// Suites to run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Suite::Mpich, Suite::Mpi4py, Suite::Rsmpi])]
    pub suites: Vec<Suite>,
    /// Folders of MPICH's suite to run (default: all)
    #[arg(long)]
    pub dirs: Option<String>,
    /// Run only these of MPICH's tests (FOLDER/PROGRAM, * stands for anything) and keep the results of all others:
    /// for those that ran into the limit on a busy machine
    #[arg(long)]
    pub only: Option<String>,
    /// Do not build programs of MPICH's suite again that are there, made by the same install
    #[arg(long, requires = "prefix")]
    pub keep: bool,
    /// Modules of mpi4py's tests to run: a regular expression
    #[arg(long, default_value = ".")]
    pub modules: String,
    /// Numbers of ranks for mpi4py
    #[arg(long, default_value = "1,2,3,4")]
    pub np: String,
    /// Seconds for one test (a third more for a module of mpi4py)
    #[arg(long, default_value_t = 90)]
    pub timeout: u32,
    /// An install to test (default: makes one in target/conformance)
    #[arg(long)]
    pub prefix: Option<PathBuf>,
    /// Further options of mpirun, separated by blanks, for the suites of MPICH and mpi4py; what fails without a reason is
    /// named, and neither the page's own results nor these are kept unless `--record` names them. With
    /// "--host a:8,b:8 --map-by node:oversubscribe --mca plm local" and a transport the tests run over two nodes of this
    /// machine
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub mpirun_options: String,
    /// Make the ranks of MPICH's programs endpoints, so many of each process, each with a private copy of the program; this and
    /// `--mpirun-options` make a configuration
    #[arg(long, value_name = "EACH", value_parser = clap::value_parser!(u32).range(2..))]
    pub endpoints: Option<u32>,
    /// Run the programs of MPICH's suite, made with the install's compilers and its Fortran library, over another library with the
    /// standard ABI, which is fetched from PyPI, and by its launcher; this makes a configuration, too
    #[arg(long, value_name = "LIBRARY", value_enum, conflicts_with_all = ["endpoints", "mpirun_options", "libraries"])]
    pub over: Option<Peer>,
    /// The Fortran compiler (default: the one that mpifort takes); this makes a configuration, too
    #[arg(long, value_name = "COMPILER", conflicts_with = "endpoints")]
    pub fc: Option<String>,
    /// A folder of libraries that jobs find by name, as a device in software in --mpirun-options
    #[arg(long, value_name = "FOLDER")]
    pub libraries: Option<PathBuf>,
    /// Keep what comes of these `--mpirun-options`, `--endpoints`, `--over` and `--fc` under this name in the page's section of configurations
    #[arg(long, value_name = "NAME")]
    pub record: Option<String>,
    /// Run nothing; write the page's section of configurations
    #[arg(long)]
    pub configurations_only: bool,
    /// Run nothing; write the page from the results at hand
    #[arg(long)]
    pub page_only: bool,
}

impl Options {
    /// Those of a run of MPICH's suite that is recorded under a name, with options of mpirun.
    pub fn of_record(name: &str, mpirun_options: &str) -> Options {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            options: Options,
        }
        let mpirun_options = format!("--mpirun-options={mpirun_options}");
        Line::parse_from(["conformance", "--suites", "mpich", &mpirun_options, "--record", name]).options
    }

    /// The difference from a plain run, as text; empty: there is none.
    pub fn configuration(&self) -> String {
        let endpoints = self.endpoints.map(|each| format!("({each} endpoints of each process)"));
        let over = self.over.map(|peer| format!("(of {})", peer.title()));
        let compiler = self.fc.as_ref().map(|name| format!("(Fortran by {name})"));
        let others = [endpoints, over, compiler].into_iter().flatten();
        [self.mpirun_options.clone()]
            .into_iter()
            .chain(others)
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}
