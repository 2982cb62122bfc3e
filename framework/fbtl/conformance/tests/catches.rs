//! The suite tested: a right component passes, and each of these faults of one is seen by the check that is for it.

use core::ffi::c_void;
use oxmpi_fbtl::{Bell, FbtlModule, FbtlTable, FileFacts, Operation, Piece, Transfer, transfer};
use oxmpi_fbtl_conformance::{Setup, run_named};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{Descriptor, OpenArgs, Status, WakingWord};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The right one.
fn right() -> &'static Descriptor {
    // SAFETY: a static of the component.
    unsafe { &*fbtl_posix::descriptor() }
}

/// Its table, which is the same for all its modules.
static TABLE: OnceLock<&'static FbtlTable> = OnceLock::new();

fn rights() -> &'static FbtlTable {
    TABLE.get().expect("a component was opened")
}

/// The right component with another table.
fn opened_with(args: *const OpenArgs, out: *mut Opened, change: fn(&mut FbtlTable)) -> Status {
    let status = (right().open)(args, out);
    // SAFETY: a component that opened has one module, and the host's out parameter is ours to write.
    unsafe {
        let opened = &mut *out;
        let module = opened.modules.cast::<FbtlModule>().read();
        TABLE.get_or_init(|| &*module.table);
        let table = Box::leak(Box::new(*module.table));
        change(table);
        let module = Box::leak(Box::new(FbtlModule { table, ..module }));
        opened.modules = (&raw const *module).cast();
    }
    status
}

