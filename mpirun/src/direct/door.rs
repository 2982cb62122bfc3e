//! The side of a direct link that is called: strangers until they have proved that they are daemons of this job, and those who have.

use super::events::{GUEST, LISTENER, add, watch};
use super::identity::DaemonIdentity;
use super::shake::{Side, Talk};
use crate::link::{self, Channel, Counts, Direct, Exchange, Peer};
use crate::remote::hand::{Hand, LIMIT, why_not};
use crate::remote::proof::Bytes;
use crate::remote::socket;
use oxmpi_wireup::Secret;
use rustix::event::epoll::EventFlags;
use std::collections::BTreeMap;
use std::net::{IpAddr, TcpListener};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Callers that have proved themselves, at once.
pub const MOST: usize = 256;
/// Strangers at once, and how long one has to prove himself.
const STRANGERS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);
/// A stranger who has had so long makes room for another.
const ENOUGH: Duration = Duration::from_secs(1);
/// Answers that wait to be sent to all callers together before nobody is listened to who has some.
const BACKLOG: usize = 64 << 20;
/// How many refusals are told.
const TOLD: usize = 8;

/// A question of a caller.
#[derive(Debug)]
pub struct Said {
    pub proc: u32,
    pub key: String,
}

#[derive(Debug)]
struct Guest {
    channel: Channel,
    from: IpAddr,
    stage: Stage,
    /// When it last said something.
    used: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Stranger(Bytes),
    /// Told why it is not wanted.
    Leaving,
    Known,
}

/// See the file's head.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    own: DaemonIdentity,
    guests: BTreeMap<u64, Guest>,
    next: u64,
    /// The listener is waited for: there is room for a stranger.
    open: bool,
    refused: usize,
    /// Refusals that are to be told.
    told: Vec<String>,
    /// Of guests that are gone.
    counts: Counts,
}

impl Door {
    pub fn new(listener: TcpListener, own: DaemonIdentity, epoll: BorrowedFd<'_>) -> std::io::Result<Door> {
        listener.set_nonblocking(true)?;
        add(epoll, &listener, LISTENER, EventFlags::IN)?;
        let (guests, counts) = (BTreeMap::new(), Counts::default());
        let told = Vec::new();
        Ok(Door { listener, own, guests, next: 0, open: true, refused: 0, told, counts })
    }

    /// Takes those who call, as long as there is room.
    pub fn accept(&mut self, epoll: BorrowedFd<'_>) {
        while self.make_room() {
            let (stream, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(why) if why.raw_os_error() == Some(libc::ECONNABORTED) => continue,
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => return,
                // No descriptor: the next look tries again.
                Err(_) => break,
            };
            let greet = || -> Option<(Channel, Bytes)> {
                socket::tune(&stream).ok()?;
                let mut channel = Channel::with_limit(stream.into(), LIMIT).ok()?;
                let challenge = *Secret::random().ok()?.bytes();
                channel.send(&Hand::Challenge(challenge)).ok()?;
                Some((channel, challenge))
            };
            // One that is gone again.
            let Some((channel, challenge)) = greet() else { continue };
            let id = self.next;
            self.next += 1;
            if add(epoll, &channel, id << 2 | GUEST, EventFlags::IN).is_ok() {
                let (from, stage) = (from.ip().to_canonical(), Stage::Stranger(challenge));
                self.guests.insert(id, Guest { channel, from, stage, used: Instant::now() });
            }
        }
        self.set_open(false, epoll);
    }

    /// Questions of a guest, as far as they have come.
    pub fn hear(&mut self, id: u64, epoll: BorrowedFd<'_>) -> Vec<Said> {
        let mut said = Vec::new();
        let Some(guest) = self.guests.get_mut(&id) else { return said };
        guest.channel.flush();
        if !self.is_heard(id) {
            self.watch(id, epoll);
            return said;
        }
        let Some(guest) = self.guests.get_mut(&id) else { return said };
        let gone = guest.channel.receive() == Peer::Gone;
        guest.used = Instant::now();
        let over = loop {
            let Some(guest) = self.guests.get_mut(&id) else { return said };
            match guest.stage {
                Stage::Leaving => break gone || guest.channel.unsent() == 0,
                Stage::Known => match guest.channel.take::<Direct>() {
                    Ok(None) => break gone,
                    Ok(Some(Direct(Exchange::Ask { proc, key, .. }))) => said.push(Said { proc, key }),
                    Ok(Some(_)) => {
                        self.tell_refused(id, "it answers what nobody has asked");
                        break true;
                    }
                    Err(why) => {
                        self.tell_refused(id, &format!("it sent an impossible frame: {why}"));
                        break true;
                    }
                },
                Stage::Stranger(challenge) => match self.prove(id, challenge) {
                    Ok(true) => {}
                    Ok(false) => break gone,
                    Err(why) => {
                        self.tell_refused(id, &why);
                        let Some(guest) = self.guests.get_mut(&id) else { return said };
                        // One that is gone needs no reason.
                        let _ = guest.channel.send(&Hand::Refused(why));
                        guest.stage = Stage::Leaving;
                    }
                },
            }
        };
        match over {
            true => self.drop_guest(id, epoll),
            false => self.watch(id, epoll),
        }
        said
    }

