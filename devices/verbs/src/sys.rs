//! Every system call.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

pub fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Memory that can be passed on.
pub fn memory(bytes: usize) -> io::Result<OwnedFd> {
    let fd = memfd_create("oxmpi-verbs-fake", MemfdFlags::CLOEXEC)?;
    ftruncate(&fd, bytes as u64)?;
    Ok(fd)
}

pub fn map(fd: &OwnedFd, bytes: usize) -> io::Result<*mut u8> {
    // A peer that gives less would have us killed.
    if rustix::fs::fstat(fd)?.st_size < bytes as i64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let flags = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice.
    Ok(unsafe { mmap(core::ptr::null_mut(), bytes, flags.0, flags.1, fd, 0) }?.cast())
}

/// # Safety
/// Made by [`map`] with this length, and used no more.
pub unsafe fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise. It fails only for what is no mapping.
    let _ = unsafe { munmap(base.cast(), bytes) };
}

pub fn bell() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}
/// A full counter rings as well.
pub fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}
pub fn silence(bell: &OwnedFd) {
    let _ = rustix::io::read(bell, &mut [0; 8]);
}

/// The end to read blocks unless its owner says otherwise; the end to write never does.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&write, true)?;
    Ok((read, write))
}
pub fn write(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(fd, bytes)?)
}
pub fn read(fd: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(&fd, &mut *bytes) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// Stops this process until somebody continues it.
pub fn stop() {
    // SAFETY: takes a number. The signal is for this thread, so that it does not go on before the process stops.
    unsafe { libc::raise(libc::SIGSTOP) };
}

fn address(name: &str) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new_abstract_name(name.as_bytes())?)
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Takes an abstract name and listens there. AddrInUse: somebody else has it.
pub fn listen(name: &str) -> io::Result<OwnedFd> {
    let fd = socket()?;
    rustix::net::bind(&fd, &address(name)?)?;
    rustix::net::listen(&fd, 1024)?;
    Ok(fd)
}

pub fn accept(listener: &OwnedFd) -> io::Result<OwnedFd> {
    let fd = rustix::net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    let theirs = rustix::net::sockopt::socket_peercred(&fd)?;
    if theirs.uid.as_raw() == user() { Ok(fd) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

pub fn connect(name: &str) -> io::Result<OwnedFd> {
    let fd = socket()?;
    rustix::net::connect(&fd, &address(name)?)?;
    Ok(fd)
}

pub fn send_with(socket: &OwnedFd, bytes: &[u8], fd: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

pub fn recv_with(socket: &OwnedFd, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    let fd = control.drain().find_map(|m| match m {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok((got.bytes, fd))
}

/// Copies memory of this process that may not be mapped any more. False: it is not.
pub fn read_memory(from: *const u8, to: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: from.cast_mut().cast(), iov_len: to.len() };
    let own = rustix::process::getpid().as_raw_pid();
    // SAFETY: the kernel writes to `to` alone, and answers an error for what it cannot read.
    let copied = unsafe { libc::process_vm_readv(own, &local, 1, &remote, 1, 0) };
    usize::try_from(copied) == Ok(to.len())
}

/// A byte that wakes whoever polls the other end; one that finds no room finds others there.
pub fn nudge(socket: &OwnedFd) {
    let _ = rustix::net::send(socket, &[1], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// Takes bytes that woke us. False: the other end is gone.
pub fn take_nudges(socket: &OwnedFd) -> bool {
    loop {
        match rustix::net::recv(socket, &mut [0u8; 8], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return false,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
}

/// Waits until one of the descriptors has something: those that have. `None`: for ever.
pub fn wait(fds: &[RawFd], limit: Option<Duration>) -> Vec<RawFd> {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        // SAFETY: the caller keeps them open during the call.
        .map(|fd| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::IN))
        .collect();
    let limit = limit.map(|l| Timespec { tv_sec: l.as_secs() as i64, tv_nsec: l.subsec_nanos().into() });
    let _ = rustix::event::poll(&mut polled, limit.as_ref());
    let ready = fds.iter().zip(&polled).filter(|(_, p)| !p.revents().is_empty());
    ready.map(|(fd, _)| *fd).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_gone_is_told() {
        let fd = memory(8192).expect("memory");
        let base = map(&fd, 8192).expect("its mapping");
        let mut out = [1; 100];
        assert!(read_memory(base, &mut out));
        assert_eq!(out, [0; 100]);
        // SAFETY: mapped above.
        unsafe { unmap(base, 8192) };
        assert!(!read_memory(base, &mut out));
    }
}
