//! The options of a job and of its programs, as types: what the command line is read into.

use super::environment::EnvironmentOptions;
use super::output::{AtTimeLimit, Buffering, Output, Stdin, Verbosity};
use super::policy::{Binding, Display, Mapping, RankBy};
use crate::name_server::Wanted;
use std::ffi::OsString;
use std::path::PathBuf;

/// A whole command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub job: JobOptions,
    /// At least one; ranks follow their order.
    pub apps: Vec<App>,
}

/// Options of the whole job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOptions {
    pub mapping: Mapping,
    pub rank_by: Option<RankBy>,
    pub binding: Binding,
    pub display: Display,
    pub do_not_launch: bool,
    pub default_hostfile: Option<PathBuf>,
    /// `--gmca`.
    pub parameters: Vec<(String, String)>,
    /// `--tune`, `-am`: names of files.
    pub tune: Vec<OsString>,
    pub prefix: Option<PathBuf>,
    /// Nodes find the installation by their own PATH.
    pub no_prefix: bool,
    /// Processes on other machines have all of mpirun's environment.
    pub forward_environment: bool,
    pub environment: EnvironmentOptions,
    pub universe: Option<u32>,
    pub output: Output,
    pub stdin: Stdin,
    pub buffering: Buffering,
    pub at_time_limit: AtTimeLimit,
    pub verbosity: Verbosity,
    pub report_pid: Option<String>,
    /// `--ompi-server`: where names of services are.
    pub name_server: Option<Wanted>,
    /// Signals to pass on; None: the usual ones.
    pub forward_signals: Option<Vec<i32>>,
    /// A process that ends with another status than 0 ends the job.
    pub status_ends_job: bool,
    /// Of equal messages of several processes one is shown, and how many there were.
    pub aggregate_help: bool,
    /// Seconds that the start of a job may take, the first one or a later one.
    pub spawn_timeout: Option<u64>,
    /// mpirun's status follows from the command line's job alone.
    pub children_apart: bool,
    pub(super) timeout: Option<u64>,
}

/// One program of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct App {
    pub ranks: Option<u32>,
    /// `--host` and MPICH's `-hosts`, as they were given; true: without `:N` a host has all its cores.
    pub hosts: Vec<(String, bool)>,
    pub hostfiles: Vec<PathBuf>,
    pub wdir: Option<PathBuf>,
    pub path: Option<OsString>,
    pub environment: EnvironmentOptions,
    /// `--mca`.
    pub parameters: Vec<(String, String)>,
    pub soft: Option<String>,
    pub file: Option<String>,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}
