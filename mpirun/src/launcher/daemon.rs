//! A node daemon as mpirun sees it: finding it, starting it, and what to do when it dies.

use crate::{descendants, signals, too_long};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, WaitOptions};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Another program to start in the daemon's place.
const VARIABLE: &str = "OXMPI_NODE_DAEMON";
/// The descriptor at which the daemon listens for others of its job.
const DOOR: &str = "OXMPI_NODE_DAEMON_DOOR";
/// After which orphans that do not end are given up.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct NodeDaemon {
    child: Child,
}

/// Why there is no daemon.
#[derive(Debug)]
pub struct CannotStart {
    pub reason: String,
    pub looked_at: String,
}

impl NodeDaemon {
    /// Starts the daemon of a node, here. Its standard output is the link: starting it then needs
    /// nothing but what an ordinary spawn does, and so no fork. `libraries`: the folder that its ranks are to look into first.
    /// `mask`: the signal mask that it gets in the place of mpirun's; that costs a fork. `door`: where it listens for other daemons.
    pub fn start(
        stdin: Stdio,
        libraries: Option<&Path>,
        mask: Option<libc::sigset_t>,
        door: Option<&TcpListener>,
    ) -> Result<(NodeDaemon, UnixStream), CannotStart> {
        let path = path();
        let because = |reason: String| CannotStart { reason, looked_at: path.display().to_string() };
        let (ours, theirs) = UnixStream::pair().map_err(|why| because(why.to_string()))?;
        let mut command = Command::new(&path);
        if let Some(libraries) = libraries {
            let before = std::env::var_os("LD_LIBRARY_PATH").filter(|folders| !folders.is_empty());
            let folders = std::iter::once(libraries.to_path_buf());
            let folders = folders.chain(before.iter().flat_map(std::env::split_paths));
            command.env(
                "LD_LIBRARY_PATH",
                std::env::join_paths(folders).map_err(|why| because(why.to_string()))?,
            );
        }
        command.stdin(stdin).stdout(Stdio::from(OwnedFd::from(theirs)));
        if let Some(mask) = mask {
            // SAFETY: the closure runs in the child between fork and exec, and makes one system call.
            unsafe {
                command.pre_exec(move || {
                    signals::set_mask(&mask);
                    Ok(())
                });
            }
        }
        // This program starts nothing else meanwhile, so nobody else inherits it.
        let inherited = |yes: bool| {
            let flags = if yes { FdFlags::empty() } else { FdFlags::CLOEXEC };
            door.is_some_and(|door| rustix::io::fcntl_setfd(door, flags).is_ok())
        };
        command.env_remove(DOOR);
        if let Some(door) = door.filter(|_| inherited(true)) {
            command.env(DOOR, door.as_raw_fd().to_string());
        }
        let child = command.spawn();
        inherited(false);
        let child = child.map_err(|why| {
            let errno = why.raw_os_error().unwrap_or(libc::EIO);
            because(format!("{why}{}", too_long::named(errno, &command, false)))
        })?;
        Ok((NodeDaemon { child }, ours))
    }

    /// Takes the socket at which this process, a daemon, listens for others of its job. None: it was given none.
    pub fn take_door() -> Option<TcpListener> {
        let number = std::env::var(DOOR).ok()?.parse::<i32>().ok().filter(|number| *number > 2)?;
        // SAFETY: this process has one thread, and nothing else looks at its environment. Its children are not to see the number.
        unsafe { std::env::remove_var(DOOR) };
        // SAFETY: the number is looked at by the kernel alone, and refused where it is no descriptor.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        let listens = rustix::net::sockopt::socket_acceptconn(fd);
        if listens != Ok(true) {
            return None;
        }
        rustix::io::fcntl_setfd(fd, FdFlags::CLOEXEC).ok()?;
        // SAFETY: it listens, and was inherited: nothing in this process has it, which has just begun.
        Some(TcpListener::from(unsafe { OwnedFd::from_raw_fd(number) }))
    }

    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// It has said goodbye, or its link is closed: it is ending.
    pub fn wait(&mut self) {
        let _ = self.child.wait();
    }

    /// Makes sure that it is gone, and says how it went.
    pub fn end_and_describe(&mut self) -> String {
        // Its link is closed, which it does not do alive; and if it did, it is of no use.
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with status {code} before the job did"),
                (_, Some(number)) => format!("was killed by {}", signals::name(number)),
                _ => format!("ended: {status}"),
            },
            Err(why) => format!("is gone ({why})"),
        }
    }
}

/// Beside this program, wherever that was moved, or where it is told.
pub fn path() -> PathBuf {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return path.into();
    }
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let folder = own.parent().unwrap_or(Path::new("/"));
    let other = folder.join("../libexec/oxmpi/oxmpid");
    let beside = folder.join("oxmpid");
    if !beside.exists() && other.exists() { other } else { beside }
}

/// False: it is a terminal that mpirun, in the background, must not read from.
pub fn may_read_stdin() -> bool {
    let stdin = rustix::stdio::stdin();
    !matches!(rustix::termios::tcgetpgrp(stdin), Ok(foreground) if foreground != rustix::process::getpgrp())
}

/// The ranks have it now. Kept here as well, who writes to it would not notice its end.
pub fn leave_stdin() {
    if let Ok(null) = std::fs::File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(null);
    }
}

/// Ends everything that a dead daemon left to us, and not these daemons and what is theirs. Some: what does not end.
pub fn end_orphans(signals: &signals::Signals, daemons: &[Pid]) -> Option<String> {
    let begin = Instant::now();
    loop {
        let left = descendants::all_but(daemons);
        if left.is_empty() {
            return None;
        }
        for &pid in &left {
            // Gone by now, or another user's.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        for &pid in &left {
            // Only those that were handed to us can be waited for, and by that go.
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if begin.elapsed() > PATIENCE {
            let pids: Vec<String> = left.iter().map(|pid: &Pid| pid.as_raw_nonzero().to_string()).collect();
            return Some(format!("processes {} do not end even by SIGKILL", pids.join(", ")));
        }
        // Until the next of them ends; the time is for one that was being forked while we looked.
        let again = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let mut fds = [PollFd::new(signals, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&again));
        while signals.next().is_some() {}
    }
}
