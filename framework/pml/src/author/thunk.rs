//! The functions of the table for a layer: each makes types of what crosses the boundary and calls one verb.
//!
//! All of them rely on what the contract asks of their caller, the host. It passes the state that [`module()`](super::module()) made; communicators, messages and
//! requests that the layer has given out and not taken back; arguments that are valid as their types say; and it calls verbs from inside the gate, in
//! threads that hold no CRI. `after_turn` and arrivals are called with the lock of their context held. `finalize` is the last call.

use super::args::{Arrived, Described, Given, Incoming, Outgoing};
use super::care::Admission;
use super::layer::{Begun, Claimed, Next, Part, Placed, Pml};
use super::state::Module;
use crate::polling::Words;
use crate::table::*;
use core::ffi::c_void;
use oxmpi_btl::{PlaceBy, PlaceDesc};
use oxmpi_mca::host::{am_tag, receive};
use oxmpi_mca::{Entry, MsgStatus, Object, PartDesc, RecvDesc, RequestHeader, Status, ThreadCtx};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The module.
macro_rules! module {
    ($t:ty, $s:expr) => {
        // SAFETY: the state that `module` made (the file's text).
        unsafe { &*$s.cast::<Module<$t>>() }
    };
}
/// A communicator.
macro_rules! comm {
    ($t:ty, $c:expr) => {
        // SAFETY: one that `add_comm` gave and `del_comm` did not take back (the file's text).
        unsafe { &*$c.cast::<<$t as Pml>::Comm>() }
    };
}
/// Arguments of a send or a receive.
macro_rules! args {
    ($kind:ident, $a:expr) => {
        // SAFETY: valid for the call (the file's text).
        unsafe { $kind::new(&*$a) }
    };
}
/// A place for an answer.
macro_rules! out {
    ($p:expr) => {
        // SAFETY: the host's, for the call (the file's text).
        unsafe { &mut *$p }
    };
}
/// The entry of a verb, of a thread with this context.
macro_rules! entry {
    ($m:expr, $thread:expr) => {
        // SAFETY: a verb from inside the gate, in a thread that holds nothing; it makes no other.
        unsafe { Admission::new(&$m.care, $thread) }.enter()
    };
}
/// The entry of a verb that is called without a thread's context.
macro_rules! entry_of_nobody {
    ($m:expr) => {
        entry!($m, core::ptr::null_mut())
    };
}

/// Writes a request, which the host waits for.
#[inline(always)]
fn hand_out<R: Object>(request: Result<&'static R, Status>, out: *mut *mut RequestHeader) -> Status {
    match request {
        Ok(request) => {
            *out!(out) = request.header();
            Status::PENDING
        }
        Err(e) => e,
    }
}
/// The same for an operation that may be done.
#[inline(always)]
fn hand_out_begun<R: Object>(begun: Result<Begun<R>, Status>, out: *mut *mut RequestHeader) -> Status {
    match begun {
        Ok(Begun::Done) => Status::OK,
        Ok(Begun::Goes(request)) => hand_out(Ok(request), out),
        Err(e) => e,
    }
}

