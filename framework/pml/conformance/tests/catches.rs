//! The suite tested: a right PML passes, and each of these faults of one is seen.

use core::ffi::c_void;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{Descriptor, MsgStatus, OpenArgs, RequestHeader, Status};
use oxmpi_pml::{Message, PmlModule, PmlTable, RecvArgs, SendArgs, mode};
use oxmpi_pml_conformance::{Setup, Wire, checks, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

type State = *mut c_void;

/// The right one.
fn right() -> &'static Descriptor {
    // SAFETY: a static of the component.
    unsafe { &*pml_ob1::descriptor() }
}

/// A table of ob1's verbs but for one, in a component of its own.
macro_rules! faulty {
    ($name:ident, $($verb:ident = $function:expr),+) => {
        fn $name() -> *const Descriptor {
            extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
                let status = (right().open)(args, out);
                // SAFETY: a component that opened has one module, and the host's out parameter is ours to read.
                unsafe {
                    if status.is_ok() {
                        let opened = &mut *out;
                        let module = opened.modules.cast::<PmlModule>().read();
                        let table = PmlTable { $($verb: $function,)+ ..*module.table };
                        let table: &'static PmlTable = Box::leak(Box::new(table));
                        let module = Box::leak(Box::new(PmlModule { table, ..module }));
                        opened.modules = (&raw const *module).cast();
                    }
                }
                status
            }
            // SAFETY: plain data, whose pointers are to statics.
            let copy = unsafe { core::ptr::from_ref(right()).read() };
            Box::leak(Box::new(Descriptor { open, ..copy }))
        }
    };
}

extern "C" fn does_nothing(_: State, _: *mut c_void) -> Status {
    Status::OK
}
extern "C" fn hears_nothing(_: State, _: u32) -> Status {
    Status::OK
}
extern "C" fn leaves_waiting(_: State, _: u32) -> i32 {
    0
}
extern "C" fn sees_nothing(_: State, _: *const RecvArgs, _: *mut MsgStatus, _: *mut *mut Message) -> Status {
    Status::PENDING
}
/// Synchronous sends go as standard ones.
extern "C" fn impatient(state: State, args: *const SendArgs, out: *mut *mut RequestHeader) -> Status {
    // SAFETY: valid for the call.
    let mut args = unsafe { args.read() };
    args.mode = mode::STANDARD;
    // SAFETY: ob1's own table, which lives as long as the process.
    (unsafe { table_of(state) }.isend)(state, &args, out)
}
/// Receives of any tag take tag 0.
extern "C" fn picky(state: State, args: *const RecvArgs, out: *mut *mut RequestHeader) -> Status {
    // SAFETY: valid for the call.
    let mut args = unsafe { args.read() };
    args.tag = args.tag.max(0);
    // SAFETY: as above.
    (unsafe { table_of(state) }.irecv)(state, &args, out)
}
/// A failure is told as an empty message.
extern "C" fn hides_failures(
    state: State,
    args: *const SendArgs,
    _: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let byte = TypeDesc::basic(Base::BYTE).expect("MPI_BYTE is a basic type");
    // SAFETY: valid for the call.
    let args = SendArgs { dtype: Box::leak(Box::new(byte)), ..unsafe { args.read() } };
    // SAFETY: as above.
    (unsafe { table_of(state) }.isend)(state, &args, out)
}
extern "C" fn never_flushed(_: State) -> Status {
    Status::PENDING
}

/// The right table.
///
/// # Safety
/// `state` is an instance of ob1.
unsafe fn table_of(_: State) -> &'static PmlTable {
    TABLE.get().expect("a right one was opened first")
}
static TABLE: std::sync::OnceLock<&'static PmlTable> = std::sync::OnceLock::new();

faulty!(without_revoke, revoke = does_nothing);
faulty!(without_failures, peer_failed = hears_nothing);
faulty!(without_a_hook, after_turn = leaves_waiting);
faulty!(without_probes, probe = sees_nothing);
faulty!(without_synchronous, isend = impatient);
faulty!(without_any_tag, irecv = picky);
faulty!(with_hidden_failures, send_failure = hides_failures);
faulty!(without_flush, flush = never_flushed);

/// Whether a check passes over a transport.
fn passes(descriptor: *const Descriptor, name: &str, wire: Wire) -> bool {
    let setup = Setup::new(descriptor).patience(Duration::from_secs(3));
    let all = checks();
    let check = all.iter().find(|check| check.name == name).expect("a check of that name");
    catch_unwind(AssertUnwindSafe(|| run(&setup, check, wire))).is_ok()
}

/// Notes the right verbs when it is opened.
fn remember_the_right_one() {
    fn noting() -> *const Descriptor {
        extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
            let status = (right().open)(args, out);
            // SAFETY: as in `faulty!`.
            let module = unsafe { (*out).modules.cast::<PmlModule>().read() };
            // SAFETY: tables live as long as the process.
            TABLE.get_or_init(|| unsafe { &*module.table });
            status
        }
        // SAFETY: plain data, whose pointers are to statics.
        let copy = unsafe { core::ptr::from_ref(right()).read() };
        Box::leak(Box::new(Descriptor { open, ..copy }))
    }
    assert!(passes(noting(), "oneself", Wire::Messages));
}

/// Makes the descriptor of a faulty component.
type Make = fn() -> *const Descriptor;

#[test]
fn each_fault_is_seen() {
    remember_the_right_one();
    let cases: [(&str, Make); 8] = [
        ("revoke", without_revoke),
        ("a_process_that_failed", without_failures),
        ("unexpected_floods_are_bounded", without_a_hook),
        ("probes", without_probes),
        ("modes_and_sizes", without_synchronous),
        ("wildcards", without_any_tag),
        ("failures_told", with_hidden_failures),
        ("order", without_flush),
    ];
    for (check, faulty) in cases {
        assert!(passes(right(), check, Wire::Messages), "the right one does not pass {check}");
        assert!(!passes(faulty(), check, Wire::Messages), "{check} does not see its fault");
    }
}
