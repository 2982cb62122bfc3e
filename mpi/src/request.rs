//! Request handles and what stands behind them.
//!
//! Request objects belong to the component that carries the operation out; the handle is made of the
//! slot and the generation in the header ([`oxmpi_mca::RequestHeader`]), so neither making nor
//! finding one allocates or locks.
//!
//! **Access.** From the moment a request is handed to the user the header's `comm` holds
//! the address of the [`CommObject`] it was started on, with the bit `LIVE`; the component does not
//! look at it. `give` writes it; `let_go` clears it, raises the generation (so that the handle is
//! stale) and returns the object to its owner, which may reuse it at once. MPI_Request_free of a
//! pending request leaves the address there with the bit `FREED` instead: the communicator still
//! counts as used by the operation until that is complete, but no handle leads to it. Other threads look at `comm` only to find out whether
//! a communicator is still in use, and use atomics for it.
//!
//! **Kinds of requests**, told apart by the header's flags, which are 0 for the ordinary ones:
//! an ordinary one; a persistent one (`PERSISTENT`, and `ACTIVE` between start and completion), whose
//! handle outlives completion; the two requests that are complete for ever (`SHARED`), one of which stands for
//! every operation with MPI_PROC_NULL that needs a request, the other for every send that was complete before
//! its call returned (so such a send needs no object); generalized ones (`GENERALIZED`). An ordinary receive that
//! starts while calls are counted has `COUNTED` until it goes.

use crate::comm::CommObject;
use crate::constants::*;
use crate::counting;
use crate::error::{Failure, On, Res};
use crate::handle;
use crate::own::What;
use crate::process::{self, Process};
use crate::types::{Request, Status};
use crate::win::WinObject;
use core::ptr::NonNull;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status as Code, ThreadCtx};
use oxmpi_runtime::request::Near;

/// In `flags`: complete for ever, owned by nobody.
pub const SHARED: u32 = 1 << 16;
/// In `flags`: a generalized request (`grequest`).
pub const GENERALIZED: u32 = 1 << 17;
/// In `flags`: a receive whose bytes are counted when it is waited for.
const COUNTED: u32 = 1 << 18;
const PERSISTENT: u32 = RequestHeader::PERSISTENT;
const ACTIVE: u32 = RequestHeader::ACTIVE;
/// Lowest bits of `comm`: the user has freed the handle of an operation that goes on; the user has
/// a handle. An object that is in the component's pool, or that a blocking call waits for, has
/// neither, so a number that somebody made up finds nothing there.
const FREED: usize = 1;
const LIVE: usize = 2;
/// Attached to a sync object (`ext_sync`): the library's until that gives it up.
const ATTACHED: usize = 4;
const BITS: usize = FREED | LIVE | ATTACHED;
/// The address is that of a [`WinObject`]: the request is one of a window. Part of the address for all who compare
/// addresses of communicators.
const WINDOW: usize = 8;
const _: () = assert!(align_of::<WinObject>() > WINDOW && align_of::<CommObject>() > WINDOW);

pub type Header = NonNull<RequestHeader>;

/// The word `comm` of a header, which another thread may be looking at.
#[inline(always)]
fn comm_word<'a>(req: Header) -> &'a AtomicUsize {
    // SAFETY: headers live as long as the instance; the field is a pointer, thus aligned and sized so.
    unsafe { AtomicUsize::from_ptr((&raw mut (*req.as_ptr()).comm).cast()) }
}

#[inline(always)]
fn flags(req: Header) -> u32 {
    // SAFETY: written only by the thread that holds the request.
    unsafe { (*req.as_ptr()).flags }
}

/// A receive of the user's was started: its bytes are counted when it is waited for, if calls are counted.
pub fn count(req: *mut RequestHeader) {
    if counting::on() {
        // SAFETY: a live request that nobody else knows yet.
        unsafe { (*req).flags |= COUNTED }
    }
}

/// Makes a request that a component gave the user's.
#[inline(always)]
pub fn give(object: &'static CommObject, req: *mut RequestHeader) -> Request {
    // SAFETY: components return live requests, never null, from nonblocking calls.
    let req = unsafe { NonNull::new_unchecked(req) };
    comm_word(req).store(object as *const CommObject as usize | LIVE, Ordering::Relaxed);
    handle_of(req)
}

