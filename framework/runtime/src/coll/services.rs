//! Services of collective components outside of plans: point-to-point on the communicator with negative tags; what `parts` has about nodes. In a collective
//! without data (`CollServices::call_lost`) each send is a failure instead.

use super::{in_plans_only, parts};
use crate::message::{Envelope, RecvBuffer, SendBuffer};
use crate::objects::Communicator;
use crate::request::Header;
use crate::spc::Counter;
use oxmpi_coll::{CollComm, CollServices};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, StrRef};
use std::ptr::null_mut;

/// The services that components get for calls outside of a plan.
pub(crate) const SERVICES: &CollServices = &CollServices {
    size: size_of::<CollServices>() as u32,
    reserved: 0,
    send,
    recv,
    isend,
    irecv,
    wait_all,
    memory: in_plans_only::memory,
    pack: in_plans_only::pack,
    unpack: in_plans_only::unpack,
    copy: in_plans_only::copy,
    reduce: in_plans_only::reduce,
    step: in_plans_only::step,
    place: parts::place,
    node_memory: parts::node_memory,
    peer_read: parts::peer_read,
    peer_write: parts::peer_write,
    peer_pointer: parts::peer_pointer,
    wait_word: parts::wait_word,
    wake_word: parts::wake_word,
    sub_comm: parts::sub_comm,
    sub_view: parts::sub_view,
    call: parts::call,
    send_failure,
    extend: in_plans_only::extend,
    call_lost: parts::call_lost,
    took,
};

/// The communicator a component got in `run`, and the way in of its call.
macro_rules! at {
    ($comm:expr) => {{
        // SAFETY: the component passes on what `run` gave it; `comm` is the communicator of the call.
        let c = unsafe { &*$comm };
        // SAFETY: a communicator in use, which the call of the collective is on.
        let comm = unsafe { &*(c.comm as *const Communicator) };
        // SAFETY: the collective's thread, whose entry `run` has borrowed; made once for each call.
        (comm, unsafe { comm.instance().entry(c.thread) })
    }};
}
/// Data of a component's send.
macro_rules! outgoing {
    ($buf:expr, $count:expr, $dtype:expr) => {
        // SAFETY: the component passes a type of the call's arguments or one of its own, and elements that stay until the message is gone.
        unsafe { SendBuffer::new($buf, $count, &*$dtype) }
    };
}
/// Place of a component's receive.
macro_rules! incoming {
    ($buf:expr, $count:expr, $dtype:expr) => {
        // SAFETY: the component passes a type of the call's arguments or one of its own, and a place that is its own until the message is there.
        unsafe { RecvBuffer::new($buf, $count, &*$dtype) }
    };
}

/// Converts a component's rank to the PML's type; one that does not fit answers BAD_PARAM.
fn rank(r: u32) -> Result<i32, Status> {
    i32::try_from(r).map_err(|_| Status::BAD_PARAM)
}

/// Component service: blocking standard send on the communicator of the call; its bytes are counted.
extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    tag: i32,
) -> Status {
    let (c, mut entry) = at!(comm);
    if c.coll.lost().is_err() {
        return send_nothing(comm, dst, tag);
    }
    let data = outgoing!(buf, count, dtype);
    c.note_own(&entry, Counter::BytesSentMpi, data.packed());
    match rank(dst) {
        Ok(dst) => c.send(&mut entry, data, Envelope::new(dst, tag)),
        Err(e) => e,
    }
}

/// Sends, in a collective without data, the error in its place, and waits until that is on its way.
#[cold]
fn send_nothing(comm: *const CollComm, dst: u32, tag: i32) -> Status {
    let (c, _) = at!(comm);
    let mut request = null_mut();
    match send_failure(comm, dst, tag, c.coll.lost(), &mut request) {
        Status::OK => wait_all(comm, &mut request, 1),
        error => error,
    }
}

