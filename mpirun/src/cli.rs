//! The command line.
//!
//! clap knows the options and reads them; what it cannot know is done before it. Open MPI's long
//! options may have one dash (`-np`, `-mca`), and everything from the program's name on belongs to
//! the program, `-n` included. So the line is first split, with clap's own table of options saying
//! which take values, and long options get their second dash.

use clap::{ArgAction, CommandFactory, Parser, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

/// Start a parallel program.
///
/// Everything from PROGRAM on is left as it is. Long options may be given with one dash or with
/// two.
#[derive(Clone, Debug, Parser, PartialEq, Eq)]
#[command(
    name = "mpirun",
    version = concat!("(oxmpi) ", env!("CARGO_PKG_VERSION")),
    override_usage = "mpirun [OPTIONS] [--] PROGRAM [ARGUMENTS]...",
    after_help = "Environment: MPIEXEC_TIMEOUT=S is --timeout S. OXMPI_MCA_NAME=VALUE sets a parameter\n\
                  below --mca, OMPI_MCA_NAME=VALUE below that.\n\
                  Exit status: 0 when every process ended with 0; otherwise that of the first that did\n\
                  not, 128 and the number of the signal that killed it, or the code of MPI_Abort; 110\n\
                  after the time limit; 127 or 126 when PROGRAM cannot be found or executed."
)]
pub struct Options {
    /// Number of processes [default: one per available processor]
    #[arg(short = 'n', long = "np", alias = "n", short_alias = 'c', value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pub ranks: Option<u32>,

    /// Accepted: more processes than processors are always allowed
    #[arg(long)]
    pub oversubscribe: bool,

    /// Bind each process to a core, or to none [default: core for one or two processes, else none]
    #[arg(long, value_name = "WHAT", ignore_case = true)]
    pub bind_to: Option<BindTo>,

    /// Set a parameter; see mpi-info for their names
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append,
          allow_hyphen_values = true, value_parser = clap::value_parser!(String))]
    pub mca: Vec<String>,

    /// Hand an environment variable to the processes; may be given several times
    #[arg(short = 'x', value_name = "VARIABLE[=VALUE]", action = ArgAction::Append)]
    pub export: Vec<OsString>,

    /// End the job after so many seconds, with exit status 110
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,

    /// Accepted: root may run jobs
    #[arg(long)]
    pub allow_run_as_root: bool,
}

/// What a process is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BindTo {
    Core,
    None,
}

/// A whole command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub options: Options,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

/// Why there is no job: clap's text (help and version are such, too), or one of ours.
#[derive(Debug)]
pub enum Refusal {
    Clap(clap::Error),
    Text(String),
}

impl CommandLine {
    /// Reads the arguments behind the program's own name.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refusal> {
        let (options, rest) = split(arguments.into_iter().collect());
        let options = Options::try_parse_from(std::iter::once("mpirun".into()).chain(options))
            .map_err(Refusal::Clap)?;
        let mut rest = rest.into_iter();
        let Some(program) = rest.next() else {
            return Err(Refusal::Text("no program is given; `mpirun --help` shows what can be".into()));
        };
        let arguments: Vec<OsString> = rest.collect();
        if arguments.iter().any(|a| a == ":") {
            let text = "several programs in one job (separated by ':') are not supported; start one program";
            return Err(Refusal::Text(text.into()));
        }
        Ok(CommandLine { options, program, arguments })
    }
}

impl Options {
    /// The time limit, from the option or from MPIEXEC_TIMEOUT, which must not contradict it.
    pub fn time_limit(&self, variable: Option<&OsStr>) -> Result<Option<Duration>, String> {
        let by_variable = match variable {
            None => None,
            Some(text) => match text.to_str().and_then(|t| t.trim().parse::<u64>().ok()).filter(|&s| s > 0) {
                Some(seconds) => Some(seconds),
                None => {
                    return Err(format!(
                        "MPIEXEC_TIMEOUT is {text:?}, which is no number of seconds above 0"
                    ));
                }
            },
        };
        match (self.timeout, by_variable) {
            (Some(a), Some(b)) if a != b => {
                Err(format!("--timeout says {a} seconds and MPIEXEC_TIMEOUT says {b}; give one of them"))
            }
            (a, b) => Ok(a.or(b).map(Duration::from_secs)),
        }
    }
}

/// What clap's table says about an option.
struct Known {
    longs: Vec<String>,
    shorts: Vec<char>,
    values: usize,
}

fn table() -> Vec<Known> {
    let mut command = Options::command();
    command.build();
    let known = |arg: &clap::Arg| Known {
        longs: arg
            .get_long_and_visible_aliases()
            .into_iter()
            .flatten()
            .chain(arg.get_all_aliases().into_iter().flatten())
            .map(str::to_owned)
            .collect(),
        shorts: arg
            .get_short_and_visible_aliases()
            .into_iter()
            .flatten()
            .chain(arg.get_all_short_aliases().into_iter().flatten())
            .collect(),
        values: match arg.get_action().takes_values() {
            true => arg.get_num_args().map_or(1, |n| n.max_values()),
            false => 0,
        },
    };
    command.get_arguments().map(known).collect()
}