pub(super) extern "C" fn enable<T: Pml>(
    s: State,
    transports: *const Transports,
    words: *mut Words,
) -> Status {
    let module = module!(T, s);
    // SAFETY: the host's, as long as the instance.
    let transports = unsafe { Given::new(&*transports) };
    let takes_parts = T::TAKES_PARTS && transports.deliver_parts();
    match module.pml.enable(transports, &module.care) {
        Ok(filled) => *out!(words) = filled,
        Err(e) => return e,
    }
    // SAFETY: the receiver takes the state of a module of `T`, which stays until `finalize`, the last call.
    let status = unsafe { module.host.am_register(am_tag::PML, arrive::<T>, s) };
    if status.is_err() {
        return status;
    }
    if T::PLACES {
        let size = size_of::<PlaceBy>() as u32;
        let tag = am_tag::PML.into();
        // SAFETY: the functions take the state of a module of `T`, as above.
        unsafe {
            transports.place_by(&PlaceBy {
                size,
                tag,
                place_of: place_of::<T>,
                placed: arrive_placed::<T>,
                ctx: s,
                claim: Some(claim::<T>),
            })
        };
    }
    if !takes_parts {
        return status;
    }
    // SAFETY: as above; the tag's receiver has the state as its context.
    unsafe { module.host.am_register_parts(am_tag::PML, arrive_in_part::<T>) }
}
pub(super) extern "C" fn add_comm<T: Pml>(s: State, d: *const CommDesc, out: *mut *mut c_void) -> Status {
    let module = module!(T, s);
    // SAFETY: the host's, for the call.
    match module.pml.add_comm(&mut entry_of_nobody!(module), unsafe { Described::new(&*d) }) {
        Ok(comm) => {
            *out!(out) = Arc::into_raw(comm).cast_mut().cast();
            Status::OK
        }
        Err(e) => e,
    }
}
pub(super) extern "C" fn del_comm<T: Pml>(s: State, comm: *mut c_void) -> Status {
    let module = module!(T, s);
    // SAFETY: `add_comm` gave it, and it is taken back once.
    let comm = unsafe { Arc::from_raw(comm.cast::<T::Comm>()) };
    module.pml.del_comm(&mut entry_of_nobody!(module), comm)
}
/// The two copies of a verb, one alone and one among other threads. Each is a function of its own, so that the first instructions are a jump to one of
/// them, and registers are saved for what it does.
macro_rules! verb {
    ($name:ident($($a:ident : $t:ty),*), $args:ident, $kind:ident, $hand_out:ident, ($($more:expr),*)) => {
        pub(super) extern "C" fn $name<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
            #[inline(always)]
            fn run<T: Pml>(s: State, among: bool, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                let args = args!($kind, $args);
                // SAFETY: a verb from inside the gate, in a thread that holds nothing; the care says that it is alone where `among` is false.
                let mut entry = unsafe { Entry::of(among, args.thread) };
                $hand_out(module!(T, s).pml.$name(&mut entry, comm!(T, args.comm), args, $($more),*), out)
            }
            #[inline(never)]
            extern "C" fn alone<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                run::<T>(s, false, $($a,)* out)
            }
            #[inline(never)]
            extern "C" fn among<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                run::<T>(s, true, $($a,)* out)
            }
            if module!(T, s).care.is_taken() { among::<T>(s, $($a,)* out) } else { alone::<T>(s, $($a,)* out) }
        }
    };
}
verb!(send(a: *const SendArgs), a, Outgoing, hand_out_begun, ());
verb!(isend(a: *const SendArgs), a, Outgoing, hand_out, ());
verb!(recv(a: *const RecvArgs, status: *mut MsgStatus), a, Incoming, hand_out_begun, (out!(status)));
verb!(irecv(a: *const RecvArgs), a, Incoming, hand_out, ());

/// A verb that is not on a message's path.
macro_rules! other {
    ($name:ident($kind:ident)) => {
        pub(super) extern "C" fn $name<T: Pml>(
            s: State,
            a: *const <$kind<'static> as core::ops::Deref>::Target,
            out: *mut *mut RequestHeader,
        ) -> Status {
            let (module, args) = (module!(T, s), args!($kind, a));
            hand_out(module.pml.$name(&mut entry!(module, args.thread), comm!(T, args.comm), args), out)
        }
    };
}
other!(send_init(Outgoing));
other!(recv_init(Incoming));

pub(super) extern "C" fn probe<T: Pml>(
    s: State,
    a: *const RecvArgs,
    status: *mut MsgStatus,
    message: *mut *mut Message,
) -> Status {
    let (module, args) = (module!(T, s), args!(Incoming, a));
    let (mut entry, comm, status) = (entry!(module, args.thread), comm!(T, args.comm), out!(status));
    let found = match message.is_null() {
        true => module.pml.probe(&mut entry, comm, args, status),
        false => module.pml.improbe(&mut entry, comm, args, status).map(|taken| {
            let found = taken.is_some();
            if let Some(taken) = taken {
                *out!(message) = Box::into_raw(taken).cast();
            }
            found
        }),
    };
    match found {
        Ok(true) => Status::OK,
        Ok(false) => Status::PENDING,
        Err(e) => e,
    }
}
pub(super) extern "C" fn imrecv<T: Pml>(
    s: State,
    message: *mut Message,
    a: *const RecvArgs,
    out: *mut *mut RequestHeader,
) -> Status {
    let (module, args) = (module!(T, s), args!(Incoming, a));
    // SAFETY: `probe` gave it, and it is taken back once.
    let message = unsafe { Box::from_raw(message.cast::<T::Message>()) };
    hand_out(module.pml.imrecv(&mut entry!(module, args.thread), message, args), out)
}
pub(super) extern "C" fn after_turn<T: Pml>(s: State, ctx: u32) -> i32 {
    let module = module!(T, s);
    // SAFETY: the caller holds the context's lock, or is alone, and has lent its guard for this call.
    module.pml.after_turn(&mut unsafe { module.host.inherit(ctx, module.care.is_taken()) })
}

