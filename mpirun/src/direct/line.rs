//! The side of a direct link that calls: attempts at all addresses of a daemon at once, of which the first that answers as that daemon is kept.
//!
//! An address may be another machine's here, or this machine's own; so a refusal at one is no failure as long as another may still answer. One attempt
//! at a time answers a challenge, so that a daemon with several addresses is met once.

use super::events::{LINE, add, watch};
use super::identity::DaemonIdentity;
use super::shake::{Side, Talk};
use crate::link::{self, Channel, Counts, Direct, Message, Peer};
use crate::remote::addresses::{interfaces, nearest_first};
use crate::remote::hand::{Hand, LIMIT, why_not};
use crate::remote::proof::Bytes;
use crate::remote::socket;
use oxmpi_wireup::Secret;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a link may take to be made.
const PATIENCE: Duration = Duration::from_secs(10);

/// An attempt at an address.
#[derive(Debug)]
struct Attempt {
    address: SocketAddr,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Connecting(OwnedFd),
    /// A challenge is to come, or came and waits for another attempt's outcome.
    Connected(Channel, Option<Bytes>),
    Answered(Channel, Talk),
    Over(String),
}

/// See the file's head.
#[derive(Debug)]
pub struct Line {
    node: u32,
    begun: Instant,
    attempts: Vec<Attempt>,
    /// The attempt that was kept.
    open: Option<(u8, Channel)>,
}

/// The outcome of a turn.
#[derive(Debug)]
pub enum Turned {
    Waits,
    /// It is open now; it may have said something already.
    Opened,
    /// Words that came, and whether and why the link is over behind them.
    Heard {
        words: Vec<Direct>,
        over: Option<String>,
    },
    /// It cannot be made.
    Over(String),
}

impl Line {
    /// Begins to call a node at these addresses.
    pub fn begin(node: u32, door: &[SocketAddr], epoll: BorrowedFd<'_>) -> Line {
        let mut door = door.to_vec();
        nearest_first(&mut door, &interfaces().unwrap_or_default());
        let attempts = door.into_iter().enumerate().map(|(at, address)| {
            let stage = match connect(address, number(node, at as u8), epoll) {
                Ok(socket) => Stage::Connecting(socket),
                Err(why) => Stage::Over(why.to_string()),
            };
            Attempt { address, stage }
        });
        Line { node, begun: Instant::now(), attempts: attempts.collect(), open: None }
    }