    /// Sends an answer.
    pub fn answer(&mut self, id: u64, answer: Exchange, epoll: BorrowedFd<'_>) {
        let Some(guest) = self.guests.get_mut(&id) else { return };
        // One too long for a frame cannot be: its values have a bound.
        if guest.channel.send(&Direct(answer)).is_err() {
            return self.drop_guest(id, epoll);
        }
        self.watch(id, epoll);
    }

    /// Ends those who are silent for good and strangers who have had their time, and opens again where there is room.
    pub fn look(&mut self, now: Instant, epoll: BorrowedFd<'_>) {
        let is_over = |guest: &Guest| match guest.stage {
            Stage::Known => socket::deaf(&guest.channel),
            _ => now.saturating_duration_since(guest.used) >= PATIENCE,
        };
        let over: Vec<u64> =
            self.guests.iter().filter(|(_, guest)| is_over(guest)).map(|(id, _)| *id).collect();
        over.into_iter().for_each(|id| self.drop_guest(id, epoll));
        self.set_open(true, epoll);
    }

    /// Nobody is there, and whoever comes is taken.
    pub fn is_quiet(&self) -> bool {
        self.guests.is_empty() && self.open
    }

    /// Refusals since the last question.
    pub fn refusals(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }

    pub fn counts(&self) -> Counts {
        let mut counts = self.counts;
        self.known().for_each(|(_, guest)| counts.join(guest.channel.counts()));
        counts
    }

    fn known(&self) -> impl Iterator<Item = (&u64, &Guest)> {
        self.guests.iter().filter(|(_, guest)| guest.stage == Stage::Known)
    }

    /// Sees to it that a stranger can be taken, and one more who has proved himself. False: all places are in use.
    fn make_room(&mut self) -> bool {
        if self.guests.len() - self.known().count() >= STRANGERS {
            let strangers = self.guests.iter().filter(|(_, guest)| guest.stage != Stage::Known);
            let oldest = strangers.min_by_key(|(_, guest)| guest.used);
            let Some((&id, _)) = oldest.filter(|(_, guest)| guest.used.elapsed() >= ENOUGH) else {
                return false;
            };
            self.guests.remove(&id);
        }
        if self.known().count() >= MOST {
            let unused = self.known().filter(|(_, guest)| guest.channel.unsent() == 0);
            let Some((&id, _)) = unused.min_by_key(|(_, guest)| guest.used) else { return false };
            self.forget(id);
        }
        true
    }

    /// Proves both sides to each other. True: it is a daemon of this job; false: its answer has not come.
    fn prove(&mut self, id: u64, challenge: Bytes) -> Result<bool, String> {
        let Some(guest) = self.guests.get_mut(&id) else { return Ok(false) };
        let (from, caller, proof) = match guest.channel.take::<Hand>().map_err(|why| why_not(&why))? {
            None => return Ok(false),
            Some(Hand::Answer { node, challenge, proof }) => (node, challenge, proof),
            Some(_) => return Err("it did not answer the challenge".into()),
        };
        let talk = Talk { door: challenge, caller, from, to: self.own.node };
        if !talk.check(&self.own, Side::Caller, &proof) {
            return Err("it does not know the job's secret, or calls another node".into());
        }
        let welcome = Hand::Welcome(talk.prove(&self.own, Side::Door));
        guest.channel.send(&welcome).map_err(|why| why.to_string())?;
        guest.channel.set_limit(link::LIMIT);
        guest.stage = Stage::Known;
        Ok(true)
    }

    fn drop_guest(&mut self, id: u64, epoll: BorrowedFd<'_>) {
        self.forget(id);
        self.set_open(true, epoll);
    }

    fn forget(&mut self, id: u64) {
        if let Some(guest) = self.guests.remove(&id).filter(|guest| guest.stage == Stage::Known) {
            self.counts.join(guest.channel.counts());
        }
    }

    fn set_open(&mut self, open: bool, epoll: BorrowedFd<'_>) {
        if self.open != open {
            self.open = open;
            watch(epoll, &self.listener, LISTENER, open, false);
        }
    }

    /// A guest is listened to unless it has answers to read and all together have too many.
    fn is_heard(&self, id: u64) -> bool {
        let reads = self.guests.get(&id).is_none_or(|guest| guest.channel.unsent() == 0);
        reads || self.known().map(|(_, guest)| guest.channel.unsent()).sum::<usize>() <= BACKLOG
    }

    fn watch(&self, id: u64, epoll: BorrowedFd<'_>) {
        let Some(guest) = self.guests.get(&id) else { return };
        watch(epoll, &guest.channel, id << 2 | GUEST, self.is_heard(id), guest.channel.unsent() > 0);
    }

    fn tell_refused(&mut self, id: u64, why: &str) {
        let Some(guest) = self.guests.get(&id) else { return };
        self.refused += 1;
        let last = if self.refused == TOLD { " (further ones are not told)" } else { "" };
        if self.refused <= TOLD {
            self.told.push(format!("a connection from {} is refused: {why}{last}", guest.from));
        }
    }
}
