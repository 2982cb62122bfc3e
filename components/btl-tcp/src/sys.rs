//! The only file with system calls: sockets, epoll, interfaces, random numbers.

use rustix::event::{Timespec, epoll};
use rustix::io::{Errno, readv};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, acceptfrom_with, bind,
    connect as sys_connect, getsockname, ipproto, listen as sys_listen, recv, send, sendmsg, socket_with,
    sockopt,
};
use rustix::thread::{MembarrierCommand, membarrier};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A network interface, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub loopback: bool,
    /// Each with the length of its network's prefix.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// How sockets are set up (parameters).
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub send_buffer: usize,
    pub receive_buffer: usize,
    pub nagle: bool,
    /// A network that confirms nothing for so long is cut.
    pub cut_after: Duration,
}

/// The interfaces that are up and have addresses. Addresses of one link only (fe80::/10) are left out: they mean nothing without
/// an interface.
pub fn interfaces() -> Result<Vec<Interface>> {
    let mut first: *mut libc::ifaddrs = core::ptr::null_mut();
    // SAFETY: the list is given back below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(Error::last_os_error());
    }
    let (mut found, mut at) = (Vec::<Interface>::new(), first);
    // SAFETY: the kernel's list, each entry valid until it is freed.
    while let Some(entry) = unsafe { at.as_ref() } {
        at = entry.ifa_next;
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        if entry.ifa_flags & up != up {
            continue;
        }
        // SAFETY: as above; an entry's address and mask are of one family, or null.
        let Some((address, prefix)) = (unsafe { address_of(entry.ifa_addr, entry.ifa_netmask) }) else {
            continue;
        };
        // SAFETY: a name that ends with 0.
        let name = unsafe { core::ffi::CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        let loopback = entry.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
        match found.iter_mut().find(|i| i.name == name) {
            Some(known) => known.addresses.push((address, prefix)),
            None => found.push(Interface { name, loopback, addresses: vec![(address, prefix)] }),
        }
    }
    // SAFETY: made above.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// # Safety
/// Both are null or socket addresses of the same family.
unsafe fn address_of(address: *const libc::sockaddr, mask: *const libc::sockaddr) -> Option<(IpAddr, u8)> {
    // SAFETY: the caller's promise.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let ip =
                    |a: *const libc::sockaddr| u32::from_be((*a.cast::<libc::sockaddr_in>()).sin_addr.s_addr);
                let prefix = if mask.is_null() { 32 } else { ip(mask).leading_ones() };
                Some((IpAddr::V4(Ipv4Addr::from(ip(address))), prefix as u8))
            }
            libc::AF_INET6 => {
                let ip = |a: *const libc::sockaddr| {
                    u128::from_be_bytes((*a.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr)
                };
                let prefix = if mask.is_null() { 128 } else { ip(mask).leading_ones() };
                let address = Ipv6Addr::from(ip(address));
                (!address.is_unicast_link_local()).then_some((IpAddr::V6(address), prefix as u8))
            }
            _ => None,
        }
    }
}

/// Speed of an interface in Mb/s, where the system knows it.
pub fn speed(interface: &str) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{interface}/speed")).ok()?;
    text.trim().parse().ok().filter(|&s| s > 0)
}

/// Equal in processes for which loopback addresses mean the same: the machine as it was booted, and its network namespace.
pub fn place() -> Result<Vec<u8>> {
    let mut place = std::fs::read("/proc/sys/kernel/random/boot_id")?;
    place.extend_from_slice(std::fs::read_link("/proc/self/ns/net")?.as_os_str().as_encoded_bytes());
    Ok(place)
}

/// Random bytes.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut out = [0; N];
    let mut have = 0;
    while have < N {
        have += rustix::rand::getrandom(&mut out[have..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(out)
}

fn family(address: &SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

fn socket(address: &SocketAddr) -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(family(address), SocketType::STREAM, flags, Some(ipproto::TCP))?)
}

/// A socket that listens at an address; the port is 0 for any, and the answer has the real one.
pub fn listen(address: SocketAddr) -> Result<(OwnedFd, SocketAddr)> {
    let fd = socket(&address)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&fd, true)?;
    }
    bind(&fd, &address)?;
    sys_listen(&fd, 4096)?;
    let name = getsockname(&fd)?;
    let bound = SocketAddr::try_from(name).map_err(|_| Error::from(ErrorKind::Unsupported))?;
    Ok((fd, bound))
}

/// The next connection of a listener, or nothing now.
pub fn accept(listener: &OwnedFd) -> Result<Option<(OwnedFd, SocketAddr)>> {
    match acceptfrom_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
        Ok((fd, from)) => {
            let from = from.and_then(|a| SocketAddr::try_from(a).ok());
            Ok(Some((fd, from.unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0))))))
        }
        Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Begins a connection; it is there, or has failed, when the socket becomes writable.
pub fn connect(to: SocketAddr, from: Option<IpAddr>) -> Result<OwnedFd> {
    let fd = socket(&to)?;
    if let Some(ip) = from.filter(|ip| ip.is_ipv4() == to.is_ipv4()) {
        bind(&fd, &SocketAddr::new(ip, 0))?;
    }
    match sys_connect(&fd, &to) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(fd),
        Err(e) => Err(e.into()),
    }
}

