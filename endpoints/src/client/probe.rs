//! Probes and matched messages. A blocking probe is repeated by the proxy between its other work.

use super::buffers::Buffer;
use super::comm::{self, EpComm};
use super::envelope::Message;
use super::error;
use super::message::{complete, start};
use super::place::{Lists, Use};
use super::request::{self, Kind, Slot};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, access, op};

/// Runs a probe; gives whether a message is there and the proxy's handle of it.
fn probe(
    comm: &EpComm,
    code: u32,
    source: c_int,
    tag: c_int,
    status: *mut Status,
) -> Result<(bool, u64), c_int> {
    let end = Message { at: core::ptr::null_mut(), count: 0, dtype: BYTE, peer: source, tag };
    end.check(comm, false)?;
    let fill = |record: &mut Record| {
        record.root = source;
        record.tag = tag;
    };
    let found = comm.command(code, fill, |record| {
        if record.out[0] != 0 && !status.is_null() {
            // SAFETY: the caller's place.
            unsafe { *status = Status { error: (*status).error, ..record.status } };
        }
        Ok((record.out[0] != 0, record.out[1]))
    })?;
    if !found.0 {
        comm.client.yield_after_empty_look();
    }
    Ok(found)
}

/// A handle for a matched message.
fn message(comm: &EpComm, name: &'static str, native: u64) -> Result<usize, c_int> {
    if native == MESSAGE_NO_PROC as u64 {
        return Ok(MESSAGE_NO_PROC);
    }
    let slot = request::new(comm, name, op::NOTHING, Kind::Message)?;
    slot.message = native;
    Ok(slot.handle())
}

on_endpoints! {
    fn [MPI_Probe] (source: c_int, tag: c_int, comm: Comm, status: *mut Status) on comm, ep {
        probe(ep, op::PROBE, source, tag, status).map(drop)
    }
}

on_endpoints! {
    fn [MPI_Iprobe] (source: c_int, tag: c_int, comm: Comm, flag: *mut c_int, status: *mut Status) on comm, ep {
        let (found, _) = probe(ep, op::IPROBE, source, tag, status)?;
        *flag = found.into();
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Mprobe] (source: c_int, tag: c_int, comm: Comm, out: *mut usize, status: *mut Status) on comm, ep {
        let (_, native) = probe(ep, op::MPROBE, source, tag, status)?;
        *out = message(ep, NAME, native)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Improbe] (source: c_int, tag: c_int, comm: Comm, flag: *mut c_int, out: *mut usize, status: *mut Status) on comm, ep {
        let (found, native) = probe(ep, op::IMPROBE, source, tag, status)?;
        *out = if found { message(ep, NAME, native)? } else { MESSAGE_NULL };
        *flag = found.into();
        Ok(())
    }
}

/// Turns a matched message into a receive.
fn receive(
    slot: &mut Slot,
    name: &'static str,
    at: *mut c_void,
    count: i64,
    dtype: Datatype,
) -> Result<&'static mut Slot, c_int> {
    let Some(comm) = comm::find(slot.comm) else { return Err(ERR_COMM) };
    if count < 0 {
        return Err(ERR_COUNT);
    }
    let receive = request::new(comm, name, op::MRECV, Kind::Transfer)?;
    receive.record().args[4] = slot.message as i64;
    let used = Use { which: 0, access: access::WRITE, typed: false, copied: false };
    if let Err(class) = receive.place(Buffer::plain(at, count, dtype), used, &mut Lists::default()) {
        receive.free();
        return Err(class);
    }
    Ok(receive)
}

macro_rules! matched {
    (fn [$($name:ident $n:ty),+] $last:ident: $last_type:ty, |$receive:ident| $body:block) => {$(
        mpi! {
            fn $name(buf: *mut c_void, count: $n, datatype: Datatype, message: *mut usize, $last: $last_type) {
                let Some(slot) = request::find(*message) else {
                    return pmpi::$name(buf, count, datatype, message, $last);
                };
                if slot.kind != Kind::Message {
                    return ERR_REQUEST;
                }
                let (errhandler, on) = (slot.errhandler, slot.comm);
                #[allow(clippy::unnecessary_cast, reason = "one body for two widths")]
                let result = receive(slot, stringify!($name), buf, count as i64, datatype).and_then(|$receive| {
                    slot.free();
                    *message = MESSAGE_NULL;
                    $body
                });
                Slot::raise(errhandler, on, stringify!($name), result.err().unwrap_or(SUCCESS))
            }
        }
    )+};
}

matched! {
    fn [MPI_Mrecv c_int, MPI_Mrecv_c i64] status: *mut Status, |receive| { complete(receive, status) }
}

matched! {
    fn [MPI_Imrecv c_int, MPI_Imrecv_c i64] request: *mut Request, |receive| {
        start(receive, request);
        Ok(())
    }
}
