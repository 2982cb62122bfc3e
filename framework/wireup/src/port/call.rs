//! A call at a port: all its addresses at once, and a proof at the first that answers as that port.
//!
//! An address may be another machine's here, and silent or somebody else's; so none is waited for alone. A port that is there and takes
//! nobody at the moment keeps its callers waiting, which is no failure; one that is at no address is.

use super::keys;
use super::link::{Link, Met};
use super::name::{KeyOf, PortName};
use super::shake::{Answer, NONCE, Proofs, VERSION, greeting, read_answer};
use crate::error::{Error, ErrorKind};
use crate::secret::{Secret, fill_random};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Between two calls at an address that has hung up.
const PAUSE: Duration = Duration::from_millis(50);

/// A call under way.
#[derive(Debug)]
pub struct Call {
    name: PortName,
    key: Secret,
    nonce: [u8; NONCE],
    lines: Vec<Line>,
    /// The line at which we have proved ourselves, and the port's nonce.
    proved: Option<(usize, [u8; NONCE])>,
    /// Last words at an address.
    why: String,
}

#[derive(Debug)]
struct Line {
    to: IpAddr,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Connecting(OwnedFd),
    /// Greeted; it may have answered.
    Greeted(Link),
    Again(Instant),
    /// Nobody there, or somebody else.
    Over,
}

impl Call {
    /// Begins a call. `tree`: the secret of this process's mpirun. An error: this process has not the key.
    pub fn new(name: PortName, tree: &Secret) -> Result<Call, Error> {
        let key = match &name.key {
            KeyOf::Tree => tree.clone(),
            KeyOf::Name(secret) => secret.clone(),
            KeyOf::User(number) => match keys::user_key(false)? {
                (own, key) if own == *number => key,
                _ => {
                    let what = "the port is another user's, or was opened with another key of this user's";
                    return Err(Error::new(ErrorKind::Refused, what));
                }
            },
        };
        let mut nonce = [0; NONCE];
        fill_random(&mut nonce)?;
        let line = |&to: &IpAddr| Line { to, stage: Stage::Again(Instant::now()) };
        let lines = name.addresses.iter().map(line).collect();
        Ok(Call { name, key, nonce, lines, proved: None, why: "it has no address".into() })
    }

    /// Does all that can be done without waiting. `Some`: the port has answered, and both have proved themselves. An error of kind `Refused`: it
    /// does not want us; `Lost`: there is no such port.
    pub fn turn(&mut self) -> Result<Option<Met>, Error> {
        for at in 0..self.lines.len() {
            self.advance(at);
            if let Some(met) = self.hear(at)? {
                return Ok(Some(met));
            }
        }
        match self.lines.iter().all(|line| matches!(line.stage, Stage::Over)) {
            true => Err(Error::new(ErrorKind::Lost, format!("no process has this port open ({})", self.why))),
            false => Ok(None),
        }
    }

    /// Whether something takes connections at one of the addresses.
    pub fn is_there(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.stage, Stage::Greeted(_)))
    }

    /// Descriptors that change when something can be done.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let greeted = self.lines.iter().filter_map(|line| match &line.stage {
            Stage::Greeted(link) => Some(link.as_fd()),
            _ => None,
        });
        greeted.collect()
    }

    /// Calls at an address, or goes on with that.
    fn advance(&mut self, at: usize) {
        let line = &mut self.lines[at];
        let next = match &line.stage {
            Stage::Again(when) if *when <= Instant::now() => {
                match connect(SocketAddr::new(line.to, self.name.port)) {
                    Ok(socket) => Stage::Connecting(socket),
                    Err(why) => {
                        self.why = format!("{}: {why}", line.to);
                        Stage::Over
                    }
                }
            }
            Stage::Connecting(socket) if is_decided(socket) => {
                let greeted = sockopt::socket_error(socket)
                    .and_then(|outcome| outcome)
                    .and_then(|()| rustix::io::fcntl_dupfd_cloexec(socket, 3));
                match greeted
                    .map_err(|why| why.to_string())
                    .and_then(|s| Link::to_stranger(s).map_err(|w| w.message))
                {
                    Ok(mut link) => {
                        link.send(&greeting(self.name.rendezvous, &self.nonce));
                        Stage::Greeted(link)
                    }
                    Err(why) => {
                        self.why = format!("{}: {why}", line.to);
                        Stage::Over
                    }
                }
            }
            _ => return,
        };
        line.stage = next;
    }

    /// Hears an address that was greeted.
    fn hear(&mut self, at: usize) -> Result<Option<Met>, Error> {
        let line = &mut self.lines[at];
        let Stage::Greeted(link) = &mut line.stage else { return Ok(None) };
        let heard = link.turn().and_then(|()| link.take());
        let frame = match heard {
            Ok(None) => return Ok(None),
            Ok(Some(frame)) => frame,
            Err(_) => {
                // It has too many callers, or closes: then nobody listens at the next call.
                self.proved.take_if(|(proved, _)| *proved == at);
                line.stage = Stage::Again(Instant::now() + PAUSE);
                return Ok(None);
            }
        };
        let proved = self.proved.filter(|(proved, _)| *proved == at);
        match (read_answer(&frame), proved) {
            (Some((Answer::Welcome, port)), None) if self.proved.is_none() => {
                let (key, rendezvous, caller) = (&self.key, self.name.rendezvous, self.nonce);
                link.send(&Proofs { key, rendezvous, caller, port }.callers());
                self.proved = Some((at, port));
                // A broken one shows at the next turn.
                let _ = link.turn();
                Ok(None)
            }
            // Another address of the same port.
            (Some((Answer::Welcome, _)), None) => {
                line.stage = Stage::Over;
                Ok(None)
            }
            (Some((Answer::Welcome, proof)), Some((_, port))) => {
                let (key, rendezvous, caller) = (&self.key, self.name.rendezvous, self.nonce);
                let proofs = Proofs { key, rendezvous, caller, port };
                if !proofs.is_ports(&proof) {
                    let what = format!("the process at {} does not know the port's key", line.to);
                    return Err(Error::new(ErrorKind::Refused, what));
                }
                let bridge = proofs.bridge();
                match std::mem::replace(&mut line.stage, Stage::Over) {
                    Stage::Greeted(link) => Ok(Some(Met { link: link.trust(), bridge })),
                    _ => Ok(None),
                }
            }
            (Some((Answer::Stranger, _)), _) => {
                Err(Error::new(ErrorKind::Refused, "the port says that this process does not know its key"))
            }
            (Some((Answer::Version(theirs), _)), _) => {
                let what =
                    format!("the port speaks version {theirs} of ports, this process version {VERSION}");
                Err(Error::new(ErrorKind::Refused, what))
            }
            (Some((Answer::Elsewhere, _)) | None, _) => {
                self.why = format!("{}: another process listens there", line.to);
                line.stage = Stage::Over;
                Ok(None)
            }
        }
    }
}

