//! The services of a component that plans: each writes down a step.
//!
//! Requests that the component gets are the numbers of slots, from 1 on; only `wait_all` here looks at them.

use super::steps::{Core, Data, Peer, Recorded, Step};
use crate::coll::parts::anywhere;
use crate::coll::slot::Slot;
use crate::objects::Communicator;
use crate::services::memory::Direction;
use oxmpi_coll::{CollArgs, CollComm, CollServices, ExtendFn, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Entry, MsgStatus, Place, RequestHeader, Status, StrRef, WakingWord};
use oxmpi_waiting::Awaited;
use std::ffi::c_void;
use std::ptr::without_provenance_mut;

/// The object that `comm` of a planning component's [`CollComm`] points to.
struct Recorder {
    core: *mut Core,
    local: bool,
    /// The communicator, or its local group as one.
    comm: *const Communicator,
}

/// Has a component write the steps of a collective into an empty plan.
///
/// # Safety
/// What the arguments point to is there as long as the plan, lists during the call.
pub unsafe fn plan(
    core: &mut Core,
    comm: &Communicator,
    which: Slot,
    entry: &mut Entry,
    args: &CollArgs,
) -> Status {
    let recorders = Recorders::of(core, comm);
    // SAFETY: the caller's promise; the services take a recorder, and both recorders are there during the call.
    let status = unsafe { comm.coll.plan(which, comm, entry, args, SERVICES, recorders.comm_pointers()) };
    finish(core, status)
}

/// Has `write` write the steps of an operation into an empty plan.
///
/// # Safety
/// What the steps point to is there as long as the plan.
pub unsafe fn plan_by(
    core: &mut Core,
    comm: &Communicator,
    entry: &mut Entry,
    write: impl FnOnce(&CollComm) -> Status,
) -> Status {
    let recorders = Recorders::of(core, comm);
    // SAFETY: the services take a recorder, and both recorders are there during the call.
    let status = unsafe { comm.coll.planning(comm, entry, SERVICES, recorders.comm_pointers(), write) };
    finish(core, status)
}

/// Writes down the last step, and notes how much was recorded.
fn finish(core: &mut Core, status: Status) -> Status {
    core.steps.push(Step::WaitForRest);
    core.recorded = Recorded { steps: core.steps.len(), slots: core.slots, memory: core.memory.blocks() };
    if status.is_err() { status } else { Status::OK }
}

/// Has a component's step write further ones into the plan that is under way; what it answers.
///
/// # Safety
/// `function` and `ctx` are those of a step of this plan, which was not dropped.
pub unsafe fn extend(
    core: &mut Core,
    comm: &Communicator,
    (function, ctx): (ExtendFn, *mut c_void),
    entry: &mut Entry,
    what: u32,
) -> Status {
    let recorders = Recorders::of(core, comm);
    // SAFETY: the caller's promise; the services take a recorder, and both recorders are there during the call.
    let call = |comm: &CollComm| unsafe { function(ctx, comm, what) };
    // SAFETY: as above.
    unsafe { comm.coll.planning(comm, entry, SERVICES, recorders.comm_pointers(), call) }
}

/// The objects that stand for the communicator, and for its local group, in the services of one call of a component.
struct Recorders([Recorder; 2]);

impl Recorders {
    /// The plan is borrowed until the component has returned: nobody else may use it while the pointers are in use.
    fn of(core: &mut Core, comm: &Communicator) -> Recorders {
        let core: *mut Core = core;
        let inside = comm.local().unwrap_or(comm);
        Recorders([Recorder { core, local: false, comm }, Recorder { core, local: true, comm: inside }])
    }

    /// The pointers that services take as their communicator.
    fn comm_pointers(&self) -> [*mut c_void; 2] {
        self.0.each_ref().map(|recorder| std::ptr::from_ref(recorder).cast_mut().cast::<c_void>())
    }
}

/// The table of services of a component that plans.
const SERVICES: &CollServices = &CollServices {
    size: size_of::<CollServices>() as u32,
    reserved: 0,
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
    extend: note_extend,
    call_lost,
    took,
};

/// The plan that is being made, and whether this is the local group's communicator.
///
/// # Safety
/// What `plan` gave the component, in the one thread that plans; services do not call each other, so nobody else has the plan now.
unsafe fn planning<'a>(comm: *const CollComm) -> (&'a mut Core, bool) {
    // SAFETY: the caller's promise.
    unsafe {
        let recorder = &*(*comm).comm.cast::<Recorder>();
        (&mut *recorder.core, recorder.local)
    }
}

/// The same for a service.
macro_rules! at {
    ($comm:expr) => {
        // SAFETY: the component passes on what `plan` gave it, in the one thread that plans.
        unsafe { planning($comm) }
    };
}

/// The communicator that a planning component means.
macro_rules! means {
    ($comm:expr) => {
        // SAFETY: the component passes on what `plan` gave it.
        unsafe { &*(*(*$comm).comm.cast::<Recorder>()).comm }
    };
}

