//! The suite tested: a right component passes, and each of these faults of one is seen by the check that is for it.

use core::ffi::c_void;
use oxmpi_fs::{FsFile, FsModule, FsTable, OpenFile, Range, keeps, lock, mode};
use oxmpi_fs_conformance::{Setup, run_named};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{Descriptor, OpenArgs, Status, StrRef};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The right one.
fn right() -> &'static Descriptor {
    // SAFETY: a static of the component.
    unsafe { &*fs_ufs::descriptor() }
}

/// Its table, which is the same for all its modules.
static TABLE: OnceLock<&'static FsTable> = OnceLock::new();

fn rights() -> &'static FsTable {
    TABLE.get().expect("a component was opened")
}

/// The right component with another table.
fn opened_with(args: *const OpenArgs, out: *mut Opened, change: fn(&mut FsTable)) -> Status {
    let status = (right().open)(args, out);
    // SAFETY: a component that opened has one module, and the host's out parameter is ours to write.
    unsafe {
        let opened = &mut *out;
        let module = opened.modules.cast::<FsModule>().read();
        TABLE.get_or_init(|| &*module.table);
        let table = Box::leak(Box::new(*module.table));
        change(table);
        let module = Box::leak(Box::new(FsModule { table, ..module }));
        opened.modules = (&raw const *module).cast();
    }
    status
}

/// A component whose table is the right one's but for these functions.
macro_rules! faulty {
    ($($slot:ident: $function:expr),+) => {{
        fn change(table: &mut FsTable) {
            $(table.$slot = $function;)+
        }
        extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
            opened_with(args, out, change)
        }
        // SAFETY: plain data, whose pointers are to statics.
        let copy = unsafe { core::ptr::from_ref(right()).read() };
        Box::leak(Box::new(Descriptor { open, ..copy })) as *const Descriptor
    }};
}

/// The right open with another description of how.
fn open_as(state: *mut c_void, how: *const OpenFile, out: *mut FsFile, change: fn(&mut OpenFile)) -> Status {
    // SAFETY: the host's description.
    let mut how = unsafe { how.read() };
    change(&mut how);
    (rights().open)(state, &how, out)
}

/// An open whose host is told something else.
fn open_and_tell(
    state: *mut c_void,
    how: *const OpenFile,
    out: *mut FsFile,
    change: fn(&mut FsFile),
) -> Status {
    let status = (rights().open)(state, how, out);
    if status == Status::OK {
        // SAFETY: the host's description.
        change(unsafe { &mut *out });
    }
    status
}

