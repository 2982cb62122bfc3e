//! A descriptor that one process hands to others of its node: over an abstract socket, to processes of the same user that
//! know a secret. The receivers learn name and secret by other ways (messages), as one ticket.
//!
//! The giver serves until all have theirs, or until it is told that nobody comes any more: a receiver that cannot take its
//! descriptor says so to the others by other ways, and not here.

use super::secret::{Secret, random_id};
use super::{Error, ErrorKind, socket};
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

/// Bytes of a ticket: the number in the socket's name, and the secret.
pub(crate) const TICKET: usize = 8 + Secret::BYTES;

/// How long a stranger may keep others waiting, and how often the giver looks whether it is to stop.
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

pub(crate) struct Handing {
    listener: UnixListener,
    id: u64,
    secret: Secret,
}

fn name_of(id: u64) -> String {
    format!("oxmpi-handing-{id:016x}")
}

impl Handing {
    pub fn new() -> Result<Handing, Error> {
        let id = random_id()?;
        Ok(Handing { listener: socket::listen(&name_of(id))?, id, secret: Secret::random()? })
    }

    pub fn ticket(&self) -> [u8; TICKET] {
        let mut ticket = [0; TICKET];
        ticket[..8].copy_from_slice(&self.id.to_le_bytes());
        ticket[8..].copy_from_slice(self.secret.bytes());
        ticket
    }

    /// Serves `n` receivers, or until `stop`.
    pub fn serve(&self, descriptor: BorrowedFd<'_>, n: usize, stop: &AtomicBool) {
        let mut served = 0;
        while served < n && !stop.load(Ordering::Relaxed) {
            let mut waiting = [PollFd::new(&self.listener, PollFlags::IN)];
            if !matches!(poll(&mut waiting, Some(&MOMENT)), Ok(1..)) {
                continue;
            }
            if let Ok((stream, _)) = self.listener.accept()
                && self.give(&stream, descriptor).is_some()
            {
                served += 1;
            }
        }
    }

    /// To one who may have it.
    fn give(&self, stream: &UnixStream, descriptor: BorrowedFd<'_>) -> Option<()> {
        let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
        if peer.uid != rustix::process::geteuid() {
            return None;
        }
        let mut shown = [0; Secret::BYTES];
        let mut have = 0;
        while have < shown.len() {
            let mut waiting = [PollFd::new(stream, PollFlags::IN)];
            if !matches!(poll(&mut waiting, Some(&MOMENT)), Ok(1..)) {
                return None;
            }
            match socket::receive(stream, &mut shown[have..]) {
                Ok(n @ 1..) => have += n,
                _ => return None,
            }
        }
        if !self.secret.matches(&shown) {
            return None;
        }
        matches!(socket::send(stream, &[1], Some(descriptor)), Ok(1)).then_some(())
    }
}

/// Takes the descriptor that a ticket stands for.
pub(crate) fn take(ticket: &[u8; TICKET]) -> Result<OwnedFd, Error> {
    let (id, secret) = ticket.split_at(8);
    let id = id.iter().rev().fold(0u64, |id, byte| id << 8 | u64::from(*byte));
    let stream = UnixStream::connect_addr(&socket::address(&name_of(id))?)
        .map_err(|why| Error::system("cannot reach the process that shares its memory", why))?;
    socket::send_all(&stream, secret)?;
    match socket::receive_with_descriptor(&stream, &mut [0]) {
        Ok((1, Some(descriptor))) => Ok(descriptor),
        Ok((1, None)) => Err(Error::new(
            ErrorKind::System,
            "no descriptor came with shared memory; is the limit of open files (ulimit -n) reached?",
        )),
        Ok(_) => {
            Err(Error::new(ErrorKind::Refused, "the process that shares its memory closed the connection"))
        }
        Err(why) => Err(Error::system("the process that shares its memory cannot be heard", why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn who_has_a_ticket_gets_the_descriptor() {
        let memory = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, 4321).unwrap();
        let handing = Handing::new().unwrap();
        let ticket = handing.ticket();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| handing.serve(memory.as_fd(), 3, &stop));
            let mut wrong = ticket;
            wrong[20] ^= 1;
            assert!(take(&wrong).is_err(), "another secret");
            // Says nothing and goes away.
            drop(UnixStream::connect_addr(&socket::address(&name_of(handing.id)).unwrap()).unwrap());
            for _ in 0..3 {
                let got = take(&ticket).unwrap();
                assert_eq!(rustix::fs::fstat(&got).unwrap().st_size, 4321);
            }
        });
        drop(handing);
        assert!(take(&ticket).is_err(), "nobody is there");
    }

    #[test]
    fn serving_ends_when_nobody_comes() {
        let memory = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let handing = Handing::new().unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| handing.serve(memory.as_fd(), 2, &stop));
            stop.store(true, Ordering::Relaxed);
        });
    }
}
