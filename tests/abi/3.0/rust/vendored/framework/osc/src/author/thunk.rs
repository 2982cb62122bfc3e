//! The functions of the tables: each makes types of what crosses the boundary and calls one verb.
//!
//! All of them rely on what the contract asks of their caller, the host. It passes the state that [`module()`](super::module()) made and windows that `create` or `dup`
//! made and `free` did not take back; arguments that are valid as their types say; and it calls verbs from inside the gate, with the context of the calling thread, which
//! holds no CRI. `finalize` is the last call.

use super::args::{Flush, LockKind, Memory, Rma, Want};
use super::opened::{Module, Open, open};
use super::window::{Osc, Window};
use crate::table::{ALL, OscTable, OscWindow, RmaArgs, State, Win, WinCounts, WinDesc};
use oxmpi_btl::Vouched;
use oxmpi_mca::{Object, RequestHeader, SliceRef, Status, ThreadCtx};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The component's module.
macro_rules! module {
    ($t:ty, $s:expr) => {
        // SAFETY: the state that `module` made (the file's text).
        unsafe { &*$s.cast::<Module<$t>>() }
    };
}
/// A window's module.
macro_rules! window {
    ($w:ty, $p:expr) => {
        // SAFETY: a window that lives (the file's text).
        unsafe { &*$p.cast::<Open<$w>>() }
    };
}
/// The entry of a verb.
macro_rules! entry {
    ($open:expr, $thread:expr) => {
        // SAFETY: a verb from inside the gate, in a thread that holds nothing; it makes no other (the file's text).
        &mut unsafe { $open.host.entry($thread) }
    };
}
/// A description of a window.
macro_rules! desc {
    ($d:expr) => {
        // SAFETY: valid for the call, with valid pointers (the file's text).
        unsafe { Vouched::new(&*$d) }
    };
}
/// Arguments of an operation.
macro_rules! args {
    ($a:expr) => {
        // SAFETY: valid for the call, with valid pointers (the file's text).
        unsafe { Rma::new(&*$a) }
    };
}

fn list<'a>(ranks: SliceRef<u32>) -> &'a [u32] {
    // SAFETY: the host's list is readable during the call.
    unsafe { ranks.get() }
}
fn some(rank: u32) -> Option<u32> {
    (rank != ALL).then_some(rank)
}

macro_rules! operation {
    ($($name:ident),*) => {$(
        pub(super) extern "C" fn $name<W: Window>(w: Win, a: *const RmaArgs, out: *mut *mut RequestHeader) -> Status {
            let (open, args) = (window!(W, w), args!(a));
            let want = if out.is_null() { Want::Nothing } else { Want::Request };
            match open.window.$name(entry!(open, args.thread), args, want) {
                Ok(request) => {
                    if !out.is_null() {
                        // SAFETY: the host's place for a request.
                        unsafe { *out = request.map_or(core::ptr::null_mut(), Object::header) };
                    }
                    Status::OK
                }
                Err(status) => status,
            }
        }
    )*};
}
operation!(put, get, accumulate, get_accumulate);

macro_rules! atomic {
    ($($name:ident),*) => {$(
        pub(super) extern "C" fn $name<W: Window>(w: Win, a: *const RmaArgs, _: *mut *mut RequestHeader) -> Status {
            let (open, args) = (window!(W, w), args!(a));
            open.window.$name(entry!(open, args.thread), args)
        }
    )*};
}
atomic!(fetch_and_op, compare_and_swap);

macro_rules! verb {
    ($name:ident($($a:ident: $t:ty => $e:expr),*)) => {
        pub(super) extern "C" fn $name<W: Window>(w: Win, thread: *mut ThreadCtx, $($a: $t),*) -> Status {
            let open = window!(W, w);
            open.window.$name(entry!(open, thread), $($e),*)
        }
    };
}
verb!(fence(assert: u32 => assert));
verb!(post(ranks: SliceRef<u32> => list(ranks), assert: u32 => assert));
verb!(start(ranks: SliceRef<u32> => list(ranks), assert: u32 => assert));
verb!(complete());
verb!(lock(kind: u32 => LockKind::of(kind), rank: u32 => rank, assert: u32 => assert));
verb!(unlock(rank: u32 => rank));
verb!(lock_all(assert: u32 => assert));
verb!(unlock_all());
verb!(flush(rank: u32 => some(rank), local: u32 => if local != 0 { Flush::Here } else { Flush::Everywhere }));
verb!(sync());
verb!(detach(base: *mut u8 => base.addr()));
verb!(flush_begin(rank: u32 => some(rank)));

