//! The process of which `--explain` tells values: the first of a job that mpirun would start on this machine, as mpirun plans it.

use super::options::Options;
use crate::cli::CommandLine;
use crate::{cores, plan};
use oxmpi_loading::registry::{Level, Process};
use oxmpi_wireup::topology::SYSTEM;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The process, and which one it is, in words.
pub fn first(options: &Options) -> Result<(Process, String), String> {
    let ranks = match options.processes {
        Some(ranks) => ranks,
        None => cores::count(Path::new(SYSTEM), &cores::allowed()?).min(cores::available()),
    };
    // The machine's own name, so that no hostfile and no allocation has a say; what is started is never looked at.
    let program = std::env::current_exe().map_err(|why| format!("this program cannot be found: {why}"))?;
    let words = ["--host", &format!("localhost:{ranks}"), "-n", &ranks.to_string()].map(OsString::from);
    let line = CommandLine::parse(words.into_iter().chain([program.into_os_string()]))
        .map_err(|_| format!("a job of {ranks} processes cannot be planned"))?;
    let launch = plan::make(&line, false, plan::survey(&line)?, BTreeMap::new())?.launch;
    let bound = launch.places.first().map(|place| place.processors.len()).filter(|own| *own > 0);
    let own = bound.map(|own| u32::try_from(own).unwrap_or(u32::MAX).min(launch.cores));
    let level = match &*options.thread_level {
        "multiple" => Level::Multiple,
        "serialized" => Level::Serialized,
        "funneled" => Level::Funneled,
        _ => Level::Single,
    };
    let process = Process::like(ranks, launch.cores, own, level).crowded(launch.oversubscribed);
    let many = if ranks == 1 { "one process".into() } else { format!("{ranks} processes") };
    let level = options.thread_level.to_ascii_uppercase();
    Ok((process, format!("{many} on this machine, MPI_THREAD_{level} (-n N and --thread-level for another)")))
}