/// Stores a value in the component's out pointer and answers OK, or passes the error on.
macro_rules! hand_out {
    ($value:expr, $out:expr) => {
        match $value {
            Ok(value) => {
                // SAFETY: the component's out pointer.
                unsafe { $out.write(value) };
                Status::OK
            }
            Err(status) => status,
        }
    };
}

impl Core {
    /// Appends a step to the plan; always answers OK.
    fn note(&mut self, step: Step) -> Status {
        self.steps.push(step);
        Status::OK
    }

    /// Takes the number of a new slot for a message.
    fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Appends a wait for the message of a slot, or widens the wait at the plan's end.
    fn wait_for(&mut self, slot: u32) {
        match self.steps.last_mut() {
            Some(Step::Wait { end, .. }) if *end == slot => *end += 1,
            Some(Step::Wait { first, .. }) if *first == slot + 1 => *first = slot,
            _ => self.steps.push(Step::Wait { first: slot, end: slot + 1 }),
        }
    }
}

/// Makes a peer of a component's rank; BAD_PARAM: the rank is too large.
fn peer(rank: u32, local: bool) -> Result<Peer, Status> {
    i32::try_from(rank).map(|rank| Peer { rank, local }).map_err(|_| Status::BAD_PARAM)
}

impl Core {
    /// Appends a send step and returns the slot of its message.
    fn note_send(&mut self, local: bool, data: Data, dst: u32) -> Result<u32, Status> {
        let (peer, slot) = (peer(dst, local)?, self.slot());
        self.note(Step::Send { peer, data, slot });
        Ok(slot)
    }

    /// Appends a receive step and returns the slot of its message. `whole`: a message that does not fill the place is an
    /// error.
    fn note_recv(&mut self, local: bool, data: Data, src: u32, whole: bool) -> Result<u32, Status> {
        let (peer, slot) = (peer(src, local)?, self.slot());
        self.note(Step::Recv { peer, data, slot, whole });
        Ok(slot)
    }

    /// Appends a wait for the message of a slot, or passes the error on.
    fn note_wait_for(&mut self, slot: Result<u32, Status>) -> Status {
        match slot {
            Ok(slot) => {
                self.wait_for(slot);
                Status::OK
            }
            Err(status) => status,
        }
    }
}

/// The component's request for a slot: its number, from 1 on.
fn number(slot: u32) -> *mut RequestHeader {
    without_provenance_mut(slot as usize + 1)
}

/// Planning service: writes down a send and the wait for it.
extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    _tag: i32,
) -> Status {
    let (core, local) = at!(comm);
    let slot = core.note_send(local, Data { at: buf.cast_mut(), count, dtype }, dst);
    core.note_wait_for(slot)
}

/// Planning service: writes down a receive and the wait for it. A component that wants the status is told that the
/// place is filled.
extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    if !status.is_null() {
        // SAFETY: the component's out pointer and its type.
        unsafe {
            let bytes = (*dtype).packed.wrapping_mul(count);
            *status = MsgStatus { source: src as i32, tag, bytes, ..MsgStatus::EMPTY };
        }
    }
    let (core, local) = at!(comm);
    let slot = core.note_recv(local, Data { at: buf, count, dtype }, src, !status.is_null());
    core.note_wait_for(slot)
}

/// Planning service: writes down a send; `out` gets the number of its slot as a request.
extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    _tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (core, local) = at!(comm);
    hand_out!(core.note_send(local, Data { at: buf.cast_mut(), count, dtype }, dst).map(number), out)
}

/// Planning service: writes down a receive; `out` gets the number of its slot as a request.
extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    _tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (core, local) = at!(comm);
    hand_out!(core.note_recv(local, Data { at: buf, count, dtype }, src, false).map(number), out)
}

