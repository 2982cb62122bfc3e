//! Plans as a host keeps them: written down while the component is called, and done after it has returned. All
//! messages of a plan have one tag.

use super::net::{SERVICES, TO_ONESELF, irecv, isend, wait_all};
use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollServices, FIRST_TAG, StepFn};
use oxmpi_datatype::kernel::{self, OpDesc};
use oxmpi_datatype::{TypeDesc, copy as copy_elements, pack as pack_bytes, unpack as unpack_bytes};
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

const TAG: i32 = FIRST_TAG - 77;

/// The tag of a plan whose component gave this one; only neighborhoods may have messages to oneself.
fn plans_tag(tag: i32) -> i32 {
    if tag == TO_ONESELF { TO_ONESELF } else { TAG }
}

/// Address, count, type, peer, tag.
type Message = (*mut u8, u64, *const TypeDesc, u32, i32);

enum Step {
    Send { comm: *const CollComm, message: Message, slot: usize },
    Recv { comm: *const CollComm, message: Message, slot: usize },
    Wait { comm: *const CollComm, slot: usize },
    Here(Box<dyn Fn()>),
}

#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    slots: usize,
    memory: Vec<Vec<u128>>,
    op: Option<OpDesc>,
}

/// What `comm` of a planning component's communicator points to.
struct Recorder<'a> {
    plan: &'a RefCell<Plan>,
    /// The one that messages go through.
    real: *const CollComm,
}

/// Lets the component plan, then does what it wrote down.
pub fn call(function: CollFn, module: *mut c_void, comm: &CollComm, args: &CollArgs) -> Status {
    // SAFETY: null, or the caller's operation.
    let op = unsafe { args.op.as_ref() }.copied();
    let plan = RefCell::new(Plan { op, ..Plan::default() });
    let recorder = |real| Recorder { plan: &plan, real };
    let seen = |real: &CollComm, recorder: *const Recorder, local| CollComm {
        comm: recorder.cast_mut().cast(),
        services: &RECORDING,
        planning: 1,
        local,
        ..*real
    };
    // SAFETY: null, or the local group's communicator.
    let inside = unsafe { comm.local.as_ref() };
    let (outer, inner) = (recorder(comm), recorder(comm.local));
    let local = inside.map(|real| seen(real, &inner, core::ptr::null()));
    let planning = seen(comm, &outer, local.as_ref().map_or(core::ptr::null(), |l| l));
    let status = function(module, &planning, args);
    if status.is_err() {
        return status;
    }
    run(&plan.borrow())
}

fn run(plan: &Plan) -> Status {
    let mut requests = vec![null_mut(); plan.slots];
    let mut waiting = vec![];
    for step in &plan.steps {
        let status = match step {
            Step::Send { comm, message: (buf, count, dtype, to, tag), slot } => {
                waiting.push((*comm, *slot));
                isend(*comm, *buf, *count, *dtype, *to, *tag, &mut requests[*slot])
            }
            Step::Recv { comm, message: (buf, count, dtype, from, tag), slot } => {
                waiting.push((*comm, *slot));
                irecv(*comm, *buf, *count, *dtype, *from, *tag, &mut requests[*slot])
            }
            Step::Wait { comm, slot } => {
                waiting.retain(|(_, other)| other != slot);
                wait_all(*comm, &mut requests[*slot], 1)
            }
            Step::Here(work) => {
                work();
                Status::OK
            }
        };
        assert_eq!(status, Status::OK);
    }
    assert!(waiting.is_empty(), "a plan that does not wait for all its messages");
    Status::OK
}

const RECORDING: CollServices = CollServices {
    send,
    recv,
    isend: note_isend,
    irecv: note_irecv,
    wait_all: note_wait_all,
    memory,
    pack,
    unpack,
    copy,
    reduce,
    step,
    ..SERVICES
};

