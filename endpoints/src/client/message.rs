//! Point-to-point messages on endpoints.
//!
//! Every send and receive is a nonblocking operation of the proxy; blocking functions wait for it here, so a thread that
//! waits holds nobody back that uses the same endpoint.

use super::comm::{self, EpComm};
use super::envelope::Message;
use super::error;
use super::place::{Lists, Use};
use super::request::{self, Kind, Slot};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{access, op};

/// Makes the request of a send or receive, without issuing it.
pub fn prepare(
    comm: &EpComm,
    name: &'static str,
    code: u32,
    message: Message,
    kind: Kind,
) -> Result<&'static mut Slot, c_int> {
    let sends = code & !op::PERSISTENT != op::RECV;
    message.check(comm, sends)?;
    let slot = request::new(comm, name, code, kind)?;
    let record = slot.record();
    record.root = message.peer;
    record.tag = message.tag;
    let used = Use {
        which: 0,
        access: if sends { access::READ } else { access::WRITE },
        typed: false,
        copied: false,
    };
    match slot.place(message.buffer(), used, &mut Lists::default()) {
        Ok(()) => Ok(slot),
        Err(class) => {
            slot.free();
            Err(class)
        }
    }
}

/// Issues and waits.
pub fn complete(slot: &'static mut Slot, status: *mut Status) -> Result<(), c_int> {
    slot.issue();
    slot.wait();
    match slot.end(&mut slot.handle(), status) {
        SUCCESS => Ok(()),
        class => Err(class),
    }
}

/// Issues and gives the handle to the program.
///
/// # Safety
/// `request` is the program's place for it.
pub unsafe fn start(slot: &'static mut Slot, request: *mut Request) {
    slot.issue();
    // SAFETY: the caller's promise.
    unsafe { *request = slot.handle() };
}

macro_rules! send {
    ($code:expr, [$block:ident, $block_c:ident], [$now:ident, $now_c:ident]) => {
        on_endpoints! {
            fn [$block [c_int, c_int], $block_c [i64, isize]]
            (buf: *const c_void, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) on comm, ep {
                let message = Message { at: buf.cast_mut(), count: count as i64, dtype: datatype, peer: dest, tag };
                complete(prepare(ep, NAME, $code, message, Kind::Transfer)?, core::ptr::null_mut())
            }
        }
        on_endpoints! {
            fn [$now [c_int, c_int], $now_c [i64, isize]]
            (buf: *const c_void, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
                let message = Message { at: buf.cast_mut(), count: count as i64, dtype: datatype, peer: dest, tag };
                start(prepare(ep, NAME, $code, message, Kind::Transfer)?, request);
                Ok(())
            }
        }
    };
}

// The names, as build.rs looks for them: fn [MPI_Send, MPI_Send_c, MPI_Isend, MPI_Isend_c]
send!(op::SEND, [MPI_Send, MPI_Send_c], [MPI_Isend, MPI_Isend_c]);
// fn [MPI_Ssend, MPI_Ssend_c, MPI_Issend, MPI_Issend_c]
send!(op::SSEND, [MPI_Ssend, MPI_Ssend_c], [MPI_Issend, MPI_Issend_c]);
// fn [MPI_Rsend, MPI_Rsend_c, MPI_Irsend, MPI_Irsend_c]
send!(op::RSEND, [MPI_Rsend, MPI_Rsend_c], [MPI_Irsend, MPI_Irsend_c]);

on_endpoints! {
    fn [MPI_Recv [c_int, c_int], MPI_Recv_c [i64, isize]]
    (buf: *mut c_void, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: *mut Status) on comm, ep {
        let message = Message { at: buf, count: count as i64, dtype: datatype, peer: source, tag };
        complete(prepare(ep, NAME, op::RECV, message, Kind::Transfer)?, status)
    }
}

on_endpoints! {
    fn [MPI_Irecv [c_int, c_int], MPI_Irecv_c [i64, isize]]
    (buf: *mut c_void, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
        let message = Message { at: buf, count: count as i64, dtype: datatype, peer: source, tag };
        start(prepare(ep, NAME, op::RECV, message, Kind::Transfer)?, request);
        Ok(())
    }
}

/// Copies the message and lets it go on its own: the segment holds the data, so no attached buffer is used.
pub fn buffered(comm: &EpComm, name: &'static str, message: Message) -> Result<(), c_int> {
    message.check(comm, true)?;
    let slot = request::new(comm, name, op::SEND, Kind::Transfer)?;
    let record = slot.record();
    record.root = message.peer;
    record.tag = message.tag;
    let used = Use { which: 0, access: access::READ, typed: false, copied: true };
    if let Err(class) = slot.place(message.buffer(), used, &mut Lists::default()) {
        slot.free();
        return Err(class);
    }
    slot.issue();
    slot.orphan();
    Ok(())
}

