//! Safe traits for the author of an OSC component, from which [`module`] makes the tables.

use crate::table::*;
use oxmpi_mca::{RequestHeader, SliceRef, Status, ThreadCtx};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A one-sided component of one instance.
pub trait Osc: Send + Sync + Sized + 'static {
    /// Its module for one window.
    type Window: Window;

    /// Priority for this window, or `None`. Must not communicate.
    fn query(&self, desc: &WinDesc) -> Option<i32>;
    /// Makes a window's module; collective over its ranks.
    fn create(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Box<Self::Window>, Status>;
    /// The thread level has risen to MULTIPLE.
    fn threads_begin(&self) -> Status {
        Status::OK
    }
    /// Last call.
    fn finalize(&self) {}
}

/// One window. `&self` everywhere: all verbs may run concurrently.
///
/// `wanted` of the operations: a request is to be returned (MPI_Rput and the like); otherwise `Ok(null)`.
pub trait Window: Send + Sync + Sized + 'static {
    fn put(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status>;
    fn get(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status>;
    fn accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status>;
    fn get_accumulate(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status>;
    fn fetch_and_op(&self, args: &RmaArgs) -> Status;
    fn compare_and_swap(&self, args: &RmaArgs) -> Status;
    fn fence(&self, thread: *mut ThreadCtx, assert: u32) -> Status;
    fn post(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status;
    fn start(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status;
    fn complete(&self, thread: *mut ThreadCtx) -> Status;
    /// `block` false: PENDING if the epoch cannot end yet.
    fn wait(&self, thread: *mut ThreadCtx, block: bool) -> Status;
    fn lock(&self, thread: *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status;
    fn unlock(&self, thread: *mut ThreadCtx, rank: u32) -> Status;
    fn lock_all(&self, thread: *mut ThreadCtx, assert: u32) -> Status;
    fn unlock_all(&self, thread: *mut ThreadCtx) -> Status;
    /// `rank` `None`: all; `local`: at the origin alone.
    fn flush(&self, thread: *mut ThreadCtx, rank: Option<u32>, local: bool) -> Status;
    fn sync(&self, thread: *mut ThreadCtx) -> Status;
    fn attach(&self, thread: *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status;
    fn detach(&self, thread: *mut ThreadCtx, base: *mut u8) -> Status;
    /// The hints are now these.
    fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        let _ = (hints, ordering);
        Status::OK
    }
    /// OK, and the window goes; or a failure, and it stays. `discard`: without communication, and it goes in any case.
    fn free(&self, thread: *mut ThreadCtx, discard: bool) -> Status;
    /// A put that adds 1 to a counter of its target once its data is visible there.
    fn put_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        let _ = (args, counter);
        Status::NOT_SUPPORTED
    }
    /// A get that adds 1 to a counter of its target once its data has been read there.
    fn get_notify(&self, args: &RmaArgs, counter: u32) -> Status {
        let _ = (args, counter);
        Status::NOT_SUPPORTED
    }
    /// A counter of this rank; `reset`: it is 0 afterwards.
    fn notify_read(&self, thread: *mut ThreadCtx, counter: u32, reset: bool) -> Result<u64, Status> {
        let _ = (thread, counter, reset);
        Err(Status::NOT_SUPPORTED)
    }
    /// Waits until a counter of this rank is at least `threshold`; its value.
    fn notify_wait(&self, thread: *mut ThreadCtx, counter: u32, threshold: u64) -> Result<u64, Status> {
        let _ = (thread, counter, threshold);
        Err(Status::NOT_SUPPORTED)
    }
    /// Another window on the same memory; collective.
    fn dup(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Box<Self>, Status> {
        let _ = (desc, thread);
        Err(Status::NOT_SUPPORTED)
    }
    /// Counts of the window; `None`: nothing is counted.
    fn counts(&self) -> Option<WinCounts> {
        None
    }
    /// Starts the flush of a rank, or of all (`None`), which `flush` waits for.
    fn flush_begin(&self, thread: *mut ThreadCtx, rank: Option<u32>) -> Status {
        let _ = (thread, rank);
        Status::NOT_SUPPORTED
    }
}

mod thunk {
    use super::*;

    // SAFETY (all thunks): the host passes the state `module` made, windows that `create` made, and valid arguments.
    macro_rules! at {
        ($t:ty, $p:expr) => {
            // SAFETY: see the module's note.
            unsafe { &*($p as *const $t) }
        };
    }

    fn hand_out(r: Result<*mut RequestHeader, Status>, out: *mut *mut RequestHeader) -> Status {
        match r {
            Ok(request) => {
                if !out.is_null() {
                    // SAFETY: the host's out pointer.
                    unsafe { *out = request };
                }
                Status::OK
            }
            Err(status) => status,
        }
    }

    fn list<'a>(ranks: SliceRef<u32>) -> &'a [u32] {
        // SAFETY: the host's list is readable during the call.
        unsafe { ranks.get() }
    }

    macro_rules! operation {
        ($name:ident) => {
            pub extern "C" fn $name<W: Window>(
                w: Win,
                args: *const RmaArgs,
                out: *mut *mut RequestHeader,
            ) -> Status {
                hand_out(at!(W, w).$name(at!(RmaArgs, args), !out.is_null()), out)
            }
        };
    }
    operation!(put);
    operation!(get);
    operation!(accumulate);
    operation!(get_accumulate);

    macro_rules! atomic {
        ($name:ident) => {
            pub extern "C" fn $name<W: Window>(
                w: Win,
                args: *const RmaArgs,
                _: *mut *mut RequestHeader,
            ) -> Status {
                at!(W, w).$name(at!(RmaArgs, args))
            }
        };
    }
    atomic!(fetch_and_op);
    atomic!(compare_and_swap);

    macro_rules! verb {
        ($name:ident($($a:ident: $t:ty => $e:expr),*)) => {
            pub extern "C" fn $name<W: Window>(w: Win, thread: *mut ThreadCtx, $($a: $t),*) -> Status {
                at!(W, w).$name(thread, $($e),*)
            }
        };
    }
    verb!(fence(assert: u32 => assert));
    verb!(post(ranks: SliceRef<u32> => list(ranks), assert: u32 => assert));
    verb!(start(ranks: SliceRef<u32> => list(ranks), assert: u32 => assert));
    verb!(complete());
    verb!(wait(block: u32 => block != 0));
    verb!(lock(kind: u32 => kind, rank: u32 => rank, assert: u32 => assert));
    verb!(unlock(rank: u32 => rank));
    verb!(lock_all(assert: u32 => assert));
    verb!(unlock_all());
    verb!(flush(rank: u32 => (rank != ALL).then_some(rank), local: u32 => local != 0));
    verb!(sync());
    verb!(attach(base: *mut u8 => base, bytes: u64 => bytes));
    verb!(detach(base: *mut u8 => base));

    pub extern "C" fn set_hints<W: Window>(w: Win, hints: u32, ordering: u32) -> Status {
        at!(W, w).set_hints(hints, ordering)
    }
    pub extern "C" fn free<W: Window>(w: Win, thread: *mut ThreadCtx, discard: u32) -> Status {
        let status = at!(W, w).free(thread, discard != 0);
        if !status.is_err() || discard != 0 {
            // SAFETY: made by `create`, given back once.
            drop(unsafe { Box::from_raw(w as *mut W) });
        }
        status
    }

    macro_rules! notified {
        ($name:ident) => {
            pub extern "C" fn $name<W: Window>(w: Win, args: *const RmaArgs, counter: u32) -> Status {
                at!(W, w).$name(at!(RmaArgs, args), counter)
            }
        };
    }
    notified!(put_notify);
    notified!(get_notify);

    fn give(value: Result<u64, Status>, out: *mut u64) -> Status {
        match value {
            Ok(value) => {
                // SAFETY: the host's out pointer.
                unsafe { *out = value };
                Status::OK
            }
            Err(status) => status,
        }
    }
    pub extern "C" fn notify_read<W: Window>(
        w: Win,
        thread: *mut ThreadCtx,
        counter: u32,
        reset: u32,
        value: *mut u64,
    ) -> Status {
        give(at!(W, w).notify_read(thread, counter, reset != 0), value)
    }
    pub extern "C" fn notify_wait<W: Window>(
        w: Win,
        thread: *mut ThreadCtx,
        counter: u32,
        threshold: u64,
        value: *mut u64,
    ) -> Status {
        give(at!(W, w).notify_wait(thread, counter, threshold), value)
    }
    pub extern "C" fn dup<W: Window>(
        w: Win,
        desc: *const WinDesc,
        thread: *mut ThreadCtx,
        out: *mut OscWindow,
    ) -> Status {
        made(catch_unwind(AssertUnwindSafe(|| at!(W, w).dup(at!(WinDesc, desc), thread))), out)
    }
    pub extern "C" fn counts<W: Window>(w: Win, out: *mut WinCounts) -> Status {
        let Some(mut counts) = at!(W, w).counts() else { return Status::NOT_SUPPORTED };
        // SAFETY: the host's out pointer begins with how many bytes it has.
        let size = unsafe { (*out).size }.min(core::mem::size_of::<WinCounts>() as u32);
        counts.size = size;
        // SAFETY: as many bytes are there; any are counts.
        unsafe {
            core::ptr::copy_nonoverlapping((&raw const counts).cast::<u8>(), out.cast::<u8>(), size as usize);
        }
        Status::OK
    }
    verb!(flush_begin(rank: u32 => (rank != ALL).then_some(rank)));

    pub extern "C" fn query<T: Osc>(s: State, desc: *const WinDesc, priority: *mut i32) -> Status {
        let answer = catch_unwind(AssertUnwindSafe(|| at!(T, s).query(at!(WinDesc, desc))));
        match answer {
            Ok(Some(value)) => {
                // SAFETY: the host's out pointer.
                unsafe { *priority = value };
                Status::OK
            }
            Ok(None) => Status::NOT_AVAILABLE,
            Err(_) => Status::PANICKED,
        }
    }
    pub extern "C" fn create<T: Osc>(
        s: State,
        desc: *const WinDesc,
        thread: *mut ThreadCtx,
        out: *mut OscWindow,
    ) -> Status {
        made(catch_unwind(AssertUnwindSafe(|| at!(T, s).create(at!(WinDesc, desc), thread))), out)
    }

    /// A window that was made, or why it was not.
    fn made<W: Window>(outcome: std::thread::Result<Result<Box<W>, Status>>, out: *mut OscWindow) -> Status {
        match outcome {
            Ok(Ok(window)) => {
                let window = Box::into_raw(window).cast();
                // SAFETY: the host's out pointer.
                unsafe { *out = OscWindow { window, table: const { &table::<W>() } } };
                Status::OK
            }
            Ok(Err(status)) => status,
            Err(_) => Status::PANICKED,
        }
    }
    pub extern "C" fn threads_begin<T: Osc>(s: State) -> Status {
        at!(T, s).threads_begin()
    }
    pub extern "C" fn finalize<T: Osc>(s: State) -> Status {
        let run = AssertUnwindSafe(|| {
            // SAFETY: last call; `module` made it with Box::into_raw.
            let osc = unsafe { Box::from_raw(s as *mut T) };
            osc.finalize();
            Status::OK
        });
        catch_unwind(run).unwrap_or(Status::PANICKED)
    }

    const fn table<W: Window>() -> OscTable {
        OscTable {
            size: core::mem::size_of::<OscTable>() as u32,
            version: TABLE_VERSION,
            put: put::<W>,
            get: get::<W>,
            accumulate: accumulate::<W>,
            get_accumulate: get_accumulate::<W>,
            fetch_and_op: fetch_and_op::<W>,
            compare_and_swap: compare_and_swap::<W>,
            fence: fence::<W>,
            post: post::<W>,
            start: start::<W>,
            complete: complete::<W>,
            wait: wait::<W>,
            lock: lock::<W>,
            unlock: unlock::<W>,
            lock_all: lock_all::<W>,
            unlock_all: unlock_all::<W>,
            flush: flush::<W>,
            sync: sync::<W>,
            attach: attach::<W>,
            detach: detach::<W>,
            set_hints: set_hints::<W>,
            free: free::<W>,
            put_notify: put_notify::<W>,
            get_notify: get_notify::<W>,
            notify_read: notify_read::<W>,
            notify_wait: notify_wait::<W>,
            dup: dup::<W>,
            counts: counts::<W>,
            flush_begin: flush_begin::<W>,
        }
    }
}

/// The module of a component, for `open`'s list.
pub fn module<T: Osc>(osc: T) -> OscModule {
    OscModule {
        size: core::mem::size_of::<OscModule>() as u32,
        reserved: 0,
        state: Box::into_raw(Box::new(osc)).cast(),
        query: thunk::query::<T>,
        create: thunk::create::<T>,
        threads_begin: thunk::threads_begin::<T>,
        finalize: thunk::finalize::<T>,
    }
}
