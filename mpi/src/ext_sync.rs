//! MPIX_Sync: requests that tell an object when they complete, so that any number of threads can ask it
//! at once and nobody has to look at those that are pending.
//!
//! The interface is that of appendix B of Patinyasakdikul's dissertation (*Improving MPI Threading
//! Support for Current Hardware Architectures*, Tennessee 2019), with MPIX_Sync_detach, which its chapter 4 names; errors are this library's.
//!
//! **An attached request belongs to the library.** Its handle is good for what lets its operation go on and end
//! (MPI_Cancel, MPI_Grequest_complete, MPI_Pready, MPI_Parrived) and for MPIX_Sync_detach only (in `request`: the
//! bit ATTACHED instead of LIVE). When it is complete a thread that queries takes its event, and with it the request:
//! it gets the status, and the request goes back to its owner, or, if persistent, becomes inactive.
//!
//! **Where there is no event to take** the request is its holder's again at once: one that was cancelled is to be
//! completed as any cancelled request, a persistent one attached without completion data is inactive. Their (quiet)
//! events may still wait in the queue then; so who uses such a handle takes the event out (`wait_for_return`). An
//! ordinary request without completion data ends by itself.
//!
//! **Below MPI_THREAD_MULTIPLE** completing a request is a plain store that tells nobody. The first MPIX_Sync_init
//! therefore lets the process take the way of several threads; its level stays what it is. So all ways in are those of several threads once there is an
//! object, and one that is made here takes locks.
//!
//! **Errors.** MPIX_Sync_query has no error code to return, so it always fills MPI_ERROR of the status, as does
//! MPIX_Sync_query_bulk. A failed operation is also told to its communicator's error handler.
//!
//! Memory of an object's queue is used again and never given back (`oxmpi_waiting::events`),
//! as are the events, of which there is one per request object, found by its slot.

use crate::call::handle::{self, Kind, Table};
use crate::call::local_requests::LocalOperation;
use crate::call::memory::{Address, Out, read, slice_mut, write};
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res, call, class_of, raise_on};
use crate::ext;
use crate::request::{self, Header, Outcome};
use crate::types::{Request, Status};
use core::ffi::c_int;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering, fence};
use oxmpi_mca::Entry;
use oxmpi_waiting::events::{Event, Events, TakenBack};
use parking_lot::Mutex;

/// `MPIX_Sync`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sync(pub usize);

const SYNC_NULL: Sync = Sync(0);

/// The object that a handle leads to.
pub struct Object {
    events: &'static Events,
}

pub static TABLE: Table<Object> = Table::new(Kind::Sync);

/// Queues of objects that were freed. Nothing is attached to them and nothing is in them.
static FREE: Mutex<Vec<&'static Events>> = Mutex::new(Vec::new());

const CHUNK: usize = 1024;

/// The event of each request object, made when it is first attached.
struct Nodes([AtomicPtr<Event>; handle::MAX_REQUESTS as usize / CHUNK]);

static NODES: Nodes = Nodes([const { AtomicPtr::new(null_mut()) }; handle::MAX_REQUESTS as usize / CHUNK]);

