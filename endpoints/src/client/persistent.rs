//! Persistent requests, and what else is done to requests before they are complete: starting, cancelling, freeing.
//!
//! The proxy makes the persistent operation once, with the data's place; a start copies staged data anew and has the proxy
//! start it.

use super::envelope::Message;
use super::message::{buffered, prepare};
use super::request::{self, Buffered, Kind, Slot};
use super::{comm, error};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};

/// Has the proxy make the operation, and gives the handle to the program.
///
/// # Safety
/// `request` is the program's place for it.
pub unsafe fn make(slot: &'static mut Slot, request: *mut Request) -> Result<(), c_int> {
    slot.issue();
    slot.wait();
    slot.active = false;
    let class = slot.record().error;
    if class != SUCCESS {
        slot.free();
        return Err(class);
    }
    // SAFETY: the caller's promise.
    unsafe { *request = slot.handle() };
    Ok(())
}

macro_rules! init {
    ($($code:ident, $name:ident $n:ty, $at:ident: $pointer:ty, $peer:ident;)+) => {$(
        on_endpoints! {
            fn [$name [$n, c_int]]
            ($at: $pointer, count: N, datatype: Datatype, $peer: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
                let message = Message { at: $at.cast_mut(), count: count as i64, dtype: datatype, peer: $peer, tag };
                make(prepare(ep, NAME, op::$code | op::PERSISTENT, message, Kind::Persistent)?, request)
            }
        }
    )+};
}

// fn [MPI_Send_init, MPI_Send_init_c, MPI_Ssend_init, MPI_Ssend_init_c, MPI_Rsend_init, MPI_Rsend_init_c]
init! {
    SEND, MPI_Send_init c_int, buf: *const c_void, dest;
    SEND, MPI_Send_init_c i64, buf: *const c_void, dest;
    SSEND, MPI_Ssend_init c_int, buf: *const c_void, dest;
    SSEND, MPI_Ssend_init_c i64, buf: *const c_void, dest;
    RSEND, MPI_Rsend_init c_int, buf: *const c_void, dest;
    RSEND, MPI_Rsend_init_c i64, buf: *const c_void, dest;
}

on_endpoints! {
    fn [MPI_Recv_init [c_int, c_int], MPI_Recv_init_c [i64, isize]]
    (buf: *mut c_void, count: N, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
        let message = Message { at: buf, count: count as i64, dtype: datatype, peer: source, tag };
        make(prepare(ep, NAME, op::RECV | op::PERSISTENT, message, Kind::Persistent)?, request)
    }
}

on_endpoints! {
    fn [MPI_Bsend_init [c_int, c_int], MPI_Bsend_init_c [i64, isize]]
    (buf: *const c_void, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: *mut Request) on comm, ep {
        let mut message = Message { at: buf.cast_mut(), count: count as i64, dtype: datatype, peer: dest, tag };
        message.check(ep, true)?;
        if !is_predefined(datatype) && pmpi::MPI_Type_dup(datatype, &raw mut message.dtype) != SUCCESS {
            return Err(ERR_TYPE);
        }
        let kept = Buffered(message);
        let slot = request::new(ep, NAME, op::NOTHING, Kind::Persistent)?;
        slot.buffered = Some(kept);
        make(slot, request)
    }
}

fn begin(slot: &mut Slot) -> c_int {
    if slot.kind != Kind::Persistent || slot.active {
        return Slot::raise(slot.errhandler, slot.comm, "MPI_Start", ERR_REQUEST);
    }
    if let Some(Buffered(message)) = slot.buffered {
        let (errhandler, on) = (slot.errhandler, slot.comm);
        let sent = comm::find(on).ok_or(ERR_COMM).and_then(|comm| buffered(comm, "MPI_Start", message));
        if let Err(class) = sent {
            return Slot::raise(errhandler, on, "MPI_Start", class);
        }
        slot.record().op = op::NOTHING;
    } else {
        slot.staged.iter().flatten().for_each(|s| s.collect());
        slot.record().op = op::START;
    }
    slot.issue();
    SUCCESS
}

mpi! {
    fn MPI_Start(request: *mut Request) {
        match request::find(*request) {
            Some(slot) => begin(slot),
            None => pmpi::MPI_Start(request),
        }
    }
}

mpi! {
    fn MPI_Startall(count: c_int, requests: *mut Request) {
        let ours = |i: isize| request::is_ours(*requests.offset(i));
        if !(0..count as isize).any(ours) {
            return pmpi::MPI_Startall(count, requests);
        }
        for i in 0..count as isize {
            let error = MPI_Start(requests.offset(i));
            if error != SUCCESS {
                return error;
            }
        }
        SUCCESS
    }
}

mpi! {
    fn MPI_Cancel(request: *mut Request) {
        let Some(slot) = request::find(*request) else { return pmpi::MPI_Cancel(request) };
        if slot.kind == Kind::Message || !slot.active {
            return Slot::raise(slot.errhandler, slot.comm, "MPI_Cancel", ERR_REQUEST);
        }
        let index = slot.index;
        let fill = |record: &mut Record| record.args[0] = index.into();
        let result = comm::run(slot.client, slot.proxy, op::CANCEL, fill, |_| Ok(()));
        Slot::raise(slot.errhandler, slot.comm, "MPI_Cancel", result.err().unwrap_or(SUCCESS))
    }
}

mpi! {
    fn MPI_Request_free(request: *mut Request) {
        let Some(slot) = request::find(*request) else { return pmpi::MPI_Request_free(request) };
        if slot.kind == Kind::Message {
            return Slot::raise(slot.errhandler, slot.comm, "MPI_Request_free", ERR_REQUEST);
        }
        *request = REQUEST_NULL;
        if slot.active {
            slot.orphan();
            request::free_complete_orphans();
            return SUCCESS;
        }
        request::forget(slot);
        slot.free();
        SUCCESS
    }
}