/// Splits the line where the program's name is, and gives long options their second dash.
fn split(arguments: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let table = table();
    let long = |name: &[u8]| table.iter().find(|k| k.longs.iter().any(|l| l.as_bytes() == name));
    let short = |c: u8| table.iter().find(|k| k.shorts.contains(&char::from(c)));
    let mut options = Vec::new();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let text = argument.as_bytes();
        if text == b"--" {
            break;
        }
        let Some(body) = text.strip_prefix(b"-").filter(|body| !body.is_empty()) else {
            return (options, std::iter::once(argument).chain(rest).collect());
        };
        let name = body.strip_prefix(b"-").unwrap_or(body);
        let bare = name.split(|&c| c == b'=').next().unwrap_or(name);
        let two_dashes = name.len() < body.len();
        let counted = matches!(body[0], b'n' | b'c') && body[1..].iter().all(u8::is_ascii_digit);
        let values = if two_dashes || body.len() > 1 && !counted {
            // A long option; one that nobody knows goes to clap, which names the nearest.
            options.push(OsString::from_vec([b"--", name].concat()));
            let Some(known) = long(bare) else { break };
            known.values.saturating_sub(usize::from(bare.len() < name.len()))
        } else {
            options.push(argument.clone());
            let Some(known) = short(body[0]) else { break };
            known.values.saturating_sub(usize::from(body.len() > 1))
        };
        options.extend(rest.by_ref().take(values));
    }
    (options, rest.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<CommandLine, String> {
        CommandLine::parse(line.split_whitespace().map(OsString::from)).map_err(|why| match why {
            Refusal::Clap(why) => why.to_string(),
            Refusal::Text(why) => why,
        })
    }

    fn options(line: &str) -> Options {
        parse(&format!("{line} prog")).expect(line).options
    }

    #[test]
    fn the_table_is_sound() {
        Options::command().debug_assert();
    }

    #[test]
    fn numbers_of_processes() {
        for line in ["-n 3", "-np 3", "--np 3", "--n 3", "-c 3", "-n3", "-c3", "--np=3", "-np=3"] {
            assert_eq!(options(line).ranks, Some(3), "{line}");
        }
        assert_eq!(options("").ranks, None);
        for line in ["-n 0 p", "-n -1 p", "-n x p", "-n 4294967296 p"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn one_dash_or_two() {
        let o = options(
            "-mca btl ^tcp --mca a -1 -bind-to CORE -oversubscribe -timeout 7 -x A -x B=c --allow-run-as-root",
        );
        assert_eq!(o.mca, ["btl", "^tcp", "a", "-1"]);
        assert_eq!(o.bind_to, Some(BindTo::Core));
        assert!(o.oversubscribe && o.allow_run_as_root);
        assert_eq!(o.timeout, Some(7));
        assert_eq!(o.export, ["A", "B=c"]);
    }

    #[test]
    fn what_is_behind_the_program_belongs_to_it() {
        let line = parse("-n 2 prog -n 3 --mca x -- y --help").expect("a program");
        assert_eq!((line.program, line.options.ranks), ("prog".into(), Some(2)));
        assert_eq!(line.arguments, ["-n", "3", "--mca", "x", "--", "y", "--help"]);
        let line = parse("-n 2 -- -odd -name").expect("a program");
        assert_eq!((line.program, line.arguments), ("-odd".into(), vec!["-name".into()]));
    }

    #[test]
    fn unknown_options_are_refused_with_the_nearest() {
        for (line, near) in [
            ("--oversubscrib p", "--oversubscribe"),
            ("-bindto core p", "--bind-to"),
            ("--timeuot 3 p", "--timeout"),
            ("-timeot 3 p", "--timeout"),
        ] {
            let why = parse(line).expect_err(line);
            assert!(why.contains(near), "{line}: {why}");
        }
        assert!(parse("-hostfile f p").expect_err("unknown").contains("--hostfile"));
        assert!(parse("-q p").expect_err("unknown").contains("-q"));
        assert!(parse("--bind-to socket p").expect_err("unknown value").contains("core"));
    }

    #[test]
    fn several_programs_are_refused() {
        assert!(parse("-n 1 a : -n 1 b").expect_err("a colon").contains("':'"));
        assert!(parse("-n 1").expect_err("nothing to start").contains("no program"));
    }

    #[test]
    fn time_limits_must_agree() {
        let o = options("--timeout 5");
        assert_eq!(o.time_limit(None), Ok(Some(Duration::from_secs(5))));
        assert_eq!(o.time_limit(Some(OsStr::new("5"))), Ok(Some(Duration::from_secs(5))));
        assert!(o.time_limit(Some(OsStr::new("6"))).is_err());
        assert!(o.time_limit(Some(OsStr::new("soon"))).is_err());
        assert_eq!(options("").time_limit(Some(OsStr::new("6"))), Ok(Some(Duration::from_secs(6))));
        assert_eq!(options("").time_limit(None), Ok(None));
    }
}
