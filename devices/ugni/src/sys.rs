//! System calls: sockets with abstract names, shared memory, reading and writing memory that may not be mapped.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// Memory that both ends of a descriptor map.
pub struct SharedMemory {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping belongs to no thread; its users say how they share it.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    pub fn make(bytes: usize) -> io::Result<(SharedMemory, OwnedFd)> {
        let fd = memfd_create("oxmpi-ugni", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, bytes as u64)?;
        Ok((SharedMemory::of(&fd, bytes)?, fd))
    }

    /// Maps what a peer gave. Less than `bytes` is an error, since the first access behind it would be our death.
    pub fn of(fd: &OwnedFd, bytes: usize) -> io::Result<SharedMemory> {
        if rustix::fs::fstat(fd)?.st_size < bytes as i64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { mmap(core::ptr::null_mut(), bytes, rights, MapFlags::SHARED, fd, 0) }?;
        Ok(SharedMemory { base: base.cast(), bytes })
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: our mapping, used no more.
        let _ = unsafe { munmap(self.base.cast(), self.bytes) };
    }
}

/// A descriptor that wakes a poll.
pub fn bell() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}
pub fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}
pub fn silence(bell: &OwnedFd) {
    let _ = rustix::io::read(bell, &mut [0; 8]);
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Listens at an abstract name, which ends with the process however that ends. AddrInUse: another has it.
pub fn listen(name: &str) -> io::Result<OwnedFd> {
    let fd = socket()?;
    rustix::net::bind(&fd, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    rustix::net::listen(&fd, 1024)?;
    Ok(fd)
}

/// Accepts a connection of a process of the same user; one of another user is closed.
pub fn accept(listener: &OwnedFd) -> io::Result<OwnedFd> {
    let fd = rustix::net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    let theirs = rustix::net::sockopt::socket_peercred(&fd)?;
    if theirs.uid == rustix::process::getuid() { Ok(fd) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

pub fn connect(name: &str) -> io::Result<OwnedFd> {
    let fd = socket()?;
    rustix::net::connect(&fd, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    Ok(fd)
}

/// Sends one record, with a descriptor where one is given. WouldBlock: no room.
pub fn send(socket: &OwnedFd, parts: [&[u8]; 2], fd: Option<&OwnedFd>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds;
    if let Some(fd) = fd {
        fds = [fd.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    let parts = parts.map(IoSlice::new);
    rustix::net::sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes one record. `Ok(0, _)`: the other end is closed.
pub fn recv(socket: &OwnedFd, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got =
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let fd = control.drain().find_map(|m| match m {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok((got.bytes, fd))
}

/// Waits until a descriptor has something, at most `limit`; `None`: for ever. A signal ends the wait, too. Numbers of those that have
/// something, or have been closed at the other end.
pub fn wait(fds: &[RawFd], limit: Option<Duration>) -> Vec<usize> {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        // SAFETY: the caller keeps them open during the call.
        .map(|fd| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::IN))
        .collect();
    let limit = limit.map(|l| Timespec { tv_sec: l.as_secs() as i64, tv_nsec: l.subsec_nanos().into() });
    if rustix::event::poll(&mut polled, limit.as_ref()).is_err() {
        return Vec::new();
    }
    polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty()).map(|(i, _)| i).collect()
}

/// Outcome of making pages present.
pub enum Populated {
    Whole,
    /// Some of them are not mapped.
    NotMapped,
    /// The kernel does not do it: rights are missing, the pages are a device's, or it does not know how.
    Refused,
}

/// Makes all pages of a range of this process's memory present, for writing where asked. Their bytes stay what they are.
pub fn populate(address: u64, end: u64, write: bool) -> Populated {
    let page = rustix::param::page_size() as u64;
    let from = address / page * page;
    let advice = if write { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
    // SAFETY: populating changes no byte, and the kernel checks the range.
    match unsafe { madvise(from as *mut _, (end - from) as usize, advice) } {
        Ok(()) => Populated::Whole,
        Err(Errno::NOMEM) => Populated::NotMapped,
        Err(_) => Populated::Refused,
    }
}

/// Copies out of this process's memory. False: some of it is not mapped.
pub fn read_memory(address: u64, to: &mut [u8]) -> bool {
    if to.is_empty() {
        return true;
    }
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: to.len() };
    // SAFETY: the kernel checks the remote range; the local one is a slice of ours.
    let n = unsafe { libc::process_vm_readv(own(), &local, 1, &remote, 1, 0) };
    n == to.len() as isize
}

/// Copies into this process's memory. False: some of it is not mapped or not writable.
pub fn write_memory(address: u64, from: &[u8]) -> bool {
    if from.is_empty() {
        return true;
    }
    let local = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: from.len() };
    // SAFETY: the kernel checks the remote range, which belongs to the program and is written on its behalf; the local one is only read.
    let n = unsafe { libc::process_vm_writev(own(), &local, 1, &remote, 1, 0) };
    n == from.len() as isize
}

/// Number of the user that this process runs as.
pub fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

fn own() -> libc::pid_t {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Whether a process is there.
pub fn is_alive(pid: u32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid as i32) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(Errno::SRCH))
}
