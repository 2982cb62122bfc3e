//! An mpirun of its own for a process that no launcher has started, from when the process asks for a job on.
//!
//! **A stand-in.** The process starts mpirun with [`OPTION`], which is on no command line of a user's. The job of that mpirun is a program of
//! one process (`oxmpid --stand-in`) that does nothing: its place in the wire-up is taken by the process itself, which connects to the node
//! daemon as rank 0. So its words about other jobs go as any rank's do, shared memory of the node can be had, and mpirun knows with whom it is
//! connected.
//!
//! **One socket** ties the two together. It is mpirun's standard input, and with that the stand-in's: the process writes a line on it by which
//! mpirun's job gets the same numbers and the secret that the process has already ([`Identity`]), so the secret is on no command line; the stand-in
//! writes the name of the daemon's socket; and its end is the end of the process for the stand-in, which ends its job. The other way
//! round the stand-in, when it is ended as a rank is, ends the process.
//!
//! mpirun puts itself into the background, a process of init's: a child that a program does not know of would be found by its `wait`.

use super::error::{Error, ErrorKind};
use super::facts::JobFacts;
use super::remote::Daemon;
use super::secret::Secret;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The first word on mpirun's command line.
pub const OPTION: &str = "--for-singleton";
/// How long mpirun and its daemon may take to start.
const START: Duration = Duration::from_secs(60);
const HEAD: &str = "oxmpi-singleton";
/// Longest line on the socket, in either direction.
const LINE: usize = 512;

/// Numbers and secret of a process that runs, for the job that stands for it.
#[derive(Debug)]
pub struct Identity {
    pub job_id: u64,
    pub tree: u64,
    pub secret: Secret,
}

impl Identity {
    fn to_line(&self) -> String {
        format!("{HEAD} {:x} {:x} {}\n", self.job_id, self.tree, self.secret.to_hex())
    }

    /// Reads a line without its end; `None`: it is no such line.
    pub fn parse(line: &str) -> Option<Identity> {
        let mut words = line.split(' ');
        (words.next()? == HEAD).then_some(())?;
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let (job_id, tree) = (number()?, number()?);
        let secret = Secret::from_hex(words.next()?)?;
        words.next().is_none().then_some(Identity { job_id, tree, secret })
    }
}

/// The daemon of such an mpirun.
#[derive(Debug)]
pub(super) struct OwnLauncher {
    pub(super) daemon: Daemon,
    /// The name of its socket.
    pub(super) keeper: String,
    /// Closed with the process.
    _tie: UnixStream,
}

impl OwnLauncher {
    /// Starts mpirun and takes the place of its rank.
    pub(super) fn start(program: &Path, facts: &JobFacts, secret: &Secret) -> Result<OwnLauncher, Error> {
        let cannot = |why: std::io::Error| {
            let what =
                format!("{}, which is to start processes for this one, cannot be started", program.display());
            Error::new(ErrorKind::System, format!("{what}: {why}"))
        };
        let (mut ours, theirs) = UnixStream::pair().map_err(cannot)?;
        // Nobody waits longer than that; descriptors are closed when other programs are started.
        ours.set_read_timeout(Some(START)).map_err(cannot)?;
        let mut command = Command::new(program);
        let mut child =
            command.arg(OPTION).stdin(Stdio::from(OwnedFd::from(theirs))).spawn().map_err(cannot)?;
        // The command has the other end, whose closing is to be seen.
        drop(command);
        let identity = Identity { job_id: facts.job_id, tree: facts.tree, secret: secret.clone() };
        let written = ours.write_all(identity.to_line().as_bytes());
        // It goes into the background at once. A program that ignores SIGCHLD leaves no status to be had.
        let status = child.wait();
        let ended = |how: &str| {
            let what = format!("{}, which is to start processes for this one, {how}", program.display());
            Error::new(ErrorKind::System, what)
        };
        if let Some(status) = status.ok().filter(|status| !status.success()) {
            return Err(ended(&format!("has ended ({status})")));
        }
        written.map_err(|why| ended(&format!("does not listen ({why})")))?;
        let keeper = read_line(&mut ours).ok_or_else(|| ended("has ended, or does not answer"))?;
        let (daemon, ..) = Daemon::introduce(&keeper, secret.clone(), facts.rank)?;
        Ok(OwnLauncher { daemon, keeper, _tie: ours })
    }
}

/// Reads a line byte by byte, so that what is behind it stays for others; without its end. `None`: none comes.
pub fn read_line(from: &mut impl Read) -> Option<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        match from.read(&mut byte) {
            Ok(1) if byte == *b"\n" => return String::from_utf8(line).ok(),
            Ok(1) if line.len() < LINE => line.push(byte[0]),
            Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_back() {
        let identity = Identity { job_id: 7, tree: u64::MAX, secret: Secret::from_bytes([9; 32]) };
        let line = identity.to_line();
        let mut both = std::io::Cursor::new(format!("{line}rest"));
        let again = Identity::parse(&read_line(&mut both).expect("a line")).expect("sound");
        assert_eq!((again.job_id, again.tree), (7, u64::MAX));
        assert!(again.secret.matches(&[9; 32]));
        assert_eq!(read_line(&mut both), None, "no end of a line");
        for wrong in ["", "oxmpi-singleton", "oxmpi-singleton 1 2 3", &format!("{} more", line.trim_end())] {
            assert!(Identity::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(read_line(&mut std::io::Cursor::new(vec![b'a'; 2 * LINE])), None, "too long");
    }

    #[test]
    fn what_is_no_mpirun_is_an_error() {
        let facts = JobFacts::alone(1, 1, "a".into());
        let start =
            |program: &str| OwnLauncher::start(Path::new(program), &facts, &Secret::from_bytes([1; 32]));
        for program in ["/no/such/mpirun", "/bin/false", "/bin/true"] {
            let why = start(program).expect_err(program);
            assert!(why.message.contains(program), "{}", why.message);
        }
    }
}
