//! The functions of the table for a device: each makes types of what crosses the boundary and calls one verb.
//!
//! All of them rely on what the contract asks of their caller, the host. It passes the state that [`build`](super::ModuleBuilder::build) made; endpoints that
//! `add_procs` gave and `del_procs` did not take back; descriptors that are valid as their types say; and it calls the verbs of a context, and those of
//! the service context, with that context's lock held, or where one thread alone makes calls. `finalize` is the last call.

use super::device::*;
use super::entered::{Completion, Contexts, Entered};
use super::message::{Message, Vouched};
use super::placer::Placer;
use super::state::{Core, Module};
use crate::placing::PlaceBy;
use crate::services::SERVICE_CTX;
use crate::table::*;
use core::ffi::c_void;
use oxmpi_mca::{MemKind, SliceRef, Status, WaitSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

type State = *mut c_void;

/// The device, for verbs of any thread.
macro_rules! device {
    ($t:ty, $s:expr) => {
        // SAFETY: the state that `build` made, a `Module`, which begins with a `Core` (the file's text).
        unsafe { &(*$s.cast::<Core<$t>>()).device }
    };
}
/// A context, entered.
macro_rules! enter {
    ($t:ty, $s:expr, $ctx:expr) => {{
        // SAFETY: as in `device`.
        let core = unsafe { &*$s.cast::<Core<$t>>() };
        let Some(context) = core.contexts.get($ctx as usize) else { no_context() };
        // SAFETY: the caller holds the context's lock for the call, and the verb is the only one in it (the file's text).
        unsafe { Entered::new(context, $ctx, $s) }
    }};
}
/// Ends the process: a verb names a context that the module has not. (A panic does not leave a function of the boundary; without arguments it costs the
/// verbs nothing.)
#[cold]
#[inline(never)]
fn no_context() -> ! {
    panic!("a verb of a transport was called on a context that it does not have")
}
/// The service context, entered.
macro_rules! enter_service {
    ($t:ty, $s:expr) => {{
        // SAFETY: `service` put these functions into the table of a module that has a service context (the file's text).
        let module = unsafe { &*$s.cast::<Module<$t, <$t as BtlService>::Service>>() };
        // SAFETY: the caller holds the lock of the service context for the call (the file's text).
        unsafe { Entered::new(&module.service, SERVICE_CTX, $s) }
    }};
}
/// All contexts of a module that ends.
macro_rules! contexts {
    ($t:ty, $s:expr) => {{
        // SAFETY: as in `device`.
        let core = unsafe { &*$s.cast::<Core<$t>>() };
        // SAFETY: the last call: nothing else runs.
        unsafe { Contexts::new(&core.contexts, $s) }
    }};
}
/// An endpoint.
macro_rules! peer {
    ($t:ty, $p:expr) => {
        // SAFETY: an endpoint of this module that lives (the file's text).
        unsafe { &*$p.cast::<Peer<$t>>() }
    };
}
/// A descriptor.
macro_rules! vouched {
    ($d:expr) => {
        // SAFETY: valid for the call, with valid pointers (the file's text).
        unsafe { Vouched::new(&*$d) }
    };
}
/// The completion of a descriptor, of which a verb makes no other.
macro_rules! completion {
    ($d:expr) => {
        // SAFETY: the verb's descriptor, whose only completion this is.
        unsafe { Completion::new($d.done, $d.done_ctx) }
    };
}
/// A set of words and descriptors to sleep on.
macro_rules! set {
    ($set:expr) => {
        // SAFETY: the caller's, for the call (the file's text).
        unsafe { &mut *$set }
    };
}

pub(super) unsafe extern "C" fn add_procs<T: Btl>(
    s: State,
    procs: ProcList,
    out: *mut *mut Endpoint,
) -> Status {
    let run = AssertUnwindSafe(|| {
        // SAFETY: as in `device`.
        let core = unsafe { &*s.cast::<Core<T>>() };
        let (mut made, contexts) = (Vec::with_capacity(procs.len), core.contexts.len() as u32);
        // SAFETY: the list is readable (the file's text).
        for proc in unsafe { procs.iter() } {
            match core.device.add_proc(&proc) {
                Ok(endpoint) => made.push(endpoint),
                Err(e) => {
                    // All or nothing: the caller gets none of those before.
                    made.iter().flatten().for_each(|endpoint| core.device.del_proc(endpoint));
                    return e;
                }
            }
        }
        for (i, endpoint) in made.into_iter().enumerate() {
            let endpoint = match endpoint {
                Some(endpoint) => {
                    let lanes: Vec<_> = (0..contexts).map(|ctx| core.device.lane(&endpoint, ctx)).collect();
                    Box::into_raw(Box::new(Peer::<T>::new(endpoint, lanes.into_iter()))).cast()
                }
                None => core::ptr::null_mut(),
            };
            // SAFETY: `out` has a place for each process of the list.
            unsafe { *out.add(i) = endpoint };
        }
        Status::OK
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
pub(super) unsafe extern "C" fn del_procs<T: Btl>(s: State, endpoints: SliceRef<*mut Endpoint>) -> Status {
    let run = AssertUnwindSafe(|| {
        // SAFETY: the list is readable (the file's text).
        for &endpoint in unsafe { endpoints.get() } {
            if !endpoint.is_null() {
                // SAFETY: made by `add_procs` and taken back once.
                let peer = unsafe { Box::from_raw(endpoint.cast::<Peer<T>>()) };
                device!(T, s).del_proc(&peer);
            }
        }
        Status::OK
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
pub(super) unsafe extern "C" fn finalize<T: Btl>(s: State) -> Status {
    let run = AssertUnwindSafe(|| {
        device!(T, s).finalize(&mut contexts!(T, s));
        // SAFETY: the last call; `build` made it without a service context, and no borrow of it is left.
        drop(unsafe { Box::from_raw(s.cast::<Module<T, ()>>()) });
        Status::OK
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
pub(super) unsafe extern "C" fn finalize_serving<T: BtlService>(s: State) -> Status {
    let run = AssertUnwindSafe(|| {
        device!(T, s).finalize_serving(&mut contexts!(T, s), &mut enter_service!(T, s));
        // SAFETY: the last call; `build` made it with a service context, and no borrow of it is left.
        drop(unsafe { Box::from_raw(s.cast::<Module<T, T::Service>>()) });
        Status::OK
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
pub(super) unsafe extern "C" fn send<T: Btl>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const SendDesc,
) -> Status {
    device!(T, s).send(&mut enter!(T, s, ctx), peer!(T, ep), message(&d))
}
/// A message to send.
#[inline(always)]
fn message<'a>(desc: &'a *const SendDesc) -> &'a Message<'a> {
    // SAFETY: valid for the call (the file's text); a message is a descriptor whose pointers are vouched for.
    unsafe { &*desc.cast::<Message<'a>>() }
}
pub(super) unsafe extern "C" fn send_kept<T: BtlKeeps>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const KeptDesc,
) -> Status {
    let kept = vouched!(d);
    let msg: *const SendDesc = &kept.message;
    BtlKeeps::send_kept(device!(T, s), &mut enter!(T, s, ctx), peer!(T, ep), message(&msg), completion!(kept))
}
pub(super) unsafe extern "C" fn progress<T: Btl>(s: State, ctx: u32) -> i32 {
    device!(T, s).progress(&mut enter!(T, s, ctx))
}
pub(super) unsafe extern "C" fn get<T: BtlGet>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const RmaDesc,
) -> Status {
    let rma = vouched!(d);
    device!(T, s).get(&mut enter!(T, s, ctx), peer!(T, ep), rma, completion!(rma))
}
pub(super) unsafe extern "C" fn get_vector<T: BtlGetVector>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const RmaVectorDesc,
) -> Status {
    device!(T, s).get_vector(&mut enter!(T, s, ctx), peer!(T, ep), vouched!(d))
}
pub(super) unsafe extern "C" fn put<T: BtlPut>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const RmaDesc,
) -> Status {
    let rma = vouched!(d);
    BtlPut::put(device!(T, s), &mut enter!(T, s, ctx), peer!(T, ep), rma, completion!(rma))
}
pub(super) unsafe extern "C" fn flush<T: BtlFlush>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const FlushDesc,
) -> Status {
    let (to, flush) = (if ep.is_null() { None } else { Some(peer!(T, ep)) }, vouched!(d));
    device!(T, s).flush(&mut enter!(T, s, ctx), to, completion!(flush))
}
pub(super) unsafe extern "C" fn atomic<T: BtlAtomics>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const AtomicDesc,
) -> Status {
    let op = vouched!(d);
    device!(T, s).atomic(&mut enter!(T, s, ctx), peer!(T, ep), op, completion!(op))
}
pub(super) unsafe extern "C" fn list<T: BtlLists>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const ListDesc,
) -> Status {
    let list = vouched!(d);
    let done = completion!(list);
    device!(T, s).list(&mut enter!(T, s, ctx), peer!(T, ep), list, done)
}
pub(super) unsafe extern "C" fn register<T: BtlMemory>(
    s: State,
    addr: *mut u8,
    len: u64,
    access: u32,
    kind: MemKind,
    out: *mut RegHandle,
) -> Status {
    // SAFETY: the caller's place has as many bytes as the attributes say.
    let handle = unsafe { core::slice::from_raw_parts_mut(out.cast::<u8>(), T::HANDLE_SIZE) };
    device!(T, s).register(Memory { addr: addr.addr(), len, kind }, access, handle)
}
pub(super) unsafe extern "C" fn deregister<T: BtlMemory>(s: State, h: *const RegHandle) -> Status {
    // SAFETY: a handle has as many bytes as the attributes say.
    device!(T, s).deregister(unsafe { core::slice::from_raw_parts(h.cast::<u8>(), T::HANDLE_SIZE) })
}
pub(super) unsafe extern "C" fn arm<T: BtlSleep>(s: State, ctx: u32, set: *mut WaitSet) -> Status {
    device!(T, s).arm(&mut enter!(T, s, ctx), set!(set))
}
pub(super) unsafe extern "C" fn disarm<T: BtlSleep>(s: State, ctx: u32) {
    device!(T, s).disarm(&mut enter!(T, s, ctx))
}
pub(super) unsafe extern "C" fn service_open<T: BtlService>(s: State) -> Status {
    device!(T, s).open()
}
pub(super) unsafe extern "C" fn service_request<T: BtlService>(
    s: State,
    ep: *mut Endpoint,
    ctx: u32,
    d: *const SendDesc,
) -> Status {
    device!(T, s).request(&mut enter!(T, s, ctx), peer!(T, ep), message(&d))
}
pub(super) unsafe extern "C" fn service_progress<T: BtlService>(s: State) -> i32 {
    device!(T, s).serve(&mut enter_service!(T, s))
}
pub(super) unsafe extern "C" fn service_reply<T: BtlService>(
    s: State,
    link: u64,
    d: *const SendDesc,
) -> Status {
    device!(T, s).reply(&mut enter_service!(T, s), link, message(&d))
}
pub(super) unsafe extern "C" fn service_pending<T: BtlService>(s: State) -> *const u32 {
    device!(T, s).pending().map_or(core::ptr::null(), |word| word.as_ptr().cast_const())
}
pub(super) unsafe extern "C" fn service_arm<T: BtlServiceSleep>(s: State, set: *mut WaitSet) -> Status {
    device!(T, s).arm_service(&mut enter_service!(T, s), set!(set))
}
pub(super) unsafe extern "C" fn service_disarm<T: BtlServiceSleep>(s: State) {
    device!(T, s).disarm_service(&mut enter_service!(T, s))
}
pub(super) unsafe extern "C" fn partner<T: BtlPartner>(s: State, ep: *mut Endpoint) -> u32 {
    BtlPartner::partner(device!(T, s), peer!(T, ep))
}
pub(super) unsafe extern "C" fn place_by<T: BtlPlaces>(s: State, by: *const PlaceBy) -> Status {
    // SAFETY: the caller's, of as many bytes as it says, for the call; what it names stays until `finalize` (the contract).
    let (by, placer) = unsafe {
        let by = Placer::read(by);
        (by, Placer::new(by))
    };
    match u8::try_from(by.tag) {
        Ok(tag) => BtlPlaces::place_by(device!(T, s), tag, placer),
        Err(_) => Status::BAD_PARAM,
    }
}
pub(super) unsafe extern "C" fn hold<T: BtlHold>(s: State, ep: *mut Endpoint, oldest: u64) {
    BtlHold::hold(device!(T, s), peer!(T, ep), oldest)
}
pub(super) unsafe extern "C" fn held<T: BtlHold>(s: State, ep: *mut Endpoint) -> u64 {
    device!(T, s).held(peer!(T, ep))
}