on_endpoints! {
    fn [MPI_Bsend [c_int, c_int], MPI_Bsend_c [i64, isize]]
    (buf: *const c_void, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm) on comm, ep {
        buffered(ep, NAME, Message { at: buf.cast_mut(), count: count as i64, dtype: datatype, peer: dest, tag })
    }
}

on_endpoints! {
    fn [MPI_Ibsend [c_int, c_int], MPI_Ibsend_c [i64, isize]]
    (buf: *const c_void, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
        buffered(ep, NAME, Message { at: buf.cast_mut(), count: count as i64, dtype: datatype, peer: dest, tag })?;
        start(request::new(ep, NAME, op::NOTHING, Kind::Transfer)?, request);
        Ok(())
    }
}

// Buffered sends on endpoints are in nobody's buffer, but what a program waits for with these it waits for there, too.
mpi! {
    fn MPI_Buffer_detach(buffer_addr: *mut c_void, size: *mut c_int) {
        request::bury_sends();
        pmpi::MPI_Buffer_detach(buffer_addr, size)
    }
}

mpi! {
    fn MPI_Buffer_detach_c(buffer_addr: *mut c_void, size: *mut i64) {
        request::bury_sends();
        pmpi::MPI_Buffer_detach_c(buffer_addr, size)
    }
}

mpi! {
    fn MPI_Buffer_flush() {
        request::bury_sends();
        pmpi::MPI_Buffer_flush()
    }
}

/// Both ends of a combined send and receive.
fn exchange(
    comm: &EpComm,
    name: &'static str,
    sent: Message,
    received: Message,
    copied: bool,
) -> Result<&'static mut Slot, c_int> {
    sent.check(comm, true)?;
    received.check(comm, false)?;
    let slot = request::new(comm, name, op::SENDRECV, Kind::Transfer)?;
    let record = slot.record();
    record.root = sent.peer;
    record.tag = sent.tag;
    record.args[4] = received.peer.into();
    record.args[5] = received.tag.into();
    let first = Use { which: 0, access: access::READ, typed: false, copied };
    let second = Use { which: 1, access: access::WRITE, typed: false, copied: false };
    let mut lists = Lists::default();
    let placed = slot.place(sent.buffer(), first, &mut lists);
    match placed.and_then(|()| slot.place(received.buffer(), second, &mut lists)) {
        Ok(()) => Ok(slot),
        Err(class) => {
            slot.free();
            Err(class)
        }
    }
}

on_endpoints! {
    fn [MPI_Sendrecv [c_int, c_int], MPI_Sendrecv_c [i64, isize]]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int,
     recvbuf: *mut c_void, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int,
     comm: Comm, status: *mut Status) on comm, ep {
        let sent = Message { at: sendbuf.cast_mut(), count: sendcount as i64, dtype: sendtype, peer: dest, tag: sendtag };
        let received = Message { at: recvbuf, count: recvcount as i64, dtype: recvtype, peer: source, tag: recvtag };
        complete(exchange(ep, NAME, sent, received, false)?, status)
    }
}

on_endpoints! {
    fn [MPI_Isendrecv [c_int, c_int], MPI_Isendrecv_c [i64, isize]]
    (sendbuf: *const c_void, sendcount: N, sendtype: Datatype, dest: c_int, sendtag: c_int,
     recvbuf: *mut c_void, recvcount: N, recvtype: Datatype, source: c_int, recvtag: c_int,
     comm: Comm, request: *mut Request) on comm, ep {
        let sent = Message { at: sendbuf.cast_mut(), count: sendcount as i64, dtype: sendtype, peer: dest, tag: sendtag };
        let received = Message { at: recvbuf, count: recvcount as i64, dtype: recvtype, peer: source, tag: recvtag };
        start(exchange(ep, NAME, sent, received, false)?, request);
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Sendrecv_replace [c_int, c_int], MPI_Sendrecv_replace_c [i64, isize]]
    (buf: *mut c_void, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
     comm: Comm, status: *mut Status) on comm, ep {
        let sent = Message { at: buf, count: count as i64, dtype: datatype, peer: dest, tag: sendtag };
        complete(exchange(ep, NAME, sent, Message { peer: source, tag: recvtag, ..sent }, true)?, status)
    }
}

on_endpoints! {
    fn [MPI_Isendrecv_replace [c_int, c_int], MPI_Isendrecv_replace_c [i64, isize]]
    (buf: *mut c_void, count: N, datatype: Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
     comm: Comm, request: *mut Request) on comm, ep {
        let sent = Message { at: buf, count: count as i64, dtype: datatype, peer: dest, tag: sendtag };
        start(exchange(ep, NAME, sent, Message { peer: source, tag: recvtag, ..sent }, true)?, request);
        Ok(())
    }
}
