//! The functions of the table: each makes views of what crosses the boundary and calls one method.
//!
//! All of them rely on what the contract asks of their caller, the host. It passes the state that [`module()`] made, files that `open` made and `close` did not take back,
//! texts and descriptions that are readable during the call, and places that are its own. `finalize` is the last call.

use super::traits::{Description, File, Fs, Locked};
use super::views::{Facts, LockKind, Opening, path};
use crate::table::{FsFile, FsModule, FsTable, OpenFile, PathFacts, Range, TABLE_VERSION, mode};
use core::ffi::c_void;
use oxmpi_mca::{Status, StrRef};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The state behind an open file: the author's object, and texts that were told to the host.
struct Open<F> {
    file: F,
    /// Read by the host through `FsFile::because`, so it stays as it is.
    because: String,
}

/// The component's object.
macro_rules! fs {
    ($t:ty, $s:expr) => {
        // SAFETY: the state that `module` made (the file's text).
        unsafe { &*$s.cast::<$t>() }
    };
}
/// The author's object of an open file.
macro_rules! file {
    ($f:ty, $p:expr) => {
        // SAFETY: a file that is open (the file's text).
        unsafe { &(*$p.cast::<Open<$f>>()).file }
    };
}

/// OK, or the failure's code. A failure without one is a mistake of the author's.
fn status(result: Result<(), Status>) -> Status {
    match result {
        Ok(()) => Status::OK,
        Err(status) if status.is_err() => status,
        Err(_) => Status::INTERNAL,
    }
}

/// The status of what may panic.
fn caught(run: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Status::PANICKED)
}

extern "C" fn query<T: Fs>(s: *mut c_void, facts: *const PathFacts, priority: *mut i32) -> Status {
    caught(|| {
        // SAFETY: readable during the call.
        let facts = unsafe { Facts::new(&*facts) };
        let Some(answer) = fs!(T, s).query(&facts) else { return Status::NOT_AVAILABLE };
        // SAFETY: the host's place for a priority.
        unsafe { *priority = answer };
        Status::OK
    })
}

extern "C" fn open<T: Fs>(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    caught(|| {
        // SAFETY: readable during the call.
        let opened = unsafe { Opening::new(&*how) }.and_then(|how| fs!(T, s).open(&how));
        let file = match opened {
            Ok(file) => file,
            Err(code) => return status(Err(code)),
        };
        let about = file.about();
        let open = Box::new(Open { file, because: about.because.clone() });
        // SAFETY: the host's place, which begins with its size.
        unsafe { tell(&about, open, out) };
        Status::OK
    })
}

/// Writes the host's description of a file; the host owns `open` from here on.
///
/// # Safety
/// `out` is writable for as many bytes as its field `size` says.
unsafe fn tell<F>(about: &Description, open: Box<Open<F>>, out: *mut FsFile) {
    let because = StrRef { ptr: open.because.as_ptr(), len: open.because.len() };
    let direct_for = about.direct.map_or(0, |direct| match (direct.reads, direct.writes) {
        (true, true) => mode::RDWR,
        (true, false) => mode::RDONLY,
        (false, true) => mode::WRONLY,
        (false, false) => 0,
    });
    // SAFETY: the caller's promise.
    let size = unsafe { (*out).size }.min(size_of::<FsFile>() as u32);
    let told = FsFile {
        size,
        fd: about.fd,
        file: Box::into_raw(open).cast(),
        keeps: about.keeps,
        striping_factor: about.striping_factor,
        striping_unit: about.striping_unit,
        block: about.block.max(1),
        first_device: about.first_device.map_or(0, |first| first.saturating_add(1)),
        direct_fd: about.direct.map_or(-1, |direct| direct.fd),
        direct_unit: about.direct.map_or(0, |direct| direct.unit),
        direct_for,
        reserved: 0,
        because,
    };
    // SAFETY: both have as many bytes; what lies behind is the host's and stays.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const told).cast::<u8>(), out.cast::<u8>(), size as usize)
    };
}

extern "C" fn close<F: File>(p: *mut c_void) -> Status {
    // SAFETY: made by `open` and given back once; no borrow of it is left.
    let open = unsafe { Box::from_raw(p.cast::<Open<F>>()) };
    caught(|| status(open.file.close()))
}

extern "C" fn delete<T: Fs>(s: *mut c_void, text: StrRef) -> Status {
    // SAFETY: readable during the call.
    caught(|| status(unsafe { path(text) }.and_then(|path| fs!(T, s).delete(path))))
}

extern "C" fn length<F: File>(p: *mut c_void, out: *mut u64) -> Status {
    status(file!(F, p).length().map(|bytes| {
        // SAFETY: the host's place for a length.
        unsafe { *out = bytes }
    }))
}

extern "C" fn resize<F: File>(p: *mut c_void, bytes: u64) -> Status {
    status(file!(F, p).resize(bytes))
}

extern "C" fn preallocate<F: File>(p: *mut c_void, bytes: u64) -> Status {
    status(file!(F, p).preallocate(bytes))
}

extern "C" fn sync<F: File>(p: *mut c_void) -> Status {
    status(file!(F, p).sync())
}

extern "C" fn lock<F: File>(p: *mut c_void, range: *const Range, kind: u32) -> Status {
    // SAFETY: readable during the call.
    let range = unsafe { *range };
    match LockKind::of(kind).and_then(|kind| file!(F, p).lock(range, kind)) {
        Ok(Locked::Taken) => Status::OK,
        Ok(Locked::Excluded) => Status::PENDING,
        Err(code) => status(Err(code)),
    }
}

extern "C" fn unlock<F: File>(p: *mut c_void, range: *const Range) -> Status {
    // SAFETY: readable during the call.
    status(file!(F, p).unlock(unsafe { *range }))
}

extern "C" fn refresh<F: File>(p: *mut c_void, range: *const Range) -> Status {
    // SAFETY: readable during the call.
    status(file!(F, p).refresh(unsafe { *range }))
}

extern "C" fn finalize<T: Fs>(s: *mut c_void) {
    // SAFETY: the last call; `module` made it.
    let fs = unsafe { Box::from_raw(s.cast::<T>()) };
    fs.finalize();
}

/// The module of a component, for `open`'s list.
pub fn module<T: Fs>(fs: T) -> FsModule {
    FsModule {
        size: size_of::<FsModule>() as u32,
        reserved: 0,
        state: Box::into_raw(Box::new(fs)).cast(),
        table: const {
            &FsTable {
                size: size_of::<FsTable>() as u32,
                version: TABLE_VERSION,
                open: open::<T>,
                close: close::<T::File>,
                delete: delete::<T>,
                length: length::<T::File>,
                resize: resize::<T::File>,
                preallocate: preallocate::<T::File>,
                sync: sync::<T::File>,
                lock: lock::<T::File>,
                unlock: unlock::<T::File>,
                refresh: refresh::<T::File>,
            }
        },
        query: query::<T>,
        finalize: finalize::<T>,
    }
}