extern "C" fn never_exclusive(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_as(s, how, out, |how| how.mode &= !mode::EXCL)
}
extern "C" fn always_creates(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_as(s, how, out, |how| how.mode |= mode::CREATE)
}
extern "C" fn always_both(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_as(s, how, out, |how| how.mode = how.mode & !(mode::RDONLY | mode::WRONLY) | mode::RDWR)
}
extern "C" fn no_permissions(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_as(s, how, out, |how| how.permissions = 0o666)
}
extern "C" fn no_block(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_and_tell(s, how, out, |file| file.block = 0)
}
extern "C" fn no_reason(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_and_tell(s, how, out, |file| {
        file.keeps &= !keeps::COHERENT;
        file.because = StrRef::EMPTY;
    })
}
extern "C" fn reason_for_nothing(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    open_and_tell(s, how, out, |file| {
        file.keeps |= keeps::LOCKS | keeps::LOCKS_HERE | keeps::COHERENT;
        file.because = StrRef::new("it is so");
    })
}
extern "C" fn writes_too_much(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    // SAFETY: the suite has a whole description behind a smaller size.
    unsafe { (*out).size = size_of::<FsFile>() as u32 };
    (rights().open)(s, how, out)
}
extern "C" fn leaves_open(_: *mut c_void) -> Status {
    Status::OK
}
extern "C" fn deletes_nothing(_: *mut c_void, _: StrRef) -> Status {
    Status::OK
}
extern "C" fn zero_length(_: *mut c_void, out: *mut u64) -> Status {
    // SAFETY: the host's place.
    unsafe { *out = 0 };
    Status::OK
}
extern "C" fn extends_only(file: *mut c_void, bytes: u64) -> Status {
    let mut length = 0;
    (rights().length)(file, &mut length);
    if bytes < length { Status::OK } else { (rights().resize)(file, bytes) }
}
extern "C" fn cuts(file: *mut c_void, bytes: u64) -> Status {
    (rights().resize)(file, bytes)
}
extern "C" fn locks_nothing(_: *mut c_void, _: *const Range, _: u32) -> Status {
    Status::OK
}
extern "C" fn locks_alone(file: *mut c_void, range: *const Range, _: u32) -> Status {
    (rights().lock)(file, range, lock::EXCLUSIVE)
}
extern "C" fn shares_all(file: *mut c_void, range: *const Range, _: u32) -> Status {
    (rights().lock)(file, range, lock::SHARED)
}
extern "C" fn locks_all(file: *mut c_void, _: *const Range, kind: u32) -> Status {
    (rights().lock)(file, &Range { offset: 0, len: 0 }, kind)
}
extern "C" fn unlocks_nothing(_: *mut c_void, _: *const Range) -> Status {
    Status::OK
}
extern "C" fn unlocks_all(file: *mut c_void, _: *const Range) -> Status {
    (rights().unlock)(file, &Range { offset: 0, len: 0 })
}
extern "C" fn locks_at_open(s: *mut c_void, how: *const OpenFile, out: *mut FsFile) -> Status {
    let status = (rights().open)(s, how, out);
    if status == Status::OK {
        // SAFETY: the host's description.
        (rights().lock)(unsafe { (*out).file }, &Range { offset: i64::MAX as u64 - 1, len: 1 }, lock::SHARED);
    }
    status
}
extern "C" fn no_refresh(_: *mut c_void, _: *const Range) -> Status {
    Status::NOT_SUPPORTED
}

/// The check sees the fault.
fn seen(descriptor: *const Descriptor, check: &str) {
    // A mount that keeps everything.
    let setup = Setup::new(descriptor).mount(0xef53, "ext4", "rw");
    let outcome = catch_unwind(AssertUnwindSafe(|| run_named(&setup, check)));
    assert!(outcome.is_err(), "{check} has seen nothing");
}

#[test]
fn faults_of_opening_are_seen() {
    seen(faulty!(open: never_exclusive), "modes_of_opening");
    seen(faulty!(open: always_creates), "modes_of_opening");
    seen(faulty!(open: always_both), "directions");
    seen(faulty!(open: no_permissions), "permissions");
    seen(faulty!(open: writes_too_much), "smaller_descriptions");
    seen(faulty!(close: leaves_open), "descriptors_close");
}

#[test]
fn faults_of_facts_are_seen() {
    seen(faulty!(open: no_block), "facts_of_a_file");
    seen(faulty!(open: no_reason), "facts_of_a_file");
    seen(faulty!(open: reason_for_nothing), "facts_of_a_file");
}

#[test]
fn faults_of_lengths_and_names_are_seen() {
    seen(faulty!(delete: deletes_nothing), "delete");
    seen(faulty!(delete: deletes_nothing), "paths_that_are_no_text");
    seen(faulty!(length: zero_length), "lengths");
    seen(faulty!(resize: extends_only), "lengths");
    seen(faulty!(preallocate: cuts), "space_ahead");
    seen(faulty!(refresh: no_refresh), "sync_and_refresh");
}

#[test]
fn faults_of_locks_are_seen() {
    seen(faulty!(lock: locks_nothing, unlock: unlocks_nothing), "lock_matrix");
    seen(faulty!(lock: locks_alone), "lock_matrix");
    seen(faulty!(lock: shares_all), "lock_matrix");
    seen(faulty!(lock: locks_all), "locks_of_other_processes");
    seen(faulty!(unlock: unlocks_nothing), "lock_matrix");
    seen(faulty!(unlock: unlocks_all), "locks_of_a_description");
    seen(faulty!(open: locks_at_open), "opening_leaves_no_lock");
}

#[test]
fn the_right_one_passes() {
    for check in ["modes_of_opening", "lengths", "lock_matrix", "facts_of_a_file", "opening_leaves_no_lock"] {
        run_named(&Setup::new(right()).mount(0xef53, "ext4", "rw"), check);
    }
}