pub(super) extern "C" fn attach<W: Window>(
    w: Win,
    thread: *mut ThreadCtx,
    base: *mut u8,
    bytes: u64,
) -> Status {
    let open = window!(W, w);
    open.window.attach(entry!(open, thread), Memory { base: base.expose_provenance(), bytes })
}
pub(super) extern "C" fn wait<W: Window>(w: Win, thread: *mut ThreadCtx, block: u32) -> Status {
    let open = window!(W, w);
    let entry = entry!(open, thread);
    if block != 0 { open.window.wait(entry) } else { open.window.test(entry) }
}
pub(super) extern "C" fn set_hints<W: Window>(w: Win, hints: u32, ordering: u32) -> Status {
    window!(W, w).window.set_hints(hints, ordering)
}
pub(super) extern "C" fn free<W: Window>(w: Win, thread: *mut ThreadCtx, discard: u32) -> Status {
    let open = window!(W, w);
    let entry = entry!(open, thread);
    let status = match discard {
        0 => open.window.free(entry),
        _ => {
            open.window.discard(entry);
            Status::OK
        }
    };
    if !status.is_err() {
        // SAFETY: `open` made it, and it is given back once; no borrow of it is left.
        drop(unsafe { Box::from_raw(w.cast::<Open<W>>()) });
    }
    status
}

macro_rules! notified {
    ($($name:ident),*) => {$(
        pub(super) extern "C" fn $name<W: Window>(w: Win, a: *const RmaArgs, counter: u32) -> Status {
            let (open, args) = (window!(W, w), args!(a));
            open.window.$name(entry!(open, args.thread), args, counter)
        }
    )*};
}
notified!(put_notify, get_notify);

fn give(value: Result<u64, Status>, out: *mut u64) -> Status {
    match value {
        Ok(value) => {
            // SAFETY: the host's place for a value.
            unsafe { *out = value };
            Status::OK
        }
        Err(status) => status,
    }
}
pub(super) extern "C" fn notify_read<W: Window>(
    w: Win,
    thread: *mut ThreadCtx,
    counter: u32,
    reset: u32,
    value: *mut u64,
) -> Status {
    let open = window!(W, w);
    let entry = entry!(open, thread);
    give(
        match reset {
            0 => open.window.notify_read(entry, counter),
            _ => open.window.notify_take(entry, counter),
        },
        value,
    )
}
pub(super) extern "C" fn notify_wait<W: Window>(
    w: Win,
    thread: *mut ThreadCtx,
    counter: u32,
    threshold: u64,
    value: *mut u64,
) -> Status {
    let open = window!(W, w);
    give(open.window.notify_wait(entry!(open, thread), counter, threshold), value)
}
pub(super) extern "C" fn dup<W: Window>(
    w: Win,
    desc: *const WinDesc,
    thread: *mut ThreadCtx,
    out: *mut OscWindow,
) -> Status {
    let from = window!(W, w);
    let made = catch_unwind(AssertUnwindSafe(|| from.window.dup(entry!(from, thread), desc!(desc))));
    answer(from.host, from.table, made, out)
}
pub(super) extern "C" fn counts<W: Window>(w: Win, out: *mut WinCounts) -> Status {
    let Some(mut counts) = window!(W, w).window.counts() else { return Status::NOT_SUPPORTED };
    // SAFETY: the host's place begins with how many bytes it has.
    let size = unsafe { (*out).size }.min(size_of::<WinCounts>() as u32);
    counts.size = size;
    // SAFETY: as many bytes are there; any are counts.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const counts).cast::<u8>(), out.cast::<u8>(), size as usize);
    }
    Status::OK
}

pub(super) extern "C" fn query<T: Osc>(s: State, desc: *const WinDesc, priority: *mut i32) -> Status {
    let answer = catch_unwind(AssertUnwindSafe(|| module!(T, s).osc.query(desc!(desc))));
    match answer {
        Ok(Some(value)) => {
            // SAFETY: the host's place for a priority.
            unsafe { *priority = value };
            Status::OK
        }
        Ok(None) => Status::NOT_AVAILABLE,
        Err(_) => Status::PANICKED,
    }
}
pub(super) extern "C" fn create<T: Osc>(
    s: State,
    desc: *const WinDesc,
    thread: *mut ThreadCtx,
    out: *mut OscWindow,
) -> Status {
    let module = module!(T, s);
    let made = catch_unwind(AssertUnwindSafe(|| module.osc.create(entry!(module, thread), desc!(desc))));
    answer(module.host, module.table, made, out)
}
/// A window that was made, or why it was not.
fn answer<W: Window>(
    host: oxmpi_mca::Host,
    table: &'static OscTable,
    outcome: std::thread::Result<Result<Box<W>, Status>>,
    out: *mut OscWindow,
) -> Status {
    match outcome {
        Ok(Ok(window)) => {
            // SAFETY: the host's place for a window.
            unsafe { *out = open(host, table, window) };
            Status::OK
        }
        Ok(Err(status)) => status,
        Err(_) => Status::PANICKED,
    }
}
pub(super) extern "C" fn threads_begin<T: Osc>(s: State) -> Status {
    module!(T, s).osc.threads_begin()
}
pub(super) extern "C" fn finalize<T: Osc>(s: State) -> Status {
    let run = AssertUnwindSafe(|| {
        // SAFETY: the last call; `module` made it.
        let module = unsafe { Box::from_raw(s.cast::<Module<T>>()) };
        module.osc.finalize();
        Status::OK
    });
    catch_unwind(run).unwrap_or(Status::PANICKED)
}
