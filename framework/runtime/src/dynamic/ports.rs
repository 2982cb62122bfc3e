//! Ports of an instance, and meeting by them (MPI 5.0 §11.9).

use super::connect::Meeting;
use crate::objects::{Communicator, Instance};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::port::{Call, Met, Port, PortName};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Error of a name that is none of a port of this process.
fn not_open(name: &str) -> Error {
    let what = match PortName::parse(name) {
        Some(_) => "this process has no such port open".to_owned(),
        None => format!("{:?} is no name of a port", name.chars().take(40).collect::<String>()),
    };
    Error::new(ErrorKind::Port, what)
}

impl Instance {
    /// How long a call at a port where nobody accepts lasts, if nothing else is said; `None`: as long as it takes.
    pub fn connect_timeout(&self) -> Option<Duration> {
        match self.host_params().connect_timeout {
            0 => None,
            seconds => Some(Duration::from_secs(seconds.into())),
        }
    }

    /// Opens a port and returns its name. `secret_in_name`: the name is the key; else the user's key is.
    pub fn open_port(&self, secret_in_name: bool) -> Result<String, Error> {
        let port = if secret_in_name { Port::of_name() } else { Port::of_user() };
        let port = port.map_err(|why| Error::new(ErrorKind::Port, why.message))?;
        let name = port.name().to_string();
        self.ports().insert(name.clone(), port);
        Ok(name)
    }

    /// Closes a port; who is on the way to it is turned away.
    pub fn close_port(&self, name: &str) -> Result<(), Error> {
        match self.ports().remove(name.trim()) {
            true => Ok(()),
            false => Err(not_open(name)),
        }
    }

    /// Meets the root of another group, and says whether it was this one's port.
    fn meet(
        &self,
        entry: &mut Entry,
        side: Side<'_>,
        within: Option<Duration>,
    ) -> Result<(Met, bool), Error> {
        let deadline = within.map(|within| Instant::now() + within);
        Ok(match side {
            Side::Accept(name) => (self.answer(entry, name, deadline)?, true),
            Side::Connect(name) => (self.call_port(entry, name, deadline)?, false),
        })
    }

    /// Waits at a port for the first who calls.
    fn answer(&self, entry: &mut Entry, name: &str, deadline: Option<Instant>) -> Result<Met, Error> {
        let port = self.ports().get(name.trim()).ok_or_else(|| not_open(name))?;
        let met = self.wait_for(entry, deadline, |patience| {
            // Another thread takes a call at the same port.
            let Some(mut port) = port.try_lock() else {
                patience.nap(&[]);
                return None;
            };
            match port.turn() {
                Ok(Some(met)) => return Some(Ok(met)),
                Err(why) => return Some(Err(Error::new(ErrorKind::Port, why.message))),
                Ok(None) => {}
            }
            if let Some(why) = port.refused() {
                self.logger()
                    .warn(oxmpi_loading::log::HOST, &format!("at a port a caller was refused: {why}"));
            }
            patience.nap(&port.fds());
            None
        });
        met.unwrap_or_else(|| Err(Error::new(ErrorKind::Port, "nobody has called at the port in time")))
    }

    /// Calls at a port until it answers.
    fn call_port(&self, entry: &mut Entry, name: &str, deadline: Option<Instant>) -> Result<Met, Error> {
        let parsed = PortName::parse(name).ok_or_else(|| not_open(name))?;
        let failed = |why: oxmpi_wireup::Error| Error::new(ErrorKind::Port, why.message);
        let mut call = Call::new(parsed, self.client().secret()).map_err(failed)?;
        let met = self.wait_for(entry, deadline, |patience| match call.turn() {
            Ok(Some(met)) => Some(Ok(met)),
            Err(why) => Some(Err(failed(why))),
            Ok(None) => {
                patience.nap(&call.fds());
                None
            }
        });
        met.unwrap_or_else(|| {
            let what = "the port is there, but nobody has accepted in time (info key timeout, parameter runtime_connect_timeout)";
            Err(Error::new(ErrorKind::Port, if call.is_there() { what } else { "the port has not answered in time" }))
        })
    }
}

/// The side that a root takes to meet another group.
pub enum Side<'a> {
    /// Waits at a port of its own.
    Accept(&'a str),
    /// Calls at another's.
    Connect(&'a str),
}

impl Communicator {
    /// Makes an inter-communicator with the group that is met at a port (MPI_Comm_accept, MPI_Comm_connect). Called by all ranks; `side` is the
    /// root's, an error in its place is one at all ranks. `within`: how long it may take to meet.
    pub fn meet_at_port(
        &self,
        entry: &mut Entry,
        root: u32,
        side: Option<Result<(Side<'_>, Option<Duration>), Error>>,
    ) -> Result<Arc<Communicator>, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "comm is an inter-communicator"));
        }
        let mut nobody_else = || None;
        let met = match side
            .map(|side| side.and_then(|(side, within)| self.instance().meet(entry, side, within)))
        {
            None => None,
            Some(Err(why)) => Some(Err(why)),
            Some(Ok((met, own_port))) => {
                Some(Ok(Meeting { met, own_port, watch: &mut nobody_else, extra: Vec::new() }))
            }
        };
        self.connect_groups(entry, root, met).map(|(made, _)| made)
    }
}
