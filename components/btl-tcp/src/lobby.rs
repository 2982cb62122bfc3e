//! The lobby: listening sockets, and connections of strangers until they have proved who they are.
//!
//! One for each module, guarded by a lock that is a leaf; whichever context's thread finds it readable does what there is
//! to do, others pass by. A stranger costs one entry and a few hundred bytes, is read no further than a hello of fixed
//! length, and there are never more than [`MOST`]: the one that has been silent longest makes room. Who answers the challenge
//! leaves the lobby by the door of the context that it asked for (`door.rs`).

use crate::connect::send_all;
use crate::door::Door;
use crate::hello::{BadHello, Challenge, Hello, LONGEST, NONCE, Proof, Refusal, SERVICE};
use crate::module::Tcp;
use crate::proof::Said;
use crate::sys::{self, Got, Interest, Poller, no_events};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Instant;

/// Connections that have not proved themselves, at most.
const MOST: usize = 1024;
/// Connections taken in one visit.
const BATCH: usize = 64;

pub struct Lobby {
    pub poller: Poller,
    listeners: Vec<OwnedFd>,
    guests: Mutex<Guests>,
}

#[derive(Default)]
struct Guests {
    /// By token.
    all: HashMap<u64, Guest>,
    next: u64,
}

struct Guest {
    fd: OwnedFd,
    from: SocketAddr,
    born: Instant,
    got: [u8; LONGEST],
    have: usize,
    /// Once its hello is there: that, whose it is, and what we asked.
    challenged: Option<Box<Challenged>>,
}

/// A guest's hello: the process and the stream that it claims, and the challenge that we sent.
struct Challenged {
    door: Arc<Door>,
    raw: [u8; Hello::BYTES],
    hello: Hello,
    proc: u32,
    nonce: [u8; NONCE],
}

/// A connection whose caller has proved itself.
pub struct Admission {
    pub fd: OwnedFd,
    pub proc: u32,
    pub raw: [u8; Hello::BYTES],
    pub hello: Hello,
    /// Our question to it.
    pub nonce: [u8; NONCE],
    /// It has everything before.
    pub position: u64,
}

/// A guest has to go, and why, if that is worth a word.
struct Leaves(Option<String>);

impl Lobby {
    pub fn new(listeners: Vec<OwnedFd>) -> io::Result<Lobby> {
        let poller = Poller::new()?;
        for (token, listener) in listeners.iter().enumerate() {
            poller.add(listener, token as u64, Interest::Read)?;
        }
        let next = listeners.len() as u64;
        Ok(Lobby { poller, listeners, guests: Mutex::new(Guests { all: HashMap::new(), next }) })
    }
}

impl Tcp {
    /// Takes new connections and goes on with those that are there, unless another thread is at it.
    pub(crate) fn visit_lobby(&self) -> i32 {
        let mut guests = match self.lobby.guests.try_lock() {
            Ok(guests) => guests,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => return 0,
        };
        let mut events = no_events();
        let mut handled = 0;
        for event in self.lobby.poller.look(&mut events) {
            handled += 1;
            match self.lobby.listeners.get(event.token as usize) {
                Some(listener) => self.welcome_guests(&mut guests, listener),
                None => self.hear(&mut guests, event.token),
            }
        }
        handled
    }

    fn welcome_guests(&self, guests: &mut Guests, listener: &OwnedFd) {
        for _ in 0..BATCH {
            match sys::accept(listener) {
                Ok(Some((fd, from))) => self.seat(guests, fd, from),
                Ok(None) => return,
                Err(e) => {
                    // Out of descriptors, mostly: the oldest stranger goes, and the next turn tries again.
                    guests.drop_oldest();
                    return self.host.warn(&format!("cannot take a connection: {e}"));
                }
            }
        }
    }

    fn seat(&self, guests: &mut Guests, fd: OwnedFd, from: SocketAddr) {
        if guests.all.len() >= MOST {
            guests.drop_oldest();
        }
        let token = guests.next;
        guests.next += 1;
        let seated = sys::tune(&fd, &self.settings.tuning)
            .and_then(|()| self.lobby.poller.add(&fd, token, Interest::Read));
        match seated {
            Ok(()) => {
                let guest =
                    Guest { fd, from, born: Instant::now(), got: [0; LONGEST], have: 0, challenged: None };
                guests.all.insert(token, guest);
            }
            Err(e) => self.host.debug(&format!("a connection from {from} ended at once: {e}")),
        }
    }

