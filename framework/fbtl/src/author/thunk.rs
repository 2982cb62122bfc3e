//! The functions of the table: each makes types of what crosses the boundary and calls one method.
//!
//! All of them rely on what the contract asks of their caller, the host. It passes the state that [`module()`] made and files that `open` made and `close` did not take back;
//! descriptions that are readable during the call; and transfers that stay until their end. `finalize` is the last call.

use super::job::{Job, Key};
use super::traits::{Fbtl, Opened, Transfers};
use crate::operation::{Bell, Operation};
use crate::table::{FbtlModule, FbtlTable, FileFacts, TABLE_VERSION, Transfer, transfer};
use core::ffi::c_void;
use oxmpi_fs::mode;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The state behind an open file.
struct Open<F> {
    file: F,
    bell: Bell,
    /// Jobs that may still touch the bell.
    jobs: Arc<AtomicU32>,
    reads: bool,
    writes: bool,
}

/// The component's object.
macro_rules! fbtl {
    ($t:ty, $s:expr) => {
        // SAFETY: the state that `module` made (the file's text).
        unsafe { &*$s.cast::<$t>() }
    };
}
/// An open file.
macro_rules! open {
    ($f:ty, $p:expr) => {
        // SAFETY: a file that is open (the file's text).
        unsafe { &*$p.cast::<Open<$f>>() }
    };
}

fn caught(run: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Status::PANICKED)
}

/// The host's description as authors see it.
fn opened(facts: &FileFacts) -> Opened {
    let direct = |bit| facts.direct_fd >= 0 && facts.direct_for & (bit | mode::RDWR) != 0;
    let reads = direct(mode::RDONLY);
    let writes = direct(mode::WRONLY);
    Opened {
        fd: facts.fd,
        direct_fd: (reads || writes).then_some(facts.direct_fd),
        direct_unit: facts.direct_unit.max(1),
        direct_reads: reads,
        direct_writes: writes,
        reads: facts.mode & (mode::RDONLY | mode::RDWR) != 0,
        writes: facts.mode & (mode::WRONLY | mode::RDWR) != 0,
        keeps: facts.keeps,
        magic: facts.magic,
    }
}

extern "C" fn query<T: Fbtl>(s: *mut c_void, facts: *const FileFacts, priority: *mut i32) -> Status {
    caught(|| {
        // SAFETY: readable during the call.
        let Some(answer) = fbtl!(T, s).query(&opened(unsafe { &*facts })) else {
            return Status::NOT_AVAILABLE;
        };
        // SAFETY: the host's place for a priority.
        unsafe { *priority = answer };
        Status::OK
    })
}

extern "C" fn open<T: Fbtl>(s: *mut c_void, facts: *const FileFacts, out: *mut *mut c_void) -> Status {
    caught(|| {
        // SAFETY: readable during the call, and so is the bell.
        let (facts, bell) = unsafe { (&*facts, *(*facts).bell) };
        let about = opened(facts);
        match fbtl!(T, s).open(about) {
            Ok(file) => {
                let open = Box::new(Open {
                    file,
                    bell,
                    jobs: Arc::default(),
                    reads: about.reads,
                    writes: about.writes,
                });
                // SAFETY: the host's place for a file.
                unsafe { *out = Box::into_raw(open).cast() };
                Status::OK
            }
            Err(status) if status.is_err() => status,
            Err(_) => Status::INTERNAL,
        }
    })
}

extern "C" fn close<F: Transfers>(p: *mut c_void) {
    // SAFETY: made by `open` and given back once; no operation of it is under way.
    let open = unsafe { Box::from_raw(p.cast::<Open<F>>()) };
    // SYNC POINT with the drop of a job: all operations have ended, and a thread that is ringing the bell is done with it in a moment.
    while open.jobs.load(Ordering::Acquire) != 0 {
        std::thread::yield_now();
    }
    // A panic here has been told by itself, and the file is gone.
    let _ = caught(|| {
        drop(open);
        Status::OK
    });
}

extern "C" fn submit<F: Transfers>(
    p: *mut c_void,
    how: *const Transfer,
    operation: *const Operation,
) -> Status {
    let open = open!(F, p);
    // SAFETY: readable during the call.
    let fits = match unsafe { (*how).what } {
        transfer::READ => open.reads,
        transfer::WRITE => open.writes,
        _ => false,
    };
    if !fits {
        return Status::BAD_PARAM;
    }
    // SAFETY: what the host promises of a transfer; the bell is this file's.
    let job = unsafe { Job::new(how, operation, open.bell, &open.jobs) };
    match open.file.submit(job) {
        Ok(()) => Status::OK,
        Err(refusal) => {
            // It is the host's again, who offers it once more or frees it.
            refusal.job.give_back();
            if refusal.status.is_err() { refusal.status } else { Status::INTERNAL }
        }
    }
}

extern "C" fn cancel<F: Transfers>(p: *mut c_void, operation: *const Operation) {
    open!(F, p).file.cancel(Key::of(operation.addr()));
}

extern "C" fn harvest<T: Fbtl>(s: *mut c_void) -> u32 {
    fbtl!(T, s).harvest()
}

extern "C" fn event_fd<T: Fbtl>(s: *mut c_void) -> i32 {
    fbtl!(T, s).event_fd().unwrap_or(-1)
}

extern "C" fn finalize<T: Fbtl>(s: *mut c_void) {
    // SAFETY: the last call; `module` made it.
    let fbtl = unsafe { Box::from_raw(s.cast::<T>()) };
    fbtl.finalize();
}

/// The module of a component, for `open`'s list.
pub fn module<T: Fbtl>(fbtl: T) -> FbtlModule {
    FbtlModule {
        size: size_of::<FbtlModule>() as u32,
        reserved: 0,
        state: Box::into_raw(Box::new(fbtl)).cast(),
        table: const {
            &FbtlTable {
                size: size_of::<FbtlTable>() as u32,
                version: TABLE_VERSION,
                open: open::<T>,
                close: close::<T::File>,
                submit: submit::<T::File>,
                cancel: cancel::<T::File>,
                harvest: harvest::<T>,
                event_fd: event_fd::<T>,
            }
        },
        query: query::<T>,
        finalize: finalize::<T>,
    }
}