/// A component whose table is the right one's but for these functions.
macro_rules! faulty {
    ($($slot:ident: $function:expr),+) => {{
        fn change(table: &mut FbtlTable) {
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

/// The right submit, of another transfer, which stays.
fn submit(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
    change: impl FnOnce(&mut Vec<Piece>),
) -> Status {
    // SAFETY: the host's transfer.
    let (mut copy, mut pieces) = unsafe {
        let copy = what.read();
        let pieces = if copy.num_pieces == 0 {
            Vec::new()
        } else {
            std::slice::from_raw_parts(copy.pieces, copy.num_pieces).to_vec()
        };
        (copy, pieces)
    };
    change(&mut pieces);
    let pieces = pieces.leak();
    (copy.pieces, copy.num_pieces) = (pieces.as_ptr(), pieces.len());
    (rights().submit)(file, Box::leak(Box::new(copy)), operation)
}

extern "C" fn forgets_the_last(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
) -> Status {
    submit(file, what, operation, |pieces| {
        pieces.pop();
    })
}

extern "C" fn stops_at_1024(file: *mut c_void, what: *const Transfer, operation: *const Operation) -> Status {
    submit(file, what, operation, |pieces| pieces.truncate(1024))
}

extern "C" fn counts_in_32_bits(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
) -> Status {
    submit(file, what, operation, |pieces| pieces.iter_mut().for_each(|piece| piece.offset &= 0xffff_ffff))
}

extern "C" fn takes_any_direction(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
) -> Status {
    match (rights().submit)(file, what, operation) {
        Status::BAD_PARAM => Status::NO_RESOURCE,
        other => other,
    }
}

extern "C" fn fills_holes(file: *mut c_void, what: *const Transfer, operation: *const Operation) -> Status {
    // SAFETY: the host's transfer.
    let is_write = unsafe { (*what).what } == transfer::WRITE;
    submit(file, what, operation, |pieces| {
        for i in 1..pieces.len() {
            let end = pieces[i - 1].offset + pieces[i - 1].len;
            if is_write && pieces[i].offset > end {
                pieces[i].offset = end;
            }
        }
    })
}

/// Ends operations by threads of its own, with another result or without a ring. `own` of the right one is not known here, so it is a right one beside it that does the work.
fn ends(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
    end: fn(&Operation, Status, u64),
) -> Status {
    let own: &'static Operation = Box::leak(Box::new(Operation::new()));
    // SAFETY: the host's transfer, done before this returns.
    let mut copy = unsafe { what.read() };
    copy.flags |= transfer::NOW;
    let status = (rights().submit)(file, Box::leak(Box::new(copy)), own);
    if let Some((result, bytes)) = own.result() {
        // SAFETY: the host's operation, ended once.
        end(unsafe { &*operation }, result, bytes);
    }
    status
}

/// A bell that nobody hears. The right one's work has rung the file's bell already.
fn silent() -> Bell {
    extern "C" fn wake(_: *mut c_void, _: *const WakingWord) -> Status {
        Status::OK
    }
    let word = Box::leak(Box::new(WakingWord::new(0)));
    Bell { word, wake, ctx: core::ptr::null_mut() }
}

extern "C" fn counts_what_was_asked(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
) -> Status {
    // SAFETY: the host's transfer.
    let asked: u64 = unsafe {
        let what = &*what;
        (0..what.num_pieces).map(|i| (*what.pieces.add(i)).len).sum()
    };
    static ASKED: Mutex<u64> = Mutex::new(0);
    *ASKED.lock().expect("whole") = asked;
    ends(file, what, operation, |operation, status, _| {
        // SAFETY: as above.
        unsafe { Operation::finish(operation, status, *ASKED.lock().expect("whole"), &silent()) }
    })
}

extern "C" fn swallows_failures(
    file: *mut c_void,
    what: *const Transfer,
    operation: *const Operation,
) -> Status {
    // SAFETY: as above.
    ends(file, what, operation, |operation, _, bytes| unsafe {
        Operation::finish(operation, Status::OK, bytes, &silent());
    })
}

extern "C" fn rings_twice(file: *mut c_void, what: *const Transfer, operation: *const Operation) -> Status {
    let status = (rights().submit)(file, what, operation);
    let nothing = Box::leak(Box::new(Operation::new()));
    let empty = Transfer {
        size: size_of::<Transfer>() as u32,
        what: transfer::READ,
        flags: transfer::NOW,
        reserved: 0,
        pieces: core::ptr::null(),
        num_pieces: 0,
        sieve_bytes: 0,
    };
    (rights().submit)(file, Box::leak(Box::new(empty)), nothing);
    status
}

/// Files without a bell: sleepers are not woken.
extern "C" fn opens_deaf(state: *mut c_void, facts: *const FileFacts, out: *mut *mut c_void) -> Status {
    // SAFETY: the host's description; the bell stays.
    let facts = unsafe { FileFacts { bell: Box::leak(Box::new(silent())), ..facts.read() } };
    (rights().open)(state, &facts, out)
}

/// Nothing goes past the cache, and what is not aligned is asked for there.
extern "C" fn opens_direct_alone(
    state: *mut c_void,
    facts: *const FileFacts,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: the host's description.
    let facts = unsafe { facts.read() };
    let fd = if facts.direct_fd >= 0 { facts.direct_fd } else { facts.fd };
    (rights().open)(state, &FileFacts { fd, ..facts }, out)
}

extern "C" fn gives_up(file: *mut c_void, what: *const Transfer, operation: *const Operation) -> Status {
    // SAFETY: as above.
    ends(file, what, operation, |operation, _, _| unsafe {
        Operation::finish(operation, Status::NOT_AVAILABLE, 0, &silent());
    })
}

/// The check sees the fault.
fn seen(descriptor: *const Descriptor, check: &str) {
    let setup = Setup::new(descriptor).patience(Duration::from_secs(1));
    let outcome = catch_unwind(AssertUnwindSafe(|| run_named(&setup, check)));
    assert!(outcome.is_err(), "{check} has seen nothing");
}

#[test]
fn faults_of_lists_are_seen() {
    seen(faulty!(submit: forgets_the_last), "lists_of_pieces");
    seen(faulty!(submit: fills_holes), "lists_of_pieces");
    seen(faulty!(submit: stops_at_1024), "thousands_of_pieces");
    seen(faulty!(submit: counts_in_32_bits), "far_offsets");
}

#[test]
fn faults_of_results_are_seen() {
    seen(faulty!(submit: counts_what_was_asked), "end_of_file");
    for check in ["no_space", "not_writable", "memory_that_is_not_there"] {
        seen(faulty!(submit: swallows_failures), check);
    }
    seen(faulty!(submit: takes_any_direction), "wrong_direction");
}

#[test]
fn faults_of_ends_are_seen() {
    seen(faulty!(submit: rings_twice), "many_at_once");
    seen(faulty!(open: opens_deaf), "many_at_once");
    seen(faulty!(submit: gives_up), "cancel");
}

#[test]
fn what_is_not_aligned_does_not_pass_the_cache_by() {
    seen(faulty!(open: opens_direct_alone), "past_the_cache");
}

#[test]
fn the_right_one_passes() {
    for check in
        ["lists_of_pieces", "thousands_of_pieces", "far_offsets", "end_of_file", "no_space", "cancel"]
    {
        run_named(&Setup::new(right()), check);
    }
}
