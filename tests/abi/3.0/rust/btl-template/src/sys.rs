//! The only file that talks to the operating system (or to a vendor's library). Everything above it can
//! be read, and tested, without knowing what a datagram socket is.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The device's name where devices are listed: here there is one, elsewhere they have names such as `eth0`.
pub const DEVICE: &str = "template";

/// A datagram socket with an abstract name: nothing in the file system that could be left behind. Linux
/// delivers these datagrams whole, in order, and refuses them (instead of losing them) when the receiver's
/// queue is full, which is just what a BTL promises.
pub struct Socket {
    socket: UnixDatagram,
    name: Vec<u8>,
}

/// Where a peer's socket is.
#[derive(Clone)]
pub struct PeerName(SocketAddr);

/// The result of sending a datagram.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    Yes,
    /// The receiver's queue is full, or the kernel is short of memory for a moment.
    NoRoom,
    /// The receiver is gone.
    Gone,
}

impl Socket {
    /// Binds to a name that no other socket of this machine has.
    pub fn bind(rank: u32) -> Result<Socket> {
        let pid = std::process::id();
        for attempt in 0..u16::MAX {
            let name = format!("oxmpi-btl-template-{pid}-{rank}-{attempt}").into_bytes();
            match UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?) {
                Ok(socket) => {
                    socket.set_nonblocking(true)?;
                    return Ok(Socket { socket, name });
                }
                // Another instance of this rank in this process, or another context: the next name.
                Err(e) if e.kind() == ErrorKind::AddrInUse => {}
                Err(e) => return Err(e),
            }
        }
        Err(Error::new(ErrorKind::AddrInUse, "65535 sockets of this process have names already"))
    }

    pub fn name(&self) -> &[u8] {
        &self.name
    }

    pub fn send(&self, to: &PeerName, bytes: &[u8]) -> Result<Sent> {
        match self.socket.send_to_addr(bytes, &to.0) {
            Ok(_) => Ok(Sent::Yes),
            Err(e) => match e.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::OutOfMemory => Ok(Sent::NoRoom),
                _ if e.raw_os_error() == Some(ENOBUFS) => Ok(Sent::NoRoom),
                ErrorKind::ConnectionRefused | ErrorKind::NotFound => Ok(Sent::Gone),
                _ => Err(e),
            },
        }
    }

    /// The next datagram, or `None`. One that is longer than `into` is cut, and shows by filling it.
    pub fn receive(&self, into: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.receive_from(into)?.map(|(len, _)| len))
    }

    /// The same, with the socket that it came from.
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Option<(usize, PeerName)>> {
        match self.socket.recv_from(into) {
            Ok((len, from)) => Ok(Some((len, PeerName(from)))),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// For those who sleep until something comes.
    pub fn fd(&self) -> i32 {
        self.socket.as_raw_fd()
    }
}

/// POLLIN of poll(2).
pub const READABLE: u32 = 1;

/// Where abstract names mean the same: the machine as it was booted, and the network namespace.
pub fn place() -> Result<Vec<u8>> {
    let mut place = std::fs::read("/proc/sys/kernel/random/boot_id")?;
    place.extend_from_slice(std::fs::read_link("/proc/self/ns/net")?.as_os_str().as_encoded_bytes());
    Ok(place)
}

/// Linux's number, for which std has no kind.
const ENOBUFS: i32 = 105;

impl PeerName {
    pub fn new(name: &[u8]) -> Result<PeerName> {
        Ok(PeerName(SocketAddr::from_abstract_name(name)?))
    }
}
