//! Where a value came from. Kept with every value, so that an error, a warning or a listing can
//! name the place to change.

use std::path::PathBuf;

/// Prefix of the environment variables that set parameters.
pub const ENVIRONMENT: &str = "OXMPI_MCA_";
/// The prefix Open MPI uses; read too, and weaker than our own.
pub const ENVIRONMENT_OPEN_MPI: &str = "OMPI_MCA_";
/// Follows either prefix in variables that say where a value really came from.
pub const SOURCE: &str = "SOURCE_";
/// Value of such a variable when the launcher passes on what its command line said.
pub const SOURCE_COMMAND_LINE: &str = "command line";

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The declaration's own default.
    Default,
    /// A line of a parameter file.
    File {
        /// As it was opened.
        path: PathBuf,
        /// From 1.
        line: u32,
    },
    /// An environment variable, named in full.
    Environment {
        /// `OXMPI_MCA_…` or `OMPI_MCA_…`.
        variable: String,
    },
    /// `--mca NAME VALUE` given to the launcher.
    CommandLine,
    /// The program itself, through the runtime's configuration.
    Set,
}

impl Origin {
    /// Set for Open MPI rather than for us: sites export such variables globally, so what they ask
    /// for and we lack is worth a warning and not the job.
    pub fn is_open_mpi(&self) -> bool {
        matches!(self, Origin::Environment { variable } if variable.starts_with(ENVIRONMENT_OPEN_MPI))
    }

    /// Higher wins.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::File { .. } => 1,
            Origin::Environment { .. } if self.is_open_mpi() => 2,
            Origin::Environment { .. } => 3,
            Origin::CommandLine => 4,
            Origin::Set => 5,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("the built-in default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment { variable } => write!(f, "environment variable {variable}"),
            Origin::CommandLine => f.write_str("--mca on the command line"),
            Origin::Set => f.write_str("the program"),
        }
    }
}
