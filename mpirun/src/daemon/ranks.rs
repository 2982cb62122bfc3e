//! Starting one rank.
//!
//! Between fork and exec the child arranges what must stand before the program runs: a process
//! group of its own (so that signals reach what a shell starts for it), the death that follows its
//! parent's, its processors, and the signal mask that mpirun was started with. Only system calls
//! are made there, nothing that allocates or locks.

use super::lines::Output;
use crate::link::{ARGUMENTS, Launch};
use crate::{failed, signals, too_long};
use oxmpi_wireup::limits;
use oxmpi_wireup::{RANK_VARIABLE, SECRET_VARIABLE, SOCKET_VARIABLE};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use rustix::thread::CpuSet;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A rank's process, as it was started.
#[derive(Debug)]
pub struct Rank {
    /// Also the number of its process group.
    pub pid: Pid,
    pub running: bool,
    /// Standard output and standard error; None: closed.
    pub outputs: [Option<Output>; 2],
}

/// Why a rank cannot be started.
#[derive(Debug)]
pub struct Refused {
    pub errno: i32,
    /// Limits of the system that may be the cause.
    pub limits: String,
}

impl From<std::io::Error> for Refused {
    fn from(why: std::io::Error) -> Refused {
        let errno = why.raw_os_error().unwrap_or(libc::EIO);
        Refused { errno, limits: limits::named(errno) }
    }
}

impl From<Errno> for Refused {
    fn from(why: Errno) -> Refused {
        std::io::Error::from(why).into()
    }
}

/// Starts the rank with this place on the node.
pub fn start(
    launch: &Launch,
    local: usize,
    socket: &str,
    mask: &libc::sigset_t,
    stdin: Stdio,
) -> Result<Rank, Refused> {
    let program = &launch.programs[launch.places[local].program as usize];
    if let Some(folder) = program.folder.as_ref().filter(|_| !program.any_folder)
        && !crate::program::is_folder(folder)
    {
        // mpirun may have had no way to look.
        return Err(Errno::NOTDIR.into());
    }
    let mut command = command(launch, local);
    set_environment(&mut command, launch, local, socket);
    command.stdin(stdin);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let keeper = rustix::process::getpid();
    let processors = processor_set(&launch.places[local].processors);
    let mask = *mask;
    // SAFETY: the closure runs in the child between fork and exec. It makes system calls only; it
    // neither allocates nor takes a lock (errors are made from numbers).
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid() != Some(keeper) {
                // The daemon died before the line above: nobody would end us.
                return Err(rustix::io::Errno::SRCH.into());
            }
            if let Some(processors) = &processors {
                rustix::thread::sched_setaffinity(None, processors)?;
            }
            signals::set_mask(&mask);
            Ok(())
        });
    }
    let is_too_long = |why: &std::io::Error| why.raw_os_error() == Some(libc::E2BIG);
    let mut started = command.spawn();
    if started.as_ref().is_err_and(is_too_long) {
        // A variable that is there to be looked at must not keep a program from starting.
        started = command.env_remove(ARGUMENTS).spawn();
    }
    let mut child = started.map_err(|why| {
        let errno = why.raw_os_error().unwrap_or(libc::EIO);
        Refused { errno, limits: too_long::named(errno, &command, program.clear) }
    })?;
    let out = Output::new(child.stdout.take().map(OwnedFd::from).ok_or_else(no_pipe)?, launch.raw)?;
    let err = Output::new(child.stderr.take().map(OwnedFd::from).ok_or_else(no_pipe)?, launch.raw)?;
    Ok(Rank { pid: Pid::from_child(&child), running: true, outputs: [Some(out), Some(err)] })
}

/// The program of this place, in its folder and environment.
fn command(launch: &Launch, local: usize) -> Command {
    let program = &launch.programs[launch.places[local].program as usize];
    let mut command = Command::new(&program.program);
    command.args(&program.arguments);
    if program.clear {
        command.env_clear();
    }
    for name in &program.unset {
        command.env_remove(name);
    }
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    let usable = |folder: &&std::ffi::OsString| !program.any_folder || std::path::Path::new(folder).is_dir();
    if let Some(folder) = program.folder.as_ref().filter(usable) {
        command.current_dir(folder).env("PWD", folder);
    }
    command
}

fn no_pipe() -> std::io::Error {
    std::io::Error::other("a pipe that was asked for is missing")
}

fn set_environment(command: &mut Command, launch: &Launch, local: usize, socket: &str) {
    let rank = launch.local_ranks[local].to_string();
    let place = local.to_string();
    let local_size = launch.local_ranks.len().to_string();
    command
        .env(SOCKET_VARIABLE, socket)
        .env(SECRET_VARIABLE, launch.secret.to_hex())
        .env(RANK_VARIABLE, &rank)
        .env("OMPI_COMM_WORLD_RANK", &rank)
        .env("OMPI_COMM_WORLD_LOCAL_RANK", &place)
        .env("OMPI_COMM_WORLD_NODE_RANK", &place)
        .env("OMPI_COMM_WORLD_LOCAL_SIZE", &local_size)
        .env("OMPI_WORLD_LOCAL_SIZE", &local_size)
        .env("MPI_LOCALRANKID", &place)
        .env("MPI_LOCALNRANKS", &local_size);
}

fn processor_set(processors: &[u32]) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for &processor in processors.iter().filter(|&&p| (p as usize) < CpuSet::MAX_CPU) {
        set.set(processor as usize);
    }
    (set.count() > 0).then_some(set)
}

/// Takes the link to mpirun from standard output and puts nothing in its place.
pub fn take_link() -> Result<UnixStream, String> {
    let link = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)
        .map_err(failed("there is no link to mpirun; mpirun starts this program, nobody else"))?;
    if rustix::net::sockopt::socket_type(&link) != Ok(rustix::net::SocketType::STREAM) {
        return Err(
            "standard output is not the link to mpirun; mpirun starts this program, nobody else".into()
        );
    }
    let null = open_null()?;
    rustix::stdio::dup2_stdout(&null).map_err(failed("cannot close standard output"))?;
    Ok(UnixStream::from(link))
}

/// Puts nothing in the place of standard input.
pub fn close_stdin() -> Result<(), String> {
    rustix::stdio::dup2_stdin(open_null()?).map_err(failed("cannot close standard input"))
}

/// And in that of standard output.
pub fn close_stdout() -> Result<(), String> {
    rustix::stdio::dup2_stdout(open_null()?).map_err(failed("cannot close standard output"))
}

fn open_null() -> Result<OwnedFd, String> {
    rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(failed("cannot open /dev/null"))
}

/// The library of another MPI that the program of this place is linked with, as far as that can be seen in its file.
pub fn other_mpi(launch: &Launch, local: usize) -> Option<String> {
    let program = launch.programs.get(launch.places.get(local)?.program as usize)?;
    let folder = program.folder.as_ref().map(Path::new);
    crate::program::other_mpi(&program.program, folder.filter(|folder| folder.is_dir()))
}

impl Rank {
    /// Everything in the rank's process group.
    pub(super) fn signal(&self, number: i32) {
        if let Some(signal) = Signal::from_named_raw(number) {
            // A group that is gone needs no signal.
            let _ = rustix::process::kill_process_group(self.pid, signal);
        }
    }

    pub(super) fn number(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }
}
