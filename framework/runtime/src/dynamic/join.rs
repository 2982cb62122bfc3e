//! Meeting by a socket that the program has (MPI_Comm_join): over it the two sides agree whose port it is, and one sends its name.
//!
//! Each sends a greeting with a random number; who has the lower one opens a port, whose name is the key, since whoever has the socket may join.

use super::ports::Side;
use crate::objects::Communicator;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::random_id;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SocketType, sockopt::socket_type};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

const MAGIC: [u8; 8] = *b"oxmpijn1";
/// Longest name of a port on the socket.
const LONGEST: usize = 255;
/// How long the two sides may take to meet once they have spoken.
const MEETING: Duration = Duration::from_secs(60);

fn failed(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Other, format!("the socket of MPI_Comm_join: {why}"))
}

/// Sends all, whether the socket blocks or not.
fn send_all(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Error> {
    while !bytes.is_empty() {
        match rustix::io::write(socket, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(socket, PollFlags::OUT)?,
            Err(why) => return Err(failed(why)),
        }
    }
    Ok(())
}

/// Receives all, whether the socket blocks or not.
fn receive_all(socket: BorrowedFd<'_>, into: &mut [u8]) -> Result<(), Error> {
    let mut have = 0;
    while have < into.len() {
        match rustix::io::read(socket, &mut into[have..]) {
            Ok(0) => return Err(failed("it was closed by the other side")),
            Ok(n) => have += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(socket, PollFlags::IN)?,
            Err(why) => return Err(failed(why)),
        }
    }
    Ok(())
}

fn wait(socket: BorrowedFd<'_>, events: PollFlags) -> Result<(), Error> {
    match poll(&mut [PollFd::from_borrowed_fd(socket, events)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(why) => Err(failed(why)),
    }
}

impl Communicator {
    /// Makes an inter-communicator with the process at the other end of a stream socket, which makes this call, too. For a communicator of the calling
    /// process alone.
    pub fn join_by(&self, entry: &mut Entry, socket: BorrowedFd<'_>) -> Result<Arc<Communicator>, Error> {
        if socket_type(socket) != Ok(SocketType::STREAM) {
            return Err(Error::new(ErrorKind::Arg, "fd is no stream socket"));
        }
        let (ours, mut theirs) = (random_id()?.to_le_bytes(), [0; 16]);
        send_all(socket, &[MAGIC, ours].concat())?;
        receive_all(socket, &mut theirs)?;
        let (magic, theirs) = theirs.split_at(8);
        if magic != MAGIC {
            return Err(failed("the other side does not speak this library's protocol"));
        }
        let limit = Some(MEETING);
        if ours[..] < *theirs {
            let name = self.instance().open_port(true)?;
            let length = u8::try_from(name.len()).map_err(|_| failed("a port's name is too long"))?;
            let sent = send_all(socket, &[&[length][..], name.as_bytes()].concat());
            let met = sent.and_then(|()| self.meet_at_port(entry, 0, Some(Ok((Side::Accept(&name), limit)))));
            let closed = self.instance().close_port(&name);
            return met.and_then(|met| closed.map(|()| met));
        }
        let (mut length, mut name) = ([0], [0; LONGEST]);
        receive_all(socket, &mut length)?;
        let name = &mut name[..usize::from(length[0])];
        receive_all(socket, name)?;
        let name = std::str::from_utf8(name).map_err(failed)?;
        self.meet_at_port(entry, 0, Some(Ok((Side::Connect(name), limit))))
    }
}