impl Nodes {
    fn of(&'static self, req: Header) -> &'static Event {
        let slot = req.slot() as usize;
        let home = &self.0[slot / CHUNK];
        // SYNC POINT with the exchange below: the events are made before the chunk is seen.
        let mut chunk = home.load(Ordering::Acquire);
        if chunk.is_null() {
            let made: Box<[Event]> = (0..CHUNK).map(|_| Event::default()).collect();
            let made: *mut [Event] = Box::into_raw(made);
            match home.compare_exchange(null_mut(), made.cast(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => chunk = made.cast(),
                Err(other) => {
                    // SAFETY: ours, and nobody has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    chunk = other;
                }
            }
        }
        // SAFETY: chunks have CHUNK events and are never given back.
        unsafe { &*chunk.add(slot % CHUNK) }
    }

    fn all(&'static self) -> impl Iterator<Item = &'static Event> {
        let chunks = self.0.iter().map(|home| home.load(Ordering::Acquire)).filter(|chunk| !chunk.is_null());
        // SAFETY: of CHUNK events, behind the acquire of its address.
        chunks.flat_map(|chunk| unsafe { core::slice::from_raw_parts(chunk, CHUNK) })
    }
}

/// A value that cannot be data of the user's: an address of ours.
#[repr(transparent)]
pub struct Sentinel(*const u8);

// SAFETY: a number; nobody reads what it points to.
unsafe impl core::marker::Sync for Sentinel {}

static PLACES: [u8; 2] = [0; 2];

// SAFETY: the names are those of `mpi-ext.h`; nothing else defines them.
#[unsafe(no_mangle)]
pub static MPIX_SYNC_EMPTY: Sentinel = Sentinel(&raw const PLACES[0]);
// SAFETY: the name is that of `mpi-ext.h`; nothing else defines it.
#[unsafe(no_mangle)]
pub static MPIX_SYNC_NO_COMPLETION_DATA: Sentinel = Sentinel(&raw const PLACES[1]);

fn find(sync: Sync) -> Res<&'static Object> {
    let wrong = || match sync {
        SYNC_NULL => "sync is MPIX_SYNC_NULL".to_string(),
        Sync(other) => format!("sync {other:#x} is no sync object, or was freed"),
    };
    TABLE.get(sync.0).ok_or_else(|| Failure::new(MPI_ERR_ARG, wrong()))
}

fn of(event: &Event) -> Header {
    // SAFETY: an event that was taken stands for a request.
    unsafe { Header::new(NonNull::new_unchecked(event.request())) }
}

/// Takes the result of a completed request and gives it back.
fn end(req: Header, status: Out<Status>) -> Outcome {
    let stays = request::is_persistent(req);
    let mut nowhere = Request(MPI_REQUEST_NULL);
    let outcome = request::collect(req, Out::from(&mut nowhere), status, &mut Entry::among());
    if stays {
        request::retake(req);
    }
    outcome
}

/// Ends a request that nobody wants to hear of, if it was not cancelled; an error is told all the same.
fn end_quietly(name: &'static str, req: Header) {
    if request::was_cancelled(req) {
        return request::retake(req);
    }
    let outcome = end(req, Out::NULL);
    if outcome.is_err() {
        raise_on(&mut Entry::among(), name, outcome.on(), outcome.failure());
    }
}

/// Returns when no thread is about to make this handle good again: of one that is attached, but complete and without an
/// event to take. Takes that upon itself if nobody else does.
pub fn wait_for_return(process: &Process, handle: Request) {
    while let Some(req) = request::find_attached(process, handle) {
        let complete = request::ready(req);
        if !complete || !(request::is_persistent(req) || request::was_cancelled(req)) {
            return;
        }
        match NODES.of(req).take_back() {
            TakenBack::Now => end_quietly("MPIX_Sync_attach", req),
            TakenBack::Later => std::thread::yield_now(),
            TakenBack::Never => return,
        }
    }
    // SYNC POINT with `request::retake`.
    fence(Ordering::Acquire);
}

/// Takes the quiet events at the head of the queue.
fn sweep(name: &'static str, events: &Events) {
    if events.has_news() {
        events.take(0).for_each(|event| end_quietly(name, of(event)));
    }
}

/// There is something to take, perhaps after one turn of progress.
#[inline]
fn look(process: &Process, entry: &mut Entry, events: &Events) -> bool {
    events.has_news() || {
        process.instance.poll(entry);
        events.has_news()
    }
}

mpi_fn! {
    fn MPIX_Sync_init(sync: Out<Sync>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            write(sync, "sync", SYNC_NULL)?;
            ext::act_threaded(process, entry)?;
            let used = FREE.lock().pop();
            let events = used.unwrap_or_else(|| Box::leak(Box::default()));
            match TABLE.insert(Box::new(Object { events })) {
                Some(handle) => write(sync, "sync", Sync(handle)),
                None => {
                    FREE.lock().push(events);
                    Failure::err(MPI_ERR_NO_MEM, "too many sync objects")
                }
            }
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_free(sync: Out<Sync>) -> () |here| {
        ext::call(here, NAME, (), |_, entry| {
            let handle = read(sync, "sync")?;
            let events = find(handle)?.events;
            // As MPI_Request_free: the operations go on, the handles end.
            for event in NODES.all().filter(|event| event.is_attached_to(events)) {
                if event.request().is_null() {
                    continue;
                }
                let req = of(event);
                if events.detach(event) {
                    request::retake(req);
                    if !request::was_cancelled(req) {
                        request::free(req, entry)?;
                    }
                }
            }
            drop(TABLE.remove(handle.0));
            FREE.lock().push(events);
            write(sync, "sync", SYNC_NULL)
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_attach(sync: Sync, request: Out<Request>, completion_data: Address) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let events = find(sync)?.events;
            let handle = read(request, "request")?;
            let mut req = request::find(process, handle).ok_or_else(|| request::wrong(handle))?;
            if request::inactive(req) {
                return Failure::err(MPI_ERR_REQUEST, "request is persistent and not active");
            }
            if request::is_shared(req) {
                // It stands for many operations, each of which may be attached.
                req = process.done.take_complete(&process.instance, LocalOperation::Nobody)?;
                write(request, "request", request::handle_of(req))?;
            }
            request::hand_over(req);
            let quiet = completion_data.as_ptr() == MPIX_SYNC_NO_COMPLETION_DATA.0;
            // SAFETY: live, active, and attached to nothing since its handle was good.
            unsafe { events.attach(NODES.of(req), req.as_ptr(), completion_data.as_mut_ptr().expose_provenance(), quiet) };
            if quiet {
                sweep(NAME, events);
            }
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_detach(sync: Sync, request: Out<Request>) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let events = find(sync)?.events;
            let handle = read(request, "request")?;
            match request::find_attached(process, handle) {
                Some(req) if events.detach(NODES.of(req)) => {
                    request::retake(req);
                    Ok(())
                }
                _ => Failure::err(
                    MPI_ERR_REQUEST,
                    format!("request {:#x} is not attached to this sync object, or its event was taken", handle.0),
                ),
            }
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_waitall(sync: Sync) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let events = find(sync)?.events;
            process.instance.wait_for_none(entry, events);
            sweep(NAME, events);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_size(sync: Sync) -> c_int |here| {
        ext::call(here, NAME, -1, |_, _| Ok(c_int::try_from(find(sync)?.events.outstanding()).unwrap_or(c_int::MAX)))
    }
}
mpi_fn! {
    fn MPIX_Sync_probe(sync: Sync) -> c_int |here| {
        ext::call(here, NAME, -1, |_, _| Ok(c_int::try_from(find(sync)?.events.ready()).unwrap_or(c_int::MAX)))
    }
}
mpi_fn! {
    fn MPIX_Sync_query(sync: Sync, status: Out<Status>) -> *mut u8 |here| {
        let empty = MPIX_SYNC_EMPTY.0.cast_mut();
        ext::call(here, NAME, empty, |process, entry| {
            let events = find(sync)?.events;
            if !look(process, entry, events) {
                return Ok(empty);
            }
            let mut data = empty;
            for event in events.take(1) {
                if event.is_quiet() {
                    end_quietly(NAME, of(event));
                    continue;
                }
                data = core::ptr::with_exposed_provenance_mut(event.data());
                let outcome = end(of(event), status);
                Status::store_error(status, class_of(outcome.error()));
                if outcome.is_err() {
                    raise_on(entry, NAME, outcome.on(), outcome.failure());
                }
            }
            Ok(data)
        })
    }
}
mpi_fn! {
    fn MPIX_Sync_query_bulk(incount: c_int, sync: Sync, outcount: Out<c_int>, cbdata: Out<*mut u8>, status: Out<Status>) -> c_int |here| {
        let mut told = MPI_SUCCESS;
        let code = call(here, NAME, None, |process, entry| {
            let Ok(most) = usize::try_from(incount) else {
                return Failure::err(MPI_ERR_COUNT, format!("incount is {incount}"));
            };
            write(outcount, "outcount", 0)?;
            // SAFETY: the interface has the caller pass `cbdata` with `incount` elements.
            let datas = unsafe { slice_mut(cbdata, most, "cbdata") }?;
            let events = find(sync)?.events;
            if !look(process, entry, events) {
                return Ok(());
            }
            let mut failed: Option<Outcome> = None;
            let mut done = 0;
            for event in events.take(most) {
                if event.is_quiet() {
                    end_quietly(NAME, of(event));
                    continue;
                }
                datas[done] = core::ptr::with_exposed_provenance_mut(event.data());
                // SAFETY: there are `incount`, or none.
                let place = unsafe { status.at(done) };
                let outcome = end(of(event), place);
                Status::store_error(place, class_of(outcome.error()));
                if outcome.is_err() {
                    failed.get_or_insert(outcome);
                }
                done += 1;
            }
            write(outcount, "outcount", done as c_int)?;
            if let Some(first) = failed {
                let sentence = format!("an operation failed: {}", first.failure().message);
                told = raise_on(entry, NAME, first.on(), Failure::new(MPI_ERR_IN_STATUS, sentence));
            }
            Ok(())
        });
        if code == MPI_SUCCESS { told } else { code }
    }
}

/// How many objects the user has not freed.
pub fn held() -> usize {
    TABLE.handles().len()
}