/// The same for a request of a window.
pub fn give_of_window(object: &'static WinObject, req: *mut RequestHeader) -> Request {
    // SAFETY: as in `give`.
    let req = unsafe { NonNull::new_unchecked(req) };
    comm_word(req).store(object as *const WinObject as usize | WINDOW | LIVE, Ordering::Relaxed);
    handle_of(req)
}

/// The same for one that belongs to no communicator.
pub fn give_alone(req: *mut RequestHeader) -> Request {
    // SAFETY: as in `give`.
    let req = unsafe { NonNull::new_unchecked(req) };
    mark_live(req);
    handle_of(req)
}

#[inline(always)]
pub fn handle_of(req: Header) -> Request {
    // SAFETY: live for the instance's life.
    let header = unsafe { req.as_ref() };
    Request(handle::of_request(header.slot, header.generation.load(Ordering::Relaxed)))
}

/// Makes the handle of a request of ours good that belongs to no communicator.
pub fn mark_live(req: Header) {
    comm_word(req).store(LIVE, Ordering::Relaxed);
}

/// The library keeps a request that it started on behalf of the user: the communicator counts as used
/// until that is complete, and no handle leads to it.
pub fn hold(object: &CommObject, req: *mut RequestHeader) {
    if let Some(req) = NonNull::new(req) {
        comm_word(req).store(object as *const CommObject as usize | FREED, Ordering::Relaxed);
    }
}

/// Gives back what `hold` kept, when it is complete.
pub fn give_back(req: *mut RequestHeader) {
    if let Some(req) = NonNull::new(req) {
        comm_word(req).store(0, Ordering::Relaxed);
        // SAFETY: `ops` is the owner's table, valid as long as the request.
        unsafe { ((*(*req.as_ptr()).ops).release)(req.as_ptr(), null_mut()) }
    }
}

/// The request of a handle that is neither null nor stale.
#[inline(always)]
pub fn find(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, LIVE)
}

#[inline(always)]
fn find_with(process: &Process, request: Request, bit: usize) -> Option<Header> {
    let (slot, generation) = handle::request_parts(request.0)?;
    let req = process.instance.requests().get(slot)?;
    // SAFETY: headers live as long as the instance.
    let now = unsafe { req.as_ref() }.generation.load(Ordering::Relaxed) & 0xff;
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
        let Some(near) = process.instance.requests().near(slot) else { break };
        let rest = &requests[passed..];
        let row = rest.iter().position(|request| !pending_near(near, *request)).unwrap_or(rest.len());
        if row == 0 {
            break;
        }
        passed += row;
    }
    passed
}

/// Whether this is the good handle of a pending request whose slot is near.
#[inline(always)]
fn pending_near(near: Near<'_>, request: Request) -> bool {
    let (slot, generation) = handle::likely_request_parts(request.0);
    near.get(slot).is_some_and(|req| {
        // SAFETY: headers live as long as the instance.
        let now = unsafe { req.as_ref() }.generation.load(Ordering::Relaxed) as u8;
        now == generation && comm_word(req).load(Ordering::Relaxed) & LIVE != 0 && !complete(req)
    })
}

/// The request of a handle that is attached to a sync object.
pub fn find_attached(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, ATTACHED)
}

/// The request of a handle that [`find`] refused, if a sync object has no more to do with it (`ext_sync`).
#[cold]
#[inline(never)]
pub fn find_again(process: &Process, request: Request) -> Option<Header> {
    if request.0 == MPI_REQUEST_NULL {
        return None;
    }
    crate::ext_sync::wait_for_return(process, request);
    find(process, request)
}

/// [`find`] off the quick paths, or what is wrong with the handle.
pub fn find_or_wrong(process: &Process, request: Request) -> Res<Header> {
    find(process, request).or_else(|| find_again(process, request)).ok_or_else(|| wrong(request))
}

/// The same for a handle that may be MPI_REQUEST_NULL, which is none.
pub fn find_or_null(process: &Process, request: Request) -> Res<Option<Header>> {
    match find(process, request) {
        None if request.0 != MPI_REQUEST_NULL => find_or_wrong(process, request).map(Some),
        found => Ok(found),
    }
}