    fn hear(&self, guests: &mut Guests, token: u64) {
        let Some(guest) = guests.all.get_mut(&token) else { return };
        let heard = match guest.challenged {
            None => self.hear_hello(guest).map(|()| None),
            Some(_) => self.hear_proof(guest),
        };
        match heard {
            Ok(None) => {}
            Ok(Some(position)) => {
                let Some(guest) = guests.all.remove(&token) else { return };
                self.lobby.poller.remove(&guest.fd);
                let Some(said) = guest.challenged else { return };
                let Challenged { door, raw, hello, proc, nonce } = *said;
                let admission = Admission { fd: guest.fd, proc, raw, hello, nonce, position };
                door.deliver(admission);
            }
            Err(Leaves(why)) => {
                let from = guest.from;
                guests.all.remove(&token);
                if let Some(why) = why {
                    self.refused(from, &why);
                }
            }
        }
    }

    fn hear_hello(&self, guest: &mut Guest) -> Result<(), Leaves> {
        let Some(raw) = guest.receive::<{ Hello::BYTES }>()? else { return Ok(()) };
        let refuse = |guest: &Guest, refusal, why: &str| {
            let _ = send_all(&guest.fd, &Challenge { refusal, nonce: [0; NONCE] }.encode());
            Err(Leaves(Some(why.to_owned())))
        };
        let hello = match Hello::decode(&raw) {
            Ok(hello) => hello,
            Err(BadHello::Garbage) => return Err(Leaves(Some("it does not speak this protocol".into()))),
            Err(BadHello::Version(theirs)) => {
                let ours = crate::hello::VERSION;
                let why = format!("it speaks version {theirs} of the protocol, we speak {ours}");
                return refuse(guest, Refusal::Version, &why);
            }
        };
        let known = self.index_of(&hello.from).filter(|_| hello.to == self.name && hello.from != self.name);
        let Some(proc) = known else {
            return refuse(guest, Refusal::Name, "it calls another process, or is none of this job");
        };
        // A process whose own network is cut calls a rail at the address of another.
        let door = self.doors.find(hello.to_rail, hello.to_ctx).filter(|_| hello.from_ctx != SERVICE);
        let Some(door) = door.cloned() else {
            return refuse(guest, Refusal::Context, "it calls a context or an interface that is not there");
        };
        let nonce = sys::random().map_err(|e| Leaves(Some(e.to_string())))?;
        let challenge = Challenge { refusal: Refusal::None, nonce };
        send_all(&guest.fd, &challenge.encode()).map_err(|_| Leaves(None))?;
        guest.challenged = Some(Box::new(Challenged { door, raw, hello, proc, nonce }));
        Ok(())
    }

    /// Once the proof is there: where its sender is.
    fn hear_proof(&self, guest: &mut Guest) -> Result<Option<u64>, Leaves> {
        let Some(bytes) = guest.receive::<{ Proof::BYTES }>()? else { return Ok(None) };
        let Some(said) = &guest.challenged else { return Ok(None) };
        let Ok(proof) = Proof::decode(&bytes) else {
            return Err(Leaves(Some("it does not speak this protocol".into())));
        };
        if !Said::by_connector(&said.raw, proof.position).check(&self.host, &said.nonce, &proof.answer) {
            let refusal = self.refusal(Refusal::Secret);
            let _ = send_all(&guest.fd, &refusal.encode());
            let why = format!(
                "it says that it is process {} of this job, but does not know the job's secret",
                said.proc
            );
            return Err(Leaves(Some(why)));
        }
        Ok(Some(proof.position))
    }

    /// A stranger was turned away. The paragraph comes once, a line each time for who listens.
    fn refused(&self, from: SocketAddr, why: &str) {
        self.host.help("refused", &[&from.to_string(), why]);
        self.host.warn(&format!("a connection from {from} was refused: {why}"));
    }
}

impl Guests {
    fn drop_oldest(&mut self) {
        if let Some(token) = self.all.iter().min_by_key(|(_, g)| g.born).map(|(token, _)| *token) {
            self.all.remove(&token);
        }
    }
}

impl Guest {
    fn receive<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Leaves> {
        match sys::read(&self.fd, &mut self.got[self.have..N]) {
            Ok(Got::Nothing) => return Ok(None),
            Ok(Got::Bytes(n)) => self.have += n,
            // Port scanners do that; a peer that gave up, too.
            Ok(Got::End) | Err(_) => return Err(Leaves(None)),
        }
        if self.have < N {
            // Bytes that cannot become a hello are not waited for.
            let begun = self.have >= 4 && self.got[..4] != *b"oxTC";
            return if begun {
                Err(Leaves(Some("it does not speak this protocol".into())))
            } else {
                Ok(None)
            };
        }
        self.have = 0;
        Ok(self.got.first_chunk().copied())
    }
}
