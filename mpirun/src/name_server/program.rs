//! The program: one loop around one wait, in the background unless it is told otherwise.

use super::options::{self, Options, Report};
use super::register;
use crate::signals::Signals;
use crate::{failed, signals};
use oxmpi_wireup::services::NameServer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::path::PathBuf;
use std::process::ExitCode;

/// Between two attempts at what the system refused, and between two looks at callers who do not read, in nanoseconds.
const AGAIN: i64 = 100_000_000;

/// The whole program.
pub fn main() -> ExitCode {
    let options = match options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            // Where it cannot be printed there is nobody to tell.
            let _ = why.print();
            return if why.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    match begin(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            oxmpi_system::reportln!("ompi-server: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Listens, says where, and serves, by another process where it is to be in the background.
fn begin(options: &Options) -> Result<(), String> {
    let server = NameServer::new().map_err(|why| why.to_string())?;
    let uri = server.uri().to_string();
    raise_limit_of_files();
    // Nobody is told of a server that is not there.
    let own = match options.stays {
        true => std::process::id(),
        false => match detach()? {
            Some(child) => return report(options, &uri, child).map(drop),
            None => {
                let files = [register::file_of(std::process::id()), file_of(options)];
                return serve(server, &uri, false, files.into_iter().flatten().collect());
            }
        },
    };
    let files = report(options, &uri, own)?;
    serve(server, &uri, options.debug, files)
}

fn file_of(options: &Options) -> Option<PathBuf> {
    match &options.report {
        Report::File(path) => std::path::absolute(path).ok(),
        Report::Nowhere | Report::Out | Report::Err => None,
    }
}

/// Says where the server is, which is this process. Returns the files that have it.
fn report(options: &Options, uri: &str, pid: u32) -> Result<Vec<PathBuf>, String> {
    let fail = |why: String| {
        if pid != std::process::id()
            && let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed())
        {
            // A server that nobody can find is of no use. One that has ended needs no signal.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        why
    };
    // Without it the server is found by its URI.
    let entered = register::enter(pid, uri);
    match &options.report {
        Report::Nowhere => {
            if let Err(why) = &entered {
                return Err(fail(format!(
                    "nobody could find it: there is no file for its process ({why}), and no --report-uri"
                )));
            }
        }
        Report::Out => oxmpi_system::answerln!("{uri}"),
        Report::Err => oxmpi_system::reportln!("{uri}"),
        Report::File(path) => register::write(path, &format!("{uri}\n"))
            .map_err(|why| fail(format!("the URI cannot be written to {}: {why}", path.display())))?,
    }
    Ok(entered.ok().into_iter().chain(file_of(options)).collect())
}

/// Goes on in a process of its own that has no terminal. None: in that one; else its number.
fn detach() -> Result<Option<u32>, String> {
    // SAFETY: this process has one thread, so the other one may do anything.
    match unsafe { libc::fork() } {
        -1 => Err(format!("cannot go into the background: {}", std::io::Error::last_os_error())),
        0 => {
            rustix::process::setsid().map_err(failed("cannot leave the terminal"))?;
            let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null");
            let null = null.map_err(|why| format!("cannot open /dev/null: {why}"))?;
            let cannot = failed("cannot leave the terminal");
            rustix::stdio::dup2_stdin(&null).map_err(&cannot)?;
            rustix::stdio::dup2_stdout(&null).map_err(&cannot)?;
            rustix::stdio::dup2_stderr(&null).map_err(&cannot)?;
            Ok(None)
        }
        child => Ok(Some(child.cast_unsigned())),
    }
}

/// Until a signal ends it. `files` have its URI and go with it.
fn serve(mut server: NameServer, uri: &str, debug: bool, files: Vec<PathBuf>) -> Result<(), String> {
    let signals = Signals::take(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT])?;
    let say = |line: &str| {
        if debug {
            oxmpi_system::reportln!("ompi-server: {line}");
        }
    };
    say(&format!("process {} serves {uri}", std::process::id()));
    let outcome = loop {
        let (lines, trouble) = server.turn();
        lines.iter().for_each(|line| say(line));
        if let Some(why) = &trouble {
            say(&why.to_string());
        }
        if let Some(number) = signals.next() {
            say(&format!("it got {}", signals::name(number)));
            break Ok(());
        }
        // A listener that cannot be served would wake this process at once.
        let fds = if trouble.is_some() { Vec::new() } else { server.fds() };
        let mut fds: Vec<PollFd<'_>> =
            fds.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        fds.push(PollFd::new(&signals, PollFlags::IN));
        let again = Timespec { tv_sec: 0, tv_nsec: AGAIN };
        let again = (trouble.is_some() || server.is_sending()).then_some(&again);
        match poll(&mut fds, again) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => break Err(format!("cannot wait: {why}")),
        }
    };
    files.iter().for_each(|file| register::remove(file, uri));
    outcome
}

/// A connection for each process that has published something.
fn raise_limit_of_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it cannot be raised it is what it was.
    let _ = setrlimit(Resource::Nofile, limit);
}