/// The request of a handle, attached or not.
pub fn find_either(process: &Process, request: Request) -> Option<Header> {
    find_with(process, request, LIVE | ATTACHED)
}

/// A live request becomes a sync object's.
pub fn hand_over(req: Header) {
    let word = comm_word(req);
    word.store(word.load(Ordering::Relaxed) & !BITS | ATTACHED, Ordering::Relaxed);
}

/// It is its holder's again.
pub fn retake(req: Header) {
    let word = comm_word(req);
    // SYNC POINT with `ext_sync::wait_for_return`.
    word.store(word.load(Ordering::Relaxed) & !BITS | LIVE, Ordering::Release);
}

/// Survives completion.
pub fn is_persistent(req: Header) -> bool {
    flags(req) & PERSISTENT != 0
}

/// Complete, and was cancelled.
pub fn was_cancelled(req: Header) -> bool {
    // SAFETY: live header; once it is complete nobody writes its status.
    unsafe { req.as_ref().completion.is_complete() && (*req.as_ptr()).status.cancelled & 1 != 0 }
}

/// Stands for many operations, all complete.
pub fn is_shared(req: Header) -> bool {
    flags(req) & SHARED != 0
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

/// A persistent request that is not started.
#[inline(always)]
pub fn inactive(req: Header) -> bool {
    flags(req) & (PERSISTENT | ACTIVE) == PERSISTENT
}

/// The operation has ended.
#[inline(always)]
pub fn complete(req: Header) -> bool {
    // SAFETY: live header.
    unsafe { req.as_ref() }.completion.is_complete()
}

/// Nothing is left to wait for.
#[inline(always)]
pub fn ready(req: Header) -> bool {
    complete(req) || inactive(req)
}

/// The object an error of this request goes to, or null; with the bit [`WINDOW`] if it is a window.
#[inline(always)]
fn comm_of(req: Header) -> *const CommObject {
    (comm_word(req).load(Ordering::Relaxed) & !BITS) as *const CommObject
}

/// Ends the handle and gives the request back to its owner. `thread`: the caller's context, or null.
#[inline(always)]
pub fn let_go(req: Header, comm: usize, thread: *mut ThreadCtx) {
    comm_word(req).store(comm, Ordering::Relaxed);
    // SAFETY: live header.
    let header = unsafe { req.as_ref() };
    let generation = header.generation.load(Ordering::Relaxed);
    header.generation.store(generation.wrapping_add(1), Ordering::Relaxed);
    // SAFETY: `ops` is the owner's table, valid as long as the request.
    let release = unsafe { &*header.ops }.release;
    release(req.as_ptr(), thread);
}

/// An error of an operation; nothing where all is well, so that the usual case carries nothing on.
pub struct Outcome(Option<Box<Failed>>);

struct Failed {
    status: MsgStatus,
    /// Where the error goes: null, a communicator, or with the bit [`WINDOW`] a window.
    comm: *const CommObject,
}

/// Takes the result of a request that is ready: fills the status, and ends the handle at `place`
/// unless the request is persistent. `thread`: the caller's context, or null.
///
/// # Safety
/// `place` must point to the request's handle, `status` be MPI_STATUS_IGNORE or point to a status.
#[inline(always)]
pub unsafe fn collect(
    req: Header,
    place: *mut Request,
    status: *mut Status,
    thread: *mut ThreadCtx,
) -> Outcome {
    if flags(req) != 0 {
        // SAFETY: the caller's promise.
        return unsafe { collect_special(req, place, status, thread) };
    }
    // SAFETY: complete, so the component is done with the status.
    let result = unsafe { (*req.as_ptr()).status };
    // SAFETY: the caller's promise.
    unsafe {
        Status::store(status, &result);
        *place = Request(MPI_REQUEST_NULL);
    }
    let outcome = Outcome::of(&result, comm_of(req));
    let_go(req, 0, thread);
    outcome
}

/// # Safety
/// As [`collect`].
#[cold]
unsafe fn collect_special(
    req: Header,
    place: *mut Request,
    status: *mut Status,
    thread: *mut ThreadCtx,
) -> Outcome {
    if flags(req) & GENERALIZED != 0 {
        // SAFETY: the caller's promise.
        return unsafe { crate::grequest::collect(req, place, status) };
    }
    if flags(req) & COUNTED != 0 {
        // SAFETY: complete; the thread that completes a request holds it.
        let received = unsafe {
            (*req.as_ptr()).flags &= !COUNTED;
            (*req.as_ptr()).status.bytes
        };
        if let Some(process) = process::current() {
            let at = comm_word(req).load(Ordering::Relaxed);
            let object = (at & WINDOW == 0).then_some((at & !BITS) as *const CommObject);
            // SAFETY: requests that are counted are receives, whose communicator counts as used until they are given back.
            let comm = object.and_then(|object| unsafe { object.as_ref() }).map(|object| &*object.comm);
            counting::received(process, comm, received);
        }
        // SAFETY: the caller's promise; an ordinary one now.
        return unsafe { collect(req, place, status, thread) };
    }
    let empty = inactive(req);
    // SAFETY: complete or inactive, the component does not write now.
    let result = if empty { MsgStatus::EMPTY } else { unsafe { (*req.as_ptr()).status } };
    // SAFETY: the caller's promise.
    unsafe { Status::store(status, &result) };
    if flags(req) & PERSISTENT == 0 {
        // SAFETY: the caller's promise. The shared request stays as it is.
        unsafe { *place = Request(MPI_REQUEST_NULL) };
    } else {
        // SAFETY: the thread that completes a request holds it.
        unsafe { (*req.as_ptr()).flags &= !ACTIVE };
    }
    Outcome::of(&result, comm_of(req))
}

/// The status of a ready request, without ending anything. Asks the user for that of a generalized one.
pub fn peek(req: Header) -> MsgStatus {
    if flags(req) & GENERALIZED != 0 {
        return crate::grequest::query(req);
    }
    // SAFETY: ready, the component does not write now.
    if inactive(req) { MsgStatus::EMPTY } else { unsafe { (*req.as_ptr()).status } }
}

/// Bytes that did not fit, by the word of a status with the error TRUNCATED: its field `cancelled`, whose lowest bit says
/// that the operation was cancelled, has them above that bit; all bits: that many or more.
fn dropped(status: &MsgStatus) -> (u64, bool) {
    let dropped = status.cancelled >> 1;
    (dropped.into(), dropped == u32::MAX >> 1)
}

impl Outcome {
    /// Of an operation with this status, whose errors go to this communicator.
    #[inline(always)]
    pub fn of(status: &MsgStatus, comm: *const CommObject) -> Outcome {
        if status.error.is_err() { Outcome::failed(status, comm) } else { Outcome(None) }
    }

    #[cold]
    #[inline(never)]
    fn failed(status: &MsgStatus, comm: *const CommObject) -> Outcome {
        Outcome(Some(Box::new(Failed { status: *status, comm })))
    }

    #[inline(always)]
    pub fn is_err(&self) -> bool {
        self.0.is_some()
    }

    pub fn error(&self) -> Code {
        self.0.as_ref().map_or(Code::OK, |failed| failed.status.error)
    }

    /// The error as the user shall hear it.
    pub fn failure(&self) -> Failure {
        let Some(failed) = &self.0 else { return Code::OK.into() };
        let MsgStatus { source, tag, bytes, .. } = failed.status;
        match failed.status.error {
            // Of one with a collective nobody can be named.
            Code::TRUNCATED if source != MPI_ANY_SOURCE => {
                let (dropped, at_least) = dropped(&failed.status);
                let message = match (dropped, at_least) {
                    (0, _) => "is longer than the receive buffer".to_owned(),
                    (_, true) => format!("is over {} bytes longer than the receive buffer", dropped - 1),
                    _ => format!("has {} bytes, the receive buffer {bytes}", bytes + dropped),
                };
                Failure::new(
                    MPI_ERR_TRUNCATE,
                    format!("the message of rank {source} with tag {tag} {message}"),
                )
            }
            other => other.into(),
        }
    }

    /// The communicator whose handler hears of it; nothing for that of MPI_COMM_SELF.
    #[cold]
    #[inline(never)]
    pub fn on(&self) -> On {
        // SAFETY: while a request's handle is alive so is its object; `collect` read it before ending
        // the handle, and a correct program frees the object after the call.
        self.0.as_ref().map_or(On::Nothing, |failed| unsafe { on_of(failed.comm) })
    }
}

/// # Safety
/// `object` must be what [`comm_of`] gave of a request whose object lives.
unsafe fn on_of(object: *const CommObject) -> On {
    if object.addr() & WINDOW != 0 {
        let window = object.map_addr(|at| at & !WINDOW).cast::<WinObject>();
        // SAFETY: the caller's promise.
        return On::Win(unsafe { &*window }.handle());
    }
    // SAFETY: as above.
    unsafe { object.as_ref() }.map_or(On::Nothing, |comm| On::Comm(comm.handle()))
}

/// The communicator whose handler hears of errors with a request that is alive.
pub fn on(process: &Process, request: Request) -> On {
    // SAFETY: the object of a living handle lives.
    find(process, request).map_or(On::Nothing, |req| unsafe { on_of(comm_of(req)) })
}

/// The request of a nonblocking or persistent collective.
fn is_collective(req: Header) -> bool {
    // SAFETY: a request of the running instance.
    unsafe { oxmpi_runtime::made::of(req.as_ptr()) }.is_some_and(oxmpi_runtime::made::schedule::is_collective)
}

/// Whether the program may free it: it has to wait for nonblocking collectives (MPI 5.0 §6.12).
pub fn may_be_freed(req: Header) -> Res {
    if flags(req) & PERSISTENT == 0 && is_collective(req) {
        return Failure::err(
            MPI_ERR_REQUEST,
            "request is that of a nonblocking collective; it is to be waited for",
        );
    }
    Ok(())
}

/// MPI_Request_free: the operation goes on, the handle ends.
pub fn free(req: Header) -> Res {
    if flags(req) & SHARED != 0 {
        return Ok(());
    }
    if flags(req) & GENERALIZED != 0 {
        return crate::grequest::free(req);
    }
    // SAFETY: the thread that frees a request holds it.
    unsafe { (*req.as_ptr()).flags &= !COUNTED };
    let comm = comm_of(req) as usize;
    let_go(req, if comm == 0 { 0 } else { comm | FREED }, null_mut());
    Ok(())
}

/// Starts a persistent request.
pub fn start(req: Header) -> Res {
    if flags(req) & PERSISTENT == 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is not persistent");
    }
    if flags(req) & ACTIVE != 0 {
        return Failure::err(MPI_ERR_REQUEST, "request is active already");
    }
    // SAFETY: the thread that starts a request holds it; `ops` is the owner's table.
    let start = unsafe {
        (*req.as_ptr()).flags |= ACTIVE;
        (*(*req.as_ptr()).ops).start
    };
    let result = crate::error::check(start(req.as_ptr()));
    if result.is_err() {
        // SAFETY: as above.
        unsafe { (*req.as_ptr()).flags &= !ACTIVE };
    }
    result
}

