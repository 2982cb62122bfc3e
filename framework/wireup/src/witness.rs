//! A crashing process's last word: where it was.
//!
//! Everything is made ready while all is well (the socket's address, the frame that shows the
//! secret). The work of the signal handler is then a handful of system calls on memory of its
//! own: no allocation, no lock, nothing of the instance, whose state nobody knows at that moment.
//! It goes over a connection of its own, because another thread may be in the middle of a frame
//! on the process's first one. The answer is the daemon's hanging up, which says that it has the report:
//! what the process says or does next comes after it.

use super::error::{Error, ErrorKind};
use super::frame::HEADER;
use super::message::{CRASH, RANK_LIMIT, ToDaemon};
use super::names::VERSION;
use super::secret::Secret;
use crate::moment::Moment;
use std::mem::offset_of;

/// Room for the frame that shows the secret, in bytes.
const HELLO: usize = 64;

/// A process's ready-made connection to its daemon.
#[derive(Clone)]
pub struct Witness {
    address: libc::sockaddr_un,
    length: libc::socklen_t,
    hello: [u8; HELLO],
    hello_length: usize,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness") // it knows the secret
    }
}

impl Witness {
    /// Prepares the socket's address and the frame that shows the secret, so that a signal handler can report.
    pub(super) fn new(socket: &str, secret: &Secret, rank: u32) -> Result<Witness, Error> {
        let too_large = |what: &str| Error::new(ErrorKind::TooLarge, format!("{what} is too long"));
        // SAFETY: all fields are numbers.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        // The first byte stays 0: the name is in the abstract namespace.
        let room = address.sun_path.len() - 1;
        if socket.len() > room {
            return Err(too_large("the daemon's socket name"));
        }
        for (place, byte) in address.sun_path[1..].iter_mut().zip(socket.bytes()) {
            *place = byte as libc::c_char;
        }
        let frame = ToDaemon::Witness { version: VERSION, secret: secret.clone(), rank }
            .encode()
            .map_err(|why| Error::new(ErrorKind::TooLarge, why.to_string()))?;
        let mut hello = [0; HELLO];
        hello.get_mut(..frame.len()).ok_or_else(|| too_large("a frame"))?.copy_from_slice(&frame);
        let length = (offset_of!(libc::sockaddr_un, sun_path) + 1 + socket.len()) as libc::socklen_t;
        Ok(Witness { address, length, hello, hello_length: frame.len() })
    }

    /// Sends the report and waits until the daemon has it. `to` says where the user wants to read it.
    /// Async-signal-safe. False: it did not get through. `moment.signal` is 0 for a process that
    /// no signal ends.
    pub fn report(&self, moment: &Moment, to: &[u8], stack: &[u8], maps: &[u8]) -> bool {
        let lengths = 12 + to.len() + stack.len() + maps.len();
        let payload = Moment::BYTES + lengths;
        if payload > RANK_LIMIT {
            return false;
        }
        let mut head = [0; HEADER + Moment::BYTES];
        head[..4].copy_from_slice(&(payload as u32).to_le_bytes());
        head[4] = CRASH;
        head[HEADER..].copy_from_slice(&moment.to_bytes());
        // SAFETY: system calls with arguments of the sizes they are told; the descriptor is ours.
        unsafe {
            let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
            if socket < 0 {
                return false;
            }
            // A daemon that does not read must not keep a dying process for ever.
            let patience = libc::timeval { tv_sec: 5, tv_usec: 0 };
            for side in [libc::SO_SNDTIMEO, libc::SO_RCVTIMEO] {
                let length = size_of::<libc::timeval>() as libc::socklen_t;
                libc::setsockopt(socket, libc::SOL_SOCKET, side, (&raw const patience).cast(), length);
            }
            let address = (&raw const self.address).cast();
            let sent = libc::connect(socket, address, self.length) == 0
                && send_all(socket, &self.hello[..self.hello_length])
                && send_all(socket, &head)
                && [to, stack, maps].iter().all(|part| {
                    send_all(socket, &(part.len() as u32).to_le_bytes()) && send_all(socket, part)
                });
            if sent {
                libc::shutdown(socket, libc::SHUT_WR);
                let mut byte = 0_u8;
                while libc::recv(socket, (&raw mut byte).cast(), 1, 0) < 0
                    && *libc::__errno_location() == libc::EINTR
                {}
            }
            libc::close(socket);
            sent
        }
    }
}

/// Sends all bytes, waiting for room; false: the connection failed. Async-signal-safe.
fn send_all(socket: libc::c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: `bytes` is a readable slice; the call changes nothing of ours.
        let sent = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        // SAFETY: the address of this thread's errno.
        if sent < 0 && unsafe { *libc::__errno_location() } == libc::EINTR {
            continue;
        }
        let Some(rest) = usize::try_from(sent).ok().and_then(|n| bytes.get(n..)) else { return false };
        bytes = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::frame::Inbox;
    use super::*;
    use std::io::Read;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    #[test]
    fn what_is_sent_is_what_the_daemon_reads() {
        let name = format!("oxmpi-witness-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let listener = UnixListener::bind_addr(&address).expect("free");
        let secret = Secret::from_bytes([9; 32]);
        let witness = Witness::new(&name, &secret, 5).expect("short");
        let moment =
            Moment { signal: 11, code: 1, address: 8, thread: 77, ip: u64::MAX, sp: 2, fp: 3, lr: 4 };
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            listener.accept().expect("a witness").0.read_to_end(&mut bytes).expect("readable");
            bytes
        });
        assert!(witness.report(&moment, b"stderr", &[1; 5000], b"maps"));
        let mut inbox = Inbox::new(RANK_LIMIT);
        inbox.extend(&reader.join().expect("no panic"));
        let first = ToDaemon::decode(inbox.next().expect("sound").expect("whole")).expect("decodes");
        assert!(matches!(first, ToDaemon::Witness { rank: 5, version: VERSION, .. }), "{first:?}");
        let second = ToDaemon::decode(inbox.next().expect("sound").expect("whole")).expect("decodes");
        let ToDaemon::Crash { moment: again, to, stack, maps } = second else { panic!("{second:?}") };
        assert_eq!((again, to.as_str()), (moment, "stderr"));
        assert_eq!((stack, maps), (vec![1; 5000], b"maps".to_vec()));
        // Nobody listens any more.
        assert!(!witness.report(&moment, b"", &[], &[]));
    }
}
