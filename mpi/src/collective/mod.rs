//! Collective operations (MPI 5.0 §6): arguments checked, then handed to the component that serves the
//! communicator. `equal`: one count for all ranks; `vector_variants`: a count and a place for each; `reducing`; `neighbor`.
//!
//! **Three forms of each** ([`CompletionMode`]): blocking, nonblocking (§6.12) and persistent (§6.13), each plain and with large
//! counts, are one function here; `collective_fns!` makes the exported ones. A nonblocking or persistent
//! operation keeps references to the types and the reduction operation that it needs after the call ([`Kept`]), so the
//! program may free its handles at once; arrays of counts, displacements and types have been read.
//!
//! Arguments significant only at the root are looked at there alone; elsewhere the component gets null
//! buffers and no elements. Where a collective has one buffer or one type, both sides of
//! [`CollArgs`] say so.
//!
//! On an inter-communicator a rank of the root's group names MPI_ROOT or MPI_PROC_NULL, has only one side of
//! the data, and nothing is in place ([`Part`]).

/// The functions of one collective from one body: blocking, nonblocking, persistent.
macro_rules! collective_fns {
    ($body:ident <$n:ident> ($($a:ident : $t:ty),*) on $comm:ident;
     fn $($now:ident [$nc:ty]),+;
     fn $($later:ident [$lc:ty]),+;
     fn $($again:ident [$ac:ty]),+;) => {
        mpi_fn! {
            fn $($now[$nc]),+ <$n> ($($a: $t,)* $comm: Comm) -> c_int {
                call(NAME, Some($comm), |process| $body(process, CompletionMode::Blocking, $($a,)* $comm))
            }
        }
        mpi_fn! {
            fn $($later[$lc]),+ <$n> ($($a: $t,)* $comm: Comm, request: *mut Request) -> c_int {
                call(NAME, Some($comm), |process| $body(process, CompletionMode::nonblocking(request)?, $($a,)* $comm))
            }
        }
        mpi_fn! {
            fn $($again[$ac]),+ <$n> ($($a: $t,)* $comm: Comm, info: Info, request: *mut Request) -> c_int {
                call(NAME, Some($comm), |process| $body(process, CompletionMode::persistent(info, request)?, $($a,)* $comm))
            }
        }
    };
}

mod equal;
mod neighbor;
mod reducing;
pub mod vector_variants;

use crate::call::memory::write;
use crate::call::operands::{check_buffer, check_place};
use crate::call::process::Process;
use crate::comm::CommObject;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res};
use crate::p2p::place_of;
use crate::types::{Datatype, Info, Request};
use crate::{info, op, request};
use core::ffi::c_int;
use oxmpi_coll::{CollArgs, IN_PLACE};
use oxmpi_datatype::{TypeDesc, TypeRef, flag};
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::coll::Slot;

const _: () = assert!(oxmpi_coll::ROOT == MPI_ROOT && oxmpi_coll::NO_ROOT == MPI_PROC_NULL);

/// A collective of the runtime's communicator.
pub type Verb = fn(&Communicator, *mut oxmpi_mca::ThreadCtx, &CollArgs) -> oxmpi_mca::Status;

/// A collective: its blocking form, and its place among those that make a request.
#[derive(Clone, Copy)]
pub struct Collective {
    now: Verb,
    plan: Slot,
}

macro_rules! all {
    ($($name:ident $verb:ident $slot:ident;)*) => {
        $(pub const $name: Collective = Collective { now: Communicator::$verb, plan: Slot::$slot };)*
    };
}

