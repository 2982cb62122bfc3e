//! Where daemons come to: a listening socket, and the strangers at it until they have proved that they know the job's secret. mpirun
//! has one, and so has each daemon that starts others, for as long as some are missing.
//!
//! Strangers may send a few hundred bytes and have some seconds; there is a bound on how many are listened to; those who are refused
//! are named.

use super::facts::NodeFacts;
use super::hand::{Hand, LIMIT, why_not};
use super::proof::{Bytes, Side, Talk};
use super::socket;
use super::tree::Member;
use crate::link::{self, Channel, FromNode, Peer};
use oxmpi_wireup::Secret;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// How long a stranger has to prove himself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many strangers are listened to beside the daemons that are still missing.
const STRANGERS: usize = 64;
/// How many refusals are told.
const TOLD: usize = 8;

/// A connection that is not a link yet.
#[derive(Debug)]
struct Stranger {
    channel: Channel,
    from: IpAddr,
    challenge: Bytes,
    until: Instant,
    /// It has proved to be this node's daemon, and is to say what the node is made of.
    node: Option<u32>,
}

/// A daemon that has come.
#[derive(Debug)]
pub struct Guest {
    pub node: u32,
    pub link: Channel,
    pub facts: NodeFacts,
}

#[derive(Debug)]
pub struct Reception {
    /// The program's name for itself where it names those who are refused.
    program: &'static str,
    listener: TcpListener,
    secret: Secret,
    names: BTreeMap<u32, String>,
    strangers: Vec<Stranger>,
    refused: usize,
}

impl Reception {
    /// For the daemons of these nodes.
    pub fn new(
        program: &'static str,
        listener: TcpListener,
        secret: Secret,
        nodes: &[Member],
    ) -> std::io::Result<Reception> {
        listener.set_nonblocking(true)?;
        let names = nodes.iter().cloned().collect();
        Ok(Reception { program, listener, secret, names, strangers: Vec::new(), refused: 0 })
    }

    pub fn names(&self) -> &BTreeMap<u32, String> {
        &self.names
    }

    pub fn listener(&self) -> &TcpListener {
        &self.listener
    }

    /// The connections of strangers, in the order of `hear`.
    pub fn strangers(&self) -> impl Iterator<Item = &Channel> {
        self.strangers.iter().map(|stranger| &stranger.channel)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.strangers.iter().map(|stranger| stranger.until).min()
    }

    /// Ends those who have had their time.
    pub fn expire(&mut self, now: Instant) {
        self.strangers.retain(|stranger| now < stranger.until);
    }

    /// Takes those who call, while so many are missing. `each` is shown every one that stays.
    pub fn accept(&mut self, missing: usize, mut each: impl FnMut(&Channel)) {
        loop {
            let (stream, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(why) if why.raw_os_error() == Some(libc::ECONNABORTED) => continue,
                // Nobody any more, or no descriptor: the next turn tries again.
                Err(_) => return,
            };
            if self.strangers.len() >= missing + STRANGERS {
                // The oldest has had the longest time.
                self.strangers.remove(0);
            }
            if let Some(stranger) = greet(stream, from) {
                each(&stranger.channel);
                self.strangers.push(stranger);
            }
        }
    }

    /// Hears the stranger at this place, where another may then be. Some: it is a daemon. `is_there`: that of this node has
    /// come already.
    pub fn hear(&mut self, at: usize, is_there: impl Fn(u32) -> bool) -> Option<Guest> {
        let stranger = &mut self.strangers[at];
        stranger.channel.flush();
        let gone = stranger.channel.receive() == Peer::Gone;
        let heard = match stranger.node {
            None => self.prove(at, &is_there),
            Some(node) => self.be_told(at, node, &is_there),
        };
        match heard {
            Ok(Some((node, facts))) => {
                let link = self.strangers.swap_remove(at).channel;
                return Some(Guest { node, link, facts });
            }
            // A daemon that keeps another of its connections closes this one.
            Ok(None) if gone => drop(self.strangers.swap_remove(at)),
            Ok(None) => {}
            Err(why) => {
                let mut stranger = self.strangers.swap_remove(at);
                let _ = stranger.channel.send(&Hand::Refused(why.clone()));
                self.tell_refused(&stranger, &why);
            }
        }
        None
    }

    pub fn count(&self) -> usize {
        self.strangers.len()
    }

    fn prove(
        &mut self,
        at: usize,
        is_there: &impl Fn(u32) -> bool,
    ) -> Result<Option<(u32, NodeFacts)>, String> {
        let stranger = &mut self.strangers[at];
        let hand = stranger.channel.take::<Hand>().map_err(|why| why_not(&why))?;
        let (node, daemon, proof) = match hand {
            None => return Ok(None),
            Some(Hand::Answer { node, challenge, proof }) => (node, challenge, proof),
            Some(_) => return Err("it did not answer the challenge".into()),
        };
        let talk = Talk { launcher: stranger.challenge, daemon, node };
        if !talk.check(&self.secret, Side::Daemon, &proof) {
            return Err("it does not know the job's secret".into());
        }
        let Some(name) = self.names.get(&node) else { return Err("its node is none of the job's".into()) };
        if is_there(node) {
            return Err(format!("the daemon of node {name} is there already"));
        }
        let welcome = Hand::Welcome(talk.prove(&self.secret, Side::Launcher));
        stranger.channel.send(&welcome).map_err(|why| why.to_string())?;
        stranger.channel.set_limit(link::LIMIT);
        stranger.node = Some(node);
        self.be_told(at, node, is_there)
    }

    /// The facts about its node of a daemon that is believed.
    fn be_told(
        &mut self,
        at: usize,
        node: u32,
        is_there: &impl Fn(u32) -> bool,
    ) -> Result<Option<(u32, NodeFacts)>, String> {
        let message = self.strangers[at].channel.take::<FromNode>();
        match message.map_err(|why| format!("it sent an impossible frame: {why}"))? {
            None => Ok(None),
            Some(FromNode::Here(facts)) if !is_there(node) => Ok(Some((node, *facts))),
            Some(_) => Err("its first word is not what its node is made of".into()),
        }
    }

    fn tell_refused(&mut self, stranger: &Stranger, why: &str) {
        self.refused += 1;
        let program = self.program;
        if self.refused <= TOLD {
            oxmpi_system::reportln!("{program}: a connection from {} is refused: {why}", stranger.from);
        }
        if self.refused == TOLD {
            oxmpi_system::reportln!("{program}: further connections that are refused are not told");
        }
    }
}

/// None: it is gone again.
fn greet(stream: TcpStream, from: SocketAddr) -> Option<Stranger> {
    socket::tune(&stream).ok()?;
    let mut channel = Channel::with_limit(stream.into(), LIMIT).ok()?;
    let challenge = *Secret::random().ok()?.bytes();
    channel.send(&Hand::Challenge(challenge)).ok()?;
    let until = Instant::now() + PATIENCE;
    Some(Stranger { channel, from: from.ip().to_canonical(), challenge, until, node: None })
}
