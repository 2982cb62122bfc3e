//! Services of collective components outside of plans: point-to-point on the communicator with negative tags; what `parts` has about nodes.

use super::{in_plans_only, parts};
use crate::objects::Communicator;
use crate::spc::Counter;
use oxmpi_coll::{CollComm, CollServices};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};
use oxmpi_pml::mode;
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
};

/// The communicator a component got in `run`, and the arguments as the PML's types want them.
macro_rules! at {
    ($comm:expr) => {{
        // SAFETY: the component passes on what `run` gave it; `comm` is the communicator of the call.
        let c = unsafe { &*$comm };
        // SAFETY: as above.
        (unsafe { &*(c.comm as *const Communicator) }, c.thread)
    }};
}
/// The datatype behind a component's pointer.
macro_rules! dtype {
    ($d:expr) => {
        // SAFETY: the component passes a type of the call's arguments or one of its own.
        unsafe { &*$d }
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
    let (c, thread) = at!(comm);
    c.note_own(thread, Counter::BytesSentMpi, count.saturating_mul(dtype!(dtype).packed));
    match rank(dst) {
        Ok(dst) => c.send(thread, buf, count, dtype!(dtype), dst, tag, mode::STANDARD),
        Err(e) => e,
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
    let (c, thread) = at!(comm);
    let mut own = MsgStatus::EMPTY;
    let answer = match rank(src) {
        Ok(src) => match c.can_come_from(src) {
            Ok(()) => c.recv(thread, buf, count, dtype!(dtype), src, tag, &mut own),
            Err(e) => e,
        },
        Err(e) => e,
    };
    c.note_own(thread, Counter::BytesReceivedMpi, own.bytes);
    if !status.is_null() {
        // SAFETY: the component's out pointer.
        unsafe { *status = own };
    }
    if own.error == Status::TRUNCATED {
        c.note_truncated(&own);
    }
    if answer.is_ok() { own.error } else { answer }
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
    let (c, thread) = at!(comm);
    c.note_own(thread, Counter::BytesSentMpi, count.saturating_mul(dtype!(dtype).packed));
    let req = rank(dst).and_then(|dst| c.isend(thread, buf, count, dtype!(dtype), dst, tag, mode::STANDARD));
    hand_out(req, out)
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
    let (c, thread) = at!(comm);
    let req = rank(src).and_then(|src| {
        c.can_come_from(src)?;
        c.irecv(thread, buf, count, dtype!(dtype), src, tag)
    });
    hand_out(req, out)
}

/// Component service: starts a message that ends its receive with `error`, and stores its request in `out`.
extern "C" fn send_failure(
    comm: *const CollComm,
    dst: u32,
    tag: i32,
    error: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, thread) = at!(comm);
    hand_out(rank(dst).and_then(|dst| c.isend_failure(thread, dst, tag, error)), out)
}

/// Stores a new request in the component's out pointer and answers OK, or passes the error on.
fn hand_out(req: Result<*mut RequestHeader, Status>, out: *mut *mut RequestHeader) -> Status {
    match req {
        Ok(req) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = req };
            Status::OK
        }
        Err(e) => e,
    }
}

/// Component service: waits for `n` requests (null ones are skipped), releases them and sets them to null. Answers the
/// first error.
extern "C" fn wait_all(comm: *const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status {
    let (c, thread) = at!(comm);
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component gives `n` requests that `isend` and `irecv` made (or null).
    let reqs = unsafe { std::slice::from_raw_parts_mut(reqs, n) };
    c.instance().wait_all(thread, reqs);
    let (mut first, mut bytes) = (Status::OK, 0);
    for req in reqs {
        if req.is_null() {
            continue;
        }
        // SAFETY: complete, and ours until released.
        let (error, received) = unsafe {
            let status = (**req).status;
            if status.error == Status::TRUNCATED {
                c.note_truncated(&status);
            }
            let received = if (**req).kind == RequestHeader::RECV { status.bytes } else { 0 };
            ((*(**req).ops).release)(*req, thread);
            (status.error, received)
        };
        bytes += received;
        *req = null_mut();
        if first.is_ok() {
            first = error;
        }
    }
    c.note_own(thread, Counter::BytesReceivedMpi, bytes);
    first
}