/// Component service: blocking receive on the communicator of the call; `status` may be null. Answers the error of the
/// message, if it had one.
extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    let (c, mut entry) = at!(comm);
    let mut own = MsgStatus::EMPTY;
    let answer = match rank(src) {
        Ok(src) => match c.can_come_from(src) {
            Ok(()) => c.recv(&mut entry, incoming!(buf, count, dtype), Envelope::new(src, tag), &mut own),
            Err(e) => e,
        },
        Err(e) => e,
    };
    c.note_own(&entry, Counter::BytesReceivedMpi, own.bytes);
    if !status.is_null() {
        // SAFETY: the component's out pointer.
        unsafe { *status = own };
    }
    if own.error == Status::TRUNCATED {
        c.note_truncated(&own);
    }
    if answer.is_ok() { own.error } else { answer }
}

/// Stores a new request in the component's out pointer and answers OK, or passes the error on.
macro_rules! hand_out {
    ($req:expr, $out:expr) => {
        match $req {
            Ok(req) => {
                // SAFETY: the component's out pointer.
                unsafe { *$out = req.as_ptr() };
                Status::OK
            }
            Err(e) => e,
        }
    };
}

/// Component service: starts a standard send and stores its request in `out`, to be completed by `wait_all`.
extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, mut entry) = at!(comm);
    let lost = c.coll.lost();
    if lost.is_err() {
        return send_failure(comm, dst, tag, lost, out);
    }
    let data = outgoing!(buf, count, dtype);
    c.note_own(&entry, Counter::BytesSentMpi, data.packed());
    hand_out!(rank(dst).and_then(|dst| c.isend(&mut entry, data, Envelope::new(dst, tag))), out)
}

/// Component service: starts a receive and stores its request in `out`, to be completed by `wait_all`.
extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, mut entry) = at!(comm);
    let req = rank(src).and_then(|src| {
        c.can_come_from(src)?;
        c.irecv(&mut entry, incoming!(buf, count, dtype), Envelope::new(src, tag))
    });
    hand_out!(req, out)
}

/// Component service: starts a message that ends its receive with `error`, and stores its request in `out`.
extern "C" fn send_failure(
    comm: *const CollComm,
    dst: u32,
    tag: i32,
    error: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, mut entry) = at!(comm);
    hand_out!(rank(dst).and_then(|dst| c.isend_failure(&mut entry, Envelope::new(dst, tag), error)), out)
}

/// Component service: counts a collective by its algorithm, if counting is asked for.
extern "C" fn took(comm: *const CollComm, component: StrRef, algorithm: u32) -> Status {
    // SAFETY: the component passes on what `run` gave it; `comm` is the communicator of the call.
    let c = unsafe { &*((*comm).comm as *const Communicator) };
    c.note_algorithm(component, algorithm)
}

/// Component service: waits for `n` requests (null ones are skipped), releases them and sets them to null. Answers the
/// first error.
extern "C" fn wait_all(comm: *const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status {
    let (c, mut entry) = at!(comm);
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component gives `n` requests that `isend` and `irecv` made, or null, which are `None`; they lie in pools of the instance's.
    let reqs = unsafe { std::slice::from_raw_parts_mut(reqs.cast::<Option<Header>>(), n) };
    c.instance().wait_all(&mut entry, reqs);
    let (mut first, mut bytes) = (Status::OK, 0);
    for req in reqs.iter_mut().filter_map(Option::take) {
        // SAFETY: complete, and ours until released.
        let status = unsafe { req.status() };
        if status.error == Status::TRUNCATED {
            c.note_truncated(&status);
        }
        bytes += if req.is_receive() { status.bytes } else { 0 };
        // SAFETY: taken out of the list, and not used any more.
        unsafe { req.release(&mut entry) };
        if first.is_ok() {
            first = status.error;
        }
    }
    c.note_own(&entry, Counter::BytesReceivedMpi, bytes);
    first
}
