//! Plans as a host keeps them: written down while the component is called. `doing.rs` does them after it has returned, once or again and again.
//!
//! A plan has a line of its own on the net, so several may be under way on a communicator, and one tag. Arguments that
//! the contract says are gone when the component returns are overwritten then: arrays of counts, displacements, types and neighbors.

use crate::args::Args;
use crate::messages::line;
use crate::net::{Elements, Line};
use crate::nodes::{self, wait_for_word};
use crate::services::{self, SERVICES};
use crate::view::View;
use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr::{from_ref, null, null_mut, without_provenance_mut};
use oxmpi_coll::{
    CollArgs, CollComm, CollFn, CollServices, ExtendFn, FIRST_TAG, Neighbors, StepFn, extend as extend_of,
    step as step_of,
};
use oxmpi_datatype::kernel::{self, OpDesc};
use oxmpi_datatype::{TypeDesc, copy as copy_elements, pack as pack_bytes, unpack as unpack_bytes};
use oxmpi_mca::{MsgStatus, Place, RequestHeader, Status, StrRef, WakingWord};

const TAG: i32 = FIRST_TAG - 77;

pub(crate) enum Step {
    Send { what: Elements, line: Line, slot: usize },
    Recv { what: Elements, line: Line, slot: usize },
    Wait { slot: usize },
    Here(Box<dyn Fn() -> Status>),
    Own(OwnStep),
    Extend(ExtendStep),
}

/// A step of the component's own, which is told when it is dropped.
pub(crate) struct OwnStep {
    pub(crate) f: StepFn,
    pub(crate) ctx: *mut c_void,
}

impl Drop for OwnStep {
    fn drop(&mut self) {
        (self.f)(self.ctx, step_of::DROP);
    }
}

/// A step that writes further ones, which is told when it is dropped.
pub(crate) struct ExtendStep {
    pub(crate) f: ExtendFn,
    pub(crate) ctx: *mut c_void,
}

impl Drop for ExtendStep {
    fn drop(&mut self) {
        // SAFETY: the last call with what the component gave.
        unsafe { (self.f)(self.ctx, null(), extend_of::DROP) };
    }
}

#[derive(Default)]
pub(crate) struct Core {
    number: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: usize,
    memory: Vec<Vec<u128>>,
    op: Option<OpDesc>,
}

impl Core {
    /// No steps yet, of plan `number` of the communicator; the slots before `slots` are taken.
    fn of(number: u64, op: Option<OpDesc>, slots: usize) -> Core {
        Core { number, op, slots, ..Core::default() }
    }

    /// For the steps that one of these writes.
    pub(crate) fn next(&self, slots: usize) -> Core {
        Core::of(self.number, self.op, slots)
    }
}

/// The steps that a component wrote down.
pub struct Plan<'a> {
    pub(crate) core: Core,
    pub(crate) view: &'a View,
    pub(crate) comm: &'a CollComm,
}

// SAFETY: a plan is done in one thread at a time; the memory that its steps name waits for its end.
unsafe impl Send for Plan<'_> {}
// SAFETY: as above.
unsafe impl Sync for Plan<'_> {}

/// The object that `comm` of a planning component's communicator points to.
struct Recorder<'a> {
    core: &'a RefCell<Core>,
    /// The one that messages go through.
    real: *const CollComm,
}

/// Copies of the arrays of a call.
struct Arrays {
    counts: [Vec<u64>; 2],
    displs: [Vec<i64>; 2],
    types: [Vec<*const TypeDesc>; 2],
    ends: [Vec<i32>; 2],
    neighbors: Option<Neighbors>,
    args: CollArgs,
}

impl Arrays {
    fn of(args: &Args<'_>) -> Box<Arrays> {
        let sides = [args.send_blocks, args.recv_blocks];
        let ends = args.neighbors.map_or([vec![], vec![]], |n| {
            // SAFETY: the check's arrays.
            unsafe {
                let of = |at, len: u32| core::slice::from_raw_parts(at, len as usize).to_vec();
                [of(n.sources, n.num_sources), of(n.destinations, n.num_destinations)]
            }
        });
        let mut arrays = Box::new(Arrays {
            counts: sides.map(|side| side.counts.to_vec()),
            displs: sides.map(|side| side.displs.to_vec()),
            types: sides.map(|side| side.types.to_vec()),
            neighbors: args.neighbors.map(|n| Neighbors {
                sources: ends[0].as_ptr(),
                destinations: ends[1].as_ptr(),
                ..*n
            }),
            ends,
            args: args.raw(),
        });
        let copied = CollArgs {
            sendcounts: arrays.counts[0].as_ptr(),
            recvcounts: arrays.counts[1].as_ptr(),
            sdispls: arrays.displs[0].as_ptr(),
            rdispls: arrays.displs[1].as_ptr(),
            sendtypes: arrays.types[0].as_ptr(),
            recvtypes: arrays.types[1].as_ptr(),
            neighbors: arrays.neighbors.as_ref().map_or(null(), from_ref),
            ..args.raw()
        };
        arrays.args = copied;
        arrays
    }

