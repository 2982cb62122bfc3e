//! The node daemon as a rank sees it: one connection, made in MPI_Init and kept until the process
//! ends, because its end is how the daemon notices that we are gone.
//!
//! **Two locks.** Requests that are answered hold `conversation` from the request to its answer,
//! so answers cannot be mixed up; but values name what they answer, may be asked for without waiting, and are put aside by
//! whoever holds `conversation` when they come. Every frame holds `outgoing` while it is written. A thread that
//! aborts the job or prints a help message needs `outgoing` only, and is never behind another
//! thread that waits at a fence. Order: `conversation`, then `outgoing`.

use super::error::{Error, ErrorKind};
use super::facts::JobFacts;
use super::frame::Inbox;
use super::jobs::JobsReply;
use super::message::{DAEMON_LIMIT, ToDaemon, ToRank};
use super::names::VERSION;
use super::polled::Polled;
use super::secret::Secret;
use super::socket;
use oxmpi_system::locks::Mutex;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A rank's connection to its node daemon.
#[derive(Debug)]
pub(super) struct Daemon {
    socket: UnixStream,
    conversation: Mutex<Conversation>,
    outgoing: Mutex<()>,
}

/// A value's name: the rank that put it, and its key.
type Name = (u32, String);

/// Frames and values that came from the daemon and were not taken yet; guarded by a lock.
#[derive(Debug)]
struct Conversation {
    inbox: Inbox,
    /// A descriptor that came and whose frame was not looked at yet.
    beside: Option<OwnedFd>,
    /// Values that were asked for, and those of them that are here.
    asked: HashMap<Name, Option<Answer>>,
    /// Replies about other jobs that nobody has taken yet, in their order.
    replies: VecDeque<JobsReply>,
}

/// The value that a rank has published under a key; `None`: none.
type Answer = Option<Vec<u8>>;

