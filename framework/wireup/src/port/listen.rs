//! A port that is open: it listens, and hears strangers until one has proved that he knows the key.
//!
//! Strangers cost a descriptor and a few hundred bytes each and are at most [`MOST`]; the oldest makes room. Those that have not come so far when
//! one is taken stay for the next.

use super::addresses;
use super::keys;
use super::link::{Link, Met};
use super::name::{KeyOf, PortName};
use super::shake::{Answer, NONCE, Proofs, VERSION, answer, read_greeting};
use crate::error::Error;
use crate::secret::{Secret, fill_random, random_id};
use rustix::io::Errno;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};

/// Strangers at once.
const MOST: usize = 64;

/// An open port. Dropping it closes it; whoever is on the way is turned away.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    name: PortName,
    key: Secret,
    guests: Vec<Guest>,
    /// Why the last stranger was turned away.
    refused: Option<String>,
}

#[derive(Debug)]
struct Guest {
    link: Link,
    /// Its nonce and ours, once it has greeted.
    nonces: Option<([u8; NONCE], [u8; NONCE])>,
    leaving: bool,
}

impl Port {
    /// Opens a port whose callers prove that they know `secret`, the mpirun's.
    pub fn of_tree(secret: &Secret) -> Result<Port, Error> {
        Port::open(KeyOf::Tree, secret.clone())
    }

    /// Opens a port for jobs of this user, who have the user's key.
    pub fn of_user() -> Result<Port, Error> {
        let (number, key) = keys::user_key(true)?;
        Port::open(KeyOf::User(number), key)
    }

    /// Opens a port whose name is the key.
    pub fn of_name() -> Result<Port, Error> {
        let key = Secret::random()?;
        Port::open(KeyOf::Name(key.clone()), key)
    }

    fn open(of: KeyOf, key: Secret) -> Result<Port, Error> {
        let cannot = |why| Error::system("cannot listen at a port", why);
        let any =
            [SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)), SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))];
        let listener = TcpListener::bind(any[0]).or_else(|_| TcpListener::bind(any[1])).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let name = PortName { rendezvous: random_id()?, key: of, port, addresses: addresses::own() };
        Ok(Port { listener, name: name.with_few_addresses(), key, guests: Vec::new(), refused: None })
    }

    /// The name, for those who are to call.
    pub fn name(&self) -> &PortName {
        &self.name
    }

    /// Why a stranger was turned away since the last question, if one was.
    pub fn refused(&mut self) -> Option<String> {
        self.refused.take()
    }

    /// Does all that can be done without waiting; a link to the first caller who has proved himself.
    pub fn turn(&mut self) -> Result<Option<Met>, Error> {
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    if self.guests.len() >= MOST {
                        self.guests.remove(0);
                    }
                    let link = Link::to_stranger(socket.into())?;
                    self.guests.push(Guest { link, nonces: None, leaving: false });
                }
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) if why.raw_os_error() == Some(Errno::CONNABORTED.raw_os_error()) => {}
                Err(why) => return Err(Error::system("cannot take a call at a port", why)),
            }
        }
        let mut at = 0;
        while at < self.guests.len() {
            match self.hear(at) {
                Heard::Waits => at += 1,
                Heard::Gone => drop(self.guests.remove(at)),
                Heard::Met(bridge) => {
                    let link = self.guests.remove(at).link.trust();
                    return Ok(Some(Met { link, bridge }));
                }
            }
        }
        Ok(None)
    }

    /// Descriptors that change when somebody calls or says something.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        std::iter::once(self.listener.as_fd())
            .chain(self.guests.iter().map(|guest| guest.link.as_fd()))
            .collect()
    }

    fn hear(&mut self, at: usize) -> Heard {
        let guest = &mut self.guests[at];
        if guest.link.turn().is_err() {
            return Heard::Gone;
        }
        if guest.leaving {
            return if guest.link.is_sending() { Heard::Waits } else { Heard::Gone };
        }
        let frame = match guest.link.take() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Heard::Waits,
            Err(_) => return Heard::Gone,
        };
        let turned_away = match guest.nonces {
            None => match read_greeting(&frame) {
                None => return Heard::Gone,
                Some((VERSION, rendezvous, theirs)) if rendezvous == self.name.rendezvous => {
                    let mut ours = [0; NONCE];
                    if fill_random(&mut ours).is_err() {
                        return Heard::Gone;
                    }
                    guest.nonces = Some((theirs, ours));
                    guest.link.send(&answer(Answer::Welcome, &ours));
                    None
                }
                Some((VERSION, ..)) => Some((Answer::Elsewhere, None)),
                Some((version, ..)) => {
                    let why =
                        format!("a caller speaks version {version} of ports, this process version {VERSION}");
                    Some((Answer::Version(VERSION), Some(why)))
                }
            },
            Some((caller, port)) => {
                let proofs = Proofs { key: &self.key, rendezvous: self.name.rendezvous, caller, port };
                if proofs.is_callers(&frame) {
                    guest.link.send(&answer(Answer::Welcome, &proofs.ports()));
                    // The rest goes with what follows.
                    return if guest.link.turn().is_ok() { Heard::Met(proofs.bridge()) } else { Heard::Gone };
                }
                Some((Answer::Stranger, Some("a caller does not know the port's key".to_owned())))
            }
        };
        if let Some((why, text)) = turned_away {
            guest.link.send(&answer(why, &[0; NONCE]));
            guest.leaving = true;
            self.refused = text.or(self.refused.take());
        }
        match guest.link.turn() {
            Ok(()) => Heard::Waits,
            Err(_) => Heard::Gone,
        }
    }
}

enum Heard {
    Waits,
    Gone,
    Met(Secret),
}
