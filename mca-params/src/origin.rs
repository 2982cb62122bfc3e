//! Where a value came from. Kept with every value, so that an error, a warning or a listing can
//! name the place to change.

use std::path::PathBuf;

/// Prefix of the environment variables that set parameters.
pub const ENVIRONMENT: &str = "OXMPI_MCA_";
/// The prefix Open MPI uses; read too, and weaker than our own.
pub const ENVIRONMENT_OPEN_MPI: &str = "OMPI_MCA_";
/// Follows our prefix in variables that say where a value really came from ([`Origin::label`]).
pub const SOURCE: &str = "SOURCE_";
/// Set by the launcher: it has read all parameter files and handed on what they say, so a rank
/// reads none.
pub const FILES_ARE_READ: &str = "OXMPI_PARAMETER_FILES";
/// The same, and the launcher has checked every value and warned of every unknown name.
pub const CHECKED: &str = "checked";

/// Label of what the launcher's command line said.
const COMMAND_LINE: &str = "command line";

/// Which of the parameter files; later ones win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// `etc/oxmpi-mca-params.*` of the installation.
    Site,
    /// `$HOME/.oxmpi/mca-params.*`, or what `mca_base_param_files` names.
    User,
    /// `--tune`, `-am`: profiles and files of the job.
    Tune,
    /// `etc/oxmpi-mca-params-override.*`: nobody overrules it.
    Override,
}

impl Tier {
    const ALL: [Tier; 4] = [Tier::Site, Tier::User, Tier::Tune, Tier::Override];

    fn word(self) -> &'static str {
        match self {
            Tier::Site => "site",
            Tier::User => "user",
            Tier::Tune => "tune",
            Tier::Override => "override",
        }
    }
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The declaration's own default.
    Default,
    /// A line of a parameter file.
    File {
        tier: Tier,
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
    /// The program itself, through the runtime's configuration or the tools interface.
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
            Origin::File { tier: Tier::Site, .. } => 1,
            Origin::File { tier: Tier::User, .. } => 2,
            Origin::File { tier: Tier::Tune, .. } => 3,
            Origin::Environment { .. } if self.is_open_mpi() => 4,
            Origin::Environment { .. } => 5,
            Origin::CommandLine => 6,
            Origin::Set => 7,
            Origin::File { tier: Tier::Override, .. } => 8,
        }
    }

    /// The text that the launcher puts into the `SOURCE_` variable when it hands a value on: without it a
    /// rank would take every value for one of its environment. `None`: no label is needed.
    pub fn label(&self) -> Option<String> {
        match self {
            Origin::File { tier, path, line } => Some(format!("{} {line} {}", tier.word(), path.display())),
            Origin::CommandLine => Some(COMMAND_LINE.into()),
            Origin::Default | Origin::Environment { .. } | Origin::Set => None,
        }
    }

    /// Reads a label; `None` if it is none.
    pub fn from_label(label: &str) -> Option<Origin> {
        if label == COMMAND_LINE {
            return Some(Origin::CommandLine);
        }
        let (word, rest) = label.split_once(' ')?;
        let (line, path) = rest.split_once(' ')?;
        let tier = Tier::ALL.into_iter().find(|t| t.word() == word)?;
        Some(Origin::File { tier, path: path.into(), line: line.parse().ok()? })
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("the built-in default"),
            Origin::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Origin::Environment { variable } => write!(f, "environment variable {variable}"),
            Origin::CommandLine => f.write_str("--mca on the command line"),
            Origin::Set => f.write_str("the program"),
        }
    }
}
