//! A question to a server of names: a call, unless there is a connection already, and one answer.

use super::uri::ServerUri;
use super::words::{LIMIT, Reply, Request};
use crate::error::{Error, ErrorKind};
use crate::port::{Call, Link};
use crate::secret::Secret;
use std::os::fd::{AsFd, BorrowedFd};

/// A question under way.
#[derive(Debug)]
pub struct Question {
    stage: Stage,
    request: Vec<u8>,
}

#[derive(Debug)]
enum Stage {
    Calling(Box<Call>),
    Asked(Link),
    Over,
}

impl Question {
    /// Begins to ask. `tree`: the secret of this process's mpirun. `link`: from an earlier question to the same server. An error: this process
    /// has not the key, or a name is too long.
    pub fn new(
        uri: &ServerUri,
        tree: &Secret,
        link: Option<Link>,
        request: &Request,
    ) -> Result<Question, Error> {
        let too_long = |why| Error::new(ErrorKind::Refused, format!("it cannot be asked: {why}"));
        let request = request.encode().map_err(too_long)?;
        let stage = match link {
            Some(mut link) => {
                link.send(&request);
                Stage::Asked(link)
            }
            None => Stage::Calling(Box::new(Call::new(uri.0.clone(), tree)?)),
        };
        Ok(Question { stage, request })
    }

    /// Does all that can be done without waiting; `Some`: the answer. An error of kind `Refused`: the server does not want this process; `Lost`: there
    /// is none, or it has gone.
    pub fn turn(&mut self) -> Result<Option<Reply>, Error> {
        if let Stage::Calling(call) = &mut self.stage {
            let Some(met) = call.turn()? else { return Ok(None) };
            let mut link = met.link.with_limit(LIMIT);
            link.send(&self.request);
            self.stage = Stage::Asked(link);
        }
        let Stage::Asked(link) = &mut self.stage else { return Ok(None) };
        let heard = link.turn().and_then(|()| link.take());
        let frame = match heard {
            Ok(None) => return Ok(None),
            Ok(Some(frame)) => frame,
            Err(why) => {
                self.stage = Stage::Over;
                return Err(Error::new(ErrorKind::Lost, format!("the server has gone: {}", why.message)));
            }
        };
        let reply = Reply::decode(&frame);
        reply
            .map(Some)
            .map_err(|why| Error::new(ErrorKind::Lost, format!("the server answers something else: {why}")))
    }

    /// Descriptors that change when something can be done.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Calling(call) => call.fds(),
            Stage::Asked(link) => vec![link.as_fd()],
            Stage::Over => Vec::new(),
        }
    }

    /// The connection, behind an answer: what was published over it lives as long as it is there.
    pub fn into_link(self) -> Option<Link> {
        match self.stage {
            Stage::Asked(link) => Some(link),
            Stage::Calling(_) | Stage::Over => None,
        }
    }
}
