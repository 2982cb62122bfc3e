//! The system calls of a connection, both ends: connect, credentials, bytes with a descriptor.

use super::error::Error;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

/// The address of the abstract socket `name`.
pub(super) fn address(name: &str) -> Result<SocketAddr, Error> {
    SocketAddr::from_abstract_name(name)
        .map_err(|why| Error::system(&format!("{name:?} cannot be the name of a socket"), why))
}

/// Connects to the abstract socket `name`.
pub(super) fn connect(name: &str) -> Result<UnixStream, Error> {
    UnixStream::connect_addr(&address(name)?).map_err(|why| {
        Error::system(&format!("cannot reach the node daemon at the abstract socket {name:?}"), why)
    })
}

/// Listens on the abstract socket `name`, without blocking.
pub(super) fn listen(name: &str) -> Result<UnixListener, Error> {
    let listener = UnixListener::bind_addr(&address(name)?)
        .map_err(|why| Error::system(&format!("cannot listen on the abstract socket {name:?}"), why))?;
    listener
        .set_nonblocking(true)
        .map_err(|why| Error::system("cannot prepare the listening socket", why))?;
    Ok(listener)
}

/// Sends bytes, with a descriptor beside the first if there is one. Never raises SIGPIPE. The
/// number sent may be smaller than asked for; the descriptor has gone with the first byte.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], beside: Option<BorrowedFd<'_>>) -> Result<usize, Errno> {
    let Some(beside) = beside else {
        return retry(|| rustix::net::send(&socket, bytes, SendFlags::NOSIGNAL));
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let descriptors = [beside];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Errno::NOBUFS);
    }
    retry(|| sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL))
}

/// Sends all of it, waiting for room.
pub(super) fn send_all(socket: impl AsFd, mut bytes: &[u8]) -> Result<(), Error> {
    while !bytes.is_empty() {
        let sent = send(&socket, bytes, None).map_err(Error::lost)?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

/// Receives what is there; 0 bytes: the other side has closed.
pub(super) fn receive(socket: impl AsFd, into: &mut [u8]) -> Result<usize, Errno> {
    retry(|| rustix::net::recv(&socket, &mut *into, RecvFlags::empty()).map(|(n, _)| n))
}

/// Receives what is there, and a descriptor if one came beside it. A second one is closed.
pub(super) fn receive_with_descriptor(
    socket: impl AsFd,
    into: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let got = retry(|| recvmsg(&socket, &mut [IoSliceMut::new(into)], &mut control, flags))?;
    let mut beside = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            beside = beside.or(descriptors.into_iter().next());
        }
    }
    Ok((got.bytes, beside))
}

/// Repeats a system call as long as a signal interrupts it.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}