    /// Why it cannot be made, if it is known.
    pub fn failed(&self) -> Option<String> {
        let over = |attempt: &Attempt| matches!(attempt.stage, Stage::Over(_));
        (self.open.is_none() && self.attempts.iter().all(over)).then(|| self.in_words())
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Of an open line: strangers' are nobody's.
    pub fn counts(&self) -> Counts {
        self.open.as_ref().map(|(_, channel)| channel.counts()).unwrap_or_default()
    }

    /// Why it is over by now, if it is: it takes too long, or nobody answers any more.
    pub fn is_over(&self, now: Instant) -> Option<String> {
        match &self.open {
            Some((_, channel)) => socket::deaf(channel).then(|| "does not answer any more".to_owned()),
            None if now.saturating_duration_since(self.begun) >= PATIENCE => Some(self.in_words()),
            None => None,
        }
    }

    /// Sends a question over an open line.
    pub fn send(&mut self, node: u32, word: &Direct, epoll: BorrowedFd<'_>) {
        if let Some((at, channel)) = &mut self.open {
            // A question that is too long was no key of a rank's.
            let _ = channel.send(word);
            watch(epoll, &*channel, number(node, *at), true, channel.unsent() > 0);
        }
    }

    /// Does what can be done at an attempt, or on the open line.
    pub fn turn(&mut self, at: u8, own: &DaemonIdentity, epoll: BorrowedFd<'_>) -> Turned {
        if self.open.is_some() {
            return self.hear(at, epoll);
        }
        self.advance(usize::from(at), own, epoll);
        // A challenge that waits is answered when nobody else is being answered.
        if !self.attempts.iter().any(|attempt| matches!(attempt.stage, Stage::Answered(..))) {
            let waits = |attempt: &Attempt| matches!(attempt.stage, Stage::Connected(_, Some(_)));
            if let Some(next) = self.attempts.iter().position(waits) {
                self.advance(next, own, epoll);
            }
        }
        match (self.open.is_some(), self.failed()) {
            (true, _) => Turned::Opened,
            (false, Some(why)) => Turned::Over(why),
            (false, None) => Turned::Waits,
        }
    }

    fn hear(&mut self, at: u8, epoll: BorrowedFd<'_>) -> Turned {
        let Some((own, channel)) = self.open.as_mut().filter(|(own, _)| *own == at) else {
            return Turned::Waits;
        };
        channel.flush();
        let gone = channel.receive() == Peer::Gone;
        let mut words = Vec::new();
        let over = loop {
            match channel.take::<Direct>() {
                Ok(Some(word)) => words.push(word),
                Ok(None) => break gone.then(|| "has closed the link".to_owned()),
                Err(why) => break Some(format!("sent an impossible frame: {why}")),
            }
        };
        watch(epoll, &*channel, number(self.node, *own), true, channel.unsent() > 0);
        Turned::Heard { words, over }
    }

    /// Takes an attempt as far as it goes now.
    fn advance(&mut self, at: usize, own: &DaemonIdentity, epoll: BorrowedFd<'_>) {
        let node = self.node;
        let busy = |other: (usize, &Attempt)| other.0 != at && matches!(other.1.stage, Stage::Answered(..));
        let busy = self.attempts.iter().enumerate().any(busy);
        let Some(attempt) = self.attempts.get_mut(at) else { return };
        let stage = std::mem::replace(&mut attempt.stage, Stage::Over(String::new()));
        let next = match stage {
            Stage::Connecting(socket) => connected(socket),
            other => Ok(other),
        };
        let next = next.and_then(|stage| match stage {
            Stage::Connected(mut channel, None) => {
                let challenge = match frame_of::<Hand>(&mut channel)? {
                    None => None,
                    Some(Hand::Challenge(door)) => Some(door),
                    Some(_) => return Err("whoever is there gave no challenge".into()),
                };
                Ok(Stage::Connected(channel, challenge))
            }
            other => Ok(other),
        });
        let next = next.and_then(|stage| match stage {
            Stage::Connected(mut channel, Some(door)) if !busy => {
                let caller = *Secret::random().map_err(|why| why.to_string())?.bytes();
                let talk = Talk { door, caller, from: own.node, to: node };
                let proof = talk.prove(own, Side::Caller);
                let answer = Hand::Answer { node: own.node, challenge: caller, proof };
                channel.send(&answer).map_err(|why| why.to_string())?;
                Ok(Stage::Answered(channel, talk))
            }
            // It must not be listened to, and may be gone.
            Stage::Connected(mut channel, Some(door)) => match channel.receive() {
                Peer::There => Ok(Stage::Connected(channel, Some(door))),
                Peer::Gone => Err("whoever is there closed the connection".into()),
            },
            other => Ok(other),
        });
        let next = next.and_then(|stage| match stage {
            Stage::Answered(mut channel, talk) => match frame_of::<Hand>(&mut channel)? {
                None => Ok(Stage::Answered(channel, talk)),
                Some(Hand::Welcome(proof)) if talk.check(own, Side::Door, &proof) => {
                    channel.set_limit(link::LIMIT);
                    self.open = Some((at as u8, channel));
                    Ok(Stage::Over(String::new()))
                }
                Some(Hand::Welcome(_)) => Err("whoever is there does not know the job's secret".into()),
                Some(Hand::Refused(why)) => Err(format!("whoever is there refuses: {why}")),
                Some(_) => Err("whoever is there broke the protocol".into()),
            },
            other => Ok(other),
        });
        attempt.stage = next.unwrap_or_else(Stage::Over);
        match &attempt.stage {
            Stage::Connected(channel, _) | Stage::Answered(channel, _) => {
                // A challenge that waits says nothing more until it is answered.
                watch(epoll, channel, number(node, at as u8), !busy, channel.unsent() > 0);
            }
            Stage::Connecting(_) | Stage::Over(_) => {}
        }
        if self.open.is_some() {
            self.attempts.clear();
        }
    }

    fn in_words(&self) -> String {
        let why = |attempt: &Attempt| match &attempt.stage {
            Stage::Connecting(_) => "no answer".to_owned(),
            Stage::Connected(..) | Stage::Answered(..) => "connected, and nobody answered".to_owned(),
            Stage::Over(why) => why.clone(),
        };
        let lines: Vec<String> =
            self.attempts.iter().map(|attempt| format!("{}: {}", attempt.address, why(attempt))).collect();
        lines.join("; ")
    }
}

/// The number of an attempt's events.
fn number(node: u32, attempt: u8) -> u64 {
    (u64::from(node) << 8 | u64::from(attempt)) << 2 | LINE
}

fn connect(address: SocketAddr, number: u64, epoll: BorrowedFd<'_>) -> std::io::Result<OwnedFd> {
    let socket = socket::new(address)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(why) => return Err(why.into()),
    }
    add(epoll, &socket, number, EventFlags::OUT)?;
    Ok(socket)
}

/// A connection whose outcome is known.
fn connected(socket: OwnedFd) -> Result<Stage, String> {
    match rustix::net::sockopt::socket_error(&socket) {
        Ok(Ok(())) => {}
        Ok(Err(why)) | Err(why) => return Err(why.to_string()),
    }
    socket::tune(&socket).map_err(|why| why.to_string())?;
    let channel = Channel::with_limit(socket, LIMIT).map_err(|why| why.to_string())?;
    Ok(Stage::Connected(channel, None))
}

/// The next frame; None: there is none yet. An error: there will be none.
fn frame_of<M: Message>(channel: &mut Channel) -> Result<Option<M>, String> {
    channel.flush();
    let gone = channel.receive() == Peer::Gone;
    match channel.take::<M>() {
        Ok(None) if gone => Err("whoever is there closed the connection".into()),
        Ok(frame) => Ok(frame),
        Err(why) => Err(why_not(&why)),
    }
}
