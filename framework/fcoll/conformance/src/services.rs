//! The services of a plan: each writes down a step of its rank.

use crate::file::Transfer;
use crate::world::{Elements, Step, World};
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use oxmpi_coll::{CollArgs, CollComm, CollServices, ExtendFn, FIRST_TAG, LAST_TAG, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_fbtl::Piece;
use oxmpi_fcoll::FcollServices;
use oxmpi_mca::{MsgStatus, Place, RequestHeader, Status, StrRef, WakingWord};

/// The object behind a communicator while a component writes steps.
pub struct Recorder {
    pub world: Cell<*mut World>,
    pub rank: u32,
    pub steps: RefCell<Vec<Step>>,
}

impl Recorder {
    fn of<'a>(comm: *const CollComm) -> &'a Recorder {
        // SAFETY: the component passes on what it was given.
        unsafe { &*(*comm).comm.cast::<Recorder>() }
    }

    /// The world, which nobody uses while a component is called.
    #[allow(clippy::mut_from_ref, reason = "the world stands still while a component writes, in one thread")]
    fn world(&self) -> &mut World {
        // SAFETY: the world waits for the component's return, and services do not nest.
        unsafe { &mut *self.world.get() }
    }

    fn note(&self, step: Step) -> Status {
        self.steps.borrow_mut().push(step);
        Status::OK
    }

    fn message(&self, what: Elements, peer: u32, tag: i32, sends: bool) -> Result<usize, Status> {
        let n = self.world().ranks.len() as u32;
        if peer >= n || !(LAST_TAG..=FIRST_TAG).contains(&tag) {
            self.world()
                .complain(format!("a message of rank {} with rank {peer} of {n}, tag {tag}", self.rank));
            return Err(Status::BAD_PARAM);
        }
        let slot = self.world().slot(self.rank);
        self.note(if sends {
            Step::Send { what, to: peer, slot }
        } else {
            Step::Recv { what, from: peer, slot }
        });
        Ok(slot)
    }
}

fn hand_out(slot: Result<usize, Status>, out: *mut *mut RequestHeader) -> Status {
    match slot {
        Ok(slot) => {
            // SAFETY: the component's place.
            unsafe { *out = without_provenance_mut(8 * (slot + 1)) };
            Status::OK
        }
        Err(status) => status,
    }
}

fn then_wait(recorder: &Recorder, slot: Result<usize, Status>) -> Status {
    slot.map_or_else(|status| status, |slot| recorder.note(Step::Wait { slot }))
}

extern "C" fn send(
    comm: *const CollComm,
    at: *const u8,
    count: u64,
    kind: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    let recorder = Recorder::of(comm);
    then_wait(recorder, recorder.message((at, count, kind), to, tag, true))
}

extern "C" fn recv(
    comm: *const CollComm,
    at: *mut u8,
    count: u64,
    kind: *const TypeDesc,
    from: u32,
    tag: i32,
    _: *mut MsgStatus,
) -> Status {
    let recorder = Recorder::of(comm);
    then_wait(recorder, recorder.message((at, count, kind), from, tag, false))
}

extern "C" fn isend(
    comm: *const CollComm,
    at: *const u8,
    count: u64,
    kind: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(Recorder::of(comm).message((at, count, kind), to, tag, true), out)
}

extern "C" fn irecv(
    comm: *const CollComm,
    at: *mut u8,
    count: u64,
    kind: *const TypeDesc,
    from: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    hand_out(Recorder::of(comm).message((at, count, kind), from, tag, false), out)
}

extern "C" fn wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
    let recorder = Recorder::of(comm);
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component's array.
    for request in unsafe { core::slice::from_raw_parts(requests, n) } {
        match (request.addr() / 8).checked_sub(1) {
            Some(slot) if recorder.world().knows(recorder.rank, slot) => {
                _ = recorder.note(Step::Wait { slot })
            }
            _ => {
                recorder.world().complain("waits for what is no request of the plan".into());
                return Status::BAD_PARAM;
            }
        }
    }
    Status::OK
}

extern "C" fn memory(comm: *const CollComm, len: u64, out: *mut *mut u8) -> Status {
    let recorder = Recorder::of(comm);
    let rank = recorder.world().ranks[recorder.rank as usize].get_mut();
    // Not initialised: a byte that is read before it was written shows.
    let mut memory = vec![0x5a5a_a5a5_5a5a_a5a5_5a5a_a5a5_5a5a_a5a5_u128; len.div_ceil(16) as usize + 4];
    let start = memory.as_mut_ptr().cast::<u8>();
    // SAFETY: the component's place.
    unsafe { *out = start.wrapping_add(start.align_offset(64)) };
    rank.memory.push(memory);
    rank.asked += len;
    Status::OK
}