/// The answer that the transport gets.
#[inline(always)]
fn said(next: Next) -> u32 {
    match next {
        Next::Any => receive::CONTINUE,
        Next::Stop => receive::STOP,
    }
}
/// The transport's callback for a message. Two copies, as of a verb.
unsafe extern "C" fn arrive<T: Pml>(s: State, msg: *const RecvDesc) -> u32 {
    #[inline(always)]
    fn run<T: Pml>(s: State, among: bool, msg: *const RecvDesc) -> u32 {
        let module = module!(T, s);
        // SAFETY: valid for the call.
        let msg = unsafe { &*msg };
        // SAFETY: the transport's caller holds the context's lock, or is alone, and the transport has lent its guard for this call.
        let mut held = unsafe { module.host.inherit(msg.ctx, among) };
        // SAFETY: the transport's bytes are readable for the call.
        said(module.pml.arrive(&mut held, unsafe { Arrived::new(msg, msg.len) }))
    }
    #[inline(never)]
    extern "C" fn alone<T: Pml>(s: State, msg: *const RecvDesc) -> u32 {
        run::<T>(s, false, msg)
    }
    #[inline(never)]
    extern "C" fn among<T: Pml>(s: State, msg: *const RecvDesc) -> u32 {
        run::<T>(s, true, msg)
    }
    if module!(T, s).care.is_taken() { among::<T>(s, msg) } else { alone::<T>(s, msg) }
}
/// The transport's callback for a part of a message.
unsafe extern "C" fn arrive_in_part<T: Pml>(s: State, part: *const PartDesc) -> u32 {
    let module = module!(T, s);
    // SAFETY: valid for the call.
    let part = unsafe { &*part };
    let msg = &part.message;
    // SAFETY: as in `arrive`.
    let mut held = unsafe { module.host.inherit(msg.ctx, module.care.is_taken()) };
    // SAFETY: so many of the transport's bytes are there, and readable for the call.
    match module.pml.arrive_in_part(&mut held, unsafe { Arrived::new(msg, part.to) }, part.from, msg.len) {
        Part::Refused => receive::CONTINUE,
        Part::Taken(next) => receive::TAKEN | said(next),
    }
}
/// The transport's question where the payload of a message belongs.
unsafe extern "C" fn place_of<T: Pml>(s: State, desc: *mut PlaceDesc) -> u32 {
    let module = module!(T, s);
    // SAFETY: the transport's own, for the call.
    let desc = unsafe { &mut *desc };
    let msg = &desc.message;
    // SAFETY: as in `arrive`.
    let mut held = unsafe { module.host.inherit(msg.ctx, module.care.is_taken()) };
    // SAFETY: so many of the transport's bytes are there, and readable for the call.
    let Some(Placed { header, at }) =
        module.pml.place_of(&mut held, unsafe { Arrived::new(msg, desc.there) }, msg.len)
    else {
        return 0;
    };
    (desc.header, desc.place) = (header, at);
    1
}
/// The transport's question whether the layer takes a message that has begun.
unsafe extern "C" fn claim<T: Pml>(s: State, desc: *mut PlaceDesc) -> u32 {
    let module = module!(T, s);
    // SAFETY: the transport's own, for the call.
    let desc = unsafe { &mut *desc };
    let msg = &desc.message;
    // SAFETY: as in `arrive`.
    let mut held = unsafe { module.host.inherit(msg.ctx, module.care.is_taken()) };
    // SAFETY: as in `place_of`.
    let Some(Claimed { place, name }) =
        module.pml.claim(&mut held, unsafe { Arrived::new(msg, desc.there) }, msg.len)
    else {
        return 0;
    };
    (desc.header, desc.place, desc.message.link) = (place.header, place.at, name);
    1
}
/// The transport's callback for a message whose payload lies in its place.
unsafe extern "C" fn arrive_placed<T: Pml>(s: State, desc: *const PlaceDesc) -> u32 {
    let module = module!(T, s);
    // SAFETY: valid for the call.
    let desc = unsafe { &*desc };
    let msg = &desc.message;
    // SAFETY: as in `arrive`.
    let mut held = unsafe { module.host.inherit(msg.ctx, module.care.is_taken()) };
    // SAFETY: as in `place_of`.
    said(module.pml.arrive_placed(
        &mut held,
        unsafe { Arrived::new(msg, desc.there) },
        msg.len,
        !desc.place.is_null(),
    ))
}