all! {
    BARRIER barrier Barrier;
    BCAST bcast Bcast;
    REDUCE reduce Reduce;
    ALLREDUCE allreduce Allreduce;
    ALLGATHER allgather Allgather;
    GATHER gather Gather;
    SCATTER scatter Scatter;
    ALLTOALL alltoall Alltoall;
    GATHERV gatherv Gatherv;
    SCATTERV scatterv Scatterv;
    ALLGATHERV allgatherv Allgatherv;
    ALLTOALLV alltoallv Alltoallv;
    ALLTOALLW alltoallw Alltoallw;
    SCAN scan Scan;
    EXSCAN exscan Exscan;
    REDUCE_SCATTER reduce_scatter ReduceScatter;
    REDUCE_SCATTER_BLOCK reduce_scatter_block ReduceScatterBlock;
    NEIGHBOR_ALLGATHER neighbor_allgather NeighborAllgather;
    NEIGHBOR_ALLGATHERV neighbor_allgatherv NeighborAllgatherv;
    NEIGHBOR_ALLTOALL neighbor_alltoall NeighborAlltoall;
    NEIGHBOR_ALLTOALLV neighbor_alltoallv NeighborAlltoallv;
    NEIGHBOR_ALLTOALLW neighbor_alltoallw NeighborAlltoallw;
}

/// When it is done.
#[derive(Clone, Copy)]
pub enum CompletionMode {
    /// When the call returns.
    Blocking,
    /// When the request that goes here is complete.
    Nonblocking(*mut Request),
    /// As often as the request that goes here is started.
    Persistent(*mut Request),
}

impl CompletionMode {
    pub fn nonblocking(request: *mut Request) -> Res<CompletionMode> {
        place_of(request)?;
        Ok(CompletionMode::Nonblocking(request))
    }
    pub fn persistent(info: Info, request: *mut Request) -> Res<CompletionMode> {
        place_of(request)?;
        // There are no hints for these yet.
        info::optional(info)?;
        Ok(CompletionMode::Persistent(request))
    }
}

/// Buffer, count and type as the user gave them.
pub type Data<P> = (P, i64, Datatype);

pub const NOTHING: CollArgs = CollArgs::NONE;

pub fn is_in_place(buf: *const u8) -> bool {
    core::ptr::eq(buf, IN_PLACE)
}

/// One side of a collective: the type found, count and buffer good.
pub fn side(
    process: &Process,
    (buf, count, datatype): Data<*const u8>,
    which: &str,
) -> Res<&'static TypeDesc> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("{which}count is {count}"));
    }
    let desc = datatype::require_committed(datatype, &format!("{which}type"))?;
    not_in_place(buf, which)?;
    check_buffer(process, buf, count, desc, &format!("{which}buf"))?;
    Ok(desc)
}

pub fn not_in_place(buf: *const u8, which: &str) -> Res {
    if is_in_place(buf) {
        return Failure::err(MPI_ERR_BUFFER, format!("{which}buf must not be MPI_IN_PLACE here"));
    }
    Ok(())
}

/// The standard forbids send and receive buffers that overlap; the same address is seen. `bytes`: there is data
/// at both.
pub fn check_apart(process: &Process, sent: *const u8, received: *const u8, bytes: bool) -> Res {
    if process.check && bytes && !sent.is_null() && core::ptr::eq(sent, received) {
        return Failure::err(MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; MPI_IN_PLACE is for that");
    }
    Ok(())
}

/// Where element `index` is in a buffer.
pub fn place(buf: *const u8, index: i64, desc: &TypeDesc) -> *const u8 {
    buf.wrapping_offset(index.wrapping_mul(desc.extent) as isize)
}

/// The calling rank's part in a collective with a root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The root, which is one of those that give or get, too.
    Root,
    /// The root of an inter-communicator, for which only the other group gives or gets.
    FarRoot,
    /// Gives to the root or gets from it.
    Leaf,
    /// In the root's group of an inter-communicator: only there so that all call.
    Idle,
}

pub fn part(object: &CommObject, root: c_int) -> Res<Part> {
    let inter = object.comm.remote_group().is_some();
    match root {
        MPI_ROOT if inter => Ok(Part::FarRoot),
        MPI_PROC_NULL if inter => Ok(Part::Idle),
        _ if (root as u32) < object.peers => {
            Ok(if !inter && root as u32 == object.comm.rank() { Part::Root } else { Part::Leaf })
        }
        _ => Failure::err(
            MPI_ERR_ROOT,
            format!("root is {root}, ranks are 0 to {}", object.peers.saturating_sub(1)),
        ),
    }
}

