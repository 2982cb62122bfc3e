//! A visit to the lobby: new connections are taken in, and each stranger is heard until it has proved itself or goes.
//!
//! Whichever context's thread finds the lobby readable does what there is to do, others pass by.

use crate::door::Admission;
use crate::hello::{BadHello, Challenge, Hello, LONGEST, NONCE, Proof, Refusal, SERVICE, Welcome};
use crate::lobby::{Challenged, Guest, Guests, Leaves, MOST};
use crate::proof::ProofContext;
use crate::rail::Tcp;
use crate::sys::{self, Interest, no_events, send_all};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::TryLockError;
use std::time::Instant;

/// Connections taken in one visit.
const BATCH: usize = 64;

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
                let admission = Admission { fd: guest.fd, proc, by: self.rail, raw, hello, nonce, position };
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
        if self.index_of(&hello.from).is_some()
            && self.index_of(&hello.to).is_some_and(|_| hello.to != self.name)
        {
            // Two machines have the same address, each on a network of its own: the caller finds that out by this and goes another way.
            let _ = send_all(&guest.fd, &Challenge { refusal: Refusal::Name, nonce: [0; NONCE] }.encode());
            self.host.debug(&format!(
                "a process of this job calls another one at our address, from {}",
                guest.from
            ));
            return Err(Leaves(None));
        }
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
        if !ProofContext::by_connector(&said.raw, proof.position).check(
            &self.host,
            &said.nonce,
            &proof.answer,
        ) {
            let refusal = Welcome::refusal(Refusal::Secret);
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
