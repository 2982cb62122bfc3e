//! The decisions and words of mpirun before its first job starts: the plan, and which signals are whose.

use super::daemon;
use crate::cli::CommandLine;
use crate::cli::environment::Change;
use crate::cli::output::Verbosity;
use crate::help::paragraph;
use crate::{name_server, plan, signals};
use oxmpi_wireup::NAME_SERVER_VARIABLE;

/// Says what the plan has to say before anything starts.
pub(super) fn tell_plan(plan: &plan::Plan, line: &CommandLine) -> Result<(), String> {
    if line.job.verbosity > Verbosity::Quiet {
        plan.warnings.iter().for_each(|warning| oxmpi_system::report!("{warning}"));
    }
    oxmpi_system::answer!("{}", plan.shown);
    oxmpi_system::report!("{}", plan.reported);
    let own = std::process::id();
    match line.job.report_pid.as_deref() {
        None => Ok(()),
        Some("-") => {
            oxmpi_system::answerln!("{own}");
            Ok(())
        }
        Some("+") => {
            oxmpi_system::reportln!("{own}");
            Ok(())
        }
        Some(file) => std::fs::write(file, format!("{own}\n"))
            .map_err(|why| paragraph("cannot-read", &[file, &why.to_string()])),
    }
}

/// The line with the server of names that it asks for, which is there, in the processes' environment.
pub(super) fn with_name_server(mut line: CommandLine) -> Result<CommandLine, String> {
    if let Some(wanted) = line.job.name_server.as_ref().filter(|_| !line.job.do_not_launch) {
        let uri = name_server::find(wanted)?;
        line.job.environment.changes.push(Change::Set(NAME_SERVER_VARIABLE.into(), uri.into()));
    }
    Ok(line)
}

/// Signals that are passed on: none (`none`), or the usual ones and those named.
pub(super) fn forwarded(asked: Option<&[i32]>) -> Vec<i32> {
    let usual = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGTSTP, libc::SIGCONT, libc::SIGABRT, libc::SIGALRM];
    match asked {
        Some([]) => Vec::new(),
        more => usual.into_iter().chain(more.unwrap_or_default().iter().copied()).collect(),
    }
}

/// Signals that end the job and those that are passed on to it. A signal that mpirun was told to ignore (nohup,
/// a job in a shell's background) stays ignored.
pub(super) fn wanted_signals(forwarded: &[i32]) -> Vec<i32> {
    let mut all = vec![libc::SIGCHLD];
    let ending = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    all.extend(ending.iter().chain(forwarded).filter(|&&number| !signals::is_ignored(number)));
    all
}

/// A daemon that cannot be started is reported before there is a job.
pub(super) fn no_daemon(why: &daemon::CannotStart) -> String {
    paragraph("no-daemon", &[&why.reason, &why.looked_at])
}
