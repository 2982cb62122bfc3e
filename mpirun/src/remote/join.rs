//! A daemon's way to mpirun, or to the daemon that started it: it reads its line, starts what it is to start in turn, connects and
//! proves itself. "mpirun" below is whoever started it.

use super::addresses::{self, interfaces, nearest_first};
use super::agents::Agents;
use super::boot::{self, Boot, Refusal};
use super::facts::NodeFacts;
use super::failure_reasons::{BAD_BOOT, NO_WAY_BACK, OTHER_VERSION};
use super::hand::{Hand, LIMIT, why_not};
use super::proof::{Side, Talk};
use super::subtree::Subtree;
use super::{doors, socket, start, version};
use crate::link::{self, Channel, FromNode, Peer};
use oxmpi_wireup::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long the boot line may take; somebody at a terminal takes the time it takes.
const LINE: Duration = Duration::from_secs(60);
/// How long an answer may take once there is a connection.
const ANSWER: Duration = Duration::from_secs(10);
/// Between two attempts at all addresses, and how many there are where all are refused at once.
const AGAIN: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 5;

/// A daemon that has found mpirun.
#[derive(Debug)]
pub struct Joined {
    pub link: Channel,
    pub secret: Secret,
    /// The agents it has started in turn.
    pub agents: Agents,
    /// Where those come to that it has started.
    pub below: Option<Subtree>,
    /// Where other daemons of the job may call; None: nowhere, since there was no port.
    pub door: Option<TcpListener>,
}

/// Why it has not: what to say, and the status to end with.
#[derive(Debug)]
pub struct Failed {
    pub status: u8,
    pub why: String,
}

fn failed(status: u8, why: impl Into<String>) -> Failed {
    Failed { status, why: why.into() }
}

pub fn join() -> Result<Joined, Failed> {
    let line = read_line().map_err(|why| failed(BAD_BOOT, why))?;
    let boot = Boot::parse(&line).map_err(|refusal| match refusal {
        Refusal::Version(other) => {
            failed(OTHER_VERSION, format!("this daemon is version {}, mpirun is version {other}", version()))
        }
        Refusal::Malformed(why) => {
            failed(BAD_BOOT, format!("the line on standard input is not mpirun's: {why}"))
        }
    })?;
    let node = own_node(&boot).map_err(|why| failed(BAD_BOOT, why))?;
    prepend("PATH", &boot.path);
    prepend("LD_LIBRARY_PATH", &boot.libraries);
    let (orders, below) = match boot.node.is_some() && !boot.nodes.is_empty() {
        true => {
            let (below, addresses) = Subtree::listen(&boot).map_err(|why| failed(BAD_BOOT, why))?;
            (start::orders(&Boot { addresses, ..boot.clone() }), Some(below))
        }
        false => (Vec::new(), None),
    };
    let (door, own) = listen(&boot).unzip();
    let mut agents = Agents::new(orders, usize::MAX, Duration::ZERO);
    // A failure at once is told when there is somebody to tell.
    let early = agents.turn();
    let mut link = way_back(&boot, node).map_err(|why| failed(NO_WAY_BACK, why))?;
    let mut facts = NodeFacts::own().map_err(|why| failed(BAD_BOOT, why))?;
    facts.door = own.unwrap_or_default();
    facts.door.truncate(doors::MOST);
    let say = |link: &mut Channel, message: &FromNode| {
        link.send(message).map_err(|w| failed(BAD_BOOT, w.to_string()))
    };
    say(&mut link, &FromNode::Here(Box::new(facts)))?;
    for failure in early {
        say(&mut link, &FromNode::Unstarted(failure))?;
    }
    Ok(Joined { link, secret: boot.secret, agents, below, door })
}

/// Listens for other daemons of the job. None: there is no port, and they reach this one by mpirun.
fn listen(boot: &Boot) -> Option<(TcpListener, Vec<SocketAddr>)> {
    let launcher = &boot.launcher;
    let listener = socket::listen_to_the_end(&launcher.ports).ok()?;
    let port = listener.local_addr().ok()?.port();
    Some((listener, addresses::door(port, &launcher.include, &launcher.exclude).ok()?))
}

fn read_line() -> Result<String, String> {
    let stdin = rustix::stdio::stdin();
    let until = (!rustix::termios::isatty(stdin)).then(|| Instant::now() + LINE);
    let mut line = Vec::new();
    let mut buffer = [0; 64 << 10];
    while !line.contains(&b'\n') {
        wait_for(&mut [PollFd::from_borrowed_fd(stdin, PollFlags::IN)], until)
            .map_err(|why| format!("no line came on standard input ({why}); mpirun gives one"))?;
        match rustix::io::read(stdin, &mut buffer[..]) {
            Ok(0) => return Err("standard input ended before a line came; mpirun gives one".into()),
            Ok(n) => line.extend_from_slice(&buffer[..n]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(why) => return Err(format!("standard input cannot be read: {why}")),
        }
        if line.len() > boot::LIMIT {
            return Err(format!("the line on standard input is longer than {} bytes", boot::LIMIT));
        }
    }
    let end = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
    line.truncate(end);
    String::from_utf8(line).map_err(|_| "the line on standard input is no text".into())
}

/// Which node this is: as the line says, or as Slurm does.
fn own_node(boot: &Boot) -> Result<u32, String> {
    if let Some(node) = boot.node {
        return Ok(node);
    }
    let name = std::env::var("SLURMD_NODENAME").unwrap_or_default();
    let place = std::env::var("SLURM_PROCID").ok().and_then(|text| text.parse::<usize>().ok());
    let by_name = boot.nodes.iter().find(|(_, known)| *known == name);
    match by_name.or_else(|| boot.nodes.get(place?)) {
        Some((node, _)) => Ok(*node),
        None => Err(format!("Slurm calls this node {name:?}, which is none of the job's")),
    }
}

/// The installation comes before what the login has.
fn prepend(variable: &str, folders: &[String]) {
    if folders.is_empty() {
        return;
    }
    let now = std::env::var_os(variable).filter(|now| !now.is_empty());
    let all = folders.iter().map(std::path::PathBuf::from).chain(now.iter().flat_map(std::env::split_paths));
    if let Ok(joined) = std::env::join_paths(all) {
        // SAFETY: this process has one thread, and nothing else looks at its environment.
        unsafe { std::env::set_var(variable, joined) };
    }
}

/// Waits until one of these is ready. The error: it takes too long.
fn wait_for(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<(), String> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Err("waited in vain".into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(why) => return Err(why.to_string()),
        }
    }
}

