//! The command line of `mpi-info`: Open MPI's options, and a few more.

use clap::{ArgAction, CommandFactory, Parser};
use oxmpi_mca_params::CommandSetting;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Describe this installation: version, components, parameters.
///
/// Without an option: a summary. Long options may be given with one dash or with two.
/// `mpi-info --help TOPIC` shows a page of the documentation, `mpi-info --help topics` lists them.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "mpi-info", disable_version_flag = true)]
pub struct Options {
    /// Everything: facts, paths, components, and parameters of all levels
    #[arg(short, long)]
    pub all: bool,

    /// Components and parameters of FRAMEWORK and COMPONENT, or of all
    #[arg(long = "param", alias = "params", num_args = 0..=2, value_names = ["FRAMEWORK", "COMPONENT"],
          action = ArgAction::Append)]
    pub params: Option<Vec<String>>,

    /// Types of events that tools may listen to, of FRAMEWORK or of all; up to --level if that is given
    #[arg(long, num_args = 0..=2, value_names = ["FRAMEWORK", "COMPONENT"], action = ArgAction::Append)]
    pub event: Option<Vec<String>>,

    /// Parameters up to this level: to 5 for users, to 8 for tuning, 9 for all [default: 1, with --all 9]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub level: Option<u32>,

    /// Only parameters of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Option<String>,

    /// Only components that the current settings permit
    #[arg(short, long, visible_alias = "selected-only")]
    pub selected: bool,

    /// Parameters meant for developers of the library, too
    #[arg(long)]
    pub internal: bool,

    /// The meaning of a parameter, its value, and where that comes from
    #[arg(long, value_name = "NAME", group = "of_a_job")]
    pub explain: Option<String>,

    /// Devices of btl-verbs, and what each of its endpoint categories takes of them for N contexts (one for each thread)
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "16", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub verbs: Option<u32>,

    /// Providers and domains of libfabric on this machine, which of them btl-ofi would use, and why not the others
    #[arg(long)]
    pub ofi: bool,

    /// Components that would serve a file at PATH, and why; alignment and striping, locks and atomic mode, hints in force
    #[arg(long, value_name = "PATH", group = "of_a_job")]
    pub file: Option<PathBuf>,

    /// With --explain and --file: in a job of N processes on this machine [default: one for each core]
    #[arg(short = 'n', visible_short_alias = 'N', long = "np", visible_alias = "n", value_name = "N", requires = "of_a_job",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub processes: Option<u32>,

    /// With --explain: in a program that asks for MPI_THREAD_SINGLE, FUNNELED, SERIALIZED or MULTIPLE
    #[arg(long, value_name = "LEVEL", requires = "explain", ignore_case = true, default_value = "single",
          value_parser = ["single", "funneled", "serialized", "multiple"])]
    pub thread_level: String,

    /// Look for mistakes in a parameter file
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,

    /// Measure this machine, in less than a minute, and write a tune file for it
    #[arg(long, value_name = "FILE")]
    pub calibrate: Option<PathBuf>,

    /// With --calibrate: takes one second; the figures are rough
    #[arg(long, requires = "calibrate")]
    pub quick: bool,

    /// With --calibrate: measure even if the machine is busy
    #[arg(long, requires = "calibrate")]
    pub even_if_busy: bool,

    /// A process that --calibrate starts
    #[arg(long, hide = true, num_args = 4)]
    pub calibrate_rank: Option<Vec<String>>,

    /// Directories of the installation: one kind of them, or all
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "all")]
    pub path: Option<String>,

    /// How the library was built
    #[arg(short, long)]
    pub config: bool,

    /// The architecture the library was built for
    #[arg(long)]
    pub arch: bool,

    /// This machine's name
    #[arg(long)]
    pub hostname: bool,

    /// Components that cannot be used, and why; a summary lists them anyway
    #[arg(long)]
    pub show_failed: bool,

    /// Lines for programs: keys and values separated by colons
    #[arg(long, visible_alias = "parseable", conflicts_with = "json")]
    pub parsable: bool,

    /// JSON
    #[arg(long)]
    pub json: bool,

    /// Lines for people (the default)
    #[arg(long, conflicts_with_all = ["json", "parsable"])]
    pub pretty_print: bool,

    /// Accepted: the output has no colours
    #[arg(long, value_name = "WHEN")]
    pub color: Option<String>,

    /// Set a parameter, as for mpirun
    #[arg(long, alias = "gmca", alias = "omca", num_args = 2, value_names = ["NAME", "VALUE"],
          action = ArgAction::Append, allow_hyphen_values = true)]
    pub mca: Vec<String>,

    /// Take parameters from files or profiles, as for mpirun
    #[arg(long, alias = "am", value_name = "FILES", action = ArgAction::Append)]
    pub tune: Vec<String>,

    /// The version, and nothing else
    #[arg(short = 'V', long)]
    pub version: bool,
}

