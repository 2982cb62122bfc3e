//! mpirun for a process that no launcher has started and which asks for a job (`oxmpi_wireup::own_launcher` says how the two get together).
//!
//! It is an ordinary mpirun whose first job is one stand-in. The beginning differs: it leaves the process that started it, and its job has
//! the numbers and the secret of that process.

use crate::cli::{CommandLine, Refusal};
use oxmpi_wireup::own_launcher::{Identity, OPTION, read_line};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;

/// The option of the daemon program by which it is a stand-in.
pub(crate) const STAND_IN: &str = "--stand-in";

/// The process for which this mpirun is.
pub(super) struct Alone {
    pub(super) identity: Identity,
    pub(super) process: u32,
}

/// Whether the command line asks for that.
pub(super) fn is_asked_for(words: &[OsString]) -> bool {
    words == [OsStr::new(OPTION)]
}

/// Learns for which process this mpirun is, and goes into the background. Returns the command line of its first job. Called while there is
/// one thread.
pub(super) fn begin() -> Result<(CommandLine, Alone), String> {
    let foreign = "a library starts mpirun in this way, for a process that asks for others (MPI_Comm_spawn)";
    let stdin = rustix::stdio::stdin().as_fd().try_clone_to_owned().map_err(|why| why.to_string())?;
    let line = read_line(&mut File::from(stdin)).ok_or(foreign)?;
    let identity = Identity::parse(&line).ok_or(foreign)?;
    let peer = rustix::net::sockopt::socket_peercred(rustix::stdio::stdin()).map_err(|_| foreign)?;
    let process = u32::try_from(peer.pid.as_raw_nonzero().get()).map_err(|_| foreign)?;
    // SAFETY: this process has one thread, so the child has everything that it needs; the parent ends at once, without
    // what the two share being written or taken down.
    match unsafe { libc::fork() } {
        -1 => return Err(format!("cannot go into the background: {}", std::io::Error::last_os_error())),
        0 => {}
        // SAFETY: as above.
        _ => unsafe { libc::_exit(0) },
    }
    // The terminal's signals are for the process.
    let _ = rustix::process::setsid();
    let mut words: Vec<OsString> =
        ["--host", "localhost:*", "--bind-to", "none", "-n", "1"].map(OsString::from).into();
    words.push(super::daemon::path().into_os_string());
    words.push(STAND_IN.into());
    let line = CommandLine::parse(words).map_err(|why| match why {
        Refusal::Clap(why) => why.to_string(),
        Refusal::Text(text) | Refusal::Say(text) => text,
    })?;
    Ok((line, Alone { identity, process }))
}