/// An attempt at an address.
struct Attempt {
    address: SocketAddr,
    socket: Option<OwnedFd>,
    why: String,
}

/// The first of mpirun's addresses at which somebody answers who knows the secret. All are tried at once: some may lead
/// nowhere, and which is not known before.
fn way_back(boot: &Boot, node: u32) -> Result<Channel, String> {
    let until = Instant::now() + boot.patience;
    let mut addresses = boot.addresses.clone();
    nearest_first(&mut addresses, &interfaces().unwrap_or_default());
    let mut round = 0;
    loop {
        round += 1;
        let mut attempts: Vec<Attempt> = addresses.iter().map(|address| begin(*address)).collect();
        while attempts.iter().any(|attempt| attempt.socket.is_some()) {
            let open: Vec<usize> = (0..attempts.len()).filter(|&i| attempts[i].socket.is_some()).collect();
            let mut fds: Vec<PollFd<'_>> = attempts
                .iter()
                .filter_map(|a| Some(PollFd::new(a.socket.as_ref()?, PollFlags::OUT)))
                .collect();
            if let Err(why) = wait_for(&mut fds, Some(until)) {
                open.into_iter().for_each(|i| attempts[i].why = format!("no answer ({why})"));
                return Err(in_words(&attempts));
            }
            let ready: Vec<usize> = open
                .into_iter()
                .zip(&fds)
                .filter(|(_, fd)| !fd.revents().is_empty())
                .map(|(i, _)| i)
                .collect();
            for i in ready {
                let Some(socket) = attempts[i].socket.take() else { continue };
                match talk(socket, &boot.secret, node, until) {
                    Ok(channel) => return Ok(channel),
                    Err(why) => attempts[i].why = why,
                }
            }
        }
        if round >= ATTEMPTS || Instant::now() + AGAIN >= until {
            return Err(in_words(&attempts));
        }
        std::thread::sleep(AGAIN);
    }
}

fn in_words(attempts: &[Attempt]) -> String {
    let lines: Vec<String> = attempts.iter().map(|a| format!("{}: {}", a.address, a.why)).collect();
    format!("there is no way to mpirun:\n{}", lines.join("\n"))
}

fn begin(address: SocketAddr) -> Attempt {
    let connect = || -> std::io::Result<OwnedFd> {
        let socket = socket::new(address)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(why) => Err(why.into()),
        }
    };
    match connect() {
        Ok(socket) => Attempt { address, socket: Some(socket), why: String::new() },
        Err(why) => Attempt { address, socket: None, why: why.to_string() },
    }
}

/// Proves to each other that both know the secret, and waits for that until `until` at most.
fn talk(socket: OwnedFd, secret: &Secret, node: u32, until: Instant) -> Result<Channel, String> {
    match rustix::net::sockopt::socket_error(&socket) {
        Ok(Ok(())) => {}
        Ok(Err(why)) | Err(why) => return Err(why.to_string()),
    }
    socket::tune(&socket).map_err(|why| why.to_string())?;
    let mut channel = Channel::with_limit(socket, LIMIT).map_err(|why| why.to_string())?;
    let until = until.min(Instant::now() + ANSWER);
    let Hand::Challenge(launcher) = next(&mut channel, until)? else {
        return Err("whoever is there is not mpirun: it gave no challenge".into());
    };
    let daemon = *Secret::random().map_err(|why| why.to_string())?.bytes();
    let talk = Talk { launcher, daemon, node };
    let answer = Hand::Answer { node, challenge: daemon, proof: talk.prove(secret, Side::Daemon) };
    channel.send(&answer).map_err(|why| why.to_string())?;
    match next(&mut channel, until)? {
        Hand::Welcome(proof) if talk.check(secret, Side::Launcher, &proof) => {
            channel.set_limit(link::LIMIT);
            Ok(channel)
        }
        Hand::Welcome(_) => Err("whoever is there does not know the job's secret".into()),
        Hand::Refused(why) => Err(format!("mpirun refuses this daemon: {why}")),
        _ => Err("whoever is there is not mpirun: it broke the protocol".into()),
    }
}

fn next(channel: &mut Channel, until: Instant) -> Result<Hand, String> {
    loop {
        match channel.take::<Hand>() {
            Ok(Some(hand)) => return Ok(hand),
            Ok(None) => {}
            Err(why) => return Err(format!("whoever is there is not mpirun: {}", why_not(&why))),
        }
        wait_for(&mut [PollFd::new(channel, PollFlags::IN)], Some(until))
            .map_err(|_| "connected, and nobody answered".to_owned())?;
        if channel.receive() == Peer::Gone {
            return match channel.take::<Hand>() {
                Ok(Some(hand)) => Ok(hand),
                _ => Err("whoever is there closed the connection".into()),
            };
        }
    }
}