    /// The call is over.
    fn overwrite(&mut self) {
        self.counts.iter_mut().for_each(|all| all.fill(7));
        self.displs.iter_mut().for_each(|all| all.fill(-7));
        self.types.iter_mut().for_each(|all| all.fill(null()));
        self.ends.iter_mut().for_each(|all| all.fill(0));
        self.args = CollArgs::NONE;
    }
}

/// Has a component write steps into `core`.
pub(crate) fn recorded(
    core: &RefCell<Core>,
    comm: &CollComm,
    call: impl FnOnce(&CollComm) -> Status,
) -> Status {
    let recorder = |real| Recorder { core, real };
    let seen = |real: &CollComm, recorder: *const Recorder<'_>, local| CollComm {
        comm: recorder.cast_mut().cast(),
        services: &RECORDING,
        planning: 1,
        local,
        ..*real
    };
    // SAFETY: null, or the local group's communicator.
    let inside = unsafe { comm.local.as_ref() };
    let (outer, inner) = (recorder(comm), recorder(comm.local));
    let local = inside.map(|real| seen(real, &inner, null()));
    call(&seen(comm, &outer, local.as_ref().map_or(null(), |l| l)))
}

impl Plan<'_> {
    /// Lets the component plan.
    pub(crate) fn make<'a>(
        function: CollFn,
        module: *mut c_void,
        comm: &'a CollComm,
        args: &Args<'_>,
    ) -> Result<Plan<'a>, Status> {
        let view = View::of(comm);
        let core = RefCell::new(Core::of(view.next_plan(), args.op.copied(), 0));
        let mut arrays = Arrays::of(args);
        let status = recorded(&core, comm, |planning| function(module, planning, &arrays.args));
        arrays.overwrite();
        let plan = Plan { core: core.into_inner(), view, comm };
        if status.is_err() { Err(status) } else { Ok(plan) }
    }
}

const RECORDING: CollServices = CollServices {
    send,
    recv,
    isend,
    irecv,
    wait_all,
    memory,
    pack,
    unpack,
    copy,
    reduce,
    step,
    place,
    node_memory,
    peer_read,
    peer_write,
    peer_pointer,
    wait_word,
    wake_word,
    sub_comm,
    sub_view,
    call,
    send_failure,
    extend,
    took,
    ..SERVICES
};

fn at<'a>(comm: *const CollComm) -> &'a Recorder<'a> {
    // SAFETY: the component passes on what `make` gave it.
    unsafe { &*(*comm).comm.cast::<Recorder<'_>>() }
}

fn real(comm: *const CollComm) -> *const CollComm {
    at(comm).real
}

fn note(comm: *const CollComm, work: impl Fn() -> Status + 'static) -> Status {
    at(comm).core.borrow_mut().steps.push(Step::Here(Box::new(work)));
    Status::OK
}

fn message(
    comm: *const CollComm,
    what: Elements,
    peer: u32,
    tag: i32,
    is_send: bool,
) -> Result<usize, Status> {
    let (_, mut line) = line(real(comm), peer, tag)?;
    let mut core = at(comm).core.borrow_mut();
    line = Line { context: line.context | core.number << 32, tag: TAG, ..line };
    let slot = core.slots;
    core.slots += 1;
    core.steps.push(if is_send { Step::Send { what, line, slot } } else { Step::Recv { what, line, slot } });
    Ok(slot)
}

fn then_wait(comm: *const CollComm, slot: Result<usize, Status>) -> Status {
    match slot {
        Ok(slot) => {
            at(comm).core.borrow_mut().steps.push(Step::Wait { slot });
            Status::OK
        }
        Err(status) => status,
    }
}

fn hand_out(slot: Result<usize, Status>, out: *mut *mut RequestHeader) -> Status {
    match slot {
        Ok(slot) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = without_provenance_mut(slot + 1) };
            Status::OK
        }
        Err(status) => status,
    }
}

extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    then_wait(comm, message(comm, (buf, count, dtype), to, tag, true))
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
    let answer = then_wait(comm, message(comm, (buf, count, dtype), from, tag, false));
    if !status.is_null() {
        // SAFETY: the component's out pointer and type.
        unsafe {
            let bytes = (*dtype).packed * count;
            *status = MsgStatus { source: from as i32, tag, bytes, ..MsgStatus::EMPTY };
        }
    }
    answer
}

extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(message(comm, (buf, count, dtype), to, tag, true), out)
}

extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(message(comm, (buf, count, dtype), from, tag, false), out)
}

extern "C" fn wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component's array.
    for request in unsafe { core::slice::from_raw_parts(requests, n) } {
        let slots = at(comm).core.borrow().slots;
        match request.addr().checked_sub(1) {
            Some(slot) if slot < slots => then_wait(comm, Ok(slot)),
            _ => return Status::BAD_PARAM,
        };
    }
    Status::OK
}

extern "C" fn memory(comm: *const CollComm, len: u64, out: *mut *mut u8) -> Status {
    // Not initialised: what is read before it is written shows.
    let mut memory = vec![0x5a5a_a5a5_5a5a_a5a5_5a5a_a5a5_5a5a_a5a5_u128; len.div_ceil(16) as usize + 4];
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: the component's out pointer.
    unsafe { *out = start.wrapping_add(start.align_offset(64)) };
    at(comm).core.borrow_mut().memory.push(memory);
    Status::OK
}

fn whole(done: u64, wanted: u64) -> Status {
    if done == wanted { Status::OK } else { Status::TRUNCATED }
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
    // SAFETY: the component's promise.
    note(comm, move || whole(unsafe { pack_bytes(&*dtype, count, base, from, dst, len) }, len))
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
    // SAFETY: the component's promise.
    note(comm, move || whole(unsafe { unpack_bytes(&*dtype, count, base, from, src, len) }, len))
}

extern "C" fn copy(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    src: *const u8,
    dst: *mut u8,
) -> Status {
    note(comm, move || {
        // SAFETY: the component's promise.
        unsafe { copy_elements(&*dtype, count, src, dst) };
        Status::OK
    })
}

extern "C" fn reduce(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    left: *const u8,
    right: *mut u8,
) -> Status {
    let Some(op) = at(comm).core.borrow().op else { return Status::BAD_PARAM };
    // SAFETY: the component's promise.
    note(comm, move || unsafe { kernel::reduce(&op, left, right, count, &*dtype) })
}

extern "C" fn step(comm: *const CollComm, f: StepFn, ctx: *mut c_void) -> Status {
    at(comm).core.borrow_mut().steps.push(Step::Own(OwnStep { f, ctx }));
    Status::OK
}

extern "C" fn extend(comm: *const CollComm, f: ExtendFn, ctx: *mut c_void) -> Status {
    at(comm).core.borrow_mut().steps.push(Step::Extend(ExtendStep { f, ctx }));
    Status::OK
}

extern "C" fn place(comm: *const CollComm, rank: u32, out: *mut Place) -> Status {
    nodes::place(real(comm), rank, out)
}

extern "C" fn node_memory(_: *const CollComm, _: u64, _: *mut *mut u8) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn peer_read(comm: *const CollComm, rank: u32, remote: u64, local: *mut u8, bytes: u64) -> Status {
    nodes::peer_read(real(comm), rank, remote, local, bytes)
}

extern "C" fn peer_write(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    nodes::peer_write(real(comm), rank, remote, local, bytes)
}

extern "C" fn peer_pointer(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    nodes::peer_pointer(real(comm), rank, remote, bytes, out)
}

extern "C" fn wait_word(comm: *const CollComm, word: *const WakingWord, value: u32) -> Status {
    let real = real(comm);
    // SAFETY: the component's word.
    note(comm, move || wait_for_word(&View::of(real).net, unsafe { &*word }, value))
}

extern "C" fn took(comm: *const CollComm, component: StrRef, algorithm: u32) -> Status {
    services::took(real(comm), component, algorithm)
}

extern "C" fn wake_word(comm: *const CollComm, word: *const WakingWord) -> Status {
    let real = real(comm);
    note(comm, move || nodes::wake_word(real, word))
}

extern "C" fn sub_comm(_: *const CollComm, _: u32, _: StrRef, out: *mut *mut c_void) -> Status {
    // SAFETY: the component's out pointer.
    unsafe { *out = null_mut() };
    Status::NOT_SUPPORTED
}

extern "C" fn sub_view(_: *const CollComm, _: *mut c_void, _: *mut CollComm) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn call(_: *const CollComm, _: u32, _: *const CollArgs) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn send_failure(
    _: *const CollComm,
    _: u32,
    _: i32,
    _: Status,
    _: *mut *mut RequestHeader,
) -> Status {
    Status::NOT_SUPPORTED
}
