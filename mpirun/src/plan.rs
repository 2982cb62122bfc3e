//! From a command line to a job: how many processes, where, bound to what, with which environment.

use crate::cli::{BindTo, CommandLine};
use crate::cores;
use crate::link::Launch;
use crate::settings;
use oxmpi_mca_params::Given;
use oxmpi_runtime::wireup::{Secret, server};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Binding is for few processes; with more, ranks and their threads share what there is.
const BIND_BY_DEFAULT: u32 = 2;

/// A job, and what the user should hear about it before it starts.
#[derive(Debug)]
pub struct Plan {
    pub launch: Launch,
    pub warnings: Vec<String>,
}

/// Makes the plan of a job that runs on this node.
pub fn make(line: CommandLine, interactive: bool) -> Result<Plan, String> {
    let options = &line.options;
    let cores = cores::available();
    let size = options.ranks.unwrap_or(cores);
    let oversubscribed = size > cores;
    let bind = match options.bind_to {
        Some(what) => what == BindTo::Core,
        None => size <= BIND_BY_DEFAULT && !oversubscribed,
    };
    let bindings = match bind {
        true => cores::bind(size as usize)?,
        false => vec![Vec::new(); size as usize],
    };
    let settings = settings::resolve(&given(&options.mca))?;
    let (mut environment, mut warnings) = exported(&options.export)?;
    // What is given by -x itself stands.
    let (from_files, more) = exported(&settings.exports)?;
    environment.extend(from_files.into_iter().filter(|(n, _)| !named(&options.export, n)));
    warnings.extend(more.into_iter().chain(settings.warnings));
    environment.extend(settings.environment);
    environment.extend(common_environment(&line, size));
    let launch = Launch {
        job_id: new_job_id().map_err(|why| why.to_string())?,
        secret: Secret::random().map_err(|why| why.to_string())?,
        size,
        node: 0,
        node_names: vec![server::hostname()],
        local_ranks: (0..size).collect(),
        cores,
        oversubscribed,
        bindings,
        params: settings.params,
        environment,
        program: line.program,
        arguments: line.arguments,
        interactive,
    };
    Ok(Plan { launch, warnings })
}

fn new_job_id() -> Result<u64, oxmpi_runtime::wireup::Error> {
    let secret = Secret::random()?;
    let id = secret.bytes().first_chunk::<8>().map_or(1, |bytes| u64::from_le_bytes(*bytes));
    Ok(id.max(1))
}

/// `--mca NAME VALUE`, as the command line gives them.
fn given(words: &[String]) -> Vec<Given> {
    let one = |pair: &[String]| Given::Parameter { name: pair[0].clone(), value: pair[1].clone() };
    words.chunks_exact(2).map(one).collect()
}

type Environment = Vec<(OsString, OsString)>;

/// `-x VARIABLE[=VALUE]`. Processes of this node inherit what mpirun has, so a name alone only
/// has to be set.
fn exported(words: &[OsString]) -> Result<(Environment, Vec<String>), String> {
    let (mut set, mut warnings) = (Environment::new(), Vec::new());
    for word in words {
        let bytes = word.as_bytes();
        let (name, value) = match bytes.iter().position(|&c| c == b'=') {
            Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
            None => (bytes, None),
        };
        let name = OsString::from_vec(name.to_vec());
        if name.is_empty() {
            return Err(format!("-x {word:?} names no variable"));
        }
        let wildcard = name.as_bytes().ends_with(b"*");
        match value {
            Some(_) if wildcard => return Err(format!("-x {word:?}: a pattern cannot be given a value")),
            Some(value) => {
                let value = OsStr::from_bytes(value).to_owned();
                match set.iter().find(|(n, _)| *n == name) {
                    Some((_, before)) if *before != value => {
                        return Err(format!("-x {name:?} is given twice, as {before:?} and as {value:?}"));
                    }
                    Some(_) => {}
                    None => set.push((name, value)),
                }
            }
            None if wildcard || std::env::var_os(&name).is_some() => {}
            None => warnings.push(format!("-x {name:?}: there is no such variable in mpirun's environment")),
        }
    }
    Ok((set, warnings))
}

/// Does a word of `-x` set this variable?
fn named(words: &[OsString], name: &OsStr) -> bool {
    words.iter().any(|w| w.as_bytes().split(|&c| c == b'=').next() == Some(name.as_bytes()))
}

/// What every rank finds in its environment. Open MPI's names are written for programs that look
/// at them and never read by us, so a job inside a job is not confused.
fn common_environment(line: &CommandLine, size: u32) -> Environment {
    let mut set: Environment = Vec::new();
    let size = size.to_string();
    for name in ["OMPI_COMM_WORLD_SIZE", "OMPI_WORLD_SIZE", "OMPI_UNIVERSE_SIZE", "OMPI_APP_CTX_NUM_PROCS"] {
        set.push((name.into(), (&size).into()));
    }
    set.push(("OMPI_NUM_APP_CTX".into(), "1".into()));
    set.push(("OMPI_FIRST_RANKS".into(), "0".into()));
    set.push(("OMPI_COMMAND".into(), line.program.clone()));
    set.push(("OMPI_ARGV".into(), line.arguments.join(OsStr::new(" "))));
    if let Ok(folder) = std::env::current_dir() {
        set.push(("OMPI_MCA_initial_wdir".into(), folder.into()));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn exported_variables() {
        let export = |text: &str| exported(&words(text).into_iter().map(OsString::from).collect::<Vec<_>>());
        let (set, warnings) = export("A=1 B= PATH OMPI_*").expect("sound");
        assert_eq!(set, [("A".into(), "1".into()), ("B".into(), OsString::new())]);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(export("NO_SUCH_VARIABLE_HERE").expect("a warning").1.len(), 1);
        assert!(export("=1").is_err());
        assert!(export("A=1 A=2").is_err());
        assert!(export("A*=2").is_err());
    }

    #[test]
    fn more_ranks_than_cores_are_bound_to_nothing() {
        let line = CommandLine::parse(["-n", "9999", "true"].map(OsString::from)).expect("sound");
        let plan = make(line, false).expect("a plan");
        assert!(plan.launch.oversubscribed);
        assert_eq!(plan.launch.local_ranks.len(), 9999);
        assert!(plan.launch.bindings.iter().all(Vec::is_empty));
    }
}
