//! The operations that the host calls on a request (`RequestOps`), handed to the files that do them.

use crate::requests::life::{owner, release_thunk};
use crate::state::objects::Request;
use oxmpi_mca::{RequestHeader, RequestOps, Status};

/// The operations that the host calls on a request.
pub static OPS: RequestOps = RequestOps {
    size: size_of::<RequestOps>() as u32,
    reserved: 0,
    release: release_thunk,
    cancel: cancel_thunk,
    start: start_thunk,
};

/// Cancels a request for the host (`cancel` of [`RequestOps`]).
extern "C" fn cancel_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: the host passes what we handed out.
    let req = unsafe { Request::of(header) };
    owner(req).cancel(req)
}

/// Starts an inactive persistent request for the host (`start` of [`RequestOps`]).
extern "C" fn start_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: as above.
    let req = unsafe { Request::of(header) };
    let ob1 = owner(req);
    let threaded = ob1.threaded();
    req.restart();
    match req.kind() {
        RequestHeader::SEND => ob1.send_again(req, threaded),
        _ => ob1.post_again(req, threaded),
    }
}