/// Planning service: writes down the wait for `n` messages and sets their requests to null.
extern "C" fn wait_all(comm: *const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status {
    if n == 0 {
        return Status::OK;
    }
    let (core, _) = at!(comm);
    // SAFETY: the component gives `n` requests that `isend` and `irecv` made (or null).
    for req in unsafe { std::slice::from_raw_parts_mut(reqs, n) } {
        match u32::try_from(req.addr()) {
            Ok(0) => {}
            Ok(number) if number <= core.slots => core.wait_for(number - 1),
            _ => return Status::BAD_PARAM,
        }
        *req = std::ptr::null_mut();
    }
    Status::OK
}

/// Planning service: stores in `out` the address of `len` bytes that live as long as the plan.
extern "C" fn memory(comm: *const CollComm, len: u64, out: *mut *mut u8) -> Status {
    hand_out!(at!(comm).0.memory.take(len).ok_or(Status::OUT_OF_MEMORY), out)
}

/// Planning service: writes down the packing of `len` bytes, from packed byte `from` on.
extern "C" fn pack(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    base: *const u8,
    from: u64,
    dst: *mut u8,
    len: u64,
) -> Status {
    at!(comm).0.note(Step::Pack { data: Data { at: base.cast_mut(), count, dtype }, from, dst, len })
}

/// Planning service: writes down the unpacking of `len` bytes, from packed byte `from` on.
extern "C" fn unpack(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    base: *mut u8,
    from: u64,
    src: *const u8,
    len: u64,
) -> Status {
    at!(comm).0.note(Step::Unpack { data: Data { at: base, count, dtype }, from, src, len })
}

/// Planning service: writes down a copy of elements.
extern "C" fn copy(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    src: *const u8,
    dst: *mut u8,
) -> Status {
    at!(comm).0.note(Step::Copy { data: Data { at: src.cast_mut(), count, dtype }, to: dst })
}

/// Planning service: writes down `right[i] = left[i] op right[i]`; BAD_PARAM: the collective has no operation.
extern "C" fn reduce(
    comm: *const CollComm,
    dtype: *const TypeDesc,
    count: u64,
    left: *const u8,
    right: *mut u8,
) -> Status {
    let (core, _) = at!(comm);
    if core.op.is_none() {
        return Status::BAD_PARAM;
    }
    core.note(Step::Reduce { left, right: Data { at: right, count, dtype } })
}

/// Planning service: writes down a step of the component's own.
extern "C" fn step(comm: *const CollComm, function: StepFn, ctx: *mut c_void) -> Status {
    at!(comm).0.note(Step::Own { function, ctx })
}

/// Planning service: writes down a step that writes further ones.
extern "C" fn note_extend(comm: *const CollComm, function: ExtendFn, ctx: *mut c_void) -> Status {
    at!(comm).0.note(Step::Extend { function, ctx })
}

/// Planning service: stores the place of a rank in `out` at once.
extern "C" fn place(comm: *const CollComm, rank: u32, out: *mut Place) -> Status {
    hand_out!(anywhere::place(means!(comm), rank), out)
}

/// Planning service: copies `bytes` bytes from address `remote` of a rank to `local` at once.
extern "C" fn peer_read(comm: *const CollComm, rank: u32, remote: u64, local: *mut u8, bytes: u64) -> Status {
    let c = means!(comm);
    // SAFETY: the component's own memory, which it may write.
    unsafe { anywhere::copy(c, Direction::Read, rank, remote, local, bytes) }
}

/// Planning service: copies `bytes` bytes from `local` to address `remote` of a rank at once.
extern "C" fn peer_write(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    let c = means!(comm);
    // SAFETY: the component's own memory, which is only read.
    unsafe { anywhere::copy(c, Direction::Write, rank, remote, local.cast_mut(), bytes) }
}

/// Planning service: stores in `out` the address of memory `remote` of a rank that lives in this very process.
extern "C" fn peer_pointer(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    hand_out!(anywhere::pointer(means!(comm), rank, remote, bytes), out)
}

/// Planning service: writes down a wait until `*word` is no longer `value`.
extern "C" fn wait_word(comm: *const CollComm, word: *const WakingWord, value: u32) -> Status {
    // SAFETY: the component keeps the word as long as the plan.
    let awaited = unsafe { Awaited::new(word, value) };
    at!(comm).0.note(Step::Word { awaited })
}

/// Planning service: writes down that those are to be woken who sleep on a word.
extern "C" fn wake_word(comm: *const CollComm, word: *const WakingWord) -> Status {
    at!(comm).0.note(Step::Wake { word })
}

/// Planning service: refused, a plan makes no memory of the node.
extern "C" fn node_memory(_: *const CollComm, _: u64, _: *mut *mut u8) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: refused, a plan makes no parts of the communicator.
extern "C" fn sub_comm(_: *const CollComm, _: u32, _: StrRef, _: *mut *mut c_void) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: refused, a plan looks at no parts of the communicator.
extern "C" fn sub_view(_: *const CollComm, _: *mut c_void, _: *mut CollComm) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: refused, a plan calls no collectives.
extern "C" fn call(_: *const CollComm, _: u32, _: *const CollArgs) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: refused, a plan that is carried out tells others of its failure by itself.
extern "C" fn send_failure(
    _: *const CollComm,
    _: u32,
    _: i32,
    _: Status,
    _: *mut *mut RequestHeader,
) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: refused, as `call` is.
extern "C" fn call_lost(_: *const CollComm, _: u32, _: *const CollArgs, _: Status) -> Status {
    Status::NOT_SUPPORTED
}

/// Planning service: counts a plan by its algorithm, if counting is asked for.
extern "C" fn took(comm: *const CollComm, component: StrRef, algorithm: u32) -> Status {
    // SAFETY: what `plan` gave the component, whose communicator is there while it plans.
    let recorder = unsafe { &*(*comm).comm.cast::<Recorder>() };
    // SAFETY: as above.
    unsafe { &*recorder.comm }.note_algorithm(component, algorithm)
}