/// Begins to connect.
fn connect(to: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(why) => Err(why),
    }
}

/// Whether a connection that was begun is made, or has failed.
fn is_decided(socket: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(socket, PollFlags::OUT)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(n) if n > 0)
}

#[cfg(test)]
mod tests {
    use super::super::Port;
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// Turns of both until one has an outcome.
    fn meet(port: &mut Port, call: &mut Call) -> (Option<Met>, Result<Option<Met>, Error>) {
        let begun = Instant::now();
        let (mut here, mut there) = (None, Ok(None));
        while here.is_none() || matches!(there, Ok(None)) {
            here = here.or_else(|| port.turn().expect("it listens"));
            if matches!(there, Ok(None)) {
                there = call.turn();
            }
            if there.is_err() {
                break;
            }
            assert!(begun.elapsed() < LONG, "they do not meet");
            std::thread::sleep(Duration::from_millis(1));
        }
        (here, there)
    }

    #[test]
    fn who_knows_the_key_is_met_and_both_have_one_bridge() {
        let tree = Secret::from_bytes([1; 32]);
        for name_is_key in [false, true] {
            let mut port = if name_is_key { Port::of_name() } else { Port::of_tree(&tree) }.expect("a port");
            let name = PortName::parse(&port.name().to_string()).expect("its own name");
            let mut call = Call::new(name, &tree).expect("a key");
            let (here, there) = meet(&mut port, &mut call);
            let (mut here, mut there) = (here.expect("met"), there.expect("welcome").expect("met"));
            assert!(here.bridge.matches(there.bridge.bytes()));
            assert!(!here.bridge.matches(tree.bytes()));
            let long: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
            here.link.send(&long);
            there.link.send(b"short");
            let begun = Instant::now();
            let (mut a, mut b) = (None, None);
            while a.is_none() || b.is_none() {
                here.link.turn().expect("open");
                there.link.turn().expect("open");
                a = a.or_else(|| here.link.take().expect("open"));
                b = b.or_else(|| there.link.take().expect("open"));
                assert!(begun.elapsed() < LONG, "frames do not come");
            }
            assert_eq!((a.as_deref(), b), (Some(&b"short"[..]), Some(long)));
            drop(here);
            while there.link.take().is_ok() {
                there.link.turn().expect("an end is no error");
                assert!(begun.elapsed() < LONG, "nobody notices the end");
            }
        }
    }

    #[test]
    fn strangers_garbage_and_closed_ports() {
        let (ours, theirs) = (Secret::from_bytes([1; 32]), Secret::from_bytes([2; 32]));
        let mut port = Port::of_tree(&ours).expect("a port");
        let name = || PortName::parse(&port.name().to_string()).expect("its own name");
        let (name, mut wrong) = (name(), name());
        wrong.rendezvous ^= 1;
        // Somebody who says nothing, and somebody who says nonsense, keep nobody waiting.
        let at = SocketAddr::from(([127, 0, 0, 1], name.port));
        let _silent = std::net::TcpStream::connect(at).expect("it listens");
        let mut loud = std::net::TcpStream::connect(at).expect("it listens");
        std::io::Write::write_all(&mut loud, &[0xff; 5000]).expect("room");
        let mut stranger = Call::new(name.clone(), &theirs).expect("a key");
        let begun = Instant::now();
        let refused = loop {
            assert!(port.turn().expect("it listens").is_none(), "a stranger was let in");
            match stranger.turn() {
                Ok(None) => assert!(begun.elapsed() < LONG, "nobody is refused"),
                other => break other.expect_err("it does not know the key"),
            }
        };
        assert_eq!(refused.kind, ErrorKind::Refused);
        assert!(port.refused().is_some_and(|why| why.contains("key")));
        let mut elsewhere = Call::new(wrong, &ours).expect("a key");
        let why = loop {
            assert!(port.turn().expect("it listens").is_none());
            if let Err(why) = elsewhere.turn() {
                break why;
            }
        };
        assert_eq!(why.kind, ErrorKind::Lost);
        let mut call = Call::new(name.clone(), &ours).expect("a key");
        assert!(matches!(meet(&mut port, &mut call), (Some(_), Ok(Some(_)))));
        drop(port);
        let mut late = Call::new(name, &ours).expect("a key");
        let why = loop {
            match late.turn() {
                Ok(None) => assert!(begun.elapsed() < LONG, "it calls for ever"),
                other => break other.expect_err("it is closed"),
            }
        };
        assert_eq!(why.kind, ErrorKind::Lost);
    }
}