impl Conversation {
    /// The next frame that is no value and no reply about other jobs; those are put where they are waited for.
    fn next(&mut self) -> Result<Option<ToRank>, Error> {
        while let Some(frame) = self.inbox.next()? {
            match ToRank::decode(frame)? {
                ToRank::Value { proc, key, value } => match self.asked.get_mut(&(proc, key)) {
                    Some(place @ None) => *place = Some(value),
                    _ => {
                        let what = "the node daemon sent a value that nobody asked for";
                        return Err(Error::new(ErrorKind::Malformed, what));
                    }
                },
                ToRank::Jobs(reply) => self.replies.push_back(reply),
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    /// Takes in what is there: waits for something, or not. False: there is nothing.
    fn receive(&mut self, socket: &UnixStream, flags: RecvFlags) -> Result<bool, Error> {
        let mut buffer = [0; 4096];
        let (got, descriptor) = match socket::receive_with_descriptor(socket, &mut buffer, flags) {
            Err(Errno::AGAIN) => return Ok(false),
            other => other.map_err(Error::lost)?,
        };
        if got == 0 {
            return Err(Error::lost("it was closed"));
        }
        self.beside = descriptor.or(self.beside.take());
        self.inbox.extend(&buffer[..got]);
        Ok(true)
    }

    /// The value of that name, if it is here and fits; then it is not waited for any more.
    fn take(&mut self, name: &Name, room: usize) -> Polled {
        match self.asked.get(name) {
            Some(Some(Some(value))) if value.len() > room => Polled::TooLong(value.len()),
            Some(Some(_)) => Polled::Value(self.asked.remove(name).flatten().flatten()),
            _ => Polled::Waits,
        }
    }
}

impl Daemon {
    /// Connects and introduces this process.
    pub(super) fn introduce(
        name: &str,
        secret: Secret,
        rank: u32,
    ) -> Result<(Daemon, JobFacts, OwnedFd), Error> {
        let conversation = Conversation {
            inbox: Inbox::new(DAEMON_LIMIT),
            beside: None,
            asked: HashMap::new(),
            replies: VecDeque::new(),
        };
        let daemon = Daemon {
            socket: socket::connect(name)?,
            conversation: Mutex::new(conversation),
            outgoing: Mutex::new(()),
        };
        let (answer, segment) =
            daemon.ask(&ToDaemon::Hello { version: VERSION, secret, rank, pid: std::process::id() })?;
        match (answer, segment) {
            (ToRank::Facts(facts), Some(segment)) if facts.rank == rank => Ok((daemon, facts, segment)),
            (ToRank::Facts(_), None) => Err(no_descriptor("the node's segment")),
            (ToRank::Refused(why), _) => {
                Err(Error::new(ErrorKind::Refused, format!("the node daemon refuses this process: {why}")))
            }
            (other, _) => Err(unexpected("hello", &other)),
        }
    }

    /// Sends a message that is not answered.
    pub(super) fn tell(&self, message: &ToDaemon) -> Result<(), Error> {
        let bytes = message.encode().map_err(|why| Error::new(ErrorKind::TooLarge, why.to_string()))?;
        let _writing = self.outgoing.lock();
        socket::send_all(&self.socket, &bytes)
    }

    /// Sends what is not a question for a value, and waits for the answer and the descriptor beside it.
    pub(super) fn ask(&self, message: &ToDaemon) -> Result<(ToRank, Option<OwnedFd>), Error> {
        let mut conversation = self.conversation.lock();
        self.tell(message)?;
        loop {
            if let Some(answer) = conversation.next()? {
                return Ok((answer, conversation.beside.take()));
            }
            conversation.receive(&self.socket, RecvFlags::empty())?;
        }
    }

    /// The value that a rank has published; waits for the answer.
    pub(super) fn value(&self, proc: u32, key: &str) -> Result<Answer, Error> {
        let mut conversation = self.conversation.lock();
        let name = (proc, key.to_owned());
        self.ask_for_value(&mut conversation, &name)?;
        loop {
            no_other(conversation.next()?)?;
            if let Polled::Value(value) = conversation.take(&name, usize::MAX) {
                return Ok(value);
            }
            conversation.receive(&self.socket, RecvFlags::empty())?;
        }
    }

    /// Looks for the value that a rank has published, without waiting: asks at the first call, and is called again
    /// until the answer is here. Values of more than `room` bytes stay.
    pub(super) fn try_value(&self, proc: u32, key: &str, room: usize) -> Result<Polled, Error> {
        // Another thread listens; what comes for us it puts where we find it.
        let Some(mut conversation) = self.conversation.try_lock() else { return Ok(Polled::Waits) };
        let name = (proc, key.to_owned());
        self.ask_for_value(&mut conversation, &name)?;
        loop {
            no_other(conversation.next()?)?;
            match conversation.take(&name, room) {
                Polled::Waits if conversation.receive(&self.socket, RecvFlags::DONTWAIT)? => {}
                found => return Ok(found),
            }
        }
    }

    /// Sends the question for a value, unless it is under way already. The caller holds `conversation`.
    fn ask_for_value(&self, conversation: &mut Conversation, name: &Name) -> Result<(), Error> {
        if !conversation.asked.contains_key(name) {
            self.tell(&ToDaemon::Get { proc: name.0, key: name.1.clone() })?;
            conversation.asked.insert(name.clone(), None);
        }
        Ok(())
    }

    /// Takes the next reply about other jobs to the question of that number, without waiting; `None`: there is none now.
    pub(super) fn try_reply(&self, id: u32) -> Result<Option<JobsReply>, Error> {
        // Another thread listens; what comes for us it puts where we find it.
        let Some(mut conversation) = self.conversation.try_lock() else { return Ok(None) };
        loop {
            no_other(conversation.next()?)?;
            if let Some(at) = conversation.replies.iter().position(|reply| reply.id() == id) {
                return Ok(conversation.replies.remove(at));
            }
            if !conversation.receive(&self.socket, RecvFlags::DONTWAIT)? {
                return Ok(None);
            }
        }
    }

    /// Forgets replies to a question that nobody takes any more.
    pub(super) fn forget_replies(&self, id: u32) {
        self.conversation.lock().replies.retain(|reply| reply.id() != id);
    }

    /// Asks for memory that ranks of the node share under `key`; returns its descriptor and whether this rank is the
    /// first.
    pub(super) fn share(&self, key: &str, bytes: u64) -> Result<(OwnedFd, bool), Error> {
        match self.ask(&ToDaemon::Share { key: key.to_owned(), bytes })? {
            (ToRank::Shared { first }, Some(memory)) => Ok((memory, first)),
            (ToRank::Shared { .. }, None) => Err(no_descriptor("memory of the node")),
            (ToRank::NotShared { other_size, why }, _) => {
                let kind = if other_size { ErrorKind::OtherSize } else { ErrorKind::System };
                Err(Error::new(kind, why))
            }
            (other, _) => Err(unexpected("a question for memory", &other)),
        }
    }
}

/// Gets memory that ranks of another job on this node share, from their daemon, over a connection that ends with that.
pub(super) fn borrow(socket: &str, secret: Secret, key: &str, bytes: u64) -> Result<OwnedFd, Error> {
    let connection = socket::connect(socket)?;
    let question = ToDaemon::Borrow { version: VERSION, secret, key: key.to_owned(), bytes };
    let question = question.encode().map_err(|why| Error::new(ErrorKind::TooLarge, why.to_string()))?;
    socket::send_all(&connection, &question)?;
    let (mut inbox, mut beside, mut buffer) = (Inbox::new(DAEMON_LIMIT), None, [0; 4096]);
    loop {
        if let Some(frame) = inbox.next()? {
            return match (ToRank::decode(frame)?, beside) {
                (ToRank::Shared { .. }, Some(memory)) => Ok(memory),
                (ToRank::Shared { .. }, None) => Err(no_descriptor("memory of the node")),
                (ToRank::NotShared { why, .. } | ToRank::Refused(why), _) => {
                    Err(Error::new(ErrorKind::Refused, why))
                }
                (other, _) => Err(unexpected("a question for memory", &other)),
            };
        }
        let (got, descriptor) = socket::receive_with_descriptor(&connection, &mut buffer, RecvFlags::empty())
            .map_err(Error::lost)?;
        if got == 0 {
            return Err(Error::lost("it was closed"));
        }
        beside = descriptor.or(beside);
        inbox.extend(&buffer[..got]);
    }
}

/// The error of an answer whose descriptor did not come.
fn no_descriptor(of: &str) -> Error {
    let message = format!("no descriptor of {of} came; is the limit of open files (ulimit -n) reached?");
    Error::new(ErrorKind::System, message)
}

/// An error if a frame came that is no value; for those who wait for values alone.
fn no_other(answer: Option<ToRank>) -> Result<(), Error> {
    answer.map_or(Ok(()), |other| Err(unexpected("get", &other)))
}

/// The error of an answer that does not belong to the question.
pub(super) fn unexpected(question: &str, answer: &ToRank) -> Error {
    let kind = match answer {
        ToRank::Facts(_) => "facts",
        ToRank::Refused(_) => "a refusal",
        ToRank::FenceDone => "the end of a fence",
        ToRank::FenceFailed(_) => "a failed fence",
        ToRank::Value { .. } => "a value",
        ToRank::Shared { .. } => "memory",
        ToRank::NotShared { .. } => "a refusal of memory",
        ToRank::Jobs(_) => "news of another job",
    };
    Error::new(ErrorKind::Malformed, format!("the node daemon answered {question} with {kind}"))
}

#[cfg(test)]
mod tests {
    use super::super::NodeMap;
    use super::super::server::{Event, Job, Server};
    use super::*;
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(60);

    /// A server of rank 0, which is alone on the first of two nodes, and rank 0's connection.
    fn pair() -> (Server, Daemon) {
        let secret = Secret::from_bytes([7; 32]);
        let mut facts = JobFacts::alone(1, 1, "a".into());
        (facts.map, facts.size) = (NodeMap::of(&[0, 1]), 2);
        facts.node_names.push("b".into());
        let mut server = Server::new(Job { facts, secret: secret.clone() }).expect("a server");
        let name = server.name().to_owned();
        let joining = std::thread::spawn(move || Daemon::introduce(&name, secret, 0).expect("welcome").0);
        let begun = Instant::now();
        while !joining.is_finished() {
            server.turn().expect("no error");
            assert!(begun.elapsed() < LONG, "the server does not answer");
        }
        (server, joining.join().expect("it joined"))
    }

    /// Questions to ranks of the other node.
    fn wanted(server: &mut Server) -> HashSet<(u32, String)> {
        let events = server.turn().expect("no error").into_iter();
        events.filter_map(|event| matches!(event, Event::Wanted { .. }).then_some(event)).map(name).collect()
    }

    fn name(event: Event) -> (u32, String) {
        let Event::Wanted { proc, key } = event else { unreachable!("filtered") };
        (proc, key)
    }

    #[test]
    fn a_value_is_asked_for_once_and_nobody_waits() {
        let (mut server, daemon) = pair();
        let poll = |key: &str, room| daemon.try_value(1, key, room).expect("no error");
        // Nothing turns the server, so whoever waited would wait for ever.
        assert_eq!((poll("a", 9), poll("b", 9), poll("a", 9)), (Polled::Waits, Polled::Waits, Polled::Waits));
        assert_eq!(wanted(&mut server), HashSet::from([(1, "a".into()), (1, "b".into())]));
        assert_eq!(poll("a", 9), Polled::Waits);
        assert!(wanted(&mut server).is_empty(), "it was asked for already");
        // The answers come in another order, and one without a value.
        server.receive_values(1, "b", vec![(1, Some(vec![1, 2, 3]))], true);
        server.receive_values(1, "a", vec![(1, None)], true);
        assert_eq!(poll("a", 9), Polled::Value(None));
        assert_eq!((poll("b", 2), poll("b", 3)), (Polled::TooLong(3), Polled::Value(Some(vec![1, 2, 3]))));
        assert_eq!(poll("a", 9), Polled::Waits, "what is not there may be at the next question");
        assert_eq!(wanted(&mut server), HashSet::from([(1, "a".into())]));
    }

    #[test]
    fn memory_and_values_come_between_each_other() {
        let (mut server, daemon) = pair();
        assert_eq!(daemon.try_value(1, "far", 9).expect("no error"), Polled::Waits);
        assert_eq!(daemon.try_value(0, "near", 9).expect("no error"), Polled::Waits);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let (one, first) = daemon.share("m", 10).expect("there is memory");
                let (two, again) = daemon.share("m", 10).expect("as above");
                let other = daemon.share("m", 11).expect_err("another size");
                ([one, two].map(|m| rustix::fs::fstat(m).expect("a file").st_ino), first, again, other.kind)
            });
            let begun = Instant::now();
            while !asking.is_finished() {
                if !wanted(&mut server).is_empty() {
                    server.receive_values(1, "far", vec![(1, Some(vec![8]))], true);
                }
                assert!(begun.elapsed() < LONG, "the server does not answer");
            }
            let (inodes, first, again, kind) = asking.join().expect("it asked");
            assert!(first && !again && inodes[0] == inodes[1] && kind == ErrorKind::OtherSize);
        });
        assert_eq!(daemon.try_value(1, "far", 9).expect("no error"), Polled::Value(Some(vec![8])));
        assert_eq!(daemon.try_value(0, "near", 9).expect("no error"), Polled::Value(None));
    }
}
