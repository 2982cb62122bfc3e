//! The node daemon as a rank sees it: one connection, made in MPI_Init and kept until the process
//! ends, because its end is how the daemon notices that we are gone.
//!
//! **Two locks.** Requests that are answered hold `conversation` from the request to its answer,
//! so answers cannot be mixed up; every frame holds `outgoing` while it is written. A thread that
//! aborts the job or prints a help message needs `outgoing` only, and is never behind another
//! thread that waits at a fence. Order: `conversation`, then `outgoing`.

use super::frame::Inbox;
use super::message::{DAEMON_LIMIT, ToDaemon, ToRank};
use super::secret::Secret;
use super::{Error, ErrorKind, JobFacts, VERSION, socket};
use crate::locks::Mutex;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

#[derive(Debug)]
pub(super) struct Daemon {
    socket: UnixStream,
    conversation: Mutex<Inbox>,
    outgoing: Mutex<()>,
}

impl Daemon {
    /// Connects and introduces this process.
    pub(super) fn introduce(
        name: &str,
        secret: Secret,
        rank: u32,
    ) -> Result<(Daemon, JobFacts, OwnedFd), Error> {
        let daemon = Daemon {
            socket: socket::connect(name)?,
            conversation: Mutex::new(Inbox::new(DAEMON_LIMIT)),
            outgoing: Mutex::new(()),
        };
        daemon.tell(&ToDaemon::Hello { version: VERSION, secret, rank, pid: std::process::id() })?;
        let mut segment = None;
        let answer = daemon.answer(&mut daemon.conversation.lock(), &mut segment)?;
        match (answer, segment) {
            (ToRank::Facts(facts), Some(segment)) if facts.rank == rank => Ok((daemon, facts, segment)),
            (ToRank::Facts(_), None) => Err(Error::new(
                ErrorKind::Malformed,
                "the node daemon sent no shared segment; is the limit of open files (ulimit -n) reached?",
            )),
            (ToRank::Refused(why), _) => {
                Err(Error::new(ErrorKind::Refused, format!("the node daemon refuses this process: {why}")))
            }
            (other, _) => Err(unexpected("hello", &other)),
        }
    }

    /// Sends without an answer.
    pub(super) fn tell(&self, message: &ToDaemon) -> Result<(), Error> {
        let bytes = message.encode().map_err(|why| Error::new(ErrorKind::TooLarge, why.to_string()))?;
        let _writing = self.outgoing.lock();
        socket::send_all(&self.socket, &bytes)
    }

    /// Sends and waits for the answer.
    pub(super) fn ask(&self, message: &ToDaemon) -> Result<ToRank, Error> {
        let mut inbox = self.conversation.lock();
        self.tell(message)?;
        self.answer(&mut inbox, &mut None)
    }

    fn answer(&self, inbox: &mut Inbox, beside: &mut Option<OwnedFd>) -> Result<ToRank, Error> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(frame) = inbox.next()? {
                return Ok(ToRank::decode(frame)?);
            }
            let (got, descriptor) =
                socket::receive_with_descriptor(&self.socket, &mut buffer).map_err(Error::lost)?;
            if got == 0 {
                return Err(Error::lost("it was closed"));
            }
            if beside.is_none() {
                *beside = descriptor;
            }
            inbox.extend(&buffer[..got]);
        }
    }
}

/// An answer that does not belong to the question.
pub(super) fn unexpected(question: &str, answer: &ToRank) -> Error {
    let kind = match answer {
        ToRank::Facts(_) => "facts",
        ToRank::Refused(_) => "a refusal",
        ToRank::FenceDone => "the end of a fence",
        ToRank::FenceFailed(_) => "a failed fence",
        ToRank::Value(_) => "a value",
    };
    Error::new(ErrorKind::Malformed, format!("the node daemon answered {question} with {kind}"))
}