/// A socket that has called nobody.
#[cfg(all(test, not(loom)))]
pub fn idle_socket() -> Result<OwnedFd> {
    socket(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

/// How a connection that was begun has ended.
pub fn outcome(fd: &OwnedFd) -> Result<()> {
    Ok(sockopt::socket_error(fd)??)
}

/// Sets a connected socket up.
pub fn tune(fd: &OwnedFd, tuning: &Tuning) -> Result<()> {
    sockopt::set_tcp_nodelay(fd, !tuning.nagle)?;
    if tuning.send_buffer > 0 {
        sockopt::set_socket_send_buffer_size(fd, tuning.send_buffer)?;
    }
    if tuning.receive_buffer > 0 {
        sockopt::set_socket_recv_buffer_size(fd, tuning.receive_buffer)?;
    }
    // A host that is switched off says nothing: after this long without an answer the kernel gives the connection up. It
    // asks whole seconds apart where nothing is sent.
    sockopt::set_tcp_user_timeout(fd, tuning.cut_after.as_millis() as u32)?;
    let seconds = tuning.cut_after.as_secs().clamp(2, 10);
    sockopt::set_socket_keepalive(fd, true)?;
    sockopt::set_tcp_keepidle(fd, Duration::from_secs(seconds))?;
    sockopt::set_tcp_keepintvl(fd, Duration::from_secs(seconds / 2))?;
    Ok(sockopt::set_tcp_keepcnt(fd, 3)?)
}

/// Writes; 0: the socket takes nothing now.
pub fn write(fd: impl AsFd, bytes: &[u8]) -> Result<usize> {
    match send(fd, bytes, SendFlags::NOSIGNAL) {
        Ok(n) => Ok(n),
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::NOMEM) => Ok(0),
        Err(e) => Err(e.into()),
    }
}

/// The same of several pieces, by one call.
pub fn write_pieces(fd: impl AsFd, pieces: &[IoSlice<'_>]) -> Result<usize> {
    match sendmsg(fd, pieces, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL) {
        Ok(n) => Ok(n),
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::NOMEM) => Ok(0),
        Err(e) => Err(e.into()),
    }
}

/// The same by the descriptor's number.
///
/// # Safety
/// It is that of a socket, which stays open for the call.
pub unsafe fn write_raw(fd: i32, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the caller's promise.
    write(unsafe { BorrowedFd::borrow_raw(fd) }, bytes)
}

/// Whether this process can run [`stop_all`].
pub fn can_stop_all() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok() && stop_all()
}

/// Runs a barrier on every core that runs a thread of this process; false: it failed.
pub fn stop_all() -> bool {
    membarrier(MembarrierCommand::PrivateExpedited).is_ok()
}

/// A fresh socket takes a message of a handshake whole.
pub fn send_all(fd: &OwnedFd, bytes: &[u8]) -> Result<()> {
    match write(fd, bytes)? {
        n if n == bytes.len() => Ok(()),
        _ => Err(Error::other("a new connection takes no bytes")),
    }
}

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    Bytes(usize),
    Nothing,
    /// The peer has closed its side.
    End,
}

/// Reads into a buffer that is not empty.
pub fn read(fd: &OwnedFd, into: &mut [u8]) -> Result<Got> {
    match recv(fd, into, RecvFlags::empty()) {
        Ok((0, _)) => Ok(Got::End),
        Ok((n, _)) => Ok(Got::Bytes(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Got::Nothing),
        Err(e) => Err(e.into()),
    }
}

/// The same into two, of which the first may be empty.
pub fn read_two(fd: &OwnedFd, first: &mut [u8], second: &mut [u8]) -> Result<Got> {
    if first.is_empty() {
        return read(fd, second);
    }
    match readv(fd, &mut [IoSliceMut::new(first), IoSliceMut::new(second)]) {
        Ok(0) => Ok(Got::End),
        Ok(n) => Ok(Got::Bytes(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Got::Nothing),
        Err(e) => Err(e.into()),
    }
}

/// Bytes that the peer's kernel has not confirmed. A failed question says none.
pub fn in_flight(fd: &OwnedFd) -> u32 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request (SIOCOUTQ) writes one int.
    let answered = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &mut bytes) } == 0;
    if answered { bytes.max(0).cast_unsigned() } else { 0 }
}

/// An epoll set, level-triggered.
pub struct Poller(OwnedFd);

/// Events to be told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
    Both,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        match self {
            Interest::Read => epoll::EventFlags::IN,
            Interest::Write => epoll::EventFlags::OUT,
            Interest::Both => epoll::EventFlags::IN | epoll::EventFlags::OUT,
        }
    }
}

/// One event: whose, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
}

impl Poller {
    pub fn new() -> Result<Poller> {
        Ok(Poller(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(token), interest.flags())?)
    }
    pub fn change(&self, fd: impl AsFd, token: u64, interest: Interest) -> Result<()> {
        Ok(epoll::modify(&self.0, fd, epoll::EventData::new_u64(token), interest.flags())?)
    }
    pub fn remove(&self, fd: impl AsFd) {
        // One that is not there, or about to be closed, leaves by itself.
        let _ = epoll::delete(&self.0, fd);
    }
    /// Events that are there now, without waiting; a failed question says nothing is.
    pub fn look<'a>(
        &self,
        events: &'a mut [MaybeUninit<epoll::Event>],
    ) -> impl Iterator<Item = Event> + use<'a> {
        const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let found = epoll::wait(&self.0, events, Some(&NOW)).map_or(&mut [][..], |(found, _)| found);
        found.iter().map(|e| {
            let (data, flags) = (e.data, e.flags);
            let over = flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP);
            Event {
                token: data.u64(),
                readable: over || flags.contains(epoll::EventFlags::IN),
                writable: over || flags.contains(epoll::EventFlags::OUT),
            }
        })
    }
    /// Whether anything is there.
    pub fn is_ready(&self) -> bool {
        let mut events = [MaybeUninit::uninit(); 1];
        self.look(&mut events).next().is_some()
    }
    pub fn fd(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Room for the events of one look.
pub type Events = [MaybeUninit<epoll::Event>; 64];

/// Room for events.
pub const fn no_events() -> Events {
    [MaybeUninit::uninit(); 64]
}
