//! Names of services at a server (`ompi-server`), which mpirun was told of by `--ompi-server`.
//!
//! A process asks the server itself, over a connection of its own, while it makes progress. A name that it publishes lives as long as that connection, so
//! connections over which something was published are kept; one serves one question at a time, and threads that ask at once have several.

use crate::objects::Instance;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::NAME_SERVER_VARIABLE;
use oxmpi_wireup::services::{Question, Reply, Request, ServerUri};
use std::time::{Duration, Instant};

/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// The server that this process was told of; `None`: none.
pub(super) fn server() -> Result<Option<ServerUri>, Error> {
    let Some(text) = std::env::var_os(NAME_SERVER_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match text.to_str().and_then(ServerUri::parse) {
        Some(uri) => Ok(Some(uri)),
        None => {
            let what = format!("{NAME_SERVER_VARIABLE} is no URI of a server of names");
            Err(Error::new(ErrorKind::Service, what))
        }
    }
}

impl Instance {
    /// Asks the server; an error, of kind `kind`, says why there is no answer. The connection is kept where it was used before or `keeps` it
    /// for this answer.
    fn ask_server(
        &self,
        entry: &mut Entry,
        server: &ServerUri,
        request: &Request,
        kind: ErrorKind,
        keeps: impl Fn(&Reply) -> bool,
    ) -> Result<Reply, Error> {
        let failed = |why: oxmpi_wireup::Error| {
            Error::new(kind, format!("the server of names (ompi-server): {}", why.message))
        };
        let link = self.served_names().lock().pop();
        let is_kept = link.is_some();
        let mut question = Question::new(server, self.client().secret(), link, request).map_err(failed)?;
        let answer = self.wait_for(entry, Some(Instant::now() + ANSWER), |patience| match question.turn() {
            Ok(Some(reply)) => Some(Ok(reply)),
            Err(why) => Some(Err(failed(why))),
            Ok(None) => {
                patience.nap(&question.fds());
                None
            }
        });
        let reply = answer.unwrap_or_else(|| {
            let what =
                format!("the server of names (ompi-server) has not answered in {} s", ANSWER.as_secs());
            Err(Error::new(kind, what))
        })?;
        if (is_kept || keeps(&reply))
            && let Some(link) = question.into_link()
        {
            self.served_names().lock().push(link);
        }
        Ok(reply)
    }

    /// Publishes a name. SERVICE: it is published already, or the server does not answer.
    pub(super) fn publish_at(
        &self,
        entry: &mut Entry,
        server: &ServerUri,
        service: &str,
        port: &str,
    ) -> Result<(), Error> {
        let request = Request::Publish { service: service.to_owned(), port: port.to_owned() };
        let keeps = |reply: &Reply| *reply == Reply::Done;
        match self.ask_server(entry, server, &request, ErrorKind::Service, keeps)? {
            Reply::Done => Ok(()),
            Reply::Taken => Err(taken(service)),
            Reply::Full => {
                Err(Error::new(ErrorKind::Service, "the server of names has no room for more names"))
            }
            Reply::Absent | Reply::Port(_) => Err(confused(ErrorKind::Service)),
        }
    }

    /// Takes a name back. False: it is not published with this port. SERVICE: the server does not answer.
    pub(super) fn unpublish_at(
        &self,
        entry: &mut Entry,
        server: &ServerUri,
        service: &str,
        port: &str,
    ) -> Result<bool, Error> {
        let request = Request::Unpublish { service: service.to_owned(), port: port.to_owned() };
        match self.ask_server(entry, server, &request, ErrorKind::Service, |_| false)? {
            Reply::Done => Ok(true),
            Reply::Absent => Ok(false),
            Reply::Taken | Reply::Full | Reply::Port(_) => Err(confused(ErrorKind::Service)),
        }
    }

    /// Looks a name up; `None`: there is none. NAME: the server does not answer.
    pub(super) fn look_up_at(
        &self,
        entry: &mut Entry,
        server: &ServerUri,
        service: &str,
    ) -> Result<Option<String>, Error> {
        let request = Request::Lookup { service: service.to_owned() };
        match self.ask_server(entry, server, &request, ErrorKind::Name, |_| false)? {
            Reply::Port(port) => Ok(Some(port)),
            Reply::Absent => Ok(None),
            Reply::Done | Reply::Taken | Reply::Full => Err(confused(ErrorKind::Name)),
        }
    }
}

fn confused(kind: ErrorKind) -> Error {
    Error::new(kind, "the server of names (ompi-server) answers another question")
}

/// The error of a name that somebody has published.
pub(super) fn taken(service: &str) -> Error {
    Error::new(ErrorKind::Service, format!("the service {service:?} is published already"))
}