/// MPI_Cancel: an attempt; the request is to be completed in any case.
pub fn cancel(req: Header) -> Res {
    if flags(req) & GENERALIZED != 0 {
        return crate::grequest::cancel(req);
    }
    if is_collective(req) {
        return Failure::err(MPI_ERR_REQUEST, "request is that of a collective, which cannot be cancelled");
    }
    if inactive(req) {
        return Failure::err(MPI_ERR_REQUEST, "request is persistent and not active");
    }
    if ready(req) {
        return Ok(());
    }
    // SAFETY: the owner's table, valid as long as the request.
    let cancel = unsafe { (*(*req.as_ptr()).ops).cancel };
    match cancel(req.as_ptr()) {
        // The standard lets an operation that cannot be cancelled complete as if nobody had asked.
        Code::NOT_SUPPORTED | Code::NOT_FOUND | Code::PENDING => Ok(()),
        other => crate::error::check(other),
    }
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
        // SAFETY: live header.
        let complete = unsafe { req.as_ref() }.completion.is_complete();
        if !complete || (word & (LIVE | ATTACHED) != 0 && !pending) {
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
        Some(req) => give(object, req.as_ptr()),
        None => process.done.sent(),
    }
}

/// A request that is complete already.
pub fn done(process: &Process) -> Request {
    handle_of(process.done.shared())
}

/// A persistent request that has nothing to do.
pub fn persistent_done(process: &Process, object: &'static CommObject) -> Res<Request> {
    Ok(handle_of(process.done.persistent(&process.instance, object, What::Nobody)?))
}
