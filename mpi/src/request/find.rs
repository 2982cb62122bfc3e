//! From handles to requests, and through all requests of the process.

use super::owner::{give, owner_of};
use super::word::{ATTACHED, BITS, Header, LIVE, SHARED, comm_word, complete, flags, handle_of};
use crate::call::handle;
use crate::call::local_requests::LocalOperation;
use crate::call::process::Process;
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res};
use crate::types::Request;
use core::sync::atomic::Ordering;
use oxmpi_runtime::request::ChunkRef;

/// The request of a handle that is neither null nor stale.
#[inline(always)]
pub fn find(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, LIVE)
}

#[inline(always)]
fn find_with(process: &Process, request: Request, bit: usize) -> Option<Header> {
    let (slot, generation) = handle::request_parts(request.0)?;
    let req = process.instance.requests().get(slot)?;
    let now = req.generation().load(Ordering::Relaxed) & 0xff;
    let there = comm_word(req).load(Ordering::Relaxed) & bit != 0;
    (now == generation && there).then_some(req)
}

/// How many of the requests, from the first on, are pending or null. One that is neither started nor ever was may be
/// among them; whatever else is not plainly pending ends the row. For who asks for many over and over.
///
/// Never inlined: the loop keeps what it needs in registers.
#[inline(never)]
pub fn pending_or_null(process: &Process, requests: &[Request]) -> usize {
    let mut passed = 0;
    while let Some(first) = requests.get(passed) {
        if first.0 == MPI_REQUEST_NULL {
            passed += 1;
            continue;
        }
        let (slot, _) = handle::likely_request_parts(first.0);
        let Some(chunk) = process.instance.requests().chunk_of(slot) else { break };
        let rest = &requests[passed..];
        let row = rest.iter().position(|request| !pending_in_chunk(chunk, *request)).unwrap_or(rest.len());
        if row == 0 {
            break;
        }
        passed += row;
    }
    passed
}

/// Whether this is the good handle of a pending request whose slot is near.
#[inline(always)]
fn pending_in_chunk(chunk: ChunkRef<'_>, request: Request) -> bool {
    let (slot, generation) = handle::likely_request_parts(request.0);
    chunk.get(slot).is_some_and(|req| {
        let now = req.generation().load(Ordering::Relaxed) as u8;
        now == generation && comm_word(req).load(Ordering::Relaxed) & LIVE != 0 && !complete(req)
    })
}

/// The request of a handle that is attached to a sync object.
pub fn find_attached(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, ATTACHED)
}

/// The request of a handle, attached or not.
pub fn find_either(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, LIVE | ATTACHED)
}

/// The error for a handle that `find` refused.
#[cold]
pub fn wrong(request: Request) -> Failure {
    match request.0 {
        MPI_REQUEST_NULL => Failure::new(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL"),
        other => Failure::new(
            MPI_ERR_REQUEST,
            format!("request {other:#x} is no request, or was completed, freed or attached"),
        ),
    }
}

/// The communicator whose handler hears of errors with a request that is alive.
pub fn on(process: &Process, request: Request) -> ErrorObject {
    // SAFETY: the object of a living handle lives.
    find(process, request).map_or(ErrorObject::Nothing, |req| unsafe { owner_of(req).error_object() })
}

/// Whether a request uses the communicator: its handle is alive, or it was freed and goes on. With
/// `pending`, complete ones do not count.
pub fn uses(process: &Process, object: &CommObject, pending: bool) -> bool {
    let address = object as *const CommObject as usize;
    let mut slot = 0;
    while slot < handle::MAX_REQUESTS {
        let Some(req) = process.instance.requests().get(slot) else { return false };
        slot += 1;
        let word = comm_word(req).load(Ordering::Relaxed);
        if word & !BITS != address {
            continue;
        }
        if !complete(req) || (word & (LIVE | ATTACHED) != 0 && !pending) {
            return true;
        }
    }
    false
}

/// How many requests the user has and has not freed or completed.
pub fn held(process: &Process) -> usize {
    let requests = process.instance.requests();
    let all = (0..handle::MAX_REQUESTS).map_while(|slot| requests.get(slot));
    let users = |r: &Header| comm_word(*r).load(Ordering::Relaxed) & (LIVE | ATTACHED) != 0;
    all.filter(|r| flags(*r) & SHARED == 0 && users(r)).count()
}

/// The handle for a send that was started, or is complete already (`None`).
#[inline(always)]
pub fn give_sent(process: &Process, object: &'static CommObject, req: Option<Header>) -> Request {
    match req {
        Some(req) => give(object, req),
        None => process.done.sent(),
    }
}

/// A request that is complete already.
pub fn done(process: &Process) -> Request {
    handle_of(process.done.shared())
}

/// A persistent request that has nothing to do.
pub fn persistent_done(process: &Process, object: &'static CommObject) -> Res<Request> {
    Ok(handle_of(process.done.persistent(&process.instance, object, LocalOperation::Nobody)?))
}
