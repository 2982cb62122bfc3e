//! The operations that the host calls on a request (`RequestOps`), handed to the files that do them.

use crate::ob1::Ob1;
use crate::requests::request::Request;
use crate::requests::thread_state::thread_state_of;
use oxmpi_mca::{RequestHeader, RequestOps, Status, ThreadCtx};

/// The operations that the host calls on a request.
pub static OPS: RequestOps = RequestOps {
    size: size_of::<RequestOps>() as u32,
    reserved: 0,
    release: release_thunk,
    cancel: cancel_thunk,
    start: start_thunk,
};

/// Gives the instance's state that a request belongs to.
fn owner(req: &Request) -> &Ob1 {
    // SAFETY: `Request::new` put it there; the module outlives the use of its requests.
    unsafe { &*(*req.handle()).owner.cast::<Ob1>() }
}

/// Releases a request for the host, complete or not (`release` of [`RequestOps`]).
extern "C" fn release_thunk(header: *mut RequestHeader, thread: *mut ThreadCtx) {
    // SAFETY: the host passes what we handed out.
    let req = unsafe { Request::of(header) };
    // The shape of nearly all: complete, of data in one piece, and of the caller's thread state, where it goes without a look at
    // the number of threads.
    if req.is_complete() && req.is_plain() && thread_state_of(thread).is_some_and(|own| own.is_of(req)) {
        debug_assert!(!req.is_known(), "nobody else knows it");
        req.be_free();
        return req.home().give(req);
    }
    release_another(req, thread)
}

/// Releases a request that is pending, of a datatype or of another thread's state. Apart, so that registers are saved
/// for this only.
#[inline(never)]
extern "C" fn release_another(req: &'static Request, thread: *mut ThreadCtx) {
    owner(req).requests().release(req, thread);
}

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
    let threaded = ob1.instance().threaded();
    req.restart();
    match req.kind() {
        RequestHeader::SEND => ob1.sender().send_again(req, threaded),
        _ => ob1.receiver().post_again(req, threaded),
    }
}