/// The layer and the request behind a header.
macro_rules! owned {
    ($t:ty, $header:expr) => {{
        // SAFETY: a header of the layer's own, the first part of its request; its owner is the module's state (the file's text).
        unsafe { (&*(*$header).owner.cast::<Module<$t>>(), &*$header.cast::<<$t as Pml>::Request>()) }
    }};
}
pub(super) extern "C" fn release<T: Pml>(header: *mut RequestHeader, thread: *mut ThreadCtx) {
    let (module, request) = owned!(T, header);
    // SAFETY: a call from inside the gate, in a thread that holds nothing.
    module.pml.release(unsafe { Admission::new(&module.care, thread) }, request)
}
pub(super) extern "C" fn cancel<T: Pml>(header: *mut RequestHeader) -> Status {
    let (module, request) = owned!(T, header);
    module.pml.cancel(&mut entry_of_nobody!(module), request)
}
pub(super) extern "C" fn start<T: Pml>(header: *mut RequestHeader) -> Status {
    let (module, request) = owned!(T, header);
    module.pml.start(&mut entry_of_nobody!(module), request)
}

pub(super) extern "C" fn threads_begin<T: Pml>(s: State) -> Status {
    let module = module!(T, s);
    let status = module.pml.threads_begin();
    if !status.is_err() {
        module.care.take();
    }
    status
}
pub(super) extern "C" fn flush<T: Pml>(s: State) -> Status {
    let module = module!(T, s);
    module.pml.flush(&mut entry_of_nobody!(module))
}
pub(super) extern "C" fn peer_failed<T: Pml>(s: State, proc: u32) -> Status {
    let module = module!(T, s);
    module.pml.peer_failed(&mut entry_of_nobody!(module), proc)
}
pub(super) extern "C" fn peer_parted<T: Pml>(s: State, proc: u32) -> Status {
    let module = module!(T, s);
    module.pml.peer_parted(&mut entry_of_nobody!(module), proc)
}
pub(super) extern "C" fn revoke<T: Pml>(s: State, comm: *mut c_void) -> Status {
    let module = module!(T, s);
    module.pml.revoke(&mut entry_of_nobody!(module), comm!(T, comm))
}
pub(super) extern "C" fn counts<T: Pml>(s: State, comm: *mut c_void, out: *mut Counts) -> Status {
    let module = module!(T, s);
    let counts = module.pml.counts(&mut entry_of_nobody!(module), comm!(T, comm));
    let Some(mut counts) = counts else { return Status::NOT_SUPPORTED };
    counts.size = (size_of::<Counts>() as u32).min(out!(out).size);
    // SAFETY: the host's struct has as many bytes as it says, ours at least as many as are copied.
    unsafe {
        core::ptr::copy_nonoverlapping(
            (&raw const counts).cast::<u8>(),
            out.cast::<u8>(),
            counts.size as usize,
        )
    };
    Status::OK
}
pub(super) extern "C" fn set_flags<T: Pml>(s: State, comm: *mut c_void, flags: u32) -> Status {
    let module = module!(T, s);
    module.pml.set_flags(&mut entry_of_nobody!(module), comm!(T, comm), flags)
}
pub(super) extern "C" fn measure<T: Pml>(s: State, on: u32) -> Status {
    module!(T, s).pml.measure(on != 0)
}
pub(super) extern "C" fn send_failure<T: Pml>(
    s: State,
    a: *const SendArgs,
    error: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let (module, args) = (module!(T, s), args!(Outgoing, a));
    let mut entry = entry!(module, args.thread);
    hand_out(module.pml.send_failure(&mut entry, comm!(T, args.comm), args, error), out)
}
pub(super) extern "C" fn finalize<T: Pml>(s: State) -> Status {
    let run = AssertUnwindSafe(|| {
        // SAFETY: the last call; `module` made it.
        let module = unsafe { Box::from_raw(s.cast::<Module<T>>()) };
        module.pml.finalize(&mut entry_of_nobody!(module))
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