pub fn is_inter(object: &CommObject) -> bool {
    object.comm.remote_group().is_some()
}

/// Objects that an operation that goes on after the call holds on to.
struct Kept {
    _types: Vec<TypeRef>,
    op: Option<op::Held>,
}

impl Kept {
    /// `None`: everything is predefined. `peers`: entries of the arrays of types, if there are no neighbors.
    fn of(args: &CollArgs, peers: u32, op: Option<&op::Call>) -> Res<Option<Box<Kept>>> {
        // SAFETY: null, or those of this call.
        let neighbors = unsafe { args.neighbors.as_ref() };
        let lengths = neighbors.map_or((peers, peers), |n| (n.num_destinations, n.num_sources));
        let each = [(args.sendtypes, lengths.0), (args.recvtypes, lengths.1)];
        let each = each.into_iter().filter(|(array, _)| !array.is_null());
        // SAFETY: arrays of this call, with an entry for each peer or neighbor.
        let each = each.flat_map(|(array, n)| unsafe { core::slice::from_raw_parts(array, n as usize) });
        let all = [args.sendtype, args.recvtype].into_iter().chain(each.copied());
        // SAFETY: null, or a type that was found in this call.
        let derived = all.filter(|t| unsafe { t.as_ref() }.is_some_and(|t| t.flags & flag::PREDEFINED == 0));
        // SAFETY: as above.
        let types: Vec<TypeRef> = derived.map(|t| unsafe { TypeRef::retain(t) }).collect();
        let op = op.map(op::Call::hold).transpose()?.flatten();
        Ok((op.is_some() || !types.is_empty()).then(|| Box::new(Kept { _types: types, op })))
    }
}

/// The error of a blocking collective. A message of it that was too long is told with its sizes.
#[cold]
#[inline(never)]
fn failed(object: &CommObject, status: Status) -> Res {
    // Taken in any case, so that it is not taken for a later error's.
    let message = object.comm.take_truncated().filter(|_| status == Status::TRUNCATED);
    match message {
        Some(message) => Err(request::truncated(&MsgStatus { tag: MPI_ANY_TAG, ..message })),
        None => Err(status.into()),
    }
}

impl Process {
    /// Runs a collective, or begins or prepares it. `op`: of a reduction; then `args` need not have it.
    pub fn collective(
        &self,
        object: &'static CommObject,
        mode: CompletionMode,
        collective: Collective,
        mut args: CollArgs,
        op: Option<&op::Call>,
    ) -> Res {
        crate::call::counting::collective(&object.comm);
        let mut desc = op.map(op::Call::desc);
        let place = match mode {
            CompletionMode::Blocking => {
                args.op = desc.as_ref().map_or(core::ptr::null(), |op| op);
                let status = (collective.now)(&object.comm, self.thread(), &args);
                return if status.is_err() { failed(object, status) } else { Ok(()) };
            }
            CompletionMode::Nonblocking(place) | CompletionMode::Persistent(place) => place,
        };
        let kept = Kept::of(&args, object.peers, op)?;
        if let Some(held) = kept.as_ref().and_then(|kept| kept.op.as_ref()) {
            desc = Some(held.desc());
        }
        args.op = desc.as_ref().map_or(core::ptr::null(), |op| op);
        let kept = kept.map(|kept| kept as _);
        let (comm, thread) = (&object.comm, self.thread());
        let req = match mode {
            CompletionMode::Persistent(_) => comm.collective_init(thread, collective.plan, &args, kept)?,
            _ => comm.begin_collective(thread, collective.plan, &args, kept)?,
        };
        write(place, "request", request::give(object, req))
    }
}
