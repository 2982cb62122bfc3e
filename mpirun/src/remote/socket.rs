//! TCP sockets of a link: listening, and noticing that the other end is gone.
//!
//! **Silence.** A peer that is killed closes its connection, which shows at once. One whose machine or network is gone
//! says nothing. While nothing is under way, the kernel asks every second from the third of silence on and closes the
//! connection after five questions (keep-alive). While something is under way it asks nothing and would repeat it for a
//! quarter of an hour; so both ends look at the kernel's counters every two seconds ([`deaf`]). A peer that lives and takes
//! nothing (it is stopped, or its user's pipe is full) still answers in the kernel, and is not deaf.

use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, TcpListener};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// How often a link is looked at.
pub const LOOK: Duration = Duration::from_secs(2);
/// Silence of the peer's kernel, in milliseconds, and repetitions before a link counts as lost.
const DEAF_MS: u32 = 6000;
const DEAF_REPETITIONS: u8 = 4;

/// Listens at one of these ports, all of IPv4 and IPv6 where there is both. None given: the system chooses.
pub fn listen(ports: &[RangeInclusive<u16>]) -> std::io::Result<TcpListener> {
    let any = [0..=0];
    let ports = if ports.is_empty() { &any[..] } else { ports };
    let mut failure = std::io::Error::from_raw_os_error(libc::EADDRINUSE);
    for port in ports.iter().cloned().flatten() {
        for address in [
            SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0)),
            SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)),
        ] {
            match listen_at(address) {
                Ok(listener) => return Ok(listener),
                Err(why) => failure = why,
            }
        }
    }
    Err(failure)
}

/// Listens as `listen` does for as long as a job runs. The first of the ports given stays free for the start of others, so where there is one
/// this fails.
pub fn listen_to_the_end(ports: &[RangeInclusive<u16>]) -> std::io::Result<TcpListener> {
    if ports.is_empty() {
        return listen(ports);
    }
    let all: Vec<u16> = ports.iter().cloned().flatten().collect();
    let mut failure = std::io::Error::from_raw_os_error(libc::EADDRINUSE);
    for port in all.into_iter().skip(1).rev() {
        match listen(&[port..=port]) {
            Ok(listener) => return Ok(listener),
            Err(why) => failure = why,
        }
    }
    Err(failure)
}

fn listen_at(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = new(address)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, 1024)?;
    Ok(TcpListener::from(socket))
}

/// A socket for this kind of address; nothing on it blocks.
pub fn new(address: SocketAddr) -> std::io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?)
}

/// Has the kernel ask after a silent peer, and send short messages at once.
pub fn tune(socket: impl AsFd) -> std::io::Result<()> {
    let socket = socket.as_fd();
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(3))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(1))?;
    sockopt::set_tcp_keepcnt(socket, 5)?;
    Ok(())
}

/// Something has been under way to the peer for a while, and its kernel does not answer.
pub fn deaf(socket: impl AsFd) -> bool {
    // SAFETY: all zeroes are a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` has `length` bytes, and the kernel writes no more.
    let got = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    let repeated = info.tcpi_retransmits >= DEAF_REPETITIONS || info.tcpi_probes >= DEAF_REPETITIONS;
    got == 0 && repeated && info.tcpi_last_ack_recv >= DEAF_MS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    #[test]
    fn a_port_that_is_taken() {
        let first = listen(&[]).expect("a port");
        let port = first.local_addr().expect("bound").port();
        let why = listen(&[port..=port]).expect_err("taken");
        assert_eq!(why.kind(), std::io::ErrorKind::AddrInUse);
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("IPv4 is listened to");
    }

    #[test]
    fn a_port_is_left_for_others() {
        let free = || {
            let port = listen(&[]).expect("a port").local_addr().expect("bound").port();
            port..=port
        };
        let (first, second) = (free(), free());
        assert!(listen_to_the_end(std::slice::from_ref(&first)).is_err());
        let both = [first.clone(), second.clone()];
        let kept = listen_to_the_end(&both).expect("the second");
        assert_eq!(kept.local_addr().expect("bound").port(), *second.start());
        assert!(listen_to_the_end(&both).is_err(), "the first is not taken");
        assert_eq!(listen(&both).expect("the first").local_addr().expect("bound").port(), *first.start());
        assert!(listen_to_the_end(&[]).is_ok());
    }

    /// A peer that reads nothing is not deaf: its kernel answers.
    #[test]
    fn a_peer_that_takes_nothing_is_not_deaf() {
        let listener = listen(&[]).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        tune(&stream).expect("TCP");
        stream.set_nonblocking(true).expect("a socket");
        while stream.write(&[0; 65536]).is_ok() {}
        assert!(!deaf(&stream));
    }
}
