//! From a command line to a job: how many processes, where, bound to what, with which environment.

use crate::cli::{BindTo, CommandLine};
use crate::cores;
use crate::link::Launch;
use oxmpi_mca_params::Resolver;
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
    let params = parameters(&options.mca)?;
    let (mut environment, warnings) = exported(&options.export)?;
    environment.extend(common_environment(&line, size, &params));
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
        params,
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

/// `--mca NAME VALUE`: the same name twice with different values is an error.
fn parameters(words: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut resolver = Resolver::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in words.chunks_exact(2) {
        let (name, value) = (&pair[0], &pair[1]);
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("--mca {name:?} {value:?}: {name:?} cannot be the name of a parameter"));
        }
        resolver.command_line(name, value).map_err(|why| why.to_string())?;
        if !pairs.iter().any(|(n, _)| n == name) {
            pairs.push((name.clone(), value.clone()));
        }
    }
    Ok(pairs)
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

/// What every rank finds in its environment. Open MPI's names are written for programs that look
/// at them and never read by us, so a job inside a job is not confused.
fn common_environment(line: &CommandLine, size: u32, params: &[(String, String)]) -> Environment {
    let mut set: Environment = Vec::new();
    for (name, value) in params {
        set.push((format!("{}{name}", oxmpi_mca_params::ENVIRONMENT).into(), value.into()));
        let source = format!("{}{}{name}", oxmpi_mca_params::ENVIRONMENT, oxmpi_mca_params::SOURCE);
        set.push((source.into(), oxmpi_mca_params::SOURCE_COMMAND_LINE.into()));
    }
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
    fn a_parameter_is_given_once() {
        let pairs = parameters(&words("btl shm a 1 btl shm")).expect("the same value twice");
        assert_eq!(pairs, [("btl".into(), "shm".into()), ("a".into(), "1".into())]);
        let why = parameters(&words("btl shm btl tcp")).expect_err("two values");
        assert!(why.contains("btl") && why.contains("shm"), "{why}");
        assert!(parameters(&words("a=b 1")).is_err());
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