fn whole(done: u64, wanted: u64) -> Status {
    if done == wanted { Status::OK } else { Status::TRUNCATED }
}

extern "C" fn pack(
    comm: *const CollComm,
    kind: *const TypeDesc,
    count: u64,
    base: *const u8,
    from: u64,
    dst: *mut u8,
    len: u64,
) -> Status {
    let work = move || {
        // SAFETY: the component's promise.
        whole(unsafe { oxmpi_datatype::pack(&*kind, count, base, from, dst, len) }, len)
    };
    Recorder::of(comm).note(Step::Here(Box::new(work)))
}

extern "C" fn unpack(
    comm: *const CollComm,
    kind: *const TypeDesc,
    count: u64,
    base: *mut u8,
    from: u64,
    src: *const u8,
    len: u64,
) -> Status {
    let work = move || {
        // SAFETY: the component's promise.
        whole(unsafe { oxmpi_datatype::unpack(&*kind, count, base, from, src, len) }, len)
    };
    Recorder::of(comm).note(Step::Here(Box::new(work)))
}

extern "C" fn copy(
    comm: *const CollComm,
    kind: *const TypeDesc,
    count: u64,
    src: *const u8,
    dst: *mut u8,
) -> Status {
    let work = move || {
        // SAFETY: the component's promise.
        unsafe { oxmpi_datatype::copy(&*kind, count, src, dst) };
        Status::OK
    };
    Recorder::of(comm).note(Step::Here(Box::new(work)))
}

extern "C" fn step(comm: *const CollComm, f: StepFn, ctx: *mut c_void) -> Status {
    Recorder::of(comm).note(Step::Own { f, ctx, begun: false })
}

extern "C" fn extend(comm: *const CollComm, f: ExtendFn, ctx: *mut c_void) -> Status {
    let recorder = Recorder::of(comm);
    recorder.world().ranks[recorder.rank as usize].get_mut().contexts += 1;
    recorder.note(Step::Extend { f, ctx })
}

macro_rules! not_here {
    ($($name:ident($($kind:ty),*);)*) => {
        $(extern "C" fn $name(comm: *const CollComm $(, _: $kind)*) -> Status {
            Recorder::of(comm).world().complain(concat!("calls ", stringify!($name)).into());
            Status::NOT_SUPPORTED
        })*
    };
}

not_here! {
    reduce(*const TypeDesc, u64, *const u8, *mut u8);
    node_memory(u64, *mut *mut u8);
    peer_read(u32, u64, *mut u8, u64);
    peer_write(u32, u64, *const u8, u64);
    peer_pointer(u32, u64, u64, *mut *mut u8);
    wait_word(*const WakingWord, u32);
    wake_word(*const WakingWord);
    sub_comm(u32, StrRef, *mut *mut c_void);
    sub_view(*mut c_void, *mut CollComm);
    call(u32, *const CollArgs);
    send_failure(u32, i32, Status, *mut *mut RequestHeader);
    call_lost(u32, *const CollArgs, Status);
    took(StrRef, u32);
    place(u32, *mut Place);
}

/// The services of the communicator.
pub const SERVICES: CollServices = CollServices {
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
    extend,
    call_lost,
    took,
};

extern "C" fn transfer(
    access: *mut c_void,
    comm: *const CollComm,
    what: u32,
    pieces: *const Piece,
    num_pieces: usize,
    moved: *mut u64,
    outcome: *mut i32,
    later: u32,
) -> Status {
    let recorder = Recorder::of(comm);
    if access != ACCESS {
        recorder.world().complain("a transfer of another access".into());
    }
    let mut list = Vec::new();
    if num_pieces > 0 {
        // SAFETY: the component's list.
        list.extend_from_slice(unsafe { core::slice::from_raw_parts(pieces, num_pieces) });
    }
    recorder.note(Step::Transfer(Transfer { what, pieces: list, moved, outcome, later: later == 1 }))
}

extern "C" fn settle(_: *mut c_void, comm: *const CollComm) -> Status {
    Recorder::of(comm).note(Step::Settle)
}

thread_local! {
    /// The rank whose component is called: `moved` has no communicator.
    pub static CALLED: Cell<Option<(*mut World, u32)>> = const { Cell::new(None) };
}

extern "C" fn moved(_: *mut c_void, bytes: u64, outcome: Status) {
    if let Some((world, rank)) = CALLED.get() {
        // SAFETY: the world waits for the component's return.
        let world = unsafe { &mut *world };
        world.ranks[rank as usize].get_mut().moved.push((bytes, outcome));
    }
}

/// First argument of the services for transfers.
pub const ACCESS: *mut c_void = without_provenance_mut(0xacce55);

/// The services for transfers.
pub const TRANSFERS: FcollServices =
    FcollServices { size: size_of::<FcollServices>() as u32, reserved: 0, transfer, settle, moved };
