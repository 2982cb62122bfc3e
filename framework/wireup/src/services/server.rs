//! The server: callers who have proved themselves, and what they have published.

use super::uri::ServerUri;
use super::words::{LIMIT, Reply, Request};
use crate::error::Error;
use crate::port::{Link, Port};
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

/// Most names.
const MOST: usize = 1 << 16;
/// Answers that a caller may leave unread.
const UNREAD: usize = 1 << 20;

/// A name, and the caller over whose connection it was published.
#[derive(Debug)]
struct Published {
    port: String,
    by: u64,
}

/// See the module's head.
#[derive(Debug)]
pub struct NameServer {
    port: Port,
    callers: BTreeMap<u64, Link>,
    next: u64,
    names: BTreeMap<String, Published>,
}

impl NameServer {
    /// Listens for this user's processes; makes the user's key where there is none.
    pub fn new() -> Result<NameServer, Error> {
        Ok(NameServer::at(Port::of_user()?))
    }

    pub(super) fn at(port: Port) -> NameServer {
        NameServer { port, callers: BTreeMap::new(), next: 0, names: BTreeMap::new() }
    }

    /// The URI, for those who are to call.
    pub fn uri(&self) -> ServerUri {
        ServerUri(self.port.name().clone())
    }

    /// Descriptors that change when there is something to do.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let callers = self.callers.values().map(std::os::fd::AsFd::as_fd);
        self.port.fds().into_iter().chain(callers).collect()
    }

    /// Callers for whom answers wait, which are sent when they read.
    pub fn is_sending(&self) -> bool {
        self.callers.values().any(Link::is_sending)
    }

    /// Does all there is to do, and returns a line for each thing done. An error: nobody can be taken at the moment, those who are there are served.
    pub fn turn(&mut self) -> (Vec<String>, Option<Error>) {
        let mut lines = Vec::new();
        let trouble = loop {
            match self.port.turn() {
                Ok(Some(met)) => {
                    lines.push(format!("caller {} comes", self.next));
                    self.callers.insert(self.next, met.link.with_limit(LIMIT));
                    self.next += 1;
                }
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
        };
        lines.extend(self.port.refused().map(|why| format!("refused: {why}")));
        let all: Vec<u64> = self.callers.keys().copied().collect();
        for id in all {
            if let Err(why) = self.serve(id, &mut lines) {
                self.callers.remove(&id);
                self.names.retain(|_, published| published.by != id);
                lines.push(format!("caller {id} goes: {why}"));
            }
        }
        (lines, trouble)
    }

    /// Serves a caller. The error: it is gone, or has to go.
    fn serve(&mut self, id: u64, lines: &mut Vec<String>) -> Result<(), String> {
        let lost = |why: Error| why.message;
        let Some(link) = self.callers.get_mut(&id) else { return Ok(()) };
        link.turn().map_err(lost)?;
        loop {
            let Some(link) = self.callers.get_mut(&id) else { return Ok(()) };
            let Some(frame) = link.take().map_err(lost)? else { break };
            let request = Request::decode(&frame).map_err(|why| format!("it sent something else: {why}"))?;
            lines.push(format!("caller {id}: {request:?}"));
            let reply = self.obey(id, request);
            lines.push(format!("caller {id} is told: {reply:?}"));
            let frame = reply.encode().map_err(|why| why.to_string())?;
            let Some(link) = self.callers.get_mut(&id) else { return Ok(()) };
            link.send(&frame);
            link.turn().map_err(lost)?;
            if link.unsent() > UNREAD {
                return Err("it asks and does not read the answers".into());
            }
        }
        Ok(())
    }

    fn obey(&mut self, by: u64, request: Request) -> Reply {
        match request {
            Request::Publish { service, .. } if self.names.contains_key(&service) => Reply::Taken,
            Request::Publish { .. } if self.names.len() >= MOST => Reply::Full,
            Request::Publish { service, port } => {
                self.names.insert(service, Published { port, by });
                Reply::Done
            }
            Request::Lookup { service } => match self.names.get(&service) {
                Some(published) => Reply::Port(published.port.clone()),
                None => Reply::Absent,
            },
            Request::Unpublish { service, port } => {
                match self.names.get(&service).is_some_and(|published| published.port.trim() == port.trim()) {
                    true => {
                        self.names.remove(&service);
                        Reply::Done
                    }
                    false => Reply::Absent,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Question;
    use super::*;
    use crate::error::ErrorKind;
    use crate::secret::Secret;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(60);

    fn tree() -> Secret {
        Secret::from_bytes([1; 32])
    }

    fn server() -> NameServer {
        NameServer::at(Port::of_tree(&tree()).expect("a port"))
    }

    fn begin(server: &NameServer, link: Option<Link>, request: &Request) -> Question {
        let uri = ServerUri::parse(&server.uri().to_string()).expect("its own");
        Question::new(&uri, &tree(), link, request).expect("a key")
    }

    /// Turns of both until there is an answer.
    fn ask(server: &mut NameServer, link: Option<Link>, request: &Request) -> (Reply, Link) {
        let (mut question, begun) = (begin(server, link, request), Instant::now());
        loop {
            assert!(server.turn().1.is_none());
            if let Some(reply) = question.turn().expect("it answers") {
                return (reply, question.into_link().expect("it is there"));
            }
            assert!(begun.elapsed() < LONG, "nobody answers {request:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn publish(service: &str) -> Request {
        Request::Publish { service: service.into(), port: format!("port of {service}") }
    }

    fn look_up(service: &str) -> Request {
        Request::Lookup { service: service.into() }
    }

    #[test]
    fn names_are_published_found_and_taken_back() {
        let mut server = server();
        assert_eq!(ask(&mut server, None, &look_up("a")).0, Reply::Absent);
        let (reply, link) = ask(&mut server, None, &publish("a"));
        assert_eq!(reply, Reply::Done);
        assert_eq!(ask(&mut server, None, &publish("a")).0, Reply::Taken);
        assert_eq!(ask(&mut server, None, &look_up("a")).0, Reply::Port("port of a".into()));
        let other = Request::Unpublish { service: "a".into(), port: "another".into() };
        let (reply, link) = ask(&mut server, Some(link), &other);
        assert_eq!(reply, Reply::Absent);
        let own = Request::Unpublish { service: "a".into(), port: "port of a ".into() };
        let (reply, link) = ask(&mut server, Some(link), &own);
        assert_eq!(reply, Reply::Done);
        assert_eq!(ask(&mut server, Some(link), &look_up("a")).0, Reply::Absent);
    }

    #[test]
    fn what_a_process_has_published_goes_with_it() {
        let mut server = server();
        let (_, link) = ask(&mut server, None, &publish("a"));
        let (_, kept) = ask(&mut server, None, &publish("b"));
        drop(link);
        let begun = Instant::now();
        while ask(&mut server, None, &look_up("a")).0 != Reply::Absent {
            assert!(begun.elapsed() < LONG, "the name stays");
        }
        assert_eq!(ask(&mut server, None, &look_up("b")).0, Reply::Port("port of b".into()));
        drop(kept);
    }

    #[test]
    fn strangers_wrong_words_and_an_end_under_way() {
        let mut server = server();
        let uri = ServerUri::parse(&server.uri().to_string()).expect("its own");
        let mut stranger =
            Question::new(&uri, &Secret::from_bytes([2; 32]), None, &look_up("a")).expect("a key");
        let begun = Instant::now();
        let why = loop {
            server.turn();
            match stranger.turn() {
                Ok(None) => assert!(begun.elapsed() < LONG, "nobody is refused"),
                other => break other.expect_err("it does not know the key"),
            }
        };
        assert_eq!(why.kind, ErrorKind::Refused);
        // A caller that says nonsense goes, and nobody else.
        let (_, mut link) = ask(&mut server, None, &publish("a"));
        link.send(b"\xff nonsense");
        link.turn().expect("open");
        while ask(&mut server, None, &look_up("a")).0 != Reply::Absent {
            assert!(begun.elapsed() < LONG, "it is kept");
        }
        // The server ends while a question is under way.
        let mut question = begin(&server, None, &look_up("a"));
        while server.callers.is_empty() {
            assert_eq!(question.turn().expect("on its way"), None);
            server.port.turn().expect("it listens").map(|met| server.callers.insert(99, met.link));
            assert!(begun.elapsed() < LONG, "nobody comes");
        }
        drop(server);
        let why = loop {
            match question.turn() {
                Ok(None) => assert!(begun.elapsed() < LONG, "it waits for ever"),
                Ok(Some(reply)) => panic!("{reply:?}"),
                Err(why) => break why,
            }
        };
        assert_eq!(why.kind, ErrorKind::Lost);
    }

    #[test]
    fn a_uri_is_no_port_and_a_port_no_uri() {
        let server = server();
        let text = server.uri().to_string();
        assert!(crate::port::PortName::parse(&text).is_none());
        assert!(ServerUri::parse(&server.port.name().to_string()).is_none());
        assert!(ServerUri::parse("oxmpi-names1:").is_none() && ServerUri::parse("").is_none());
    }
}