impl Options {
    /// Reads the arguments behind the program's name.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, clap::Error> {
        let mut command = Options::command();
        command.build();
        let longs: Vec<String> = command
            .get_arguments()
            .flat_map(|a| {
                let names = a.get_long_and_visible_aliases().into_iter().flatten();
                names.chain(a.get_all_aliases().into_iter().flatten()).map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let two_dashes = arguments.into_iter().map(|argument| {
            let bytes = argument.as_bytes();
            let name = bytes.strip_prefix(b"-").unwrap_or_default().split(|&c| c == b'=').next();
            let known = name.is_some_and(|n| n.len() > 1 && longs.iter().any(|l| l.as_bytes() == n));
            if known { OsString::from_vec([b"-", bytes].concat()) } else { argument }
        });
        Options::try_parse_from(std::iter::once("mpi-info".into()).chain(two_dashes))
    }

    /// Settings of parameters on the command line.
    pub fn given(&self) -> Vec<CommandSetting> {
        let files = self.tune.iter().map(|f| CommandSetting::Tune { files: f.clone() });
        let pairs = self
            .mca
            .chunks_exact(2)
            .map(|p| CommandSetting::Parameter { name: p[0].clone(), value: p[1].clone() });
        files.chain(pairs).collect()
    }

    /// Framework and component whose parameters are asked for; `all` stands for any.
    pub fn wanted(&self) -> Option<(&str, &str)> {
        match &self.params {
            Some(words) => {
                let word = |i: usize| words.get(i).map_or("all", String::as_str);
                Some((word(0), word(1)))
            }
            None if self.all || self.kind.is_some() => Some(("all", "all")),
            None => None,
        }
    }

    /// The framework whose events are asked for.
    pub fn wanted_events(&self) -> Option<&str> {
        self.event.as_ref().map(|words| words.first().map_or("all", String::as_str))
    }

    pub fn level(&self) -> u32 {
        self.level.unwrap_or(if self.all { 9 } else { 1 })
    }

    /// Nothing in particular is asked for.
    pub fn is_summary(&self) -> bool {
        let particular = self.wanted().is_some() || self.path.is_some() || self.config || self.arch;
        !particular && !self.hostname && self.event.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Options {
        Options::read(line.split_whitespace().map(OsString::from)).expect(line)
    }

    #[test]
    fn open_mpis_spellings() {
        for line in ["--param btl all --level 9", "-param btl all -l 9", "--params btl -l9"] {
            let o = read(line);
            assert_eq!((o.wanted(), o.level()), (Some(("btl", "all")), 9), "{line}");
        }
        assert_eq!(read("--params").wanted(), Some(("all", "all")));
        assert_eq!(read("-a").level(), 9);
        assert!(read("").is_summary() && read("--parseable").parsable && !read("--path").is_summary());
        let o = read("--mca btl ^shm -am latency --gmca x -1");
        assert_eq!(o.given().len(), 3);
        assert_eq!(
            (read("--event").wanted_events(), read("--event mpi all").wanted_events()),
            (Some("all"), Some("mpi"))
        );
        assert!(!read("--event").is_summary() && read("").wanted_events().is_none());
        assert!(read("-s").selected && read("--selected-only").selected && read("-V").version);
        assert!(Options::read(["--level", "10"].map(OsString::from)).is_err());
        assert!(Options::read(["--nonsense"].map(OsString::from)).is_err());
    }
}