fn at<'a>(comm: *const CollComm) -> &'a Recorder<'a> {
    // SAFETY: the component passes on what `call` gave it.
    unsafe { &*(*comm).comm.cast::<Recorder>() }
}

fn note(comm: *const CollComm, work: impl Fn() + 'static) -> Status {
    at(comm).plan.borrow_mut().steps.push(Step::Here(Box::new(work)));
    Status::OK
}

fn message(comm: *const CollComm, message: Message, is_send: bool) -> usize {
    let (comm, mut plan) = (at(comm).real, at(comm).plan.borrow_mut());
    let slot = plan.slots;
    plan.slots += 1;
    plan.steps.push(match is_send {
        true => Step::Send { comm, message, slot },
        false => Step::Recv { comm, message, slot },
    });
    slot
}

fn wait(comm: *const CollComm, slot: usize) {
    at(comm).plan.borrow_mut().steps.push(Step::Wait { comm: at(comm).real, slot });
}

extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    wait(comm, message(comm, (buf.cast_mut(), count, dtype, to, plans_tag(tag)), true));
    Status::OK
}

extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    wait(comm, message(comm, (buf, count, dtype, from, plans_tag(tag)), false));
    if !status.is_null() {
        // SAFETY: the component's out pointer and type.
        unsafe {
            let bytes = (*dtype).packed * count;
            *status = MsgStatus { source: from as i32, tag, bytes, ..MsgStatus::EMPTY };
        }
    }
    Status::OK
}

fn hand_out(slot: usize, out: *mut *mut RequestHeader) -> Status {
    // SAFETY: the component's out pointer.
    unsafe { *out = without_provenance_mut(slot + 1) };
    Status::OK
}

extern "C" fn note_isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(message(comm, (buf.cast_mut(), count, dtype, to, plans_tag(tag)), true), out)
}

extern "C" fn note_irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(message(comm, (buf, count, dtype, from, plans_tag(tag)), false), out)
}

extern "C" fn note_wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
    // SAFETY: the component's array.
    for request in unsafe { std::slice::from_raw_parts(requests, n) } {
        wait(comm, request.addr() - 1);
    }
    Status::OK
}

extern "C" fn memory(comm: *const CollComm, len: u64, out: *mut *mut u8) -> Status {
    let mut memory = vec![0u128; len.div_ceil(16) as usize + 4];
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: the component's out pointer.
    unsafe { *out = start.wrapping_add(start.align_offset(64)) };
    at(comm).plan.borrow_mut().memory.push(memory);
    Status::OK
}

extern "C" fn pack(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    base: *const u8,
    from: u64,
    dst: *mut u8,
    len: u64,
) -> Status {
    note(comm, move || {
        // SAFETY: the component's promise.
        let n = unsafe { pack_bytes(&*dtype, count, base, from, dst, len) };
        assert_eq!(n, len);
    })
}

extern "C" fn unpack(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    base: *mut u8,
    from: u64,
    src: *const u8,
    len: u64,
) -> Status {
    note(comm, move || {
        // SAFETY: the component's promise.
        let n = unsafe { unpack_bytes(&*dtype, count, base, from, src, len) };
        assert_eq!(n, len);
    })
}

extern "C" fn copy(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    src: *const u8,
    dst: *mut u8,
) -> Status {
    // SAFETY: the component's promise.
    note(comm, move || unsafe { copy_elements(&*dtype, count, src, dst) })
}

extern "C" fn reduce(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    left: *const u8,
    right: *mut u8,
) -> Status {
    let op = at(comm).plan.borrow().op.expect("an operation");
    note(comm, move || {
        // SAFETY: the component's promise.
        let status = unsafe { kernel::reduce(&op, left, right, count, &*dtype) };
        assert_eq!(status, Status::OK);
    })
}

extern "C" fn step(_: *const CollComm, _: StepFn, _: *mut c_void) -> Status {
    panic!("this component has no steps of its own")
}
